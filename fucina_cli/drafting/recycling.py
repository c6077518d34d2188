"""Token recycling: what followed, or might have followed, each token the last time.

After Luo et al. 2024, "Turning Trash into Treasure": the rows of a verification rate candidates
that the sampler did not choose; kept per token, they draft for free. Here a draft is one greedy
chain instead of a tree, as the verification is of one chain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence

WIDTH = 8


class RecyclingMatrix:
    """The likeliest successors of a token, `WIDTH` at most, for the tokens seen lately.

    Rows exist only for tokens that occurred, whatever the size of the vocabulary: past
    `capacity` of them the one added first gives way.
    """

    def __init__(self, capacity: int = 1 << 14) -> None:
        """Keep at most `capacity` rows. Raises ValueError when that is less than 1."""
        if capacity < 1:
            raise ValueError(f"capacity must be at least 1, got {capacity}")
        self._capacity = capacity
        self._rows: dict[int, list[int]] = {}
        self._order: deque[int] = deque()
        self._last: int | None = None

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._rows)

    def extend(self, tokens: Iterable[int]) -> None:
        """Append committed tokens to the text: each is now the first successor of the last one."""
        last, rows = self._last, self._rows
        for token in tokens:
            if last is not None:
                row = rows.get(last)
                if row is None:
                    self._add(last, [token])
                elif row[0] != token:
                    if token in row:
                        row.remove(token)
                    row.insert(0, token)
                    del row[WIDTH:]
            last = token
        self._last = last

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Replace the successors of a token by the ids that its row rates best, in order."""
        for token, best in rows:
            if best:
                if token in self._rows:
                    self._rows[token] = list(best[:WIDTH])
                else:
                    self._add(token, list(best[:WIDTH]))

    def successors(self, token: int) -> list[int]:
        """The successors of `token`, best first; [] for an unknown token."""
        return list(self._rows.get(token, ()))

    def draft(self, limit: int) -> list[int]:
        """The chain of first successors from the text's end: at most `limit`, none twice."""
        chain: dict[int, None] = {}
        row = None if self._last is None else self._rows.get(self._last)
        while row is not None and len(chain) < limit:
            token = row[0]
            if token in chain:  # a chain of first successors that meets itself never leaves again
                break
            chain[token] = None
            row = self._rows.get(token)
        return list(chain)

    def _add(self, token: int, row: list[int]) -> None:
        if len(self._order) == self._capacity:
            del self._rows[self._order.popleft()]
        self._order.append(token)
        self._rows[token] = row
