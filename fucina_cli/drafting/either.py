"""Two sources in one: the cascade, free of cost, where its match is long, else the draft model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.draft_model import DraftModelSource
from fucina_cli.drafting.source import Counters, Outlook

#: Probability of its first token from which a draft of the cascade is preferred.
_CONFIDENT = 0.7


class Either:
    """A DraftSource: long matches of the cascade, and where there are none the draft model."""

    def __init__(self, cascade: Cascade, model: DraftModelSource) -> None:
        self._cascade, self._model = cascade, model
        self._from_model = False

    @property
    def outlook(self) -> Outlook:
        """Of the last suggestion."""
        return self._model.outlook if self._from_model else self._cascade.outlook

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens of both."""
        return {**self._cascade.counters, **self._model.counters}

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context`."""
        guess = self._cascade.suggest(context, limit)
        self._from_model = not guess or self._cascade.outlook.first < _CONFIDENT
        if self._from_model:
            own = self._model.suggest(context, limit)
            if own:
                self._cascade.truncate_pending(0)
                return own
            self._from_model = False  # the gate has it off, or it has no suggestion
        return guess

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft."""
        self._cascade.observe(committed)
        self._model.observe(committed)

    def truncate_pending(self, length: int) -> None:
        """Count only the first `length` tokens of the pending draft."""
        (self._model if self._from_model else self._cascade).truncate_pending(length)

    @property
    def wants_topk(self) -> int:
        """What the cascade wants."""
        return self._cascade.wants_topk

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """For the cascade."""
        self._cascade.observe_topk(rows)
