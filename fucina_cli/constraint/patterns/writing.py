"""Writes a tree as a pattern of ECMA-262 under the flag `u`, each class by its code points."""

from __future__ import annotations

from collections.abc import Callable

from fucina_cli.constraint.patterns.charset import CharSet
from fucina_cli.constraint.patterns.tree import (
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
)


def _escaped(code: int) -> str:
    return f"\\u{{{code:X}}}"


def ecma(node: Node) -> str:
    """The pattern of a tree. Captures keep their numbers, but not their names."""
    if isinstance(node, Chars):
        return class_text(node.members)
    if isinstance(node, Sequence):
        return "".join(_part(part, Choice) for part in node.parts)
    if isinstance(node, Choice):
        return "|".join(map(ecma, node.options))
    if isinstance(node, Repeat):
        body = _part(node.body, Choice, Sequence, Repeat, Look, Start, End)
        return body + quantifier(node.least, node.most)
    if isinstance(node, Start):
        return "^"
    if isinstance(node, End):
        return "$"
    if isinstance(node, Look):
        sign = ("?" if node.ahead else "?<") + ("!" if node.negated else "=")
        return f"({sign}{ecma(node.body)})"
    if isinstance(node, Capture):
        return f"({ecma(node.body)})"
    assert isinstance(node, Backreference)
    # At most one of several groups of one name has captured anything.
    return "".join(f"(?:\\{number})" for number in node.numbers)


def quantifier(least: int, most: int | None) -> str:
    """The sign of a repetition, the same in all syntaxes."""
    short = {(0, None): "*", (1, None): "+", (0, 1): "?", (1, 1): ""}.get((least, most))
    if short is None:
        short = f"{{{least}}}" if least == most else f"{{{least},{'' if most is None else most}}}"
    return short


def class_text(members: CharSet, escaped: Callable[[int], str] = _escaped) -> str:
    """A class of these characters, letters and digits as they are, others `escaped`.

    Surrogates may be inside of its ranges: no text has them, and `regex-syntax` misreads a class
    of all that is not on both sides of them.
    """

    def text(code: int) -> str:
        return chr(code) if code < 0x80 and chr(code).isalnum() else escaped(code)

    ranges, sign = members.spans, ""
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return text(ranges[0][0])
    others = (~members).spans
    if len(others) < len(ranges) or not ranges:
        ranges, sign = others, "^"
    return f"[{sign}{''.join(_range(text(a), text(b)) for a, b in ranges)}]"


def _range(first: str, last: str) -> str:
    return first if first == last else f"{first}-{last}"


def _part(node: Node, *grouped: type) -> str:
    text = ecma(node)
    # An empty sequence is grouped too: a quantifier needs something to stand on.
    return f"(?:{text})" if isinstance(node, grouped) else text
