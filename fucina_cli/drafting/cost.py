"""What a forward of several rows costs, in plain steps, learned from its timings."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import deque
from statistics import median

# Prior cost of a forward in plain steps, before any measurement: rather too high than too low.
# The second row costs most: with it llama.cpp leaves its kernels for single rows.
_SECOND_ROW, _ROW, _LOGITS = 0.5, 0.2, 0.12
_MOST_ROWS = 64  # more are a prompt, not a step
_PLAIN_SAMPLES, _SAMPLES = 15, 7
_STALE = 200  # forwards after which timings of a row count say nothing about now


class CostModel:
    """Cost of a forward by its rows, with logits for all or for one; one plain step is 1.

    Timings are kept as factors on the prior's cost, apart for forwards with drafts (several rows
    with logits) and for those with forced tokens only. The factor of a row count is the median of
    its last timings and, twice, of the usual factor: the median of the last timings of whatever
    row counts, which begins with two of the prior. So one bad timing changes nothing, and what a
    machine's rows cost is soon known for row counts that were hardly seen; between and beyond them
    the factor is interpolated. Timings that no forward has added to for 200 forwards are dropped:
    costs measured while the machine was busy stop further drafts, and so would never be corrected.
    """

    def __init__(self) -> None:
        self._plain: deque[float] = deque(maxlen=_PLAIN_SAMPLES)
        self._scaled: deque[float] = deque(maxlen=_PLAIN_SAMPLES)
        self._windows: dict[tuple[bool, int], deque[float]] = {}
        self._factors: dict[bool, list[tuple[int, float]]] = {False: [], True: []}
        self._known: dict[tuple[int, int], float] = {}
        self._forwards = 0
        # Factors of late, whatever the row count, and the forward that the last was added at.
        self._recent = {kind: deque((1.0, 1.0), maxlen=_SAMPLES) for kind in (False, True)}
        self._last = {False: 0, True: 0}
        self._seen: dict[tuple[bool, int], int] = {}  # the forward that a window was last added to
        #: Changes whenever an estimate may have.
        self.version = 0

    @property
    def plain_seconds(self) -> float | None:
        """Seconds of a plain step (one row with logits); None before any timing."""
        samples = self._plain or self._scaled
        if not samples:
            return None
        # Disturbances only lengthen a timing: of one or two take the shorter.
        return median(samples) if len(samples) > 2 else min(samples)

    def record(self, rows: int, logit_rows: int, seconds: float) -> None:
        """Learn from a forward of `rows` rows, `logit_rows` of them with logits.

        Timings that are no positive number, forwards without logits and prompts are ignored.
        """
        if not 0 < seconds < math.inf or not 0 < logit_rows <= rows <= _MOST_ROWS:
            return
        self._forwards += 1
        expected = _prior(rows, logit_rows)
        self._scaled.append(seconds / expected)
        for kind, last in self._last.items():
            if last and self._forwards - last > _STALE:
                self._forget(kind)
        if rows == 1:
            self._plain.append(seconds)
            return
        plain = self.plain_seconds
        assert plain is not None
        drafts = logit_rows > 1
        factor = seconds / plain / expected
        self._last[drafts] = self._forwards
        self._recent[drafts].append(factor)
        window = self._windows.get((drafts, rows))
        if window is None or self._forwards - self._seen[drafts, rows] > _STALE:
            window = self._windows[drafts, rows] = deque(maxlen=_SAMPLES)
        self._seen[drafts, rows] = self._forwards
        window.append(factor)
        usual = median(self._recent[drafts])
        self._factors[drafts] = sorted(
            (r, median((*w, usual, usual)))
            for (kind, r), w in self._windows.items()
            if kind == drafts
        )
        self._known.clear()
        self.version += 1

    def _forget(self, drafts: bool) -> None:
        """Drop the timings of such forwards: they are old."""
        self._last[drafts] = 0
        self._recent[drafts] = deque((1.0, 1.0), maxlen=_SAMPLES)
        for key in [key for key in self._windows if key[0] == drafts]:
            del self._windows[key]
        self._factors[drafts] = []
        self._known.clear()
        self.version += 1

    def cost(self, rows: int, logit_rows: int) -> float:
        """Estimated cost of a forward in plain steps."""
        if rows == 1:
            return 1.0
        known = self._known.get((rows, logit_rows))
        if known is None:
            known = _prior(rows, logit_rows) * self._factor(rows, logit_rows > 1)
            self._known[rows, logit_rows] = known
        return known

    def measured(self) -> dict[str, float]:
        """Costs of the row counts seen, such as {"4": 2.6, "4 forced": 2.1}."""
        return {
            f"{rows}" if drafts else f"{rows} forced": self.cost(rows, rows if drafts else 1)
            for drafts in (True, False)
            for rows, _ in self._factors[drafts]
        }

    def _factor(self, rows: int, drafts: bool) -> float:
        """Measured cost over the prior's, interpolated between the row counts seen."""
        known = self._factors[drafts]
        if not known:
            return 1.0
        at = bisect_left(known, (rows, 0.0))
        if at == len(known):
            return known[-1][1]
        above, upper = known[at]
        if at == 0 or above == rows:
            return upper
        below, lower = known[at - 1]
        return lower + (upper - lower) * (rows - below) / (above - below)


def _prior(rows: int, logit_rows: int) -> float:
    return 1 + _SECOND_ROW * (rows > 1) + _ROW * (rows - 1) + _LOGITS * (logit_rows - 1)
