"""The argument parser of programs beside the commands: measurements, the experiment, the recipe.

Apart from `program`, so that the commands, which use Typer, need not load argparse.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from fucina_cli.cli.process import exits, output


class Parser(argparse.ArgumentParser):
    """Reports a bad argument in one line without the usage, and exits as on bad input."""

    def error(self, message: str) -> NoReturn:
        """Raise SystemExit, after the line on stderr."""
        output.error(f"{message}; see --help")
        raise SystemExit(exits.BAD_INPUT)
