r"""Reads patterns of ECMA-262 (22.2.1) with the flag `u`.

Where that refuses a pattern, what the standard's Annex B.1.2 tolerates is read as web browsers do:
needless escapes of punctuation (`\-`, `\_`, `\@`), lone `{`, `}` and `]` (`a{,2}`), ranges that end
in a class (`[\w-.]`), quantified look-aheads. Flags that begin a pattern (`(?i)`) hold for all of
it, as in every syntax that has them. Escapes of letters that mean nothing in ECMA-262 (`\A`, `\Z`)
and what other syntaxes add (`(?P<n>…)`, `a++`) are errors: their writers meant something else.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from fucina_cli.constraint.patterns import charset
from fucina_cli.constraint.patterns.charset import CharSet
from fucina_cli.constraint.patterns.scanner import Scanner
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
    word_boundary,
)

_CLASSES = {"d": charset.DIGIT, "s": charset.ECMA_SPACE, "w": charset.WORD}
_CONTROLS = {"f": 0x0C, "n": 0x0A, "r": 0x0D, "t": 0x09, "v": 0x0B}
_NAME = r"([\w$]+)>"
_LOOKS = (("?=", True, False), ("?!", True, True), ("?<=", False, False), ("?<!", False, True))


@dataclass(frozen=True)
class _Flags:
    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False


def parse(pattern: str) -> Node:
    """The tree of a pattern. Raises PatternError for one that can't be read."""
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._in = Scanner(pattern)
        self._groups = _group_names(pattern)
        self._opened = 0

    def parse(self) -> Node:
        flags = _Flags()
        leading = self._in.match(r"\(\?([imsu]+)\)")
        if leading:
            flags = _changed(flags, leading.group(1), True)
        node = self._choice(flags)
        if not self._in.done:
            raise self._in.error("a ) without (")
        return node

    def _choice(self, flags: _Flags) -> Node:
        options = [self._sequence(flags)]
        while self._in.skip("|"):
            options.append(self._sequence(flags))
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self, flags: _Flags) -> Node:
        parts: list[Node] = []
        while not (self._in.done or self._in.peek("|") or self._in.peek(")")):
            parts.append(self._term(flags))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _term(self, flags: _Flags) -> Node:
        if self._in.skip("^"):
            return _line_start() if flags.multiline else Start()
        if self._in.skip("$"):
            return _line_end() if flags.multiline else End()
        if self._in.skip("\\b"):
            return self._boundary(flags, False)
        if self._in.skip("\\B"):
            return self._boundary(flags, True)
        behind = self._in.peek("(?<=") or self._in.peek("(?<!")
        node = self._atom(flags)
        quantifier = self._quantifier()
        if quantifier is None:
            return node
        if behind:
            raise self._in.error("a look-behind can't be repeated")
        least, most = quantifier
        if most is not None and least > most:
            raise self._in.error("a repetition's bounds are out of order")
        return Repeat(node, least, most)

    def _boundary(self, flags: _Flags, negated: bool) -> Node:
        return word_boundary(self._cased(charset.WORD, flags), negated=negated)

    def _quantifier(self) -> tuple[int, int | None] | None:
        found = self._in.match(r"([*+?]|\{([0-9]+)(,([0-9]*))?\})\??")
        if not found:
            return None
        sign, least, several, most = found.group(1, 2, 3, 4)
        if sign in ("*", "+", "?"):
            return int(sign == "+"), 1 if sign == "?" else None
        low = _count(least)
        return low, (_count(most) if most else None) if several else low

    def _atom(self, flags: _Flags) -> Node:
        if self._in.skip("("):
            self._in.deeper()
            node = self._group(flags)
            self._in.expect(")", "a ( without )")
            self._in.higher()
            return node
        if self._in.skip("["):
            return Chars(self._class(flags))
        if self._in.skip("."):
            return Chars(charset.ANY if flags.dot_all else ~charset.LINE_ENDS)
        if self._in.skip("\\"):
            return self._escape(flags)
        if self._quantifier() is not None:
            raise self._in.error("nothing to repeat")
        return Chars(self._cased(charset.single(ord(self._in.next())), flags))

    def _group(self, flags: _Flags) -> Node:
        for sign, ahead, negated in _LOOKS:
            if self._in.skip(sign):
                return Look(self._choice(flags), ahead, negated)
        if self._in.skip("?<"):
            if not self._in.match(_NAME):
                raise self._in.error("a group's name is not one")
        elif self._in.peek("?"):
            found = self._in.match(r"\?([ims]*)(?:-([ims]*))?:")
            if not found:
                raise self._in.error("a group of another syntax than ECMA-262's")
            flags = _changed(flags, found.group(1), True)
            return self._choice(_changed(flags, found.group(2) or "", False))
        self._opened += 1
        number = self._opened
        return Capture(self._choice(flags), number)

    def _escape(self, flags: _Flags) -> Node:
        digits = self._in.match(r"[1-9][0-9]*")
        if digits:
            number = int(digits.group()) if len(digits.group()) < 9 else len(self._groups) + 1
            if number > len(self._groups):
                raise self._in.error(f"there is no group {digits.group()[:9]}")
            return Backreference((number,))
        if self._in.skip("k"):
            name = self._in.match("<" + _NAME)
            numbers = tuple(
                n for n, known in enumerate(self._groups, 1) if name and known == name.group(1)
            )
            if not numbers:
                raise self._in.error("a \\k without a group of its name")
            return Backreference(numbers)
        members = self._class_escape(flags)
        if members is None:
            members = self._cased(charset.single(self._character()), flags)
        return Chars(members)

    def _class_escape(self, flags: _Flags) -> CharSet | None:
        letter = self._in.match(r"[dswDSW]")
        if letter:
            members = self._cased(_CLASSES[letter.group().lower()], flags)
            return ~members if letter.group().isupper() else members
        found = self._in.match(r"([pP])\{([A-Za-z0-9_]+(?:=[A-Za-z0-9_]+)?)\}")
        if found:
            members = self._cased(charset.unicode_property(found.group(2)), flags)
            return ~members if found.group(1) == "P" else members
        return None

    def _character(self) -> int:
        """The code point of an escape, its backslash already read."""
        found = self._in.match(r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})")
        if found:
            high, low = (int(half, 16) for half in found.groups())
            return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)
        found = self._in.match(r"(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]+)\})")
        if found:
            code = int(next(filter(None, found.groups())), 16)
            if code > charset.LAST:
                raise self._in.error("a code point beyond 10FFFF")
            return code
        found = self._in.match(r"c([A-Za-z])")
        if found:
            return ord(found.group(1)) % 32
        if self._in.match(r"0(?![0-9])"):
            return 0
        char = self._in.next("it ends in a lone backslash")
        if char in _CONTROLS:
            return _CONTROLS[char]
        if char.isascii() and char.isalnum():
            raise self._in.error(f"\\{char} means nothing in ECMA-262")
        return ord(char)

    def _class(self, flags: _Flags) -> CharSet:
        negated = self._in.skip("^")
        members: list[CharSet] = []
        while not self._in.skip("]"):
            first = self._class_atom(flags)
            if not self._in.peek("-") or self._in.peek("-]"):
                members.append(_as_set(first))
                continue
            self._in.skip("-")
            last = self._class_atom(flags)
            if isinstance(first, int) and isinstance(last, int):
                if first > last:
                    raise self._in.error("a class's range is out of order")
                members.append(charset.of((first, last)))
            else:
                members += [_as_set(first), charset.single(ord("-")), _as_set(last)]
        result = self._cased(charset.union(members), flags)
        return ~result if negated else result

    def _class_atom(self, flags: _Flags) -> CharSet | int:
        char = self._in.next("a [ without ]")
        if char != "\\":
            return ord(char)
        if self._in.skip("b"):
            return 0x08
        members = self._class_escape(flags)
        return self._character() if members is None else members

    def _cased(self, members: CharSet, flags: _Flags) -> CharSet:
        return charset.folded(members) if flags.ignore_case else members


def _count(digits: str) -> int:
    """A bound of a repetition; those of more than nine digits are alike."""
    return int(digits) if len(digits) < 10 else 10**9


def _as_set(atom: CharSet | int) -> CharSet:
    return charset.single(atom) if isinstance(atom, int) else atom


def _changed(flags: _Flags, letters: str, on: bool) -> _Flags:
    names = {"i": "ignore_case", "s": "dot_all", "m": "multiline"}
    return replace(flags, **{names[letter]: on for letter in letters if letter in names})


def _line_start() -> Node:
    return Look(Chars(~charset.LINE_ENDS), False, True)


def _line_end() -> Node:
    return Look(Chars(~charset.LINE_ENDS), True, True)


def _group_names(pattern: str) -> list[str]:
    """The names of all capturing groups in order, empty for those without."""
    names, scan = [], Scanner(pattern)
    in_class = False
    while not scan.done:
        char = scan.next()
        if char == "\\" and not scan.done:
            scan.next()
        elif in_class:
            in_class = char != "]"
        elif char == "[":
            in_class = True
        elif char == "(":
            named = scan.match(r"\?<(?![=!])([\w$]+)>")
            if named or not scan.peek("?"):
                names.append(named.group(1) if named else "")
    return names
