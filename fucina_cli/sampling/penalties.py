"""Repeat, frequency and presence penalties over the last tokens of the history."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Penalties"]


class Penalties:
    """Penalises the tokens seen among the last ``last_n`` of the history.

    For a token seen ``count`` > 0 times its logit is divided by ``repeat`` when positive and
    multiplied by it otherwise (Keskar et al., "CTRL", 2019, section 4.1, with the sign fix of
    llama.cpp), then lowered by ``count * frequency + presence`` (the OpenAI API's formula, as in
    llama.cpp's penalties sampler). -inf stays -inf under all of these.

    The counts of the last call are kept, and when the history has merely grown only the change is
    counted. That is a cache: the result depends on the arguments of ``apply`` alone.
    """

    def __init__(
        self,
        *,
        repeat: float = 1.0,
        frequency: float = 0.0,
        presence: float = 0.0,
        last_n: int = 64,
    ) -> None:
        """``repeat`` > 0 (1 is off); ``last_n`` tokens (0 disables all, -1 is everything)."""
        self._repeat = np.float32(repeat)
        self._frequency = np.float32(frequency)
        self._presence = np.float32(presence)
        self._last_n = last_n
        self._window: list[int] = []
        self._seen = 0
        self._counts: Counter[int] = Counter()

    @property
    def active(self) -> bool:
        """Whether ``apply`` can change anything."""
        return self._last_n != 0 and (
            self._repeat != 1 or self._frequency != 0 or self._presence != 0
        )

    def apply(self, row: NDArray[np.float32], history: Sequence[int]) -> None:
        """Penalise one row in place.

        Args:
            row: shape (n_vocab,), float32, writable.
            history: all tokens before the one being chosen, prompt included.

        Raises:
            ValueError: a token of the window is not an id of this row.
        """
        if not self.active or len(history) == 0:
            return
        self._count(history)
        size = len(self._counts)
        ids = np.fromiter(self._counts.keys(), dtype=np.int64, count=size)
        counts = np.fromiter(self._counts.values(), dtype=np.float32, count=size)
        if ids.min() < 0 or ids.max() >= row.shape[0]:
            raise ValueError(f"the history holds ids outside the vocabulary of {row.shape[0]}")
        seen = row[ids]
        seen = np.where(seen > 0, seen / self._repeat, seen * self._repeat)
        row[ids] = seen - (counts * self._frequency + self._presence)

    def _count(self, history: Sequence[int]) -> None:
        """Bring the counts up to the window of this history."""
        start = 0 if self._last_n < 0 else max(0, len(history) - self._last_n)
        window = list(history[start:])
        grown = len(history) - self._seen
        shared = len(window) - grown
        gone = len(self._window) - shared
        overlaps = grown >= 0 and shared > 0 and gone >= 0
        if overlaps and window[:shared] == self._window[gone:]:
            for token in self._window[:gone]:
                self._counts[token] -= 1
                if not self._counts[token]:
                    del self._counts[token]
            for token in window[shared:]:
                self._counts[token] += 1
        else:
            self._counts = Counter(window)
        self._window = window
        self._seen = len(history)
