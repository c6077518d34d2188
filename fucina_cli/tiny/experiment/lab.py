"""What the experiment does with a model: ask, look at raw rows, score, and one deliberate bug."""

from __future__ import annotations

import contextlib
import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fucina_cli.answer import Answer
from fucina_cli.constraint import grammar
from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.grammar import Grammar, Tokens
from fucina_cli.constraint.kind import Spec
from fucina_cli.engine import Engine
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt, stop_token, text_prompt
from fucina_cli.request import Request
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.mask import allowed_ids
from fucina_cli.sampling.processor import LogitProcessor

_N_CTX = 512
_CONFIDENCE = 0.95
_SEEDS = 2**64


@dataclass(frozen=True)
class Lab:
    """A loaded model, one context, and the grammar engine's picture of the vocabulary."""

    model: Model
    context: Context
    tokens: Tokens

    def compile(self, spec: Spec) -> Grammar:
        """A compiled constraint. Raises GrammarError."""
        return grammar.compile_grammar(spec.prepare(), self.tokens)

    def prompt(self, text: str, room: int) -> Prompt:
        """The ids of a raw completion. Raises ModelError without room for `room` more tokens."""
        prompt = text_prompt(self.model, text)
        if len(prompt.tokens) + room > self.context.n_ctx:
            raise ModelError(
                f"a prompt of {len(prompt.tokens)} tokens and an answer of {room} do not fit its "
                f"context of {self.context.n_ctx}"
            )
        return prompt

    def ask(
        self,
        prompt: Prompt,
        limit: int,
        *,
        seed: int | None = None,
        constraint: Constraint | None = None,
        processor: LogitProcessor | None = None,
        stop: str | None = None,
    ) -> Answer:
        """One answer of at most `limit` tokens through the project's decode core.

        Greedy without a `seed`; with one, sampled at temperature 1 without any filter. Raises what
        `Engine.decode` raises, and KeyboardInterrupt.
        """
        config = SamplingConfig()
        if seed is not None:
            config = SamplingConfig(temperature=1.0, seed=seed % _SEEDS)
        request = Request(
            prompt,
            config,
            limit,
            stop_texts=() if stop is None else (stop,),
            processors=() if processor is None else (processor,),
            constraint=constraint,
        )
        answer = Engine(self.context).decode(request)
        if answer.stop_reason == "interrupted":  # part of an answer must not be counted as one
            raise KeyboardInterrupt
        return answer

    def pieces(self, tokens: Sequence[int]) -> list[str]:
        """The text of each token; what is no UTF-8 as U+FFFD."""
        return [self.model.vocabulary.text(token) for token in tokens]


@contextlib.contextmanager
def open_lab(path: Path) -> Iterator[Lab]:
    """Load a GGUF for the experiment. Raises ModelError."""
    model = Model(path)
    try:
        stop = stop_token(model, family_of(model.architecture), chat=False)
        context = Context(model, n_ctx=min(_N_CTX, model.n_ctx_train))
        try:
            yield Lab(model, context, grammar.build_tokens(model.vocabulary, stop))
        finally:
            context.close()
    finally:
        model.close()


# -- raw rows --------------------------------------------------------------------------------------


def log_normalizer(row: NDArray[np.float32]) -> float:
    """log(sum(exp(row))) in float64, nats: a logit minus this is its log-probability."""
    top = float(row.max())
    return top + math.log(float(np.exp(row.astype(np.float64) - top).sum()))


def mass(row: NDArray[np.float32], ids: NDArray[np.int64]) -> float:
    """The probability, 0 to 1, that a raw row [n_vocab] puts on all of `ids` together."""
    return float(np.exp(row[ids].astype(np.float64) - log_normalizer(row)).sum())


def raw_rows(
    context: Context, prompt: Prompt, first: NDArray[np.float32], continuation: Sequence[int]
) -> Iterator[NDArray[np.float32]]:
    """The row from which each token of `continuation` is chosen, float32 [n_vocab], unmasked.

    Args:
        context: the cache of its first stream begins with the prompt, as after `last_logits`.
        first: the row after the prompt.
        continuation: is forwarded as it stands, whatever the model thinks of it.

    A row is valid until the next one is asked for.
    """
    yield first
    start = len(prompt.tokens)
    context.truncate(0, start)
    fed = continuation[:-1]  # nothing is chosen after the last one
    for begin in range(0, len(fed), context.logits_rows):
        part = fed[begin : begin + context.logits_rows]
        context.decode([Row(t, start + begin + i, 0, True) for i, t in enumerate(part)])
        for i in range(len(part)):
            yield context.logits(i)


def log_probabilities(
    context: Context, prompt: Prompt, first: NDArray[np.float32], continuation: Sequence[int]
) -> list[float]:
    """What the raw model gives each token of `continuation`, nats; arguments of `raw_rows`."""
    rows = raw_rows(context, prompt, first, continuation)
    return [
        float(row[token]) - log_normalizer(row)
        for row, token in zip(rows, continuation, strict=True)
    ]


def is_masked_argmax(
    context: Context,
    prompt: Prompt,
    first: NDArray[np.float32],
    answer: Sequence[int],
    constraint: Constraint,
) -> bool:
    """Whether each token of `answer` is the best of those that the constraint allows there.

    Looked up among the allowed ids of the raw row, not by the sampler's way of masking. The
    constraint must be at its start, and is used up.
    """
    for row, token in zip(raw_rows(context, prompt, first, answer), answer, strict=True):
        allowed = allowed_ids(constraint.mask_words(), row.shape[0])
        if int(allowed[row[allowed].argmax()]) != token:
            return False
        constraint.commit(token)
    return True


# -- the chapter's bug -----------------------------------------------------------------------------


class MaskAfterArgmax:
    """The bug of the course chapter, as a LogitProcessor: greedy first, the mask after.

    The row's favourite is taken over the whole vocabulary. Where the constraint forbids it, nothing
    is left of the model's opinion, and the lowest allowed id is what an argmax over equals returns.
    For comparison only. It tells nobody what it forces, so that the bug gets to see every row.
    """

    def __init__(self, constraint: Constraint) -> None:
        """Take over `constraint`, which nobody else may advance."""
        self._constraint = constraint

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Leave one token of the row, float32 [n_vocab], in place."""
        token = int(logits.argmax())
        if not self._constraint.is_allowed(token):
            token = int(allowed_ids(self._constraint.mask_words(), logits.shape[0])[0])
        logits.fill(-np.inf)
        logits[token] = 0.0

    def commit(self, token: int) -> None:
        """Advance the constraint."""
        self._constraint.commit(token)

    def reset(self) -> None:
        """Back to the start of the grammar."""
        self._constraint.reset()

    def fork(self) -> MaskAfterArgmax:
        """An independent copy at the current state."""
        return MaskAfterArgmax(self._constraint.fork())


# -- sizes and statistics --------------------------------------------------------------------------


def most_tokens(texts: Iterable[str]) -> int:
    """Tokens that suffice for any of `texts`, however it is cut: one for each byte."""
    return max(len(text.encode()) for text in texts)


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95% interval of a proportion, low and high end in 0 to 1.

    The score interval of E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical
    Inference", JASA 22 (1927). Raises ValueError unless 0 <= successes <= trials and trials > 0.
    """
    if not 0 <= successes <= trials or not trials:
        raise ValueError(f"{successes} successes of {trials} trials")
    z = statistics.NormalDist().inv_cdf((1 + _CONFIDENCE) / 2)
    share, spread = successes / trials, z * z / trials
    centre = share + spread / 2
    half = z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials))
    scale = 1 + spread
    # Rounding must not leave the range at its ends.
    return max(0.0, (centre - half) / scale), min(1.0, (centre + half) / scale)
