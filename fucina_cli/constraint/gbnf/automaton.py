"""Regular expressions as automata whose states are the characters in them.

That of Glushkov (The Abstract Theory of Automata, 1961): a state is an occurrence of a set of
characters, and which may follow which is read off the expression.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fucina_cli.constraint.gbnf.notation import LAST, Chars, Expr, Ref, Repeat, Seq
from fucina_cli.constraint.gbnf.regular import Rules

_MOST_POSITIONS = 3_000
_MOST_STEPS = 500_000


class TooLarge(Exception):
    """There are too many positions, or pairs of them."""


@dataclass(frozen=True)
class Fragment:
    """Positions that an expression may begin and end with; whether it may be empty."""

    first: frozenset[int]
    last: frozenset[int]
    empty: bool


_NOTHING = Fragment(frozenset(), frozenset(), False)
_EMPTY = Fragment(frozenset(), frozenset(), True)


class Automaton:
    """Several expressions side by side; `rules` are those that they mention."""

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._sets: list[Chars] = []
        self._after: list[set[int]] = []
        self._known_masks: list[int] = []

    def add(self, expr: Expr) -> Fragment:
        """Add an expression. Raises TooLarge and RecursionError."""
        if isinstance(expr, Chars):
            if len(self._sets) >= _MOST_POSITIONS:
                raise TooLarge
            self._sets.append(expr)
            self._after.append(set())
            position = frozenset([len(self._sets) - 1])
            return Fragment(position, position, False)
        if isinstance(expr, Ref):
            return self.add(self._rules[expr.name])
        if isinstance(expr, Repeat):
            return self._repeated(expr)
        made = _EMPTY if isinstance(expr, Seq) else _NOTHING
        for part in expr.parts if isinstance(expr, Seq) else expr.options:
            added = self.add(part)
            if isinstance(expr, Seq):
                made = self._joined(made, added)
            else:
                made = Fragment(
                    made.first | added.first, made.last | added.last, made.empty or added.empty
                )
        return made

    def _joined(self, one: Fragment, other: Fragment) -> Fragment:
        self._link(one, other)
        return Fragment(
            one.first | other.first if one.empty else one.first,
            one.last | other.last if other.empty else other.last,
            one.empty and other.empty,
        )

    def _link(self, one: Fragment, other: Fragment) -> None:
        for position in one.last:
            self._after[position] |= other.first

    def _repeated(self, expr: Repeat) -> Fragment:
        # The optional ones at the end as x(x(x)?)?: then each is joined to the next one only.
        made = _EMPTY
        if expr.most is None:
            made = self.add(expr.part)
            self._link(made, made)
            made = Fragment(made.first, made.last, True)
        for _ in range(0 if expr.most is None else expr.most - expr.least):
            made = self._joined(self.add(expr.part), made)
            made = Fragment(made.first, made.last, True)
        for _ in range(expr.least):
            made = self._joined(self.add(expr.part), made)
        return made

    # -- characters --------------------------------------------------------------------------

    def first(self, fragment: Fragment) -> int:
        """The characters that an expression begins with.

        As bits of an integer: a bit stands for characters that no set tells apart. Only after
        everything was added.
        """
        return self._all(fragment.first)

    def _all(self, positions: frozenset[int] | set[int]) -> int:
        masks, made = self._masks(), 0
        for position in positions:
            made |= masks[position]
        return made

    def _masks(self) -> list[int]:
        if len(self._known_masks) != len(self._sets):
            edges = {0, LAST + 1}
            for each in self._sets:
                for low, high in each.intervals:
                    edges |= {low, high + 1}
            bit = {edge: number for number, edge in enumerate(sorted(edges))}
            self._known_masks = [
                sum((1 << bit[high + 1]) - (1 << bit[low]) for low, high in each.intervals)
                for each in self._sets
            ]
        return self._known_masks

    def extensions(self, fragments: Sequence[Fragment]) -> list[dict[int, int]]:
        """For each of the expressions, by which characters its texts go on in others.

        By the number of the other expression, which may be the same one, the characters c such that
        both some text t of the first, and tc as the beginning of a text of the other, exist. All
        pairs of positions are looked at that one text may lead to. Raises TooLarge.
        """
        masks = self._masks()
        owner = {}
        for number, fragment in enumerate(fragments):
            todo = list(fragment.first)
            while todo:
                position = todo.pop()
                if position not in owner:
                    owner[position] = number
                    todo += self._after[position]
        last = {position for fragment in fragments for position in fragment.last}
        found: list[dict[int, int]] = [{} for _ in fragments]
        begin = [position for fragment in fragments for position in fragment.first]
        seen: set[tuple[int, int]] = set()
        steps = len(begin) ** 2
        pairs = [(p, q) for p in begin for q in begin if masks[p] & masks[q]]
        while pairs:
            pair = pairs.pop()
            if pair in seen:
                continue
            seen.add(pair)
            one, other = pair
            if one in last and self._after[other]:
                longer = found[owner[one]]
                longer[owner[other]] = longer.get(owner[other], 0) | self._all(self._after[other])
            steps += 1 + len(self._after[one]) * len(self._after[other])
            if steps > _MOST_STEPS:
                raise TooLarge
            pairs += [
                (p, q) for p in self._after[one] for q in self._after[other] if masks[p] & masks[q]
            ]
        return found
