"""Streams in the slots of one context: added, advanced together, removed when they end.

A slot is a numbered place for one sequence in the KV cache. llama.cpp computes rows of several
slots in one graph only where their numbers follow each other without a gap, so the streams are
always neighbours: when one between others ends and no other takes its slot, the last one moves
there.

What a new stream's prompt has in common with the tokens of any slot, of a running stream or of one
that has ended, is copied in the cache instead of being computed again.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from fucina_cli.decoding.step import STREAM_FAILURES, prefill, step
from fucina_cli.decoding.stream import Stream
from fucina_cli.llama.context import Context
from fucina_cli.llama.prefix import common_prefix

_LEAST_SHARED = 8  # tokens; fewer are computed again


class SharedConstraint(ValueError):
    """Two streams were to advance the same sampler or processor, which has the state of one."""


class Lockstep:
    """Streams that advance in common forwards.

    Args:
        context: whose slots the streams get; nothing else may use them meanwhile.
        share: copy common beginnings; off computes each prompt anew, for measurements.
    """

    def __init__(self, context: Context, *, share: bool = True) -> None:
        self._context = context
        self._share = share and context.model.can_rewind
        self._running: list[Stream | None] = [None] * context.n_slots
        self._left: list[list[int]] = [[] for _ in self._running]  # by ended streams
        context.clear_all()

    @property
    def streams(self) -> list[Stream]:
        """The running streams, by their slots."""
        return [stream for stream in self._running if stream is not None]

    @property
    def free(self) -> int:
        """Streams that there is room for."""
        return self._running.count(None)

    def add(self, stream: Stream) -> None:
        """Give the stream a slot, and the part of its prompt that is cached in any slot.

        Raises:
            SharedConstraint: a running stream has the same sampler, processor or constraint.
            ValueError: no slot is free.
        """
        if not self.free:
            raise ValueError(f"all {len(self._running)} slots are taken")
        taken = {id(part) for other in self.streams for part in _stateful(other)}
        if any(id(part) in taken for part in _stateful(stream)):
            raise SharedConstraint(
                "two streams share a sampler or constraint; give each a fork of its own"
            )
        stream.slot = self._choose_slot(stream.tokens)
        self._reuse(stream)
        self._running[stream.slot] = stream

    def advance(self) -> list[Stream]:
        """One forward for all; the streams that ended, whose slots are free now.

        A stream that failed is among them, with its `failure`.
        """
        self._close_gaps()
        streams = self.streams
        with contextlib.suppress(*STREAM_FAILURES):  # each is in its stream
            step(self._context, streams)
        ended = [stream for stream in streams if stream.finished]
        for stream in ended:
            self._leave(stream)
        return ended

    def remove(self, stream: Stream) -> None:
        """Take out a running stream as it is."""
        self._leave(stream)

    # ----------------------------------------------------------------------------------------

    def _leave(self, stream: Stream) -> None:
        """Remove the stream; its cache stays for others to share."""
        self._vacate(stream)
        if stream.drafts is not None:
            stream.drafts.close()

    def _vacate(self, stream: Stream) -> None:
        self._running[stream.slot] = None
        self._left[stream.slot] = stream.tokens[: stream.cached]

    def _reuse(self, stream: Stream) -> None:
        """Set the slot's cache to the longest known beginning of the stream's tokens."""
        slot, tokens = stream.slot, stream.tokens[:-1]  # the last is forwarded for its logits
        best, shared = slot, 0
        if self._share:
            own = common_prefix(self._left[slot], tokens)
            best, shared = max(
                ((i, common_prefix(self._tokens(i), tokens)) for i in range(len(self._running))),
                key=lambda candidate: candidate[1],
            )
            if shared < max(_LEAST_SHARED, own + 1):
                best, shared = slot, own
        self._left[slot] = []  # before the cache changes: an interrupt may come in between
        if best != slot:
            source = self._running[best]
            if source is not None and source.cached < shared:
                prefill(self._context, source, shared)
            self._context.copy(best, slot, shared)
        elif shared:
            self._context.truncate(slot, shared)
        else:
            self._context.clear(slot)
        stream.cached = shared

    def _tokens(self, slot: int) -> Sequence[int]:
        """Tokens that the slot holds, or will hold."""
        stream = self._running[slot]
        if stream is None:
            return self._left[slot]
        # Its last token is forwarded together with others.
        return stream.tokens[: max(stream.cached, len(stream.tokens) - 1)]

    def _choose_slot(self, tokens: Sequence[int]) -> int:
        """The free slot for a stream with these tokens, beside or between the others.

        Of several the one that holds the longest beginning of `tokens`, then the one that holds
        the fewest tokens.
        """
        taken = [i for i, stream in enumerate(self._running) if stream is not None]
        near = range(max(0, taken[0] - 1), taken[-1] + 2) if taken else range(len(self._running))
        free = [i for i in near if i < len(self._running) and self._running[i] is None]
        return max(
            free or [self._running.index(None)],
            key=lambda i: (common_prefix(self._left[i], tokens), -len(self._left[i])),
        )

    def _close_gaps(self) -> None:
        if not self._context.model.can_rewind:
            return  # a recurrent state can't be truncated, and copying it whole is not worth it
        while streams := self.streams:
            first, last = streams[0].slot, streams[-1]
            if last.slot - first < len(streams):
                return
            gap = self._running.index(None, first)
            self._left[gap] = []
            self._context.copy(last.slot, gap, last.cached)
            self._vacate(last)
            last.slot = gap
            self._running[gap] = last


def _stateful(stream: Stream) -> Iterator[object]:
    """The parts of a stream whose state its tokens advance."""
    yield stream.sampler
    waiting: list[object] = [stream.sampler.processor]
    while waiting:
        part = waiting.pop()
        if part is not None:
            yield part
            waiting.extend(getattr(part, "members", ()))
