"""Makes a request of a job: tokens, sampling and limits for one model."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from fucina_cli import prompts
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.errors import InputError, Part, keyword
from fucina_cli.families.family import Family
from fucina_cli.job import DEFAULT_GEN, Chat, Ids, Job, Stop, Text
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.options import options_of
from fucina_cli.prompts import Prompt
from fucina_cli.prompts.errors import TemplateError
from fucina_cli.request import Request
from fucina_cli.runtime import Runtime
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.sampling.processor import LogitBias

_DAMAGED = "the model computes logits that are no numbers; the file is damaged"


@dataclass(frozen=True)
class Planner:
    """Plans jobs for a model; `part` is how messages name its file."""

    model: Model
    family: Family
    runtime: Runtime
    part: str

    def plan(self, job: Job) -> Request:
        """A request for a job, without its constraint, which `Host.compile` adds.

        Raises InputError for what does not fit this model.
        """
        prompt = self.prompt(job)
        stop_ids, stop_texts = self._stops(job.settings.get("stop", ()))
        sampling = self._sampling(job, thinks=self.thinks(job, prompt))
        processors = self._biases(job.settings.get("logit_bias", ()))
        gen = job.settings.get("gen")
        size = self.context_size(len(prompt.tokens), gen)
        limit = DEFAULT_GEN if gen is None else gen
        return Request(
            prompt=prompt,
            sampling=sampling,
            # The context may be larger for others beside it; the answer must not depend on them.
            limit=min(limit, size - len(prompt.tokens)),
            stop_ids=stop_ids,
            stop_texts=stop_texts,
            processors=processors,
            forced_spans=self.runtime.forced_spans,
            job=job,
            size=size,
        )

    def prompt(self, job: Job) -> Prompt:
        """The prompt of a job. Raises InputError when it is empty or can't be made."""
        start = job.start
        if isinstance(start, Ids):
            for token in start.tokens:
                self._check_id("prompt", token)
            return Prompt(list(start.tokens))
        if isinstance(start, Text):
            prompt = prompts.text_prompt(self.model, start.text)
            if not prompt.tokens:
                raise InputError("prompt", "the text has no tokens in this model")
            return prompt
        try:
            return prompts.messages_prompt(
                self.model, self.family, start.messages, thinking=job.think
            )
        except TemplateError as error:
            if job.has_system and self._without_system(job) is not None:
                text = f"{error}; put it at the beginning of the message instead"
                raise InputError("system", text) from None
            way_out = () if self.model.chat_template else (" (", Part("raw prompt"), ")")
            raise InputError(self.part, str(error), *way_out) from None

    def keeps_system(self, job: Job) -> bool:
        """Whether the chat template writes the system text of a chat, which has one."""
        without = self._without_system(job)
        return without is None or without.tokens != self.prompt(job).tokens

    def stop_token(self, *, chat: bool) -> int:
        """The token that ends a reply. Raises InputError when the vocabulary has none."""
        try:
            return prompts.stop_token(self.model, self.family, chat=chat)
        except ModelError as error:
            raise InputError(self.part, str(error)) from None

    def context_size(self, prompt_tokens: int, gen: int | None) -> int:
        """Tokens of context for a prompt and `gen` more. Raises InputError when too many."""
        needed = prompt_tokens + (DEFAULT_GEN if gen is None else gen)
        trained, ctx = self.model.n_ctx_train, self.runtime.ctx
        size = ctx if ctx is not None else max(1, min(trained, needed))
        if prompt_tokens + (gen != 0) > size:
            text = f"{prompt_tokens} tokens and an answer do not fit the context of {size} tokens; "
            if size >= trained:
                raise InputError("prompt", f"{text}shorten it")
            way_out = (Part("ctx"), f" (the model has {trained})")
            raise InputError("prompt", f"{text}raise ", *way_out)
        return size

    def thinks(self, job: Job, prompt: Prompt) -> bool:
        """Whether thoughts precede the answer."""
        by_default = self.family.thinking is not None and self.family.thinking.on_by_default
        thinks = job.think if job.think is not None else by_default
        return (thinks and prompt.thinking is not None) or prompt.inside_thinking

    def advice(self, *, thinks: bool) -> dict[str, Any]:
        """The family's sampling defaults for a chat, of the options that files may set."""
        advice = self.family.sampling(thinks, self.model.number)
        return {
            each.name: advice.get(each.name, each.default)
            for each in options_of(SamplingConfig)
            if each.metadata is not None
        }

    def fault(self, job: Job, error: Exception) -> InputError:
        """The error of a failed reply, in terms of the input."""
        if isinstance(error, AllTokensMasked):
            part = "logit_bias" if job.settings.get("logit_bias") else "stop"
            if part == "stop" and job.constraint is not None:
                part = "constraint"
            text = "leaves no token to choose from; loosen the bias or the constraint"
            return InputError(part, text)
        if isinstance(error, ConstraintError):
            return InputError("constraint", str(error))
        return InputError(self.part, _DAMAGED if isinstance(error, NonFiniteLogits) else str(error))

    # ----------------------------------------------------------------------------------------

    def _without_system(self, job: Job) -> Prompt | None:
        """The prompt of a chat without its system text; None where it can't be made."""
        assert isinstance(job.start, Chat)
        rest = job.start.messages[1:]
        try:
            return prompts.messages_prompt(self.model, self.family, rest, thinking=job.think)
        except TemplateError:
            return None

    def _sampling(self, job: Job, *, thinks: bool) -> SamplingConfig:
        """The family's defaults in a chat and greedy elsewhere, overridden by the job's."""
        settings = dict(job.settings)
        given = {o.name: settings[o.name] for o in options_of(SamplingConfig) if o.name in settings}
        if settings.get("greedy"):
            given["temperature"] = 0.0
        chosen = {**(self.advice(thinks=thinks) if job.is_chat else {}), **given}
        if chosen.get("seed") is None:
            sampled = chosen.get("temperature", 0.0) != 0
            chosen["seed"] = int.from_bytes(os.urandom(4), "little") if sampled else 0
        try:
            return SamplingConfig(**chosen)
        except InputError as error:  # the job's were checked: only the file's can be wrong
            text = f"its general.sampling defaults: {error.part} {error.reason(keyword)}"
            raise InputError(self.part, text) from None

    def _stops(self, stops: Iterable[Stop]) -> tuple[frozenset[int], tuple[str, ...]]:
        """Stop ids and stop texts. Raises InputError for ids out of range."""
        ids, texts = set[int](), []
        for stop in stops:
            if isinstance(stop, int):
                ids.add(self._check_id("stop", stop))
                continue
            marker = self.model.vocabulary.marker_id(stop)
            if marker is None:
                texts.append(stop)
            else:
                ids.add(marker)  # a control token has no text to match
        return frozenset(ids), tuple(texts)

    def _biases(self, biases: Iterable[tuple[str | int, float]]) -> tuple[LogitBias, ...]:
        """The bias list as a processor; empty when no bias was given. Raises InputError."""
        table: dict[int, float] = {}
        for written, bias in biases:
            token = self._token(written)
            table[token] = table.get(token, 0.0) + bias
        return (LogitBias(table, self.model.n_vocab),) if table else ()

    def _token(self, written: str | int) -> int:
        if isinstance(written, int):
            return self._check_id("logit_bias", written)
        vocabulary = self.model.vocabulary
        marker = vocabulary.marker_id(written)
        tokens = vocabulary.tokenize(written) if marker is None else [marker]
        if len(tokens) != 1:
            raise InputError(
                "logit_bias",
                f"'{written[:40]}' is {len(tokens)} tokens in this vocabulary, not one; "
                f"give an id ({','.join(map(str, tokens[:8]))})",
            )
        return tokens[0]

    def _check_id(self, part: str, token: int) -> int:
        n_vocab = self.model.n_vocab
        if not 0 <= token < n_vocab:
            raise InputError(
                part,
                f"token id {str(token)[:20]} is out of range; the vocabulary has {n_vocab} ids",
            )
        return token
