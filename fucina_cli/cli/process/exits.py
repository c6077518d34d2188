"""Exit codes, and the one error that flags raise."""

from __future__ import annotations

from collections.abc import Collection

OK = 0
INTERNAL = 1
BAD_INPUT = 2
UNSATISFIED = 3
MISMATCH = 4
INTERRUPTED = 130


#: The code of several answers is the first of these that one of them has.
_PRECEDENCE = (INTERRUPTED, BAD_INPUT, UNSATISFIED)


def worst(codes: Collection[int]) -> int:
    """The exit code of several answers."""
    return next((code for code in _PRECEDENCE if code in codes), OK)


class FlagError(Exception):
    """A flag, argument or file that can't be used: exit 2, one line that names it."""

    def __init__(self, flag: str, message: str) -> None:
        super().__init__(f"{flag}: {message}")
