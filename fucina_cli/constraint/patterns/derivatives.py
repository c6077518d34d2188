"""What must follow in a text for a pattern to be found in it: derivatives of patterns.

A state says what the rest of the text must match: a formula of `and`, `or` and `not` over
threads, each a stack of nodes to match in a row up to the end of the text. A look-ahead is a
further thread beside the one that goes on (alternating automata: Chandra, Kozen, Stockmeyer 1981);
a state after one more character is the formula's derivative (Brzozowski 1964). For each look-behind
a formula runs along from the start of the text and says at each place whether it holds there.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from fucina_cli.constraint.patterns.anchors import is_free, nullable
from fucina_cli.constraint.patterns.errors import TooComplexError
from fucina_cli.constraint.patterns.tree import (
    ANYTHING,
    EMPTY,
    Chars,
    Choice,
    End,
    Look,
    Node,
    Repeat,
    Sequence,
    Start,
    nodes,
    repeat,
)

#: A stack of nodes to match in a row, by its number in a `Machine`.
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
class State:
    """What the rest must match, whether nothing was read yet, and each look-behind's formula."""

    rest: Formula
    at_start: bool
    behind: tuple[Formula, ...]

    @property
    def settled(self) -> bool | None:
        """Whether the rest of the text is welcome whatever it is, or whatever it is not."""
        return False if self.rest is False else True if self.rest == _ALWAYS else None


class Machine:
    """A plain tree that is searched for, character by character.

    Raises TooComplexError for look-aheads and `$` in look-behinds and, from `after`, beyond
    `most_steps`. `negated`: it must not be found.
    """

    def __init__(self, node: Node, *, negated: bool = False, most_steps: int | None = None) -> None:
        self._looks = _look_behinds(node)
        self._most_steps = most_steps
        self._steps = 0
        self._firsts: list[tuple[Node, Thread]] = [(EMPTY, _DONE), (ANYTHING, _DONE)]
        self._threads: dict[tuple[int, Thread], Thread] = {(id(ANYTHING), _DONE): _FREE}
        self._repeats: dict[tuple[int, int, int | None], Node] = {}
        found: Formula = _Waiting(self._thread(ANYTHING, self._thread(node, _FREE)))
        behind = tuple(
            _Waiting(self._thread(ANYTHING, self._thread(look.body, _DONE))) for look in self._looks
        )
        self.start = State(_negation(found) if negated else found, True, behind)

    def after(self, state: State, code: int) -> State:
        """The state after one more character."""
        holds = self._holding(state)
        start = state.at_start
        behind = tuple(self._step(formula, code, start, holds) for formula in state.behind)
        return State(self._step(state.rest, code, start, holds), False, behind)

    def accepts(self, state: State) -> bool:
        """Whether the text may end here."""
        return self._ends(state.rest, state.at_start, self._holding(state))

    def _holding(self, state: State) -> dict[Look, bool]:
        """Whether each look-behind's body has just matched; inner ones come first."""
        holds: dict[Look, bool] = {}
        for look, formula in zip(self._looks, state.behind, strict=True):
            holds[look] = self._ends(formula, state.at_start, holds)
        return holds

    def _step(self, what: Formula, code: int, start: bool, holds: dict[Look, bool]) -> Formula:
        """What must follow after one character."""
        if what is False:
            return False
        if isinstance(what, _Not):
            return _negation(self._step(what.part, code, start, holds))
        if isinstance(what, _Joined):
            return _joined(what.sign, (self._step(part, code, start, holds) for part in what.parts))
        return self._read(what.thread, code, start, holds, frozenset())

    def _read(
        self,
        thread: Thread,
        code: int,
        start: bool,
        holds: dict[Look, bool],
        entered: frozenset[tuple[int, Thread]],
    ) -> Formula:
        """`_step` for a thread; `entered`: loops begun since the last character."""
        self._steps += 1
        if self._most_steps is not None and self._steps > self._most_steps:
            raise TooComplexError("its look-arounds take too long")
        if thread == _DONE:
            return False
        if thread == _FREE:
            return _ALWAYS
        node, rest = self._firsts[thread]

        def go(following: Thread, entered: frozenset[tuple[int, Thread]] = entered) -> Formula:
            return self._read(following, code, start, holds, entered)

        if isinstance(node, Chars):
            return _Waiting(rest) if code in node.members else False
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
        left = self._thread(self._one_less(node), rest)
        if self._least(node):
            return go(self._thread(node.body, left))
        # A round that read nothing leads nowhere that this one does not.
        loop = (id(node.body), rest)
        onward = loop not in entered and go(self._thread(node.body, left), entered | {loop})
        return _joined("or", (go(rest), onward))

    def _thread(self, node: Node, rest: Thread) -> Thread:
        if node == EMPTY:
            return rest
        key = (id(node), rest)
        if key not in self._threads:
            self._threads[key] = len(self._firsts)
            self._firsts.append((node, rest))  # which also keeps the node's id its own
        return self._threads[key]

    def _least(self, node: Repeat) -> int:
        return 0 if is_free(node.body) and nullable(node.body) else node.least

    def _one_less(self, node: Repeat) -> Node:
        least, most = max(node.least - 1, 0), None if node.most is None else node.most - 1
        if (least, most) == (node.least, node.most):
            return node
        key = (id(node.body), least, most)
        if key not in self._repeats:
            self._repeats[key] = repeat(node.body, least, most)
        return self._repeats[key]

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
