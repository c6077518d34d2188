"""Cuts a grammar into terminals that a greedy lexer reads right.

The engine's lexer takes the longest text that a terminal allowed at its place matches. So it must
never happen that a terminal's text could be followed, in an answer, by a character with which that
text begins a longer one of some terminal. Terminals are made as long as that allows, because the
lexer is much faster than the parser; single characters always do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from fucina_cli.constraint.gbnf.automaton import Automaton, TooLarge
from fucina_cli.constraint.gbnf.notation import (
    NOTHING,
    ROOT,
    Alt,
    Chars,
    Expr,
    Ref,
    Repeat,
    Seq,
    references,
)
from fucina_cli.constraint.gbnf.regular import NonEmpty, Rules

_MOST_ROUNDS = 30


@dataclass(frozen=True)
class Terminal:
    """A regular expression that the lexer reads as one.

    `expr` is not satisfied by the empty text; `source` is what it was made of.
    """

    expr: Expr
    source: Expr


@dataclass(frozen=True)
class Sequence:
    """Nodes one after the other."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """One of several nodes."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Loop:
    """A repeated node."""

    node: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Call:
    """Another rule of the parser."""

    name: str


Node = Terminal | Sequence | Choice | Loop | Call
_NONE = Sequence(())


@dataclass
class Cut:
    """Rules for the parser over terminals, and the rules that terminals mention."""

    parser: dict[str, Node]
    lexer: Rules


def cut(rules: Rules, regular: set[str]) -> Cut:
    """The grammar over terminals; of a regular grammar one terminal."""
    lexer = {name: rules[name] for name in regular}
    apart = _Apart()
    for _ in range(_MOST_ROUNDS):
        made = _Cutter(rules, lexer, regular, apart).cut()
        try:
            clashes = list(clashing(made))
        except (TooLarge, RecursionError):
            break
        if not clashes:
            return made
        for shorter, longer in clashes:
            if isinstance(shorter, Chars):
                apart.whole.update(longer)
            else:
                apart.ends.add(shorter)
    return _Cutter(rules, lexer, regular, None).cut()


@dataclass
class _Apart:
    """Expressions that are no terminal: taken apart as a whole, or the last part of a sequence."""

    whole: set[Expr] = field(default_factory=set)
    ends: set[Expr] = field(default_factory=set)


class _Cutter:
    """Cuts with some expressions taken apart, all of them where `apart` is None."""

    def __init__(self, rules: Rules, lexer: Rules, regular: set[str], apart: _Apart | None) -> None:
        self._rules, self._lexer, self._regular, self._apart = rules, lexer, regular, apart
        self._non_empty = NonEmpty(lexer)

    def cut(self) -> Cut:
        parser: dict[str, Node] = {}
        todo = [ROOT]
        while todo:
            name = todo.pop()
            if name not in parser:
                parser[name] = self._node(self._rules[name])
                todo += called(parser[name])
        return Cut(parser, self._lexer)

    def _whole(self, expr: Expr) -> bool:
        """Whether `expr` may be one terminal."""
        if isinstance(expr, Chars):
            return True
        if self._apart is None or expr in self._apart.whole or expr in self._apart.ends:
            return False
        return all(name in self._regular for name in references(expr))

    def _node(self, expr: Expr) -> Node:
        if self._whole(expr):
            return self._terminal(expr)
        if isinstance(expr, Ref):
            return Call(expr.name)
        if isinstance(expr, Repeat):
            return Loop(self._node(expr.part), expr.least, expr.most)
        if isinstance(expr, Seq):
            return Sequence(tuple(map(self._node, self._runs(expr))))
        assert isinstance(expr, Alt)
        together = Alt(tuple(filter(self._whole, expr.options)))
        if len(together.options) < 2 or not self._whole(together):
            return Choice(tuple(map(self._node, expr.options)))
        others = [option for option in expr.options if option not in together.options]
        return Choice((self._terminal(together), *map(self._node, others)))

    def _runs(self, expr: Seq) -> list[Expr]:
        """The parts, those in a row that can be one terminal as one."""
        if self._apart is None or expr in self._apart.whole:
            return list(expr.parts)
        if expr in self._apart.ends:
            return [*self._runs(Seq(expr.parts[:-1])), expr.parts[-1]]
        runs: list[list[Expr]] = []
        for part in expr.parts:
            if runs and self._whole(part) and all(map(self._whole, runs[-1])):
                runs[-1].append(part)
            else:
                runs.append([part])
        made: list[Expr] = []
        for run in runs:
            together = Seq(tuple(run))
            if len(run) == 1:
                made += run
            elif self._whole(together):
                made.append(together)
            else:
                made += self._runs(together)
        return made

    def _terminal(self, expr: Expr) -> Node:
        full = self._non_empty.of(expr)
        if full == NOTHING:
            return _NONE
        terminal = Terminal(full, expr)
        return terminal if full == expr else Choice((terminal, _NONE))


def below(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside one."""
    if isinstance(node, Sequence | Choice):
        return node.nodes
    return (node.node,) if isinstance(node, Loop) else ()


def called(node: Node) -> Iterable[str]:
    """Names of the rules that a node mentions."""
    if isinstance(node, Call):
        yield node.name
    for part in below(node):
        yield from called(part)


def terminals(node: Node) -> Iterable[Terminal]:
    """All terminals of a node."""
    if isinstance(node, Terminal):
        yield node
    for part in below(node):
        yield from terminals(part)


# -- what clashes ----------------------------------------------------------------------------


def clashing(made: Cut) -> Iterator[tuple[Expr, list[Expr]]]:
    """What has to be taken apart.

    Pairs of a terminal's expression and of those whose texts may begin with one of its texts, go on
    with some character, and so hide that the same character could begin what follows it. Raises
    TooLarge and RecursionError.
    """
    found = sorted({t for node in made.parser.values() for t in terminals(node)}, key=repr)
    automaton = Automaton(made.lexer)
    places = [automaton.add(terminal.expr) for terminal in found]
    extensions = automaton.extensions(places)
    follow = _Follow(made.parser, dict(zip(found, map(automaton.first, places), strict=True)))
    for terminal, longer in zip(found, extensions, strict=True):
        hidden = [
            found[other].source
            for other, characters in longer.items()
            if characters & follow.terminals[terminal]
        ]
        if hidden:
            yield terminal.source, hidden


class _Follow:
    """Which characters may follow a terminal: the usual FIRST and FOLLOW sets of a grammar.

    Sets of characters are the bits of an integer.
    """

    def __init__(self, rules: dict[str, Node], firsts: dict[Terminal, int]) -> None:
        self._rules, self._firsts = rules, firsts
        self._empty: set[str] = set()  # rules that the empty text satisfies
        self._first = dict.fromkeys(rules, 0)
        self._after = dict.fromkeys(rules, 0)
        self.terminals = dict.fromkeys(firsts, 0)
        self._changed = True
        while self._changed:
            self._changed = False
            for name, node in rules.items():
                first, empty = self._begin(node)
                if empty and name not in self._empty:
                    self._empty.add(name)
                    self._changed = True
                self._first[name] = self._grown(self._first[name], first)
        self._changed = True
        while self._changed:
            self._changed = False
            for name, node in rules.items():
                self._walk(node, self._after[name])

    def _grown(self, known: int, more: int) -> int:
        self._changed = self._changed or bool(more & ~known)
        return known | more

    def _begin(self, node: Node) -> tuple[int, bool]:
        """First characters, and whether the empty text satisfies the node."""
        if isinstance(node, Terminal):
            return self._firsts[node], False
        if isinstance(node, Call):
            return self._first[node.name], node.name in self._empty
        if isinstance(node, Loop):
            first, empty = self._begin(node.node)
            return first, empty or node.least == 0
        first, all_empty, any_empty = 0, True, False
        for part in node.nodes:
            more, empty = self._begin(part)
            if all_empty or isinstance(node, Choice):
                first |= more
            all_empty, any_empty = all_empty and empty, any_empty or empty
        return first, any_empty if isinstance(node, Choice) else all_empty

    def _walk(self, node: Node, after: int) -> None:
        """Note what follows everything inside `node`, which `after` follows."""
        if isinstance(node, Terminal):
            self.terminals[node] = self._grown(self.terminals[node], after)
        elif isinstance(node, Call):
            self._after[node.name] = self._grown(self._after[node.name], after)
        elif isinstance(node, Loop):
            again = self._begin(node.node)[0] if node.most != 1 else 0
            self._walk(node.node, after | again)
        elif isinstance(node, Choice):
            for part in node.nodes:
                self._walk(part, after)
        else:
            for part in reversed(node.nodes):
                self._walk(part, after)
                first, empty = self._begin(part)
                after = first | after if empty else first
