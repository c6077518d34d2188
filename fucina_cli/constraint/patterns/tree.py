"""A pattern as a tree, whatever syntax it was written in.

Greedy and lazy quantifiers are alike here: they find the same texts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fucina_cli.constraint.patterns.charset import ANY, NONE, WORD, CharSet


@dataclass(frozen=True)
class Chars:
    """One character of a set."""

    members: CharSet


@dataclass(frozen=True)
class Sequence:
    """One part after the other; none match the empty text."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Choice:
    """Any of these."""

    options: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """`least` to `most` times, None for no bound."""

    body: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Start:
    """Where the text begins."""


@dataclass(frozen=True)
class End:
    """Where the text ends."""


@dataclass(frozen=True)
class Look:
    """A place after which (`ahead`) or before which `body` matches, or does not."""

    body: Node
    ahead: bool
    negated: bool


@dataclass(frozen=True)
class Capture:
    """A capturing group, numbered from 1."""

    body: Node
    number: int


@dataclass(frozen=True)
class Backreference:
    """The text that one of these groups captured, or nothing."""

    numbers: tuple[int, ...]


Node = Chars | Sequence | Choice | Repeat | Start | End | Look | Capture | Backreference

EMPTY = Sequence(())
NOTHING = Chars(NONE)
ANYTHING = Repeat(Chars(ANY), 0, None)


def sequence(*parts: Node) -> Node:
    """Parts in a row, flattened, without what any text before or after already covers."""
    flat: list[Node] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        for one in part.parts if isinstance(part, Sequence) else (part,):
            if one == ANYTHING:
                while flat and _optional_chars(flat[-1]):
                    flat.pop()
            elif flat and flat[-1] == ANYTHING and _optional_chars(one):
                continue
            flat.append(one)
    return flat[0] if len(flat) == 1 else Sequence(tuple(flat))


def _optional_chars(node: Node) -> bool:
    return isinstance(node, Repeat) and not node.least and isinstance(node.body, Chars)


def choice(*options: Node) -> Node:
    """Options, flattened, each once; single characters as one class."""
    flat: list[Node] = []
    members = NONE
    for option in options:
        for part in option.options if isinstance(option, Choice) else (option,):
            if isinstance(part, Chars):
                if not members and part.members:
                    flat.append(part)  # holds the place of the class
                members |= part.members
            else:
                flat.append(part)
    merged = [Chars(members) if isinstance(part, Chars) else part for part in flat]
    unique = tuple(dict.fromkeys(merged))
    if not unique:
        return NOTHING
    return unique[0] if len(unique) == 1 else Choice(unique)


def repeat(body: Node, least: int, most: int | None) -> Node:
    """A repetition, simplified where it says nothing."""
    if body == EMPTY or most == 0:
        return EMPTY
    if body == NOTHING:
        return NOTHING if least else EMPTY
    if (least, most) == (1, 1):
        return body
    return Repeat(body, least, most)


def word_boundary(word: CharSet = WORD, *, negated: bool = False) -> Node:
    r"""`\b`, or `\B` if negated, by the look-arounds that it stands for."""
    before, after = Look(Chars(word), False, False), Look(Chars(word), True, False)
    not_before, not_after = Look(Chars(word), False, True), Look(Chars(word), True, True)
    if negated:
        return Choice((Sequence((before, after)), Sequence((not_before, not_after))))
    return Choice((Sequence((before, not_after)), Sequence((not_before, after))))


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside."""
    if isinstance(node, Sequence):
        return node.parts
    if isinstance(node, Choice):
        return node.options
    if isinstance(node, Repeat | Look | Capture):
        return (node.body,)
    return ()


def nodes(node: Node) -> Iterator[Node]:
    """The node and all inside it."""
    todo = [node]
    while todo:
        node = todo.pop()
        yield node
        todo += children(node)


def plain(node: Node) -> Node:
    """The tree without captures, simplified. Back-references must be gone."""
    if isinstance(node, Capture):
        return plain(node.body)
    if isinstance(node, Sequence):
        return sequence(*map(plain, node.parts))
    if isinstance(node, Choice):
        return choice(*map(plain, node.options))
    if isinstance(node, Repeat):
        return repeat(plain(node.body), node.least, node.most)
    if isinstance(node, Look):
        return Look(plain(node.body), node.ahead, node.negated)
    return node
