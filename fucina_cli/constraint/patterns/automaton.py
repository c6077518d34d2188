"""Look-arounds written out: any pattern as one without look-arounds, by way of an automaton.

Its states are those of `derivatives`, with one character for each class that no part of the pattern
tells apart. It is made minimal (Moore 1956) and becomes a pattern by eliminating its states
(Brzozowski, McCluskey 1963).
"""

from __future__ import annotations

from fucina_cli.constraint.patterns import charset
from fucina_cli.constraint.patterns.charset import CharSet
from fucina_cli.constraint.patterns.derivatives import Machine
from fucina_cli.constraint.patterns.errors import TooComplexError
from fucina_cli.constraint.patterns.tree import (
    EMPTY,
    NOTHING,
    Chars,
    Node,
    choice,
    nodes,
    repeat,
    sequence,
)

_MOST_STATES = 200
_MOST_STEPS = 30_000
#: Nodes of the pattern that is written, and of any part on the way there.
_LARGEST = 2000

#: The characters that lead from one state to another.
_Edges = dict[int, dict[int, CharSet]]


def without_lookarounds(node: Node, *, negated: bool = False) -> Node:
    """The texts in which a plain tree is found, or those in which it is not.

    Raises TooComplexError beyond limits of size, and for look-aheads and `$` in look-behinds.
    """
    try:
        return _pattern(*_automaton(node, negated))
    except RecursionError:
        raise TooComplexError("it is nested too deeply") from None


def _automaton(node: Node, negated: bool) -> tuple[_Edges, set[int]]:
    """The minimal automaton and its accepting states. State 0 is the first one."""
    classes = _classes(node)
    machine = Machine(node, negated=negated, most_steps=_MOST_STEPS)
    accepting: list[bool] = []
    after: list[list[int]] = []
    known, todo = {machine.start: 0}, [machine.start]
    for state in todo:  # grows on the way
        accepting.append(machine.accepts(state))
        row = []
        for members in classes:
            following = machine.after(state, members.ranges[0][0])
            if following not in known:
                known[following] = len(known)
                todo.append(following)
                if len(known) > _MOST_STATES:
                    raise TooComplexError("its look-arounds need too many states")
            row.append(known[following])
        after.append(row)
    return _minimal(after, accepting, classes)


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
) -> tuple[_Edges, set[int]]:
    """Equivalent states joined, those from which nothing is accepted left out; state 0 stays."""
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
    edges: _Edges = {}
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


def _pattern(edges: _Edges, accepting: set[int]) -> Node:
    """The pattern of all texts that lead from state 0 to an accepting one."""
    begin, end = -1, -2
    table: dict[int, dict[int, Node]] = {begin: {0: EMPTY}, end: {}}
    for state, row in edges.items():
        table[state] = {to: Chars(members) for to, members in row.items()}
        if state in accepting:
            table[state][end] = EMPTY
    remaining = set(edges)
    while remaining:
        sources = {one: [o for o in table if one in table[o] and o != one] for one in remaining}
        victim = min(
            remaining, key=lambda one: (len(sources[one]) * len(table[one].keys() - {one}), -one)
        )
        outgoing = table.pop(victim)
        loop = repeat(outgoing.pop(victim, NOTHING), 0, None)
        for source in sources[victim]:
            into = table[source].pop(victim)
            for to, out in outgoing.items():
                path = sequence(into, loop, out)
                table[source][to] = choice(table[source].get(to, NOTHING), path)
                if sum(1 for _ in nodes(table[source][to])) > _LARGEST:
                    raise TooComplexError("written without look-arounds it is too long")
        remaining.remove(victim)
    return table[begin].get(end, NOTHING)
