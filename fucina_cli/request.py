"""A request: the state of a job from submission to answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from fucina_cli.answer import Answer
from fucina_cli.constraint.compiler import Compiled
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.constraint.kind import Verdict
from fucina_cli.decoding.reply import OnText, Reply
from fucina_cli.decoding.stream import Stream
from fucina_cli.job import Job
from fucina_cli.llama.context import Context
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitProcessor, ProcessorChain
from fucina_cli.sampling.sampler import Sampler


@dataclass
class Request:
    """What to decode, and its progress.

    Attributes:
        prompt: what the reply follows.
        sampling: settings of the sampler; a further draw has the next seed.
        limit: most reply tokens.
        stop_ids, stop_texts: what ends the reply beside the model's own end of turn.
        processors: applied to every row, in order; forked for each attempt.
        constraint: follows the processors and governs the answer; each attempt forks it.
        compiled: the constraint's source and judge; None where nothing is judged.
        forbidden_while_thinking: ids that must not end a thinking block which precedes the answer;
            empty for none.
        forced_spans: commit forced tokens without logits; off decodes token by token.
        endless: no token ends the reply, for measurements of a given length.
        on_text: receives the text as it becomes certain, or whole where it may be drawn again.
        job: the job that it answers, None for a measurement.
        index: its number among those submitted together.
        size: tokens of context that it would have alone.
        attempts: attempts begun so far.
        recompiled: whether the one attempt with a grammar of its own was used.
        stream: its state in the decode core, of the last attempt.
        began, prefilled: when the attempt began and its prefill ended, by the performance counter.
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
    began: float = 0.0
    prefilled: float | None = None

    @property
    def draws_again(self) -> bool:
        """Whether an invalid answer is drawn again: a sampled one that can be judged.

        A greedy one would come out the same.
        """
        return (
            self.compiled is not None and not self.sampling.greedy and self.compiled.judge.refuses
        )


def begin(request: Request, context: Context) -> Stream:
    """A stream for the next attempt at a request, not yet in any slot."""
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
    request.began, request.prefilled = time.perf_counter(), None
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
    """The answer of a request whose stream has ended or was interrupted; not yet judged."""
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
        prefill_s=prefilled - request.began,
        decode_s=now - prefilled,
        first_token_s=prefilled - request.began if stream.counts.committed else None,
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
    """A fresh fork of the constraint; it starts after the thoughts where the model thinks."""
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
