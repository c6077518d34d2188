"""A regular expression that the whole answer matches."""

from __future__ import annotations

import re
import warnings
from collections.abc import Hashable
from dataclasses import dataclass

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.options import Option
from fucina_cli.text import one_line

_ASCII_CLASSES = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": r"[ \t\n\r\f\v]"}


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
        if re.search(r"\(\?[a-wyzA-Z]*x", pattern):
            raise GrammarError("the flag (?x) is not supported; leave out white space and comments")

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
        """By Python's `re`.

        None for a pattern that it does not understand or reads otherwise ([[:alpha:]], [a&&b]).
        """
        try:
            with warnings.catch_warnings():
                # re warns where it reads characters that others read as a set operation.
                warnings.simplefilter("error", FutureWarning)
                compiled = re.compile(self.pattern)
        except (FutureWarning, re.error, RecursionError, OverflowError) as error:
            message = one_line(str(error))
            return Verdict(None, (f"Python's re can't read the pattern: {message}",))
        if compiled.fullmatch(text):
            return Verdict(True)
        return Verdict(False, ("the answer does not match the pattern",))

    def value(self, text: str) -> str:
        """The text itself."""
        return text


def _ascii_classes(pattern: str) -> str:
    r"""`pattern` with \d, \w and \s as ASCII sets, which is what is usually meant.

    The engine's own are Unicode's, under which a model may write a date in Bengali digits. It
    already reads the patterns of a JSON schema this way. \D, \W and \S stay Unicode's, so that
    whatever is produced matches under either reading.
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
