r"""Writes a pattern of ECMA-262 for the grammar engine, which takes Rust's syntax.

The engine (llguidance, derivre, Rust's `regex-syntax`) has no look-arounds and no back-references,
and knows `^` and `$` at the ends only. Here a pattern becomes one or more that must all match the
whole text, classes written out by their code points. What can't be expressed is widened. Read as
ECMA-262 again, what is written here means the same.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from fucina_cli.constraint.patterns import charset, ecma
from fucina_cli.constraint.patterns.anchors import whole
from fucina_cli.constraint.patterns.automaton import without_lookarounds
from fucina_cli.constraint.patterns.charset import CharSet
from fucina_cli.constraint.patterns.errors import PatternError, TooComplexError
from fucina_cli.constraint.patterns.tree import (
    ANYTHING,
    EMPTY,
    Backreference,
    Capture,
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
    plain,
    repeat,
    sequence,
)
from fucina_cli.constraint.patterns.writing import class_text, quantifier

#: Bounds from here on are no bounds: the engine counts in 32 bits.
_ENDLESS = 2**31
_CONTROLS = charset.of((0x00, 0x1F))
_NEWLINE = charset.single(0x0A)
#: Backslash and quotation mark, which JSON escapes.
_ESCAPED = charset.of((0x22, 0x22), (0x5C, 0x5C))
#: SYNCHRONOUS IDLE, no more wanted in any text than the other controls.
_LONE = charset.single(0x16)


@dataclass(frozen=True)
class Translation:
    """Patterns of the engine that must all match; none if every text does.

    `lost` says what they do not enforce, "" for nothing.
    """

    patterns: tuple[str, ...]
    lost: str = ""


@functools.lru_cache(maxsize=1024)
def translated(pattern: str, *, single: bool = False) -> Translation:
    """The patterns of a JSON string's content; one of them at most if `single`.

    Raises PatternError for a pattern that can't be read.
    """
    try:
        tree = ecma.parse(pattern)
        if any(isinstance(node, Backreference) for node in nodes(tree)):
            wider = whole(_widened(plain(_unreferenced(tree))))
            return Translation(_all_of([wider], single=single), "its back-references")
        return _translated(plain(tree), single)
    except RecursionError:
        raise PatternError("it is nested too deeply") from None


def _translated(tree: Node, single: bool) -> Translation:
    lost = []
    found: list[Node] = []
    for part, negated in [(tree, False)] if single else _conjuncts(tree):
        try:
            found.append(_exact(part, negated))
        except TooComplexError as error:
            lost.append(str(error))
            if not negated:
                found.append(whole(_widened(part)))
    return Translation(_all_of(found, single=single), "; ".join(dict.fromkeys(lost)))


def _exact(tree: Node, negated: bool) -> Node:
    if not negated:
        try:
            return whole(tree)
        except TooComplexError:
            pass
    return without_lookarounds(tree, negated=negated)


def _conjuncts(tree: Node) -> list[tuple[Node, bool]]:
    """Trees that must be found, or (True) must not, for the tree to be found.

    A look-ahead where the text begins, and a look-behind where it ends, is such a tree.
    """
    parts: list[Node] = list(tree.parts) if isinstance(tree, Sequence) else [tree]
    begin = 0
    while begin < len(parts) and _stays(parts[begin], Start, ahead=True):
        begin += 1
    end = len(parts)
    while end > begin and _stays(parts[end - 1], End, ahead=False):
        end -= 1
    first: list[Node] = list(parts[:begin])
    last: list[Node] = list(parts[end:])
    rest = parts[begin:end]
    found: list[tuple[Node, bool]] = []
    if Start() in first:
        found += [(sequence(Start(), p.body), p.negated) for p in first if isinstance(p, Look)]
        first = [Start()]
    if End() in last:
        found += [(sequence(p.body, End()), p.negated) for p in last if isinstance(p, Look)]
        last = [End()]
    return [(sequence(*first, *rest, *last), False), *found]


def _stays(node: Node, anchor: type, *, ahead: bool) -> bool:
    return isinstance(node, anchor) or (isinstance(node, Look) and node.ahead is ahead)


def _unreferenced(tree: Node) -> Node:
    """The tree with each back-reference replaced by what its group may have captured."""
    groups = {node.number: node.body for node in nodes(tree) if isinstance(node, Capture)}

    def change(node: Node) -> Node:
        if isinstance(node, Backreference):
            bodies = [groups[number] for number in node.numbers]
            nested = any(isinstance(n, Backreference) for body in bodies for n in nodes(body))
            return ANYTHING if nested else Choice((EMPTY, *bodies))
        if isinstance(node, Sequence):
            return Sequence(tuple(map(change, node.parts)))
        if isinstance(node, Choice):
            return Choice(tuple(map(change, node.options)))
        if isinstance(node, Repeat):
            return Repeat(change(node.body), node.least, node.most)
        if isinstance(node, Capture):
            return change(node.body)
        return EMPTY if isinstance(node, Look) else node

    return change(tree)


def _widened(node: Node, *, repeated: bool = False) -> Node:
    """The tree without look-arounds, and without anchors in repetitions."""
    if isinstance(node, Look) or (repeated and isinstance(node, Start | End)):
        return EMPTY
    if isinstance(node, Sequence):
        return sequence(*(_widened(part, repeated=repeated) for part in node.parts))
    if isinstance(node, Choice):
        return choice(*(_widened(part, repeated=repeated) for part in node.options))
    if isinstance(node, Repeat):
        return repeat(_widened(node.body, repeated=True), node.least, node.most)
    return node


def _all_of(trees: list[Node], *, single: bool = False) -> tuple[str, ...]:
    kept: list[Node] = []
    for tree in trees:
        counted = tree if isinstance(tree, Repeat) else Repeat(tree, 1, 1)
        body = counted.body
        endless = counted.most is None and counted.least < 2
        if isinstance(body, Chars) and _misquoted(body.members) and not endless and not single:
            # The class as such and the count, each of which is written exactly.
            kept += [Repeat(body, 0, None), Repeat(Chars(charset.ANY), counted.least, counted.most)]
        else:
            kept.append(tree)
    return tuple(dict.fromkeys(f"^(?:{_written(tree)})$" for tree in kept if tree != ANYTHING))


@functools.lru_cache(maxsize=4096)
def _misquoted(members: CharSet) -> bool:
    r"""Whether the engine's JSON escaping of a class lets characters in that it excludes.

    It takes a class of all control characters, or all but \n, for one that has `"` and `\` too.
    """
    return not (_CONTROLS - _NEWLINE - members) and bool(_ESCAPED - members)


def _written(node: Node) -> str:
    if isinstance(node, Chars):
        return _class(node.members)
    if isinstance(node, Sequence):
        return "".join(_part(part, Choice) for part in node.parts)
    if isinstance(node, Choice):
        return "|".join(map(_written, node.options))
    assert isinstance(node, Repeat), node
    least, most = node.least, node.most
    most = None if most is not None and most >= _ENDLESS else most
    least = min(least, _ENDLESS)
    body = node.body
    if isinstance(body, Chars) and _misquoted(body.members) and most is None:
        rest, lone = _class(body.members), _class(_LONE)
        if least == 0:
            return f"(?:{rest}*{lone}*)*"
        once = f"(?:{rest}+(?:{lone}{rest}*)*|(?:{lone}{rest}*)+)"
        return once if least == 1 else f"{rest}{quantifier(least - 1, least - 1)}{once}"
    return _part(body, Choice, Sequence, Repeat) + quantifier(least, most)


def _part(node: Node, *grouped: type) -> str:
    text = _written(node)
    return f"(?:{text})" if isinstance(node, grouped) else text


@functools.lru_cache(maxsize=4096)
def _class(members: CharSet) -> str:
    """A class, one control character short of those that would be misquoted."""
    if members == charset.ANY:
        return "(?s:.)"
    return class_text(members - _LONE if _misquoted(members) else members, _escaped)


def _escaped(code: int) -> str:
    char = chr(code)
    if not 0x20 <= code < 0x7F:
        return f"\\u{{{code:X}}}"
    return char if char in " <>'\"%,:;=@_`!" else f"\\{char}"
