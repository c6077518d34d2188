"""The drafts of one stream: suggested by a source, priced by a gate, settled after verification."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fucina_cli.drafting.source import (
    UNKNOWN,
    Counters,
    Counting,
    DraftSource,
    Forecasting,
    LearnsTopK,
    Outlook,
)
from fucina_cli.drafting.unverified import UnverifiedDrafts
from fucina_cli.sampling.topk import top_order

if TYPE_CHECKING:
    from fucina_cli.drafting.draft_model import DraftModelSource
    from fucina_cli.drafting.gate import Gate

#: Most tokens of a draft that are verified at once.
DRAFT_LIMIT = 24


@dataclass(frozen=True)
class _Pending:
    """A draft to be verified: its tokens, where the first of them stands, and what it costs."""

    tokens: Sequence[int]
    position: int
    outlook: Outlook = UNKNOWN
    rows: int = 1  # of the forward before the draft's
    logit_rows: int = 1
    seconds: float = 0.0  # that it took to make


class Gated:
    """Asks a source for drafts, a gate how much of them to verify, and teaches both the result.

    It is called twice per step of its stream: `draft` before the forward, `settle` after the
    verification. A step that fails in between is not counted.

    Args:
        source: of this stream alone.
        gate: learns from all streams of a context; None verifies each draft whole.
        model: the draft model within the source, if there is one.
    """

    def __init__(
        self,
        source: DraftSource,
        gate: Gate | None = None,
        *,
        model: DraftModelSource | None = None,
    ) -> None:
        self.gate = gate
        #: Whether the stream has ended, so that its draft slot is free.
        self.closed = False
        self._source, self._model = source, model
        # isinstance on a protocol looks up every method: once here, not at every step.
        self._forecast = source if isinstance(source, Forecasting) else None
        self._learner = source if isinstance(source, LearnsTopK) else None
        self._counting = source if isinstance(source, Counting) else None
        self._unverified = UnverifiedDrafts()
        self._pending = _Pending((), 0)

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens so far, per source."""
        return self._counting.counters if self._counting else {}

    @property
    def masked(self) -> int | None:
        """Proposals of the draft model that the mask changed; None without a draft model."""
        return self._model.masked if self._model else None

    def draft(
        self,
        tokens: Sequence[int],
        room: int,
        ends_turn: Callable[[int], bool],
        *,
        rows: int,
        logit_rows: int,
    ) -> list[int]:
        """What to verify after `tokens` (prompt and reply so far): at most `room` tokens.

        Args:
            ends_turn: whether a token ends the turn; such a one only ever arrives as a sampled
                token, so a draft is cut before it.
            rows, logit_rows: what the forward holds without the draft.
        """
        position = len(tokens)
        self._pending = _Pending((), position)
        room = min(room, DRAFT_LIMIT)
        if room <= 0:
            return []
        begin = time.perf_counter()
        suggested = self._source.suggest(tokens, room)
        seconds = time.perf_counter() - begin
        draft = suggested[:room]
        end = next((i for i, token in enumerate(draft) if ends_turn(token)), len(draft))
        outlook = self._forecast.outlook if self._forecast else UNKNOWN
        draft = self._affordable(draft[:end], position, outlook, rows, logit_rows)
        if len(draft) < len(suggested):
            self._source.truncate_pending(len(draft))
        self._pending = _Pending(draft, position, outlook, rows, logit_rows, seconds)
        return draft

    def settle(
        self, tokens: Sequence[int], held: int, logits: Callable[[int], NDArray[np.float32]]
    ) -> None:
        """Learn what became of the last draft, after its verification.

        Args:
            tokens: of the stream, those committed in the draft's place at its end.
            held: tokens of the draft that were accepted.
            logits: the row that follows the draft's first i tokens, float32 [n_vocab]; asked for
                rejected tokens only, whose rows no mask has touched.
        """
        pending, drafted = self._pending, len(self._pending.tokens)
        if self._learner is not None and held < drafted and (width := self._learner.wants_topk):
            self._learner.observe_topk(
                (token, top_order(logits(row), width).tolist())
                for row, token in enumerate(pending.tokens[held:], held + 1)
            )
        self._source.observe(tokens[pending.position :])
        if self.gate is not None:
            self._unverified.settle(self.gate, tokens)
            self.gate.settle(
                drafted,
                held,
                pending.outlook,
                rows=pending.rows,
                logit_rows=pending.logit_rows,
                seconds=pending.seconds,
            )

    def close(self) -> None:
        """The stream has ended; counters remain."""
        self.closed = True

    def _affordable(
        self, draft: list[int], position: int, outlook: Outlook, rows: int, logit_rows: int
    ) -> list[int]:
        """As much of the draft as the gate lets through; what it left out whole is followed."""
        gate = self.gate
        if gate is None or not draft:
            return draft
        budget = gate.budget(len(draft), outlook, rows=rows, logit_rows=logit_rows)
        if not budget:
            self._unverified.add(outlook, draft, position)
            missed = gate.unaffordable(len(draft), outlook, rows=rows, logit_rows=logit_rows)
            if missed:
                self._unverified.add_unaffordable(
                    outlook, draft[:missed], position, rows=rows, logit_rows=logit_rows
                )
        return draft[:budget]
