"""Turns: prompts in, replies out, one alone or many side by side. Knows no flag, prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.decoding.lockstep import Lockstep
from fucina_cli.decoding.reply import OnText, Reply
from fucina_cli.decoding.stream import Counts, StopReason, Stream
from fucina_cli.drafting.source import Counters
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
    `forced_spans` off decodes token by token, for comparison; `endless` takes no token for the end,
    for measurements of a given length.
    """

    sampling: SamplingConfig
    limit: int
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    processors: tuple[LogitProcessor, ...] = ()
    constraint: Constraint | None = None
    forbidden_while_thinking: tuple[int, ...] = ()
    forced_spans: bool = True
    endless: bool = False


@dataclass
class Answer:
    """A reply and what it took. Times in seconds; `first_token_s` from the start of prefill.

    `sources` counts drafted and accepted tokens per source, `masked` the proposals of a draft model
    that the mask changed. `failure` is what ended a "failed" one. `complete` tells whether the
    text, without what a stop took from it, is a whole answer of the constraint; None without one.
    In company, times are those on the clock, in which others advanced too.
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
    complete: bool | None
    sources: Counters
    masked: int | None = None
    failure: Exception | None = None


@dataclass
class _Turn:
    """A request on its way."""

    key: Hashable
    request: Request
    stream: Stream
    seat: int
    begin: float
    prefilled: float | None = None


class Conversations:
    """Requests answered side by side, each as if it were alone.

    Args:
        context: one request per stream at a time.
        speculation: what drafts for them.
        share: see Lockstep.

    Raises ValueError when the draft model's context has fewer streams.
    """

    def __init__(
        self, context: Context, *, speculation: Speculation | None = None, share: bool = True
    ) -> None:
        self._context, self._speculation = context, speculation
        drafts = speculation.draft_context if speculation else None
        if drafts is not None and drafts.n_slots < context.n_slots:
            raise ValueError(
                f"{drafts.n_slots} streams of a draft model are too few for {context.n_slots}"
            )
        self._lockstep = Lockstep(context, share=share)
        # A seat lasts as long as its request; the slot in the cache may change.
        self._turns: dict[int, _Turn | None] = dict.fromkeys(range(context.n_slots))
        self._done: list[tuple[Hashable, Answer]] = []  # not yet handed out

    @property
    def free(self) -> int:
        """Requests that there is room for."""
        return self._lockstep.free

    @property
    def running(self) -> int:
        """Requests on their way."""
        return self._context.n_slots - self.free

    def submit(
        self, key: Hashable, prompt: Prompt, request: Request, on_text: OnText | None = None
    ) -> None:
        """Begin with a request. Raises what Lockstep.add raises."""
        begin = time.perf_counter()
        if not self.free:
            raise ValueError(f"all {self._context.n_slots} slots are taken")
        seat = next(seat for seat, turn in self._turns.items() if turn is None)
        stream = _stream(self._context, prompt, request, self._speculation, on_text)
        self._lockstep.add(stream)
        self._turns[seat] = _Turn(key, request, stream, seat, begin)

    def advance(self) -> list[tuple[Hashable, Answer]]:
        """One forward for all; the answers that are complete."""
        self._lockstep.advance()
        now = time.perf_counter()
        for turn in self._waiting():
            if turn.prefilled is None:
                turn.prefilled = now
            if turn.stream.finished:
                self._settle(turn, now)
        done, self._done = self._done, []
        return done

    def interrupt(self) -> list[tuple[Hashable, Answer]]:
        """End all requests where they are; their answers so far, whole ones among them."""
        now = time.perf_counter()
        for turn in self._waiting():
            if not turn.stream.finished:
                turn.stream.reply.finish()
            self._settle(turn, now)
        for stream in self._lockstep.streams:
            self._lockstep.remove(stream)
        done, self._done = self._done, []
        return done

    def _settle(self, turn: _Turn, now: float) -> None:
        # In this order: an interrupt in between must not lose the answer.
        tokenize = self._context.model.vocabulary.tokenize_inside
        self._done.append((turn.key, _answer(turn, now, tokenize)))
        self._turns[turn.seat] = None

    def _waiting(self) -> list[_Turn]:
        return [turn for turn in self._turns.values() if turn is not None]


def generate(
    context: Context,
    prompt: Prompt,
    request: Request,
    *,
    speculation: Speculation | None = None,
    on_text: OnText | None = None,
    on_first_forward: Callable[[], None] | None = None,
) -> Answer:
    """Decode one reply in a context that is emptied first.

    An interrupt (Ctrl-C) ends it early; what was produced is in the answer all the same. Raises
    what made the reply fail.
    """
    alone = Conversations(context, speculation=speculation)
    alone.submit(None, prompt, request, on_text)
    done: list[tuple[Hashable, Answer]] = []
    try:
        done = alone.advance()
        if on_first_forward:
            on_first_forward()
        while not done:
            done = alone.advance()
    except KeyboardInterrupt:
        done = done or alone.interrupt()
    answer = done[0][1]
    if answer.failure is not None:
        raise answer.failure
    return answer


def _answer(turn: _Turn, now: float, tokenize: Callable[[str], list[int]]) -> Answer:
    stream = turn.stream
    prefilled = turn.prefilled if turn.prefilled is not None else now
    return Answer(
        text=stream.reply.text,
        thinking=stream.reply.thinking,
        tokens=stream.reply_tokens,
        stop_reason=stream.finished or "interrupted",
        prompt_tokens=stream.prompt_length,
        counts=stream.counts,
        prefill_s=prefilled - turn.begin,
        decode_s=now - prefilled,
        first_token_s=prefilled - turn.begin if stream.counts.committed else None,
        constraint=turn.request.constraint,
        complete=_complete(turn, tokenize),
        sources=stream.drafts.counters if stream.drafts else {},
        masked=stream.drafts.masked if stream.drafts else None,
        failure=stream.failure,
    )


def _complete(turn: _Turn, tokenize: Callable[[str], list[int]]) -> bool | None:
    constraint, stream = turn.request.constraint, turn.stream
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


def _stream(
    context: Context,
    prompt: Prompt,
    request: Request,
    speculation: Speculation | None,
    on_text: OnText | None,
) -> Stream:
    vocabulary = context.model.vocabulary
    processors = [processor.fork() for processor in request.processors]
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
    drafts = None
    if speculation is not None and context.model.can_rewind:
        drafts = speculation.drafts(processor, vocabulary)
    return Stream(
        slot=0,
        tokens=list(prompt.tokens),
        sampler=Sampler(request.sampling, processor=processor),
        reply=reply,
        is_end=_never if request.endless else vocabulary.is_end,
        stop_ids=request.stop_ids,
        limit=min(request.limit, context.n_ctx - len(prompt.tokens)),
        drafts=drafts,
        forced_spans=request.forced_spans,
    )


def _never(_token: int) -> bool:
    return False


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
