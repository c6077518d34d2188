"""A regular expression that the whole answer matches."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.constraint.patterns.errors import FlagError, PatternError
from fucina_cli.options import Option
from fucina_cli.text import one_line

_ASCII = {"d": "0-9", "w": "0-9A-Za-z_", "s": r" \t\n\r\f\v"}
_ASCII_CLASSES = {
    **{letter: f"[{members}]" for letter, members in _ASCII.items()},
    **{letter.upper(): f"[^{members}]" for letter, members in _ASCII.items()},
}


@dataclass(frozen=True)
class Regex:
    """A pattern in Rust's syntax, or a compiled one of Python's `re`, whose text is taken.

    Raises GrammarError for one that is empty or not a string, for a lone final backslash, and for
    flags that the engine does not support.
    """

    pattern: str

    kind = "regex"

    def __post_init__(self) -> None:
        pattern = self.pattern
        if isinstance(pattern, re.Pattern):
            if pattern.flags & ~re.UNICODE:
                raise GrammarError(f"flags of a compiled pattern are not supported: {pattern!r}")
            pattern = pattern.pattern
            object.__setattr__(self, "pattern", pattern)
        if not isinstance(pattern, str):
            raise GrammarError(f"a pattern is a string, not {type(pattern).__name__}")
        if not pattern:
            raise GrammarError("the pattern is empty; it would allow only an empty answer")
        if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
            raise GrammarError("the pattern ends in a lone backslash; write \\\\ for one")
        from fucina_cli.constraint.patterns import rust

        try:
            rust.parse(pattern)
        except FlagError as error:
            raise GrammarError(str(error)) from None
        except PatternError:
            pass  # the engine says what is wrong with it

    @property
    def identity(self) -> Hashable:
        """Kind and text."""
        return self.kind, self.pattern

    def prepare(self) -> Prepared:
        """The pattern for the engine. Raises GrammarError."""
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.trial import checked

        return checked(LLMatcher.grammar_from_regex(_ascii_classes(self.pattern)))

    def judge(self, text: str) -> Verdict:
        """By another engine, of ECMA-262, in whose syntax the pattern is written for it.

        None for a pattern that can't be.
        """
        from fucina_cli.constraint.patterns.matcher import rust_matcher

        try:
            matches = rust_matcher(self.pattern)
        except PatternError as error:
            return Verdict(None, (f"the pattern can't be judged: {one_line(str(error))}",))
        ok = matches(text)
        return Verdict(ok, () if ok else ("the answer does not match the pattern",))

    def value(self, text: str) -> str:
        """The text itself."""
        return text


def _ascii_classes(pattern: str) -> str:
    r"""`pattern` with \d, \w and \s as ASCII sets, and \D, \W and \S as all other characters.

    That is what is usually meant, and how the patterns of a JSON schema are read. The engine's own
    are Unicode's, under which a model may write a date in Bengali digits.
    """
    return re.sub(
        r"\\(.)",
        lambda match: _ASCII_CLASSES.get(match.group(1), match.group(0)),
        pattern,
        flags=re.DOTALL,
    )


KIND = Kind(
    Option("regex", "The whole answer matches this pattern.", "PATTERN|@FILE", rank=30),
    spec=Regex,
    read=Regex,
    takes=lambda value: isinstance(value, re.Pattern),
)
