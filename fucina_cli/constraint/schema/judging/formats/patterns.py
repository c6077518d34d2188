"""Regular expressions as values."""

from __future__ import annotations

import re
import warnings


def is_regex(text: str) -> bool:
    """Whether Python's `re` reads it, whose syntax is nearly that of ECMA-262."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            re.compile(text)
    except (re.error, RecursionError, OverflowError):
        return False
    return True
