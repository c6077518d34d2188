"""Look-arounds written out: any pattern as one without look-arounds, by way of an automaton.

A state says what the rest of the text must match: a formula of `and`, `or` and `not` over
threads, each a stack of nodes to match in a row up to the end of the text. A look-ahead is a
further thread beside the one that goes on (alternating automata: Chandra, Kozen, Stockmeyer 1981);
a state after one more character is the formula's derivative (Brzozowski 1964), with a character of
each class that no part of the pattern tells apart. For each look-behind a formula runs along from
the start of the text and says at each place whether it holds there. The automaton is made minimal
(Moore 1956) and becomes a pattern by eliminating its states (Brzozowski, McCluskey 1963).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fucina_cli.constraint.patterns import charset
from fucina_cli.constraint.patterns.charset import CharSet
from fucina_cli.constraint.patterns.errors import TooComplexError
from fucina_cli.constraint.patterns.tree import (
    ANYTHING,
    EMPTY,
    NOTHING,
    Chars,
    Choice,
    End,
    Look,
    Node,
    Repeat,
    Sequence,
    Start,
    choice,
    nodes,
    repeat,
    sequence,
)

_MOST_STATES = 200
_MOST_STEPS = 30_000
#: Nodes of the pattern that is written, and of any part on the way there.
_LARGEST = 2000

#: A stack of nodes to match in a row, by its number in `_Automaton`.
Thread = int


@dataclass(frozen=True)
class _Joined:
    """`and` or `or` of several formulas."""

    sign: Literal["and", "or"]
    parts: frozenset[Formula]


@dataclass(frozen=True)
class _Not:
    part: Formula


@dataclass(frozen=True)
class _Waiting:
    """A thread as a formula: whether the rest of the text matches it."""

    thread: Thread


Formula = Literal[False] | _Joined | _Not | _Waiting
#: The thread that only the end of the text matches, and the one that any text does.
_DONE, _FREE = 0, 1


@dataclass(frozen=True)
class _State:
    """What the rest must match, whether nothing was read yet, and each look-behind's formula."""

    rest: Formula
    at_start: bool
    behind: tuple[Formula, ...]


def without_lookarounds(node: Node, *, negated: bool = False) -> Node:
    """The texts in which a plain tree is found, or those in which it is not.

    Raises TooComplexError beyond limits of size, and for look-aheads and `$` in look-behinds.
    """
    try:
        return _pattern(_Automaton(node, negated))
    except RecursionError:
        raise TooComplexError("it is nested too deeply") from None


class _Automaton:
    """Minimal, deterministic; `edges[i][j]` are the characters that lead from i to j.

    State 0 is the first one. States from which no text is accepted are left out.
    """

    def __init__(self, node: Node, negated: bool) -> None:
        self._looks = _look_behinds(node)
        self._classes = _classes(node)
        self._steps = 0
        self._firsts: list[tuple[Node, Thread]] = [(EMPTY, _DONE), (ANYTHING, _DONE)]
        self._threads: dict[tuple[int, Thread], Thread] = {(id(ANYTHING), _DONE): _FREE}
        self._repeats: dict[tuple[int, int, int | None], Node] = {}
        accepting: list[bool] = []
        after: list[list[int]] = []
        first: Formula = _Waiting(self._thread(ANYTHING, self._thread(node, _FREE)))
        behind = tuple(
            _Waiting(self._thread(ANYTHING, self._thread(look.body, _DONE))) for look in self._looks
        )
        start = _State(_negation(first) if negated else first, True, behind)
        known, todo = {start: 0}, [start]
        for state in todo:  # grows on the way
            holds = self._holding(state)
            accepting.append(self._ends(state.rest, state.at_start, holds))
            row = []
            for number in range(len(self._classes)):
                following = _State(
                    self._step(state.rest, number, state.at_start, holds),
                    False,
                    tuple(self._step(f, number, state.at_start, holds) for f in state.behind),
                )
                if following not in known:
                    known[following] = len(known)
                    todo.append(following)
                    if len(known) > _MOST_STATES:
                        raise TooComplexError("its look-arounds need too many states")
                row.append(known[following])
            after.append(row)
        self.edges, self.accepting = _minimal(after, accepting, self._classes)

    def _holding(self, state: _State) -> dict[Look, bool]:
        """Whether each look-behind's body has just matched; inner ones come first."""
        holds: dict[Look, bool] = {}
        for look, formula in zip(self._looks, state.behind, strict=True):
            holds[look] = self._ends(formula, state.at_start, holds)
        return holds

    def _step(self, what: Formula, number: int, start: bool, holds: dict[Look, bool]) -> Formula:
        """What must follow after one character of the class `number`."""
        if what is False:
            return False
        if isinstance(what, _Not):
            return _negation(self._step(what.part, number, start, holds))
        if isinstance(what, _Joined):
            return _joined(
                what.sign, (self._step(part, number, start, holds) for part in what.parts)
            )
        return self._read(what.thread, number, start, holds, frozenset())

    def _read(
        self,
        thread: Thread,
        number: int,
        start: bool,
        holds: dict[Look, bool],
        entered: frozenset[Thread],
    ) -> Formula:
        """`_step` for a thread; `entered`: repetitions begun since the last character."""
        self._steps += 1
        if self._steps > _MOST_STEPS:
            raise TooComplexError("its look-arounds take too long")
        if thread == _DONE:
            return False
        if thread == _FREE:
            return _Waiting(_FREE)
        node, rest = self._firsts[thread]

        def go(following: Thread, entered: frozenset[Thread] = entered) -> Formula:
            return self._read(following, number, start, holds, entered)

        if isinstance(node, Chars):
            return _Waiting(rest) if self._matches(node, number) else False
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                rest = self._thread(part, rest)
            return go(rest)
        if isinstance(node, Choice):
            return _joined("or", (go(self._thread(option, rest)) for option in node.options))
        if isinstance(node, Start):
            return go(rest) if start else False
        if isinstance(node, End):
            return False
        if isinstance(node, Look):
            if not node.ahead:
                return go(rest) if holds[node] != node.negated else False
            ahead = go(self._thread(node.body, _FREE))
            return _joined("and", (_negation(ahead) if node.negated else ahead, go(rest)))
        assert isinstance(node, Repeat)
        onward: Formula = False
        if thread not in entered:
            left = self._thread(self._one_less(node), rest)
            onward = go(self._thread(node.body, left), entered | {thread})
        return onward if node.least else _joined("or", (go(rest), onward))

    def _thread(self, node: Node, rest: Thread) -> Thread:
        if node == EMPTY:
            return rest
        key = (id(node), rest)
        if key not in self._threads:
            self._threads[key] = len(self._firsts)
            self._firsts.append((node, rest))  # which also keeps the node's id its own
        return self._threads[key]

    def _one_less(self, node: Repeat) -> Node:
        least, most = max(node.least - 1, 0), None if node.most is None else node.most - 1
        if (least, most) == (node.least, node.most):
            return node
        key = (id(node.body), least, most)
        if key not in self._repeats:
            self._repeats[key] = repeat(node.body, least, most)
        return self._repeats[key]

    def _matches(self, node: Chars, number: int) -> bool:
        return self._classes[number].ranges[0][0] in node.members

    def _ends(self, what: Formula, start: bool, holds: dict[Look, bool]) -> bool:
        """Whether the formula is met where the text ends."""
        if what is False:
            return False
        if isinstance(what, _Not):
            return not self._ends(what.part, start, holds)
        if isinstance(what, _Joined):
            join = all if what.sign == "and" else any
            return join(self._ends(part, start, holds) for part in what.parts)
        thread = what.thread
        while thread != _DONE:
            node, thread = self._firsts[thread]
            if not self._matches_empty(node, start, holds):
                return False
        return True

    def _matches_empty(self, node: Node, start: bool, holds: dict[Look, bool]) -> bool:
        if isinstance(node, Sequence):
            return all(self._matches_empty(part, start, holds) for part in node.parts)
        if isinstance(node, Choice):
            return any(self._matches_empty(part, start, holds) for part in node.options)
        if isinstance(node, Repeat):
            return node.least == 0 or self._matches_empty(node.body, start, holds)
        if isinstance(node, Look):
            found = self._matches_empty(node.body, start, holds) if node.ahead else holds[node]
            return found != node.negated
        return start if isinstance(node, Start) else isinstance(node, End)


def _negation(what: Formula) -> Formula:
    if what is False:
        return _ALWAYS
    if what == _ALWAYS:
        return False
    return what.part if isinstance(what, _Not) else _Not(what)


def _joined(sign: Literal["and", "or"], parts: Iterable[Formula]) -> Formula:
    """`and` or `or`, simplified."""
    either = sign == "or"
    found: set[Formula] = set()
    for part in parts:
        if part is False:
            if not either:
                return False
        elif isinstance(part, _Joined) and part.sign == sign:
            found |= part.parts
        else:
            found.add(part)
    if any(_negation(part) in found for part in found):
        return _ALWAYS if either else False
    if _ALWAYS in found:
        if either:
            return _ALWAYS
        found.remove(_ALWAYS)
    if not found:
        return False if either else _ALWAYS
    return found.pop() if len(found) == 1 else _Joined(sign, frozenset(found))


_ALWAYS = _Waiting(_FREE)


def _look_behinds(node: Node) -> tuple[Look, ...]:
    """All look-behinds, inner ones before those around them."""
    found = [part for part in nodes(node) if isinstance(part, Look) and not part.ahead]
    for look in found:
        if any(
            isinstance(part, End) or (isinstance(part, Look) and part.ahead)
            for part in nodes(look.body)
        ):
            raise TooComplexError("a look-ahead inside of a look-behind")
    return tuple(dict.fromkeys(reversed(found)))


def _classes(node: Node) -> list[CharSet]:
    """A partition of all characters that keeps apart what any class of the pattern does."""
    sets = list(dict.fromkeys(part.members for part in nodes(node) if isinstance(part, Chars)))
    classes = [charset.ANY]
    for members in sets:
        classes = [part for one in classes for part in (one & members, one - members) if part]
        if len(classes) > _MOST_STATES:
            raise TooComplexError("its look-arounds need too many classes")
    return classes


def _minimal(
    after: list[list[int]], accepting: list[bool], classes: list[CharSet]
) -> tuple[dict[int, dict[int, CharSet]], set[int]]:
    """Equivalent states joined, hopeless ones dropped. The first state is block 0."""
    block = [int(flag) for flag in accepting]
    while True:
        numbers: dict[tuple[int, ...], int] = {}
        refined = [
            numbers.setdefault((block[state], *(block[to] for to in row)), len(numbers))
            for state, row in enumerate(after)
        ]
        if len(set(refined)) == len(set(block)):
            break
        block = refined
    block = refined
    edges: dict[int, dict[int, CharSet]] = {}
    accepted: set[int] = set()
    for state, row in enumerate(after):
        if accepting[state]:
            accepted.add(block[state])
        if block[state] in edges:
            continue
        targets: dict[int, list[CharSet]] = {}
        for number, to in enumerate(row):
            targets.setdefault(block[to], []).append(classes[number])
        edges[block[state]] = {to: charset.union(sets) for to, sets in targets.items()}
    hopeful = set(accepted)
    while True:
        more = {one for one, row in edges.items() if one not in hopeful and hopeful & row.keys()}
        if not more:
            break
        hopeful |= more
    kept = {
        one: {to: members for to, members in row.items() if to in hopeful}
        for one, row in edges.items()
        if one in hopeful
    }
    return kept, accepted


def _pattern(automaton: _Automaton) -> Node:
    """The pattern of all texts that lead from state 0 to an accepting one."""
    begin, end = -1, -2
    table: dict[int, dict[int, Node]] = {begin: {0: EMPTY}, end: {}}
    for state, row in automaton.edges.items():
        table[state] = {to: Chars(members) for to, members in row.items()}
        if state in automaton.accepting:
            table[state][end] = EMPTY
    remaining = set(automaton.edges)
    while remaining:
        sources = {one: [o for o in table if one in table[o] and o != one] for one in remaining}
        victim = min(
            remaining, key=lambda one: (len(sources[one]) * len(table[one].keys() - {one}), -one)
        )
        row = table.pop(victim)
        loop = repeat(row.pop(victim, NOTHING), 0, None)
        for source in sources[victim]:
            into = table[source].pop(victim)
            for to, out in row.items():
                path = sequence(into, loop, out)
                table[source][to] = choice(table[source].get(to, NOTHING), path)
                if sum(1 for _ in nodes(table[source][to])) > _LARGEST:
                    raise TooComplexError("written without look-arounds it is too long")
        remaining.remove(victim)
    return table[begin].get(end, NOTHING)
