"""What goes wrong with a pattern."""

from __future__ import annotations


class PatternError(ValueError):
    """A pattern that its syntax does not allow; the text says what."""


class FlagError(PatternError):
    """A pattern with a flag that is not supported here."""


class TooComplexError(ValueError):
    """A pattern that is valid, but not within what can be translated; the text says why."""
