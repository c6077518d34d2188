"""The contract of a draft source."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class DraftSource(Protocol):
    """Guesses what the sampler will choose next. Deterministic: same calls, same guesses."""

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context` (prompt and reply so far)."""
        ...

    def observe(self, committed: Sequence[int]) -> None:
        """Learn the tokens that were committed since the last call, in order."""
        ...

    def truncate_pending(self, length: int) -> None:
        """The draft just suggested was shortened to `length` tokens before it was verified."""
        ...
