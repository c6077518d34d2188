"""The parser of programs beside the commands: measurements, the experiment, the recipe.

Apart from `program`, as the commands, which have Typer, need not load argparse.
"""

from __future__ import annotations

import argparse
from typing import NoReturn

from fucina_cli.cli.process import exits, output


class Parser(argparse.ArgumentParser):
    """Tells a bad argument in one line without the usage, and ends with the code of bad input."""

    def error(self, message: str) -> NoReturn:
        """Raise SystemExit, after the line on stderr."""
        output.error(f"{message}; see --help")
        raise SystemExit(exits.BAD_INPUT)
