"""Reading a pattern character by character."""

from __future__ import annotations

import re

from fucina_cli.constraint.patterns.errors import PatternError

_DEEPEST = 150


class Scanner:
    """A position in a pattern, and how deep its groups are nested there."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self._depth = 0

    @property
    def done(self) -> bool:
        """Whether all is read."""
        return self.at >= len(self.text)

    def peek(self, text: str) -> bool:
        """Whether `text` comes next."""
        return self.text.startswith(text, self.at)

    def skip(self, text: str) -> bool:
        """Read `text` if it comes next."""
        found = self.peek(text)
        if found:
            self.at += len(text)
        return found

    def expect(self, text: str, why: str) -> None:
        """Read `text`. Raises PatternError."""
        if not self.skip(text):
            raise self.error(why)

    def next(self, why: str = "it ends too early") -> str:
        """Read one character. Raises PatternError at the end."""
        if self.done:
            raise self.error(why)
        self.at += 1
        return self.text[self.at - 1]

    def match(self, pattern: str) -> re.Match[str] | None:
        """Read what this pattern of Python's `re` matches here, if anything."""
        found = re.compile(pattern).match(self.text, self.at)
        if found:
            self.at = found.end()
        return found

    def deeper(self) -> None:
        """Enter a group or class. Raises PatternError where that is too deep."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self.error("it is nested too deeply")

    def higher(self) -> None:
        """Leave a group or class."""
        self._depth -= 1

    def error(self, why: str) -> PatternError:
        """An error that names the place, counted in characters from 1."""
        return PatternError(f"{why} (character {min(self.at, len(self.text)) or 1})")
