"""A pattern that is searched for, as one that the whole text matches."""

from __future__ import annotations

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
    choice,
    nodes,
    sequence,
)

#: What a node matches, by whether the match must begin at the start of the text and end at its end.
_Anchored = dict[tuple[bool, bool], Node]


def whole(node: Node) -> Node:
    """The texts in which a plain tree is found, without anchors.

    Raises TooComplexError for look-arounds and for anchors inside of repetitions.
    """
    parts = []
    for (start, end), body in _anchored(node).items():
        parts.append(sequence(*(() if start else (ANYTHING,)), body, *(() if end else (ANYTHING,))))
    return choice(*parts)


def _anchored(node: Node) -> _Anchored:
    if isinstance(node, Start):
        return {(True, False): EMPTY}
    if isinstance(node, End):
        return {(False, True): EMPTY}
    if isinstance(node, Choice):
        return _either(*map(_anchored, node.options))
    if isinstance(node, Sequence):
        return _in_row(node)
    if isinstance(node, Repeat) and not is_free(node.body):
        if (node.least, node.most) == (0, 1):
            return _either({(False, False): EMPTY}, _anchored(node.body))
        raise TooComplexError("an anchor or a look-around inside of a repetition")
    if isinstance(node, Chars | Repeat):
        return {(False, False): node}
    raise TooComplexError("a look-around")


def _in_row(node: Sequence) -> _Anchored:
    total: _Anchored = {(False, False): EMPTY}
    free: list[Node] = []
    for part in node.parts:
        if is_free(part):
            free.append(part)
            continue
        total = _then(_then(total, {(False, False): sequence(*free)}), _anchored(part))
        free = []
    return _then(total, {(False, False): sequence(*free)})


def _either(*many: _Anchored) -> _Anchored:
    keys = dict.fromkeys(key for one in many for key in one)
    return {key: choice(*(one[key] for one in many if key in one)) for key in keys}


def _then(first: _Anchored, second: _Anchored) -> _Anchored:
    """What matches where `second` follows `first`."""
    found = []
    for (start, left_ends), left in first.items():
        for (right_starts, end), right in second.items():
            if not left_ends and not right_starts:
                found.append({(start, end): sequence(left, right)})
            elif left_ends and right_starts:
                if nullable(left) and nullable(right):
                    found.append({(True, True): EMPTY})
            elif right_starts and nullable(left):
                found.append({(True, end): right})
            elif left_ends and nullable(right):
                found.append({(start, True): left})
    return _either(*found)


def is_free(node: Node) -> bool:
    """Whether a tree has no anchors and no look-arounds."""
    return not any(isinstance(part, Start | End | Look) for part in nodes(node))


def nullable(node: Node) -> bool:
    """Whether a tree without anchors and look-arounds matches the empty text."""
    if isinstance(node, Sequence):
        return all(map(nullable, node.parts))
    if isinstance(node, Choice):
        return any(map(nullable, node.options))
    if isinstance(node, Repeat):
        return node.least == 0 or nullable(node.body)
    return False
