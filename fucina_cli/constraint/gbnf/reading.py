"""Reads GBNF as llama.cpp does, with errors that say where."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fucina_cli.constraint.gbnf.notation import (
    LAST,
    ROOT,
    Chars,
    Expr,
    Interval,
    Ref,
    alt,
    chars,
    others,
    repeat,
    seq,
)
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.text import printable

_NAME = re.compile(r"[a-zA-Z0-9_-]+")
_INTEGER = re.compile(r"[0-9]+")
_TOKEN = re.compile(r"!?<[^<>\n]{0,40}>?")
_ESCAPES = {"t": "\t", "r": "\r", "n": "\n", "\\": "\\", '"': '"', "[": "[", "]": "]", "-": "-"}
_HEX = {"x": 2, "u": 4, "U": 8}
_MOST_NESTED = 100
_MOST_TIMES = 1_000_000


@dataclass
class Grammar:
    """Rules by name, and what is odd about them."""

    rules: dict[str, Expr]
    warnings: list[str] = field(default_factory=list)


def read(text: str) -> Grammar:
    """The rules of a grammar, whose first is `root`.

    The notation is that of llama.cpp's `grammars/README.md`. A rule ends with its line, but inside
    parentheses, after `::=` and after `|` it goes on in the next one; of two rules of one name the
    last one holds. References to tokens are refused. Raises GrammarError with line and column.
    """
    return _Reader(text).grammar()


class _Reader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0
        self._mentions: dict[str, int] = {}

    def grammar(self) -> Grammar:
        found = Grammar({})
        lines: dict[str, int] = {}
        self._space(lines_too=True)
        while self._at < len(self._text):
            begin = self._at
            name = self._name("a rule, `name ::= …`")
            self._space()
            if not self._takes("::="):
                raise self._error(f"expected `::=` after the rule's name `{name}`")
            self._space(lines_too=True)
            expr = self._alternatives()
            if self._at < len(self._text) and self._text[self._at] not in "\r\n":
                raise self._error(f"expected the end of the rule `{name}`, {self._seen()}")
            line = self._place(begin)[0]
            if name in found.rules:
                first = lines[name]
                found.warnings.append(
                    f"the rule `{name}` of line {first} is replaced by that of line {line}"
                )
            found.rules[name], lines[name] = expr, line
            self._space(lines_too=True)
        self._check(found.rules)
        return found

    def _check(self, rules: dict[str, Expr]) -> None:
        for name, at in self._mentions.items():
            if name not in rules:
                raise self._error(f"there is no rule `{name}`", at)
        if ROOT not in rules:
            raise GrammarError(f"the grammar has no rule `{ROOT}`, with which every answer starts")

    # -- expressions -------------------------------------------------------------------------

    def _alternatives(self) -> Expr:
        options = [self._sequence()]
        while self._takes("|"):
            self._space(lines_too=True)
            options.append(self._sequence())
        return alt(options)

    def _sequence(self) -> Expr:
        parts: list[Expr] = []
        while self._at < len(self._text):
            char = self._text[self._at]
            if char in "*+?{":
                if not parts:
                    raise self._error(f"`{char}` follows nothing that it could repeat")
                parts[-1] = self._repeated(parts[-1])
                continue
            atom = self._atom(char)
            if atom is None:
                break
            parts.append(atom)
            self._space(lines_too=self._depth > 0)
        return seq(parts)

    def _atom(self, char: str) -> Expr | None:
        """What begins with `char`, None where nothing does."""
        if char == '"':
            return self._literal()
        if char == "[":
            return self._set()
        if char == ".":
            self._at += 1
            return others(())
        if char == "(":
            return self._group()
        if char in "<!":
            match = _TOKEN.match(self._text, self._at)
            shown = printable(match.group()) if match else char
            raise self._error(f"names the token {shown}; only text can be part of an answer")
        if _NAME.match(char):
            begin = self._at
            name = self._name("a rule's name")
            self._mentions.setdefault(name, begin)
            return Ref(name)
        return None

    def _group(self) -> Expr:
        begin = self._at
        self._at += 1
        self._depth += 1
        if self._depth > _MOST_NESTED:
            raise self._error(f"more than {_MOST_NESTED} parentheses inside each other")
        self._space(lines_too=True)
        expr = self._alternatives()
        if not self._takes(")"):
            line, column = self._place(begin)
            opened = f"the `(` of line {line} column {column}"
            raise self._error(f"expected `)` for {opened}, {self._seen()}")
        self._depth -= 1
        return expr

    def _repeated(self, part: Expr) -> Expr:
        begin = self._at
        char = self._text[begin]
        self._at += 1
        space = self._depth > 0
        self._space(lines_too=space)
        if char != "{":
            return repeat(part, int(char == "+"), 1 if char == "?" else None)
        least = self._integer()
        most: int | None = least
        self._space(lines_too=space)
        if self._takes(","):
            self._space(lines_too=space)
            most = None
            if _INTEGER.match(self._text, self._at):
                most = self._integer()
                self._space(lines_too=space)
        if not self._takes("}"):
            raise self._error("expected `{m}`, `{m,}` or `{m,n}`", begin)
        self._space(lines_too=space)
        if most is not None and most < least:
            raise self._error(f"at most {most} times, but at least {least}", begin)
        return repeat(part, least, most)

    def _integer(self) -> int:
        match = _INTEGER.match(self._text, self._at)
        if match is None:
            raise self._error("expected a number: `{m}`, `{m,}` or `{m,n}`")
        number = match.group().lstrip("0") or "0"
        if len(number) > len(str(_MOST_TIMES)) or int(number) > _MOST_TIMES:
            raise self._error(f"no more than {_MOST_TIMES} repetitions")
        self._at = match.end()
        return int(number)

    # -- characters --------------------------------------------------------------------------

    def _literal(self) -> Expr:
        begin = self._at
        self._at += 1
        parts: list[Expr] = []
        while not self._takes('"'):
            at = self._at
            code = self._character(begin, 'the text that `"` begins')
            part = chars([(code, code)])
            if not part.intervals:
                raise self._error(f"U+{code:04X} is no character", at)
            parts.append(part)
        return seq(parts)

    def _set(self) -> Chars:
        begin = self._at
        self._at += 1
        negated = self._takes("^")
        intervals: list[Interval] = []
        while not self._takes("]"):
            at = self._at
            low = high = self._character(begin, "the set that `[` begins")
            if self._text[self._at : self._at + 1] == "-" and self._text[self._at + 1 :][:1] != "]":
                self._at += 1
                high = self._character(begin, "the set that `[` begins")
            if high < low:
                raise self._error("the range goes backwards", at)
            intervals.append((low, high))
        if not intervals:
            raise self._error("the set is empty", begin)
        found = others(intervals) if negated else chars(intervals)
        if not found.intervals:
            raise self._error("the set has no character", begin)
        return found

    def _character(self, begin: int, what: str) -> int:
        """The code point written here."""
        if self._at >= len(self._text):
            raise self._error(f"{what} has no end", begin)
        char = self._text[self._at]
        if char != "\\":
            self._at += 1
            return ord(char)
        code = self._text[self._at + 1 : self._at + 2]
        if code in _HEX:
            digits = self._text[self._at + 2 : self._at + 2 + _HEX[code]]
            if not re.fullmatch(f"[0-9a-fA-F]{{{_HEX[code]}}}", digits):
                raise self._error(f"expected {_HEX[code]} hexadecimal digits after \\{code}")
            number = int(digits, 16)
            if number > LAST:
                raise self._error(f"\\{code}{digits} is beyond the last character, U+10FFFF")
            self._at += 2 + len(digits)
            return number
        if code not in _ESCAPES:
            shown = printable(code)
            raise self._error(f"unknown escape \\{shown}; write \\\\ for a backslash")
        self._at += 2
        return ord(_ESCAPES[code])

    # -- text --------------------------------------------------------------------------------

    def _space(self, *, lines_too: bool = False) -> None:
        """Skip white space and comments."""
        blank = " \t\r\n" if lines_too else " \t"
        while self._at < len(self._text):
            if self._text[self._at] == "#":
                while self._at < len(self._text) and self._text[self._at] not in "\r\n":
                    self._at += 1
            elif self._text[self._at] in blank:
                self._at += 1
            else:
                return

    def _takes(self, expected: str) -> bool:
        """Whether `expected` comes next; it is then behind."""
        if not self._text.startswith(expected, self._at):
            return False
        self._at += len(expected)
        return True

    def _name(self, what: str) -> str:
        match = _NAME.match(self._text, self._at)
        if match is None:
            hint = ""
            if self._text[self._at] == "|":
                hint = "; outside of parentheses `|` stands at the end of a line, not at its start"
            raise self._error(f"expected {what}, {self._seen()}{hint}")
        self._at = match.end()
        return match.group()

    def _seen(self) -> str:
        if self._at >= len(self._text):
            return "but the grammar ends"
        if self._text[self._at] in "\r\n":
            return "but the line ends"
        return f"not {printable(self._text[self._at : self._at + 10].splitlines()[0])!r}"

    def _place(self, at: int) -> tuple[int, int]:
        before = self._text[:at]
        return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1

    def _error(self, message: str, at: int | None = None) -> GrammarError:
        line, column = self._place(self._at if at is None else at)
        return GrammarError(f"line {line} column {column}: {message}")
