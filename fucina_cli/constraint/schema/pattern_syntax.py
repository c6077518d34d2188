r"""The regular part of ECMA-262 patterns with the flag u, read into a tree.

What is not regular (back references) or not needed here (look-behinds, `\b`, `\p{…}`) is
Unreadable. Sources: ECMA-262, 22.2.1 (Patterns) and 22.2.2.9 (CharacterClass values).
"""

from __future__ import annotations

import enum
import re
from dataclasses import dataclass

LAST = 0x10FFFF
#: Ranges of code points, both ends included, ascending, with gaps between them.
Ranges = tuple[tuple[int, int], ...]
EVERYTHING: Ranges = ((0, LAST),)
_MAX_COUNT = 1000
_MAX_DEPTH = 100


class Unreadable(ValueError):
    """A pattern that is not valid, or not regular, or beyond this reader."""


class Anchor(enum.Enum):
    """An end of the text."""

    START = "^"
    END = "$"


@dataclass(frozen=True)
class Characters:
    """One character of a set."""

    ranges: Ranges


@dataclass(frozen=True)
class Sequence:
    """Parts that follow each other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Alternatives:
    """One of some sequences."""

    branches: tuple[Sequence, ...]


@dataclass(frozen=True)
class Repeat:
    """`inner` from `least` to `most` times, None without end."""

    inner: Node
    least: int
    most: int | None


@dataclass(frozen=True)
class Look:
    """A look-ahead."""

    inner: Alternatives
    negative: bool


Node = Anchor | Characters | Sequence | Alternatives | Repeat | Look


def merged(ranges: list[tuple[int, int]]) -> Ranges:
    """Ranges in their normal form: ascending, with gaps between them."""
    result: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1] + 1:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def complement(ranges: Ranges) -> Ranges:
    """All code points that are not in `ranges`."""
    result = []
    after = 0
    for low, high in ranges:
        if low > after:
            result.append((after, low - 1))
        after = high + 1
    if after <= LAST:
        result.append((after, LAST))
    return tuple(result)


def _codes(*texts: str) -> Ranges:
    return merged([(ord(text[0]), ord(text[-1])) for text in texts])


_DIGITS = _codes("09")
_WORD = _codes("09", "AZ", "az", "_")
#: WhiteSpace and LineTerminator of ECMA-262.
_SPACE = _codes(
    "\t\r", " ", "\u00a0", "\u1680", "\u2000\u200a", "\u2028\u2029", "\u202f", "\u205f", "\u3000",
    "\ufeff",
)  # fmt: skip
_DOT = complement(_codes("\n", "\r", "\u2028\u2029"))
_SETS = {
    "d": _DIGITS, "D": complement(_DIGITS), "w": _WORD, "W": complement(_WORD),
    "s": _SPACE, "S": complement(_SPACE),
}  # fmt: skip
_CONTROLS = {"t": "\t", "n": "\n", "v": "\v", "f": "\f", "r": "\r"}
_COUNT = re.compile(r"\{([0-9]{1,9})(?:(,)([0-9]{0,9}))?\}")
_SURROGATES = re.compile(r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")


def parse(pattern: str) -> Alternatives:
    """The tree of an ECMA-262 pattern. Raises Unreadable."""
    reader = _Reader(pattern)
    tree = reader.alternatives(0)
    if reader.at < len(pattern):
        raise Unreadable("an unmatched )")
    return tree


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    def _next(self, count: int = 1) -> str:
        return self.text[self.at : self.at + count]

    def _take(self, text: str) -> bool:
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def alternatives(self, depth: int) -> Alternatives:
        if depth > _MAX_DEPTH:
            raise Unreadable("nested too deeply")
        branches = [self._sequence(depth)]
        while self._take("|"):
            branches.append(self._sequence(depth))
        return Alternatives(tuple(branches))

    def _sequence(self, depth: int) -> Sequence:
        parts: list[Node] = []
        while self._next() not in ("", "|", ")"):
            part = self._atom(depth)
            parts.append(part if isinstance(part, (Anchor, Look)) else self._quantified(part))
        return Sequence(tuple(parts))

    def _quantified(self, part: Node) -> Node:
        if self._take("*"):
            part = Repeat(part, 0, None)
        elif self._take("+"):
            part = Repeat(part, 1, None)
        elif self._take("?"):
            part = Repeat(part, 0, 1)
        elif self._next() == "{":
            found = _COUNT.match(self.text, self.at)
            if not found:
                raise Unreadable("a { that is no quantifier")
            self.at = found.end()
            least = int(found[1])
            most = least if not found[2] else int(found[3]) if found[3] else None
            if least > _MAX_COUNT or (most or 0) > _MAX_COUNT or (most or least) < least:
                raise Unreadable("a quantifier out of range")
            part = Repeat(part, least, most)
        else:
            return part
        self._take("?")
        return part

    def _atom(self, depth: int) -> Node:
        if self._take("^"):
            return Anchor.START
        if self._take("$"):
            return Anchor.END
        if self._take("."):
            return Characters(_DOT)
        if self._take("("):
            return self._group(depth)
        if self._take("["):
            return Characters(self._class())
        if self._next() == "\\":
            return Characters(self._escape(in_class=False))
        char = self._next()
        if char in "*+?{":
            raise Unreadable("a quantifier with nothing to repeat")
        self.at += 1
        return Characters(_codes(char))

    def _group(self, depth: int) -> Node:
        negative = self._take("?!")
        look = negative or self._take("?=")
        if not look and not self._take("?:"):
            named = re.compile(r"\?<[A-Za-z_$][\w$]*>").match(self.text, self.at)
            if named:
                self.at = named.end()
            elif self._next() == "?":
                raise Unreadable("a look-behind or a flag")
        inner = self.alternatives(depth + 1)
        if not self._take(")"):
            raise Unreadable("an unmatched (")
        return Look(inner, negative) if look else inner

    def _class(self) -> Ranges:
        negative = self._take("^")
        ranges: list[tuple[int, int]] = []
        while not self._take("]"):
            if not self._next():
                raise Unreadable("an unmatched [")
            low = self._class_atom()
            if self._next() == "-" and self._next(2) not in ("-]", "-"):
                self.at += 1
                high = self._class_atom()
                if not _single(low) or not _single(high) or low[0][0] > high[0][0]:
                    raise Unreadable("a range out of order")
                ranges.append((low[0][0], high[0][0]))
            else:
                ranges.extend(low)
        found = merged(ranges)
        return complement(found) if negative else found

    def _class_atom(self) -> Ranges:
        if self._next() == "\\":
            return self._escape(in_class=True)
        char = self._next()
        if not char:
            raise Unreadable("an unmatched [")
        self.at += 1
        return _codes(char)

    def _escape(self, *, in_class: bool) -> Ranges:
        pair = _SURROGATES.match(self.text, self.at)
        if pair:
            self.at = pair.end()
            high, low = int(pair[1], 16) - 0xD800, int(pair[2], 16) - 0xDC00
            return _codes(chr(0x10000 + (high << 10) + low))
        self.at += 1
        found = _HEX.match(self.text, self.at)
        if found:
            self.at = found.end()
            code = int(found[1] or found[2] or found[3], 16)
            if code > LAST:
                raise Unreadable("a code point out of range")
            return ((code, code),)
        char = self._next()
        self.at += 1
        if char in _SETS:
            return _SETS[char]
        if char in _CONTROLS:
            return _codes(_CONTROLS[char])
        if char == "b" and in_class:
            return _codes("\b")
        if char == "0" and not self._next().isdigit():
            return _codes("\0")
        if char == "c" and self._next().isascii() and self._next().isalpha():
            code = ord(self._next()) % 32
            self.at += 1
            return ((code, code),)
        if char and not char.isalnum() and char != "_":
            return _codes(char)
        raise Unreadable(f"an escape \\{char}")


def _single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
