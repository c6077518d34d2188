"""A turn: prompt in, reply out. Prefills, decodes; knows no flag and prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.decoding.reply import OnText, Reply
from fucina_cli.decoding.step import step
from fucina_cli.decoding.stream import Counts, StopReason, Stream
from fucina_cli.drafting.source import Counters, Counting
from fucina_cli.llama.context import Context
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitProcessor, ProcessorChain
from fucina_cli.sampling.sampler import Sampler

if TYPE_CHECKING:  # whoever speculates has it loaded; others save its 10 ms
    from fucina_cli.drafting.speculation import Speculation


@dataclass(frozen=True)
class Request:
    """What to decode, apart from the prompt.

    `processors` apply to every row in order; `constraint` follows them and governs the answer,
    which a thinking block precedes where `forbidden_while_thinking` lists what must not end it.
    `forced_spans` off decodes token by token, for comparison; `speculation` drafts.
    """

    sampling: SamplingConfig
    limit: int
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    processors: tuple[LogitProcessor, ...] = ()
    constraint: Constraint | None = None
    forbidden_while_thinking: tuple[int, ...] = ()
    forced_spans: bool = True
    speculation: Speculation | None = None


@dataclass
class Answer:
    """A reply and what it took. Times in seconds; `first_token_s` from the start of prefill.

    `sources` counts drafted and accepted tokens per source.
    """

    text: str
    thinking: str
    tokens: list[int]
    stop_reason: StopReason | Literal["interrupted"]
    prompt_tokens: int
    counts: Counts
    prefill_s: float
    decode_s: float
    first_token_s: float | None
    constraint: Constraint | None
    sources: Counters


def generate(
    context: Context,
    prompt: Prompt,
    request: Request,
    *,
    on_text: OnText | None = None,
    on_first_forward: Callable[[], None] | None = None,
) -> Answer:
    """Decode one reply in the context's first stream, which is emptied first.

    An interrupt (Ctrl-C) ends it early; what was produced is in the answer all the same.
    """
    stream, constraint = _stream(context, prompt, request, on_text)
    context.clear(stream.slot)
    begin = time.perf_counter()
    prefilled = begin
    interrupted = False
    gate = request.speculation.gate if request.speculation else None
    try:
        running = step(context, [stream], gate=gate)
        prefilled = time.perf_counter()
        if on_first_forward:
            on_first_forward()
        while running:
            running = step(context, [stream], gate=gate)
    except KeyboardInterrupt:
        interrupted = True
        stream.reply.finish()
    end = time.perf_counter()
    return Answer(
        text=stream.reply.text,
        thinking=stream.reply.thinking,
        tokens=stream.reply_tokens,
        stop_reason="interrupted" if interrupted or not stream.finished else stream.finished,
        prompt_tokens=stream.prompt_length,
        counts=stream.counts,
        prefill_s=prefilled - begin,
        decode_s=end - prefilled,
        first_token_s=prefilled - begin if stream.counts.committed else None,
        constraint=constraint,
        sources=stream.source.counters if isinstance(stream.source, Counting) else {},
    )


def _stream(
    context: Context, prompt: Prompt, request: Request, on_text: OnText | None
) -> tuple[Stream, Constraint | None]:
    vocabulary = context.model.vocabulary
    processors = list(request.processors)
    if request.constraint is not None:
        processors.append(_governing(request, request.constraint, prompt, context.model.n_vocab))
    processor: LogitProcessor | None = None
    if processors:
        single = len(processors) == 1
        processor = processors[0] if single else ProcessorChain(processors, context.model.n_vocab)
    reply = Reply(
        vocabulary.token_bytes,
        stops=request.stop_texts,
        thinking=prompt.thinking,
        inside_thinking=prompt.inside_thinking,
        keep_blank_lines=request.constraint is not None,
        on_text=on_text,
    )
    source = None
    if request.speculation is not None and context.model.can_rewind:
        source = request.speculation.source(processor, vocabulary)
    stream = Stream(
        slot=0,
        tokens=list(prompt.tokens),
        sampler=Sampler(request.sampling, processor=processor),
        reply=reply,
        is_end=vocabulary.is_end,
        stop_ids=request.stop_ids,
        limit=min(request.limit, context.n_ctx - len(prompt.tokens)),
        source=source,
        forced_spans=request.forced_spans,
    )
    return stream, request.constraint


def _governing(
    request: Request, constraint: Constraint, prompt: Prompt, n_vocab: int
) -> LogitProcessor:
    if not request.forbidden_while_thinking or prompt.thinking is None:
        return constraint
    return AfterThinking(
        constraint,
        opens=prompt.thinking.opens,
        closes=prompt.thinking.closes,
        inside=prompt.inside_thinking,
        forbidden=request.forbidden_while_thinking,
        n_vocab=n_vocab,
    )
