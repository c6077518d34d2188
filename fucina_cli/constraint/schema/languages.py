"""Sets of strings as finite automata: read from ECMA-262 patterns, combined, written as patterns.

A pattern denotes the strings in which it is found somewhere, as in JSON Schema. Automata are total
and deterministic, over ranges of code points. What is written uses only syntax that ECMA-262 (flag
u) and the engine's dialect read alike. Automata come from patterns by Thompson's construction and
the subset construction, patterns from automata by state elimination (Brzozowski and McCluskey,
1963).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from fucina_cli.constraint.schema.pattern_syntax import (
    EVERYTHING,
    LAST,
    Alternatives,
    Anchor,
    Characters,
    Look,
    Node,
    Ranges,
    Repeat,
    Sequence,
    Unreadable,
    complement,
    parse,
)

_MAX_STATES = 600
_MAX_NODES = 4000
_MAX_TEXT = 6000
_MAX_NESTING = 60
#: A row of an automaton: (first code point, target), ascending, the first of them from 0.
Row = tuple[tuple[int, int], ...]


class TooLarge(Unreadable):
    """An automaton or a pattern beyond the limits of this module."""


@dataclass(frozen=True)
class Language:
    """A set of strings: a minimal automaton that starts in state 0."""

    rows: tuple[Row, ...]
    accepting: frozenset[int]

    def __contains__(self, text: str) -> bool:
        state = 0
        for char in text:
            state = _target(self.rows[state], ord(char))
        return state in self.accepting

    def __and__(self, other: Language) -> Language:
        return _product(self, other, lambda a, b: a and b)

    def __or__(self, other: Language) -> Language:
        return _product(self, other, lambda a, b: a or b)

    def __sub__(self, other: Language) -> Language:
        return _product(self, other, lambda a, b: a and not b)

    @property
    def empty(self) -> bool:
        """Whether no string is in it."""
        return not self.accepting

    @property
    def everything(self) -> bool:
        """Whether every string is in it."""
        return len(self.accepting) == len(self.rows)

    def pattern(self) -> str:
        """An anchored pattern of exactly these strings. Raises TooLarge."""
        return f"^(?:{_eliminated(self)})$"


ALL = Language((((0, 0),),), frozenset({0}))
NOTHING = Language((((0, 0),),), frozenset())


@lru_cache(maxsize=256)
def of_pattern(pattern: str) -> Language:
    """The strings in which an ECMA-262 pattern (flag u) is found.

    Look-aheads are read where they directly follow a `^` that starts the pattern or one of its
    alternatives. Raises Unreadable.
    """
    found = NOTHING
    for branch in parse(pattern).branches:
        parts = branch.parts
        allowed = ALL
        if parts and parts[0] == Anchor.START:
            begin = 1
            while begin < len(parts) and isinstance(look := parts[begin], Look):
                ahead = _searched(Sequence((Anchor.START, look.inner)))
                allowed = allowed - ahead if look.negative else allowed & ahead
                begin += 1
            parts = (Anchor.START, *parts[begin:])
        found = found | (allowed & _searched(Sequence(parts)))
    return found


def of_lengths(least: int, most: int | None) -> Language:
    """The strings of `least` to `most` code points. Raises TooLarge."""
    return of_pattern(lengths_pattern(least, most))


def lengths_pattern(least: int, most: int | None) -> str:
    """A pattern of the strings of `least` to `most` code points."""
    return rf"^[\s\S]{{{least},{'' if most is None else most}}}$"


def of_strings(strings: Iterable[str]) -> Language:
    """The language of exactly these strings. Raises TooLarge."""
    steps: list[dict[int, int]] = [{}]
    ends = set()
    for text in strings:
        state = 0
        for char in text:
            if ord(char) not in steps[state]:
                steps.append({})
                if len(steps) > _MAX_STATES:
                    raise TooLarge("too many names")
                steps[state][ord(char)] = len(steps) - 1
            state = steps[state][ord(char)]
        ends.add(state)
    dead = len(steps)
    rows = [
        _row(((code, code), target) for code, target in found.items()).fill(dead) for found in steps
    ]
    return _minimal([*rows, ((0, dead),)], ends)


def without(names: Iterable[str]) -> str:
    """A pattern of all strings but `names`, of a size linear in theirs. Raises TooLarge."""
    tree: dict[str, dict[str, object]] = {}
    size = 0
    for name in names:
        size += len(name)
        if size > _MAX_TEXT or len(name) > _MAX_NESTING:
            raise TooLarge("names too long")
        node: dict[str, object] = tree  # type: ignore[assignment]
        for char in name:
            node = node.setdefault(char, {})  # type: ignore[assignment]
        node[""] = True
    return f"^(?:{_outside(tree)})$"  # type: ignore[arg-type]


def _outside(node: dict[str, object]) -> str:
    children = sorted(char for char in node if char)
    taken = tuple((ord(char), ord(char)) for char in children)
    options = [f"{_class(complement(taken))}{_ANY}*"]
    options += [
        f"{_class(((ord(char), ord(char)),))}(?:{_outside(node[char])})"  # type: ignore[arg-type]
        for char in children
    ]
    if "" not in node:
        options.append("")
    return "|".join(options)


# --- from patterns to automata ---------------------------------------------------------------


class _Nfa:
    """A Thompson automaton; edges without characters may hold only at one end of the text."""

    def __init__(self) -> None:
        self.steps: list[list[tuple[Ranges, int]]] = []
        self.free: list[list[tuple[Anchor | None, int]]] = []

    def state(self) -> int:
        if len(self.steps) >= _MAX_NODES:
            raise TooLarge("the pattern is too large")
        self.steps.append([])
        self.free.append([])
        return len(self.steps) - 1

    def add(self, node: Node, begin: int) -> int:
        """Add what `node` matches from state `begin` on; the state where it ends."""
        if isinstance(node, Characters):
            end = self.state()
            self.steps[begin].append((node.ranges, end))
            return end
        if isinstance(node, Anchor):
            end = self.state()
            self.free[begin].append((node, end))
            return end
        if isinstance(node, Sequence):
            for part in node.parts:
                begin = self.add(part, begin)
            return begin
        if isinstance(node, Alternatives):
            end = self.state()
            for branch in node.branches:
                first = self.state()
                self.free[begin].append((None, first))
                self.free[self.add(branch, first)].append((None, end))
            return end
        if isinstance(node, Repeat):
            return self._repeat(node, begin)
        raise Unreadable("a look-around that does not follow a leading ^")

    def _repeat(self, node: Repeat, begin: int) -> int:
        for _ in range(node.least):
            begin = self.add(node.inner, begin)
        if node.most is None:
            loop, end = self.state(), self.state()
            self.free[begin].append((None, loop))
            self.free[self.add(node.inner, loop)].append((None, loop))
            self.free[loop].append((None, end))
            return end
        end = self.state()
        for _ in range(node.most - node.least):
            self.free[begin].append((None, end))
            begin = self.add(node.inner, begin)
        self.free[begin].append((None, end))
        return end

    def closure(self, states: Iterable[int], holding: frozenset[Anchor]) -> frozenset[int]:
        found = set(states)
        todo = list(found)
        while todo:
            for anchor, target in self.free[todo.pop()]:
                if (anchor is None or anchor in holding) and target not in found:
                    found.add(target)
                    todo.append(target)
        return frozenset(found)


_NOWHERE: frozenset[Anchor] = frozenset()
_START = frozenset({Anchor.START})
_END = frozenset({Anchor.END})


def _searched(node: Node) -> Language:
    nfa = _Nfa()
    before = nfa.state()
    nfa.steps[before].append((EVERYTHING, before))
    final = nfa.add(node, before)
    nfa.steps[final].append((EVERYTHING, final))

    first = nfa.closure([before], _START)
    known = {first: 0}
    order = [first]
    accepting = {0} if final in nfa.closure([before], _START | _END) else set()
    rows: list[Row] = []
    for states in order:
        steps = [step for state in states for step in nfa.steps[state]]
        row: list[tuple[int, int]] = []
        for code in sorted({0} | {edge for ranges, _ in steps for edge in _edges(ranges)}):
            reached = nfa.closure(
                [target for ranges, target in steps if _within(ranges, code)], _NOWHERE
            )
            if final in reached:  # found: whatever follows, it stays found
                reached = frozenset({final})
            if reached not in known:
                known[reached] = len(order)
                order.append(reached)
                if len(order) > _MAX_STATES:
                    raise TooLarge("the pattern has too many states")
                if final in nfa.closure(reached, _END):
                    accepting.add(known[reached])
            row.append((code, known[reached]))
        rows.append(tuple(row))
    return _minimal(rows, accepting)


def _edges(ranges: Ranges) -> Iterator[int]:
    for low, high in ranges:
        yield low
        if high < LAST:
            yield high + 1


def _within(ranges: Ranges, code: int) -> bool:
    return any(low <= code <= high for low, high in ranges)


# --- automata --------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Partial:
    """Targets of some ranges of code points."""

    ranges: tuple[tuple[tuple[int, int], int], ...]

    def fill(self, otherwise: int) -> Row:
        """A row in which every other code point goes to `otherwise`."""
        row: list[tuple[int, int]] = []
        after = 0
        for (low, high), target in self.ranges:
            if low > after:
                row.append((after, otherwise))
            row.append((low, target))
            after = high + 1
        if after <= LAST:
            row.append((after, otherwise))
        return tuple(row)


def _row(ranges: Iterable[tuple[tuple[int, int], int]]) -> _Partial:
    return _Partial(tuple(sorted(ranges)))


def _target(row: Row, code: int) -> int:
    found = row[0][1]
    for low, target in row:
        if low > code:
            break
        found = target
    return found


def _product(a: Language, b: Language, accepts: Callable[[bool, bool], bool]) -> Language:
    known = {(0, 0): 0}
    order = [(0, 0)]
    rows: list[Row] = []
    for one, two in order:
        left, right = a.rows[one], b.rows[two]
        row = []
        for code in sorted({low for low, _ in left} | {low for low, _ in right}):
            pair = (_target(left, code), _target(right, code))
            if pair not in known:
                known[pair] = len(order)
                order.append(pair)
                if len(order) > _MAX_STATES:
                    raise TooLarge("the patterns have too many states together")
            row.append((code, known[pair]))
        rows.append(tuple(row))
    accepting = {
        number
        for (one, two), number in known.items()
        if accepts(one in a.accepting, two in b.accepting)
    }
    return _minimal(rows, accepting)


def _minimal(rows: list[Row], accepting: set[int]) -> Language:
    """Moore's partition refinement; every state is reachable."""
    block = [int(state in accepting) for state in range(len(rows))]
    count = len(set(block))
    while True:
        names: dict[tuple[int, Row], int] = {}
        block = [
            names.setdefault((block[state], _merged(row, block)), len(names))
            for state, row in enumerate(rows)
        ]
        if len(names) == count:
            break
        count = len(names)
    made: dict[int, Row] = {}
    for state, row in enumerate(rows):
        made.setdefault(block[state], _merged(row, block))
    return Language(
        tuple(made[number] for number in range(len(made))),
        frozenset(block[state] for state in accepting),
    )


def _merged(row: Row, block: list[int]) -> Row:
    merged: list[tuple[int, int]] = []
    for low, target in row:
        if not merged or merged[-1][1] != block[target]:
            merged.append((low, block[target]))
    return tuple(merged)


# --- from automata to patterns ---------------------------------------------------------------

_ANY = r"[\s\S]"


@dataclass(frozen=True)
class _Text:
    """A pattern's text; `loose`: it needs a group before it is repeated or put in a sequence."""

    text: str
    alternatives: bool = False
    atom: bool = False

    def in_sequence(self) -> str:
        return f"(?:{self.text})" if self.alternatives else self.text

    def starred(self) -> str:
        if not self.text:
            return ""
        return f"{self.text}*" if self.atom else f"(?:{self.text})*"


def _either(a: _Text | None, b: _Text) -> _Text:
    if a is None or a == b:
        return b
    if not a.text or not b.text:
        some = a if a.text else b
        return _Text(f"{some.text}?" if some.atom else f"(?:{some.text})?")
    return _Text(f"{a.text}|{b.text}", alternatives=True)


def _eliminated(language: Language) -> str:
    useful = _useful(language)
    if 0 not in useful:
        return r"[^\s\S]"
    begin, end = -1, -2
    edges: dict[int, dict[int, _Text]] = defaultdict(dict)
    for state in useful:
        spans: dict[int, list[tuple[int, int]]] = defaultdict(list)
        row = language.rows[state]
        for index, (low, target) in enumerate(row):
            high = row[index + 1][0] - 1 if index + 1 < len(row) else LAST
            if target in useful:
                spans[target].append((low, high))
        for target, ranges in spans.items():
            edges[state][target] = _Text(_class(tuple(ranges)), atom=True)
        if state in language.accepting:
            edges[state][end] = _Text("")
    edges[begin][0] = _Text("")
    left = set(useful)
    while left:
        state = min(left, key=lambda number: (_cost(edges, number), number))
        left.remove(state)
        loop = edges[state].pop(state, _Text("")).starred()
        outgoing = edges.pop(state)
        for source in list(edges):
            into = edges[source].pop(state, None)
            if into is None:
                continue
            for target, out in outgoing.items():
                path = _Text(into.in_sequence() + loop + out.in_sequence())
                if not loop and not into.text:
                    path = out
                elif not loop and not out.text:
                    path = into
                elif loop and not into.text and not out.text:
                    path = _Text(loop)
                if len(path.text) > _MAX_TEXT:
                    raise TooLarge("the pattern would be too long")
                edges[source][target] = _either(edges[source].get(target), path)
    text = edges[begin][end].text
    if len(text) > _MAX_TEXT or _nesting(text) > _MAX_NESTING:
        raise TooLarge("the pattern would be too long")
    return text


def _cost(edges: dict[int, dict[int, _Text]], state: int) -> int:
    into = [found[state] for source, found in edges.items() if source != state and state in found]
    out = [text for target, text in edges[state].items() if target != state]
    loop = len(edges[state][state].text) if state in edges[state] else 0
    return (
        sum(len(text.text) for text in into) * len(out)
        + sum(len(text.text) for text in out) * len(into)
        + loop * len(into) * len(out)
    )


def _useful(language: Language) -> set[int]:
    """States that are on a way from the start to an accepting one."""
    before: dict[int, set[int]] = defaultdict(set)
    for state, row in enumerate(language.rows):
        for _, target in row:
            before[target].add(state)
    useful = set(language.accepting)
    todo = list(useful)
    while todo:
        for state in before[todo.pop()] - useful:
            useful.add(state)
            todo.append(state)
    return useful


def _nesting(text: str) -> int:
    depth = deepest = 0
    for index, char in enumerate(text):
        if char in "()" and not _quoted(text, index):
            depth += 1 if char == "(" else -1
            deepest = max(deepest, depth)
    return deepest


def _quoted(text: str, index: int) -> bool:
    return index > 0 and text[index - 1] == "\\"


def _class(ranges: Ranges) -> str:
    if ranges == EVERYTHING:
        return _ANY
    if not ranges:
        return r"[^\s\S]"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _char(ranges[0][0])
    inverse = complement(ranges)
    if ranges[-1][1] == LAST and inverse:
        return f"[^{_listed(inverse)}]"
    return f"[{_listed(ranges)}]"


def _listed(ranges: Ranges) -> str:
    listed = []
    for low, high in ranges:
        between = "-" if high > low + 1 else ""
        listed.append(_member(low) + (between + _member(high) if high > low else ""))
    return "".join(listed)


def _member(code: int) -> str:
    return r"\-" if code == ord("-") else _char(code)


def _char(code: int) -> str:
    char = chr(code)
    if char in r"\^$.*+?()[]{}|":
        return "\\" + char
    if code < 0x20 or 0x7F <= code < 0xA0:
        return f"\\x{code:02x}"
    if code in (0x2028, 0x2029, 0xFEFF):
        return f"\\u{code:04x}"
    return char
