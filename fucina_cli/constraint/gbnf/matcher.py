"""Tells whether a text is a sentence of a GBNF grammar, by Earley's algorithm.

Each rule is a network of states joined by characters, rules and empty steps, and an item of the
chart is a state and the position where its rule began (J. Earley, An Efficient Context-Free Parsing
Algorithm, 1970). Any recursion is fine. It shares nothing with the grammar engine.
"""

from __future__ import annotations

import bisect
from dataclasses import dataclass, field

from fucina_cli.constraint.gbnf.notation import ROOT, Alt, Chars, Expr, Ref, Repeat, Seq

_MOST_STATES = 100_000


class TooLarge(Exception):
    """The grammar has too many states to be matched."""


@dataclass
class _State:
    """Where the matching of a rule stands: what may come next, and the state after it."""

    empty: list[int] = field(default_factory=list)
    characters: list[tuple[Chars, int]] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    ends: str | None = None


def matches(rules: dict[str, Expr], text: str) -> bool:
    """Whether `text` is a sentence of `root`. Raises TooLarge and RecursionError."""
    return _Network(rules).matches(text)


class _Network:
    def __init__(self, rules: dict[str, Expr]) -> None:
        self._states: list[_State] = []
        self._begins: dict[str, int] = {}
        for name, expr in rules.items():
            begin = self._begins[name] = self._new()
            self._states[self._add(expr, begin)].ends = name

    def _new(self) -> int:
        if len(self._states) >= _MOST_STATES:
            raise TooLarge
        self._states.append(_State())
        return len(self._states) - 1

    def _add(self, expr: Expr, begin: int) -> int:
        """The state after `expr` where it begins in state `begin`."""
        if isinstance(expr, Seq):
            for part in expr.parts:
                begin = self._add(part, begin)
            return begin
        if isinstance(expr, Repeat):
            return self._add_repeated(expr, begin)
        end = self._new()
        if isinstance(expr, Chars):
            self._states[begin].characters.append((expr, end))
        elif isinstance(expr, Ref):
            self._states[begin].calls.append((expr.name, end))
        else:
            assert isinstance(expr, Alt)
            for option in expr.options:
                first = self._new()
                self._states[begin].empty.append(first)
                self._states[self._add(option, first)].empty.append(end)
        return end

    def _add_repeated(self, expr: Repeat, begin: int) -> int:
        for _ in range(expr.least):
            begin = self._add(expr.part, begin)
        end = self._new()
        self._states[begin].empty.append(end)
        if expr.most is None:
            first = self._new()
            self._states[end].empty.append(first)
            self._states[self._add(expr.part, first)].empty.append(end)
            return end
        for _ in range(expr.most - expr.least):
            begin = self._add(expr.part, begin)
            self._states[begin].empty.append(end)
        return end

    def matches(self, text: str) -> bool:
        """Whether the text is a sentence of `root`."""
        columns: list[_Column] = []
        items = {(self._begins[ROOT], 0)}
        for at in range(len(text) + 1):
            columns.append(_Column(items))
            items = self._fill(columns, ord(text[at]) if at < len(text) else -1)
        return columns[-1].whole

    def _fill(self, columns: list[_Column], code: int) -> set[tuple[int, int]]:
        """Complete the last column; the items of the next one, after a character."""
        column, at = columns[-1], len(columns) - 1
        after: set[tuple[int, int]] = set()
        ended: set[str] = set()  # rules that begin here and match nothing
        while column.todo:
            number, origin = column.todo.pop()
            state = self._states[number]
            for following in state.empty:
                column.add((following, origin))
            for characters, following in state.characters:
                if _has(characters, code):
                    after.add((following, origin))
            for name, following in state.calls:
                if name not in column.waiting:
                    column.waiting[name] = []
                    column.add((self._begins[name], at))
                column.waiting[name].append((following, origin))
                if name in ended:
                    column.add((following, origin))
            if state.ends is not None:
                column.whole = column.whole or (state.ends == ROOT and origin == 0)
                if origin == at:
                    ended.add(state.ends)
                for item in list(columns[origin].waiting.get(state.ends, ())):
                    column.add(item)
        return after


class _Column:
    """The items at one position.

    Attributes:
        todo: those that were not looked at.
        waiting: for each rule begun here, the items that wait for its end.
        whole: whether the text up to here is a sentence of `root`.
    """

    def __init__(self, items: set[tuple[int, int]]) -> None:
        self._items = items
        self.todo = list(items)
        self.waiting: dict[str, list[tuple[int, int]]] = {}
        self.whole = False

    def add(self, item: tuple[int, int]) -> None:
        """Add an item, once."""
        if item not in self._items:
            self._items.add(item)
            self.todo.append(item)


def _has(characters: Chars, code: int) -> bool:
    at = bisect.bisect_right(characters.intervals, (code, 0x110000)) - 1
    return at >= 0 and code <= characters.intervals[at][1]
