r"""Reads patterns of Rust's crate `regex`, but for the flag `x` and anchors within the text.

Case is folded by Unicode's simple rules, as there. \d, \w and \s are the ASCII sets, which is what
is usually meant, and \D, \W and \S all other characters.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from fucina_cli.constraint.patterns import charset
from fucina_cli.constraint.patterns.charset import CharSet, of
from fucina_cli.constraint.patterns.errors import FlagError, PatternError
from fucina_cli.constraint.patterns.scanner import Scanner
from fucina_cli.constraint.patterns.tree import (
    Chars,
    Choice,
    End,
    Node,
    Repeat,
    Sequence,
    Start,
)

_ESCAPES = {"a": 0x07, "f": 0x0C, "t": 0x09, "n": 0x0A, "r": 0x0D, "v": 0x0B}
_ASCII = {"d": charset.DIGIT, "s": charset.ASCII_SPACE, "w": charset.WORD}
_UPPER, _LOWER = of((0x41, 0x5A)), of((0x61, 0x7A))
_PUNCTUATION = of((0x21, 0x2F), (0x3A, 0x40), (0x5B, 0x60), (0x7B, 0x7E))
_POSIX = {
    "alnum": _UPPER | _LOWER | charset.DIGIT,
    "alpha": _UPPER | _LOWER,
    "ascii": of((0, 0x7F)),
    "blank": of((0x09, 0x09), (0x20, 0x20)),
    "cntrl": of((0, 0x1F), (0x7F, 0x7F)),
    "digit": charset.DIGIT,
    "graph": of((0x21, 0x7E)),
    "lower": _LOWER,
    "print": of((0x20, 0x7E)),
    "punct": _PUNCTUATION,
    "space": charset.ASCII_SPACE,
    "upper": _UPPER,
    "word": charset.WORD,
    "xdigit": charset.DIGIT | of((0x41, 0x46), (0x61, 0x66)),
}
_KEYS = {
    "gc": "gc",
    "generalcategory": "gc",
    "sc": "sc",
    "script": "sc",
    "scx": "scx",
    "scriptextensions": "scx",
}
_OPERATORS: dict[str, Callable[[CharSet, CharSet], CharSet]] = {
    "&&": lambda a, b: a & b,
    "--": lambda a, b: a - b,
    "~~": lambda a, b: (a | b) - (a & b),
}


@dataclass(frozen=True)
class _Flags:
    i: bool = False
    m: bool = False
    s: bool = False
    R: bool = False
    U: bool = False
    u: bool = True


def parse(pattern: str) -> Node:
    """The tree of a pattern. Raises PatternError for one that can't be read."""
    return _Parser(pattern).parse()


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._in = Scanner(pattern)
        self._flags = _Flags()

    def parse(self) -> Node:
        node = self._choice()
        if not self._in.done:
            raise self._in.error("a ) without (")
        return node

    def _choice(self) -> Node:
        """Options up to the end of the group; flags set inside hold until there."""
        before = self._flags
        options = [self._sequence()]
        while self._in.skip("|"):
            options.append(self._sequence())
        self._flags = before
        return options[0] if len(options) == 1 else Choice(tuple(options))

    def _sequence(self) -> Node:
        parts: list[Node] = []
        while not (self._in.done or self._in.peek("|") or self._in.peek(")")):
            if self._set_flags():
                continue
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def _set_flags(self) -> bool:
        found = self._in.match(r"\(\?([imsRUux]*)(?:-([imsRUux]+))?\)")
        if found and not any(found.groups()):
            raise self._in.error("a group (?) without flags")
        if found:
            self._flags = self._changed(found)
        return bool(found)

    def _changed(self, found: re.Match[str]) -> _Flags:
        on, off = found.group(1), found.group(2) or ""
        if "x" in on:
            raise FlagError("the flag (?x) is not supported; leave out white space and comments")
        off = off.replace("x", "")
        return replace(self._flags, **dict.fromkeys(on, True), **dict.fromkeys(off, False))

    def _repeated(self) -> Node:
        node = self._atom()
        while True:
            found = self._in.match(r"([*+?]|\{([0-9]+)(,([0-9]*))?\})\??")
            if not found:
                return node
            sign, least, several, most = found.group(1, 2, 3, 4)
            if sign in ("*", "+", "?"):
                node = Repeat(node, int(sign == "+"), 1 if sign == "?" else None)
                continue
            low = int(least[:10])
            high = (int(most[:10]) if most else None) if several else low
            if high is not None and low > high:
                raise self._in.error("a repetition's bounds are out of order")
            node = Repeat(node, low, high)

    def _atom(self) -> Node:
        char = self._in.next()
        if char == "(":
            return self._group()
        if char == "[":
            return Chars(self._class())
        if char == ".":
            ends = of((0x0A, 0x0A), (0x0D, 0x0D)) if self._flags.R else of((0x0A, 0x0A))
            return Chars(charset.ANY if self._flags.s else ~ends)
        if char in "^$":
            return self._anchor(Start() if char == "^" else End(), lines=self._flags.m)
        if char in "*+?{":
            raise self._in.error("nothing to repeat")
        if char == "\\":
            if self._in.skip("A"):
                return self._anchor(Start(), lines=False)
            if self._in.skip("z"):
                return self._anchor(End(), lines=False)
            found = self._shorthand()
            return Chars(self._cased(charset.single(self._escape())) if found is None else found)
        return Chars(self._cased(charset.single(ord(char))))

    def _anchor(self, node: Node, *, lines: bool) -> Node:
        if lines:
            raise self._in.error("the engine has no anchors of lines")
        return node

    def _group(self) -> Node:
        self._in.deeper()
        before = self._flags
        if not self._in.match(r"\?P?<[^>]+>"):
            flags = self._in.match(r"\?([imsRUux]*)(?:-([imsRUux]+))?:")
            if flags:
                self._flags = self._changed(flags)
            elif self._in.peek("?"):
                raise self._in.error("a group that Rust does not have")
        node = self._choice()
        self._flags = before
        self._in.expect(")", "a ( without )")
        self._in.higher()
        return node

    def _shorthand(self) -> CharSet | None:
        found = self._in.match(r"[dswDSW]")
        if found:
            letter = found.group().lower()
            members = self._cased(_ASCII[letter])
            return ~members if found.group().isupper() else members
        found = self._in.match(r"([pP])(?:\{([^}]*)\}|(.))")
        if not found:
            return None
        sign, name, letter = found.groups()
        members = self._cased(_property(name if letter is None else letter))
        return ~members if sign == "P" else members

    def _escape(self) -> int:
        """The code point of an escape, its backslash already read."""
        found = self._in.match(
            r"(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
            r"|[xuU]\{([0-9a-fA-F]{1,8})\})"
        )
        if found:
            code = int(next(filter(None, found.groups())), 16)
            if code > charset.LAST or 0xD800 <= code <= 0xDFFF:
                raise self._in.error("no character has this code point")
            return code
        char = self._in.next("it ends in a lone backslash")
        if char in _ESCAPES:
            return _ESCAPES[char]
        if not char.isascii() or char.isalnum() or char in "<>":
            raise self._in.error(f"\\{char} is no escape that can be judged")
        return ord(char)

    def _class(self) -> CharSet:
        """A class, its opening bracket already read; operators bind from left to right."""
        self._in.deeper()
        negated = self._in.skip("^")
        members: list[CharSet] = []
        total, operator = charset.NONE, ""
        while self._in.skip("-"):
            members.append(charset.single(ord("-")))
        if not members and self._in.skip("]"):
            members.append(charset.single(ord("]")))
        while True:
            sign = next((s for s in _OPERATORS if self._in.peek(s)), "")
            if sign or self._in.peek("]"):
                side = self._cased(charset.union(members))
                total = _OPERATORS[operator](total, side) if operator else side
                operator, members = sign, []
                if self._in.skip("]"):
                    break
                self._in.skip(sign)
                continue
            members.append(self._item())
        self._in.higher()
        return ~total if negated else total

    def _item(self) -> CharSet:
        if self._in.peek("["):
            posix = self._in.match(rf"\[:(\^?)({'|'.join(_POSIX)}):\]")
            if posix:
                members = self._cased(_POSIX[posix.group(2)])
                return ~members if posix.group(1) else members
            self._in.skip("[")
            return self._class()
        first = self._class_atom()
        if isinstance(first, CharSet):
            return first
        if not self._in.peek("-") or self._in.peek("-]") or self._in.peek("--"):
            return charset.single(first)
        self._in.skip("-")
        last = self._class_atom()
        if isinstance(last, CharSet) or first > last:
            raise self._in.error("a class's range is none")
        return of((first, last))

    def _class_atom(self) -> CharSet | int:
        char = self._in.next("a [ without ]")
        if char != "\\":
            return ord(char)
        found = self._shorthand()
        return self._escape() if found is None else found

    def _cased(self, members: CharSet) -> CharSet:
        if not self._flags.i:
            return members
        if self._flags.u:
            return charset.folded(members)
        lower = of(*((a + 32, b + 32) for a, b in (members & _UPPER).ranges))
        upper = of(*((a - 32, b - 32) for a, b in (members & _LOWER).ranges))
        return members | lower | upper


def _property(text: str) -> CharSet:
    """A property by one of Rust's loose names (UTS 18, RL1.2). Raises PatternError."""
    name, sign, value = re.split(r"([=:]|$)", text, maxsplit=1)
    candidates = [f"{prefix}{loose}" for prefix in ("", "sc=") for loose in _spellings(name)]
    if sign:
        key = _KEYS.get(re.sub(r"[\s_-]", "", name).lower(), "")
        candidates = [f"{key}={loose}" for loose in _spellings(value)]
    for candidate in candidates:
        try:
            return charset.unicode_property(candidate)
        except PatternError:
            continue
    raise PatternError(f"unknown property \\p{{{text[:40]}}}")


def _spellings(name: str) -> tuple[str, str]:
    """A name as it is, and as the standard writes most names."""
    words = re.split(r"[\s_-]+", name.strip())
    return name.strip(), "_".join(word.capitalize() for word in words)
