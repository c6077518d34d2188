"""What a forward of several rows costs, in plain steps, measured on this model and machine."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from fucina_cli.llama.context import Context, Row

#: Row counts that are measured.
ROW_COUNTS = (2, 3, 4, 6, 8, 12, 16)
_LEAST_ROUNDS, _MOST_ROUNDS = 3, 9
_BUDGET_S = 3.0


@dataclass(frozen=True)
class RowCost:
    """Cost of one forward of `rows` rows, in plain steps, with logits for all or the last only."""

    rows: int
    all_logits: float
    last_logits: float

    @property
    def break_even(self) -> float:
        """Share of the drafted tokens that must hold for a verify batch to cost nothing.

        Its rows are one carried token and `rows` - 1 drafted ones, and it commits one token more
        than hold. Above 1 a draft of that length always loses.
        """
        return max(0.0, (self.all_logits - 1) / (self.rows - 1))

    @property
    def forced_speedup(self) -> float:
        """Tokens per plain step where all rows are forced tokens: they need no logits."""
        return self.rows / self.last_logits


@dataclass(frozen=True)
class RowCosts:
    """Median milliseconds of a plain step (one row with logits), and what more rows cost."""

    plain_ms: float
    rounds: int
    rows: tuple[RowCost, ...]


def measure(
    context: Context,
    prompt: Sequence[int],
    *,
    row_counts: Sequence[int] = ROW_COUNTS,
    budget_s: float = _BUDGET_S,
) -> RowCosts:
    """Time forwards of `row_counts` rows that follow `prompt`; empties the context.

    The rows are the model's own greedy continuation, the cache is cut back to the prompt after
    each. Plain steps are timed before and after every row count, and a cost is the median of its
    ratios to these two, so that a clock that slows down meanwhile slows down both. Repeats all of
    it 3 to 9 times, as `budget_s` seconds allow. Sampling is not part of any timing.

    Raises:
        ModelError: for a recurrent model, and when llama.cpp fails.
        ContextFull: when prompt and most rows do not fit.
    """
    context.clear_all()
    try:
        rows = _continuation(context, prompt, max(row_counts))
        single = rows[:1]
        plain: list[float] = []
        ratios: dict[tuple[int, bool], list[float]] = {}
        begin = time.perf_counter()
        rounds = 0
        while rounds < _LEAST_ROUNDS or (
            rounds < _MOST_ROUNDS and time.perf_counter() - begin < budget_s
        ):
            rounds += 1
            before = _plain(context, single)
            plain.append(before)
            for count in row_counts:
                forwards = (rows[:count], _last_only(rows[:count]))
                seconds = [_timed(context, forward) for forward in forwards]
                after = _plain(context, single)
                plain.append(after)
                for every, taken in zip((True, False), seconds, strict=True):
                    ratios.setdefault((count, every), []).append(taken * 2 / (before + after))
                before = after
    finally:
        context.clear_all()
    return RowCosts(
        plain_ms=median(plain) * 1e3,
        rounds=rounds,
        rows=tuple(
            RowCost(n, median(ratios[n, True]), median(ratios[n, False])) for n in row_counts
        ),
    )


def _continuation(context: Context, prompt: Sequence[int], count: int) -> list[Row]:
    """Rows with logits for the `count` tokens that greedily follow; the prompt stays cached."""
    start = len(prompt)
    at = context.prefill(0, prompt, logits=True)
    rows: list[Row] = []
    for position in range(start, start + count):
        row = Row(int(context.logits(at).argmax()), position, 0, True)
        rows.append(row)
        context.decode([row])
        at = 0
    context.truncate(0, start)
    return rows


def _last_only(rows: Sequence[Row]) -> list[Row]:
    return [*(row._replace(wants_logits=False) for row in rows[:-1]), rows[-1]]


def _plain(context: Context, single: Sequence[Row]) -> float:
    """Seconds of a plain step among plain steps.

    The first of them is not timed: after a forward of another shape llama.cpp plans its graph
    anew, which a run of plain steps never pays.
    """
    _timed(context, single)
    return _timed(context, single)


def _timed(context: Context, rows: Sequence[Row]) -> float:
    """Seconds of a forward until its logits can be read; the cache is as before."""
    begin = time.perf_counter()
    context.decode(rows)
    context.logits(len(rows) - 1)  # waits for a GPU
    taken = time.perf_counter() - begin
    context.truncate(0, rows[0].position)
    return taken
