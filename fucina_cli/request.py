"""A request: the one record of a job on its way, from submission to answer; and its answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from fucina_cli.constraint.compiler import Compiled
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.constraint.kind import Verdict
from fucina_cli.decoding.reply import OnText, Reply
from fucina_cli.decoding.stream import Counts, StopReason, Stream
from fucina_cli.drafting.source import Counters
from fucina_cli.errors import InputError
from fucina_cli.job import Job
from fucina_cli.llama.context import Context
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitProcessor, ProcessorChain
from fucina_cli.sampling.sampler import Sampler


@dataclass
class Request:
    """What to decode, and where it stands.

    Attributes:
        prompt: what the reply follows.
        sampling: settings of the sampler; of a further attempt with the next seed.
        limit: most reply tokens.
        stop_ids, stop_texts: what ends the reply beside the model's own end of turn.
        processors: applied to every row, in order; forked for each attempt.
        constraint: follows the processors and governs the answer; each attempt forks it.
        compiled: where it comes from and who judges; None where nothing is judged.
        forbidden_while_thinking: ids that must not end a thinking block which precedes the answer;
            empty for none.
        forced_spans: off decodes token by token, for comparison.
        endless: takes no token for the end, for measurements of a given length.
        on_text: receives the text, as it becomes certain or whole once it is final.
        job: what it answers, None for a request of a measurement.
        index: its number among those submitted together.
        size: tokens of context that it has when it is answered alone.
        attempts: answers drawn so far.
        stream: its state in the decode core, while it is there.
        begin, prefilled: of the attempt, in seconds of the performance counter.
    """

    prompt: Prompt
    sampling: SamplingConfig
    limit: int
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    processors: tuple[LogitProcessor, ...] = ()
    constraint: Constraint | None = None
    compiled: Compiled | None = None
    forbidden_while_thinking: tuple[int, ...] = ()
    forced_spans: bool = True
    endless: bool = False
    on_text: OnText | None = None
    job: Job | None = None
    index: int = 0
    size: int = 0
    attempts: int = 0
    recompiled: bool = False
    stream: Stream | None = None
    begin: float = 0.0
    prefilled: float | None = None

    @property
    def draws_again(self) -> bool:
        """Whether an invalid answer is drawn again: a sampled one that is enforced in part only."""
        return (
            self.compiled is not None and self.compiled.grammar.relaxed and not self.sampling.greedy
        )


@dataclass
class Answer:
    """A reply and what it took. Times in seconds; `first_token_s` from the start of prefill.

    Attributes:
        text, thinking: the answer, and the thoughts before it.
        tokens: ids of the reply, without the stop token.
        stop_reason: "failed" where `error` or `failure` tells why.
        complete: whether the text, without what a stop took from it, is a whole answer of the
            constraint; None without one.
        verdict: of the independent judge.
        sources: drafted and accepted tokens per source of drafts.
        masked: proposals of a draft model that the mask changed, None without one.
        gate: what the gate of drafts knew when it ended, None without drafts.
        failure: what ended a reply that failed.
        error: the same in terms of what was given; the only content where nothing was decoded.
        load_s: seconds that loading the model took.
        exact: whether its model was found to be exact; None where that was not probed.
        size: tokens of context that it could use.

    Beside others, times are those on the clock, in which the others advanced too.
    """

    job: Job | None
    index: int
    text: str = ""
    thinking: str = ""
    tokens: list[int] = field(default_factory=list)
    stop_reason: StopReason | Literal["interrupted"] = "failed"
    prompt_tokens: int = 0
    counts: Counts = field(default_factory=Counts)
    prefill_s: float = 0.0
    decode_s: float = 0.0
    first_token_s: float | None = None
    constraint: Constraint | None = None
    compiled: Compiled | None = None
    complete: bool | None = None
    verdict: Verdict = field(default_factory=lambda: Verdict(None))
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    sources: Counters = field(default_factory=dict)
    masked: int | None = None
    gate: dict[str, Any] | None = None
    failure: Exception | None = None
    error: InputError | None = None
    load_s: float = 0.0
    exact: bool | None = None
    size: int = 0

    @property
    def valid(self) -> bool | None:
        """The judge's word on the answer; None where there is no judge or it can't tell."""
        return self.verdict.valid

    @property
    def errors(self) -> tuple[str, ...]:
        """Why the answer is not valid, or was not judged."""
        return self.verdict.errors

    @property
    def satisfied(self) -> bool:
        """Whether nothing is known against the answer: it is whole, and no judge refuses it."""
        return self.error is None and self.complete is not False and self.valid is not False

    @property
    def value(self) -> Any:
        """The answer as a Python value: parsed JSON under a JSON schema, else the text.

        Of a schema taken from a class it is an instance of that class. None for an answer that is
        not complete.
        """
        if self.compiled is None:
            return self.text
        return self.compiled.spec.value(self.text) if self.complete else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the constraint asks for and is only checked afterwards."""
        return () if self.compiled is None else self.compiled.warnings

    @property
    def rate(self) -> float | None:
        """Tokens per second after the first forward, which belongs to the prefill."""
        if self.counts.committed < 2 or self.decode_s <= 0:
            return None
        return (self.counts.committed - 1) / self.decode_s

    def record(self) -> dict[str, Any]:
        """The record of `--json`: plain JSON values, times in seconds (masks in microseconds)."""
        counts, constraint = self.counts, self.constraint
        sources: dict[str, dict[str, int]] = {
            name: {"drafted": drafted, "accepted": accepted}
            for name, (drafted, accepted) in self.sources.items()
        }
        if self.masked is not None:
            sources.setdefault("draft model", {})["masked"] = self.masked
        settings = self.sampling.as_dict()
        return {
            "text": self.text,
            "thinking": self.thinking or None,
            "tokens": self.tokens,
            "stop_reason": self.stop_reason,
            "prompt_tokens": self.prompt_tokens,
            "seed": settings.pop("seed"),
            "sampling": settings,
            "timing": {
                "load_s": _rounded(self.load_s),
                "compile_s": _rounded(self.compiled.seconds) if self.compiled else None,
                "prefill_s": _rounded(self.prefill_s),
                "decode_s": _rounded(self.decode_s),
                "first_token_s": _rounded(self.first_token_s),
                "tokens_per_s": _rounded(self.rate),
            },
            "constraint": None
            if self.compiled is None or constraint is None
            else {
                "kind": self.compiled.spec.kind,
                "complete": self.complete,
                "valid": self.valid,
                "errors": list(self.errors),
                "mask_us_p50": _quantile(constraint.mask_seconds, 0.50),
                "mask_us_p99": _quantile(constraint.mask_seconds, 0.99),
            },
            "decode": {
                "forwards": counts.forwards,
                "committed": counts.committed,
                "forced": counts.forced,
                "drafted": counts.drafted,
                "accepted": counts.accepted,
                "tokens_per_forward": _rounded(counts.committed / counts.forwards)
                if counts.forwards
                else None,
                "sources": sources,
                "gate": self.gate,
            },
            "exact": self.exact,
        }


def begin(request: Request, context: Context) -> Stream:
    """A stream for a first or further attempt at a request, not yet in any slot."""
    vocabulary = context.model.vocabulary
    processors = [processor.fork() for processor in request.processors]
    governing = _governing(request, context.model.n_vocab)
    if governing is not None:
        processors.append(governing)
    processor: LogitProcessor | None = None
    if processors:
        single = len(processors) == 1
        processor = processors[0] if single else ProcessorChain(processors, context.model.n_vocab)
    request.attempts += 1
    request.begin, request.prefilled = time.perf_counter(), None
    request.stream = Stream(
        slot=0,
        tokens=list(request.prompt.tokens),
        sampler=Sampler(request.sampling, processor=processor),
        reply=Reply(
            vocabulary.token_bytes,
            stops=request.stop_texts,
            thinking=request.prompt.thinking,
            inside_thinking=request.prompt.inside_thinking,
            keep_blank_lines=request.constraint is not None,
            on_text=request.on_text,
        ),
        is_end=_never if request.endless else vocabulary.is_end,
        stop_ids=request.stop_ids,
        limit=min(request.limit, context.n_ctx - len(request.prompt.tokens)),
        forced_spans=request.forced_spans,
    )
    return request.stream


def answered(request: Request, context: Context, now: float) -> Answer:
    """What became of a request whose stream is over, or was ended where it was; not yet judged."""
    stream = request.stream
    assert stream is not None
    prefilled = request.prefilled if request.prefilled is not None else now
    drafts = stream.drafts
    return Answer(
        job=request.job,
        index=request.index,
        text=stream.reply.text,
        thinking=stream.reply.thinking,
        tokens=stream.reply_tokens,
        stop_reason=stream.finished or "interrupted",
        prompt_tokens=stream.prompt_length,
        counts=stream.counts,
        prefill_s=prefilled - request.begin,
        decode_s=now - prefilled,
        first_token_s=prefilled - request.begin if stream.counts.committed else None,
        constraint=request.constraint,
        compiled=request.compiled,
        complete=_complete(request, stream, context.model.vocabulary.tokenize_inside),
        sampling=request.sampling,
        sources={} if drafts is None else drafts.counters,
        masked=None if drafts is None else drafts.masked,
        failure=stream.failure,
        size=request.size or context.n_ctx,
    )


def judged(answer: Answer) -> Verdict:
    """The independent verdict on a complete answer; an incomplete one is not valid."""
    if answer.compiled is None or answer.constraint is None:
        return Verdict(None)
    if not answer.complete or answer.stop_reason == "interrupted":
        why = answer.stop_reason.replace("_", " ")
        return Verdict(False, (f"the answer ended inside the grammar ({why})",))
    return answer.compiled.judge.judge(answer.text)


def _complete(
    request: Request, stream: Stream, tokenize: Callable[[str], list[int]]
) -> bool | None:
    constraint = request.constraint
    if constraint is None:
        return None
    if stream.finished not in ("stop_token", "stop_sequence"):
        return constraint.complete
    # The constraint has seen the token that stopped the turn, which is not part of the answer.
    whole = constraint.fork()
    whole.reset()
    try:
        for token in tokenize(stream.reply.text):
            whole.commit(token)
    except ConstraintError:
        return False
    return whole.complete


def _governing(request: Request, n_vocab: int) -> LogitProcessor | None:
    """The request's constraint, afresh; after the thoughts where it lets the model think."""
    if request.constraint is None:
        return None
    request.constraint = request.constraint.fork()
    request.constraint.reset()
    thinking = request.prompt.thinking
    if not request.forbidden_while_thinking or thinking is None:
        return request.constraint
    return AfterThinking(
        request.constraint,
        opens=thinking.opens,
        closes=thinking.closes,
        inside=request.prompt.inside_thinking,
        forbidden=request.forbidden_while_thinking,
        n_vocab=n_vocab,
    )


def _never(_token: int) -> bool:
    return False


def _quantile(seconds: list[float], share: float) -> float | None:
    """A quantile in microseconds."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e6, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
