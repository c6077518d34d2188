"""The argument parser of programs beside the commands: measurements, the experiment, the recipe.

Apart from `program`, so that the commands, which use Typer, need not load argparse.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import NoReturn

from fucina_cli.cli.process import exits, output

_SHOWN = 40
_MOST_DIGITS = 20


class Parser(argparse.ArgumentParser):
    """Reports a bad argument in one line without the usage, and exits as on bad input."""

    def error(self, message: str) -> NoReturn:
        """Raise SystemExit, after the line on stderr."""
        output.error(f"{message}; see --help")
        raise SystemExit(exits.BAD_INPUT)


def whole(least: int, most: int = 2**64 - 1) -> Callable[[str], int]:
    """The type of an argument: a whole number from `least`, at least 0, to `most`.

    It raises ArgumentTypeError, which argparse tells, for anything else.
    """

    def number(text: str) -> int:
        digits = text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
        if not digits or not least <= int(text) <= most:
            ends = f"from {least} on" if most == 2**64 - 1 else f"from {least} to {most}"
            raise argparse.ArgumentTypeError(f"'{text[:_SHOWN]}' is not a whole number {ends}")
        return int(text)

    return number
