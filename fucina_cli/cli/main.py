"""From argv to an exit code: parse, run, and turn every failure into one line."""

from __future__ import annotations

import os
import signal
import sys
import traceback
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from fucina_cli.cli import exits, output
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.supervisor import supervise
from fucina_cli.families.family import Family


def run(family: Family, argv: Sequence[str] | None = None) -> NoReturn:
    """Run a family's command line and end the process."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(supervise(lambda: execute(family, arguments)))


def execute(family: Family, arguments: list[str]) -> int:
    """Run the command line in this process; the exit code."""
    _interrupt_once()
    try:
        return _parse_and_run(family, arguments)
    except KeyboardInterrupt:
        return exits.INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough; that is no failure of ours.
        output.discard_stdout()
        return exits.OK
    except OSError as error:
        output.discard_stdout()
        output.error(f"output: {error.strerror or error}")
        return exits.BAD_INPUT
    except Exception as error:
        if "--verbose" in arguments:
            traceback.print_exc()
        output.error(
            f"internal error: {type(error).__name__}: {error}; please report it "
            "(--verbose shows where it happened)"
        )
        return exits.INTERNAL


def _parse_and_run(family: Family, arguments: list[str]) -> int:
    import typer.main

    from fucina_cli.cli.app import build
    from fucina_cli.cli.modes import run_mode

    command = typer.main.get_command(build(family, run_mode))
    try:
        result = command.main(arguments, prog_name=family.command, standalone_mode=False)
    except FlagError as error:
        output.error(str(error))
        return exits.BAD_INPUT
    except Exception as error:
        usage = getattr(error, "format_message", None)
        if usage is None:
            raise
        output.error(f"{_tidy(usage())}; see {family.command} --help")
        return exits.BAD_INPUT
    return result if isinstance(result, int) else exits.OK


def _tidy(message: str) -> str:
    """A usage message as the tail of a line: no period at its end, flags without quotes."""
    text = " ".join(message.split()).removesuffix(".")
    return text.replace("Invalid value for ", "").replace("'-", "-").replace("':", ":")


def _interrupt_once() -> None:
    """Take the first Ctrl-C as KeyboardInterrupt, and no second one while winding up.

    The terminal sends it to parent and child, and the parent forwards it: it may arrive twice.
    """

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        raise KeyboardInterrupt

    if hasattr(os, "fork"):
        signal.signal(signal.SIGINT, interrupt)
