"""Wall time in laps."""

from __future__ import annotations

import time


class Stopwatch:
    """Starts when made; `lap` gives the seconds since then or since the last lap."""

    def __init__(self) -> None:
        self._last = time.perf_counter()

    def lap(self) -> float:
        """Seconds since the last lap."""
        now = time.perf_counter()
        seconds, self._last = now - self._last, now
        return seconds
