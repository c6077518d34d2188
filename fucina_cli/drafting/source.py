"""The contract of a draft source, and what a source may offer beyond it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

#: Drafted and accepted tokens of each source, by the source's name.
Counters = Mapping[str, tuple[int, int]]


class DraftSource(Protocol):
    """Guesses what the sampler will choose next. Deterministic: same calls, same guesses.

    One source belongs to one stream. A suggestion is pending until `observe` settles it; a second
    suggestion before that replaces it, and what was never observed counts nowhere.
    """

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context` (prompt and reply so far).

        The context of a stream grows at its end, by whatever way the tokens were committed; one
        that does not begin with the context before starts the source afresh.
        """
        ...

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft: `committed` are the tokens that came in its place, in order.

        Accepted of the draft is its common prefix with them. Call it after each
        verification, also without a draft.
        """
        ...

    def truncate_pending(self, length: int) -> None:
        """The draft just suggested was shortened to `length` tokens before it was verified."""
        ...


@dataclass(frozen=True)
class Outlook:
    """How likely a source's last suggestion is to hold.

    Attributes:
        kind: suggestions of one kind hold about equally often, which is measured per kind.
        first: prior probability that the first token holds.
        then: the same of each token after one that held.
    """

    kind: str
    first: float
    then: float


#: Of a source that does not say.
UNKNOWN = Outlook("draft", 0.5, 0.7)
#: Tokens that can't fail.
CERTAIN = Outlook("forced", 1.0, 1.0)


@runtime_checkable
class Forecasting(Protocol):
    """A source that knows how good its suggestions are."""

    @property
    def outlook(self) -> Outlook:
        """Of the last suggestion that had any token."""
        ...


@runtime_checkable
class Counting(Protocol):
    """A source that counts what became of its drafts."""

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens so far, per source."""
        ...


@runtime_checkable
class LearnsTopK(Protocol):
    """A source that learns from the logits that follow rejected tokens."""

    @property
    def wants_topk(self) -> int:
        """How many successors per row it has use for; 0 for none, then don't compute any."""
        ...

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Learn from rows of logits: each the token of the row and the ids it rates best, in order.

        They are the rows of a draft's rejected tokens: what would have followed those. Of all
        other rows the choice is committed, and so in the next context.
        """
        ...
