"""Regular expressions as values."""

from __future__ import annotations

from fucina_cli.constraint.patterns.errors import PatternError
from fucina_cli.constraint.patterns.matcher import ecma_matcher


def is_regex(text: str) -> bool:
    """Whether it is a pattern of ECMA-262, or one that web browsers read all the same."""
    try:
        ecma_matcher(text)
    except PatternError:
        return False
    return True
