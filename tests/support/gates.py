"""Gates for the tests of drafting, and a machine of known costs to run them on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.source import Outlook

WEAK = Outlook("reply 2+", 0.3, 0.7)
STRONG = Outlook("reply 16+", 0.9, 0.95)
#: Costs of a verification in plain steps, all rows with logits: a 0.6B and a 270M model.
QWEN = ((1, 1.0), (2, 2.17), (3, 2.45), (4, 2.65), (8, 3.8), (17, 6.4))
GEMMA = ((1, 1.0), (2, 1.8), (4, 2.3), (8, 3.3), (17, 5.3))


def cost_of(table: Sequence[tuple[int, float]], rows: int) -> float:
    """Plain steps that a verification of `rows` rows takes, between the entries of `table`."""
    for (a, low), (b, high) in itertools.pairwise(table):
        if rows <= b:
            return low + (high - low) * (rows - a) / (b - a)
    raise AssertionError(rows)


class Machine:
    """Decodes with drafts of 16 tokens on a machine of known costs; keeps time and tokens."""

    def __init__(
        self, gate: Gate, table: Sequence[tuple[int, float]], plain_seconds: float = 0.01
    ) -> None:
        self.gate, self.table, self.plain_seconds = gate, table, plain_seconds
        self.time = 0.0  # plain steps
        self.tokens = 0
        self.lengths: list[int] = []

    def step(self, outlook: Outlook | None, held: int, noise: float = 1.0, limit: int = 16) -> int:
        """One forward; of the draft `held` tokens would be accepted. The tokens verified."""
        n = self.gate.budget(limit, outlook) if outlook else 0
        assert 0 <= n <= limit
        cost = cost_of(self.table, 1 + n)
        self.time += cost
        self.gate.record(1 + n, 1 + n, cost * self.plain_seconds * noise)
        self.tokens += 1 + min(n, held)
        if outlook and n:
            self.gate.settle(n, min(n, held), outlook)
        self.lengths.append(n)
        return n


class Fickle(Gate):
    """A gate that lets through an arbitrary part of each draft, the same in every run."""

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._seed, self._asked = seed, 0

    def budget(self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1) -> int:
        self._asked += 1
        return min(limit, (self._seed * 31 + self._asked * 17) % 9)
