"""One stream of tokens: its history, its sampler, when it ends."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fucina_cli.decoding.counts import Counts, StopReason
from fucina_cli.decoding.reply import Reply
from fucina_cli.sampling.processor import Structured
from fucina_cli.sampling.sampler import Sampler

if TYPE_CHECKING:  # not imported by runs without drafts
    from fucina_cli.drafting.gated import Gated


@dataclass
class Stream:
    """State of one stream in the decode core.

    Args:
        slot: its place in the KV cache.
        tokens: the prompt's ids; the reply's are appended as they are committed.
        sampler: its own; the processor inside is the stream's constraint.
        reply: collects the text.
        is_end: whether an id ends the turn by the model's own convention.
        stop_ids: further ids that end it.
        limit: most reply tokens.
        drafts: guesses of the next tokens, None for none.
        forced_spans: commit tokens that the grammar forces without asking for logits.
        cached: tokens whose K and V the cache already holds.
    """

    slot: int
    tokens: list[int]
    sampler: Sampler
    reply: Reply
    is_end: Callable[[int], bool]
    limit: int
    stop_ids: Collection[int] = ()
    drafts: Gated | None = None
    forced_spans: bool = True
    cached: int = 0
    finished: StopReason | None = None
    failure: Exception | None = None
    counts: Counts = field(default_factory=Counts)
    prompt_length: int = field(init=False)
    _settled: bool = field(init=False, default=False)  # nothing is forced since the last token

    def __post_init__(self) -> None:
        self.prompt_length = len(self.tokens)
        processor = self.sampler.processor
        # isinstance on a protocol looks up every method: once here, not at every step.
        self.structure = processor if isinstance(processor, Structured) else None

    @property
    def reply_tokens(self) -> list[int]:
        """Ids of the reply, without the stop token."""
        return self.tokens[self.prompt_length :]

    @property
    def room(self) -> int:
        """Reply tokens that may still be committed."""
        return self.limit - self.counts.committed

    def commit_forced(self) -> None:
        """Commit what the grammar forces next; end the stream at its end or budget.

        A forced token passes through the sampler like any other; that no logits are needed is the
        gain. The stop token after a complete answer is one of them, and comes before the budget:
        an answer that fits its budget exactly is a complete one.
        """
        if self._settled or self.finished:
            return
        while self.structure and not self.finished:
            # At the budget's end one more is asked for: it may be the stop token.
            span = self.structure.forced_tokens(max(self.room, 1))
            if not span:
                break
            if self.ends_turn(span[0]):
                self.sampler.force(span[0])
                self.end("stop_token" if span[0] in self.stop_ids else "constraint")
            elif not self.forced_spans or self.room <= 0:
                break
            for token in span:
                if self.finished or self.ends_turn(token):
                    break
                self.sampler.force(token)
                self.append(token, forced=True)
        if not self.finished and self.room <= 0:
            self.end("length")
        self._settled = True

    def end_is_forced(self) -> bool:
        """Whether the grammar leaves nothing but the end of the turn."""
        span = self.structure.forced_tokens(1) if self.structure else []
        return bool(span) and self.ends_turn(span[0])

    def ends_turn(self, token: int) -> bool:
        """Whether `token` is a stop token of this stream."""
        return token in self.stop_ids or self.is_end(token)

    def accept(self, token: int) -> None:
        """Take a token that the sampler just committed."""
        self._settled = False
        if self.ends_turn(token):
            self.end("stop_token" if token in self.stop_ids else "eos")
        else:
            self.append(token)

    def append(self, token: int, *, forced: bool = False) -> None:
        """Make `token` part of the reply, unless it completes a stop sequence."""
        # Counted before its text is shown, so that an interrupt in between loses no count.
        self.tokens.append(token)
        self.counts.committed += 1
        self.counts.forced += forced
        if self.reply.add(token):
            self.tokens.pop()
            self.counts.committed -= 1
            self.counts.forced -= forced
            self.end("stop_sequence")

    def fail(self, error: Exception) -> None:
        """The stream is over by an error of its own."""
        self.failure = error
        self.end("failed")

    def end(self, reason: StopReason) -> None:
        """The stream is over; text that was held back is handed on."""
        self.finished = reason
        self.reply.finish()
