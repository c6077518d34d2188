"""Exit codes, and the one error that flags raise."""

from __future__ import annotations

OK = 0
INTERNAL = 1
BAD_INPUT = 2
UNSATISFIED = 3
MISMATCH = 4
INTERRUPTED = 130


class FlagError(Exception):
    """A flag, argument or file that can't be used: exit 2, one line that names it."""

    def __init__(self, flag: str, message: str) -> None:
        super().__init__(f"{flag}: {message}")
