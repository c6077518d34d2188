"""From argv to an exit code: parse, run, and turn every failure into one line."""

from __future__ import annotations

import io
import os
import re
import sys
import traceback
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from fucina_cli import limits
from fucina_cli.cli.process import exits, locale, output, program
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.cli.process.supervisor import BOARD, supervise
from fucina_cli.errors import InputError
from fucina_cli.families.family import Family
from fucina_cli.llama.errors import ModelError

if TYPE_CHECKING:
    from fucina_cli.cli.commandline import CommandLine

#: The parser's messages about a bad number, and those of this tool.
_NUMBERS = (
    (re.compile(r"is not a valid int(eger)?$"), "is not a whole number"),
    (re.compile(r"is not a valid float$"), "is not a number"),
)
#: A quoted value too long for a message.
_LONG_VALUE = re.compile(r"'([^']{60})[^']{20,}'")


def run(family: Family, argv: Sequence[str] | None = None) -> NoReturn:
    """Run a family's command line and end the process."""
    if argv is None:
        locale.use_utf8()
    arguments = list(sys.argv[1:] if argv is None else argv)
    sys.exit(supervise(lambda: execute(family, arguments)))


def execute(family: Family, arguments: list[str]) -> int:
    """Run the command line in this process; the exit code."""
    limits.own_process()
    try:
        return program.guarded(lambda: _parse_and_run(family, arguments))
    except FlagError as error:
        output.error(str(error))
        return exits.BAD_INPUT
    except SystemExit as end:  # raised by Typer after a completion script
        return exits.BAD_INPUT if end.code else exits.OK
    except BaseException as error:  # a panic of the grammar engine is not an Exception
        if "--verbose" in arguments:
            traceback.print_exc()
        output.error(
            f"internal error: {type(error).__name__}: {error}; please report it "
            "(--verbose shows where it happened)"
        )
        return exits.INTERNAL


def _settle_output() -> None:
    """Print what the locale can't encode as '?', and no escape codes under NO_COLOR or TERM=dumb.

    Under NO_COLOR alone Rich still writes bold and dim; on a dumb terminal it writes none.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        os.environ.update(NO_COLOR="1", TERM="dumb")


def _parse_and_run(family: Family, arguments: list[str]) -> int:
    _settle_output()
    import typer.main

    from fucina_cli.cli.command import build

    parsed: list[CommandLine] = []

    def keep(line: CommandLine) -> int:
        # Not run inside Typer, which handles broken pipes and interrupts in its own way.
        parsed.append(line)
        return exits.OK

    command = typer.main.get_command(build(family, keep))
    try:
        code = command.main(arguments, prog_name=family.command, standalone_mode=False)
    except Exception as error:
        if isinstance(error.__cause__, KeyboardInterrupt):  # Click's Abort
            raise KeyboardInterrupt from None
        if not hasattr(error, "format_message"):
            raise
        output.error(f"{_usage(error)}{_way_out(error, arguments)}; see {family.command} --help")
        return exits.BAD_INPUT
    if parsed:
        _tell_repeated(parsed[0], arguments)
        return _run(parsed[0])
    return code if isinstance(code, int) else exits.OK  # --help, --version


def _tell_repeated(line: CommandLine, arguments: list[str]) -> None:
    from fucina_cli.cli import hints

    for flag in [] if line.quiet else hints.repeated(arguments, line.options):
        output.warning(f"{flag}: given more than once; the last one counts")


def _run(line: CommandLine) -> int:
    """Choose the mode and run it; the exit code.

    A mode imports what it needs itself: `--help` loads no native library.
    """
    from fucina_cli.cli.choosing import choose

    model = f"'{line.model}'"
    BOARD.blame_by_default(model)
    try:
        return choose(line).run(line)
    except InputError as error:
        raise FlagError(line.names(error.part), error.reason(line.names)) from None
    except ModelError as error:  # damage in a file may show only while it is used
        raise FlagError(model, str(error)) from None
    finally:
        line.close()


def _way_out(error: Exception, arguments: list[str]) -> str:
    """What was probably meant by a flag or argument that the parser does not know."""
    from fucina_cli.cli import hints
    from fucina_cli.cli.choosing import flags

    known = {name for each in flags() for name in (each.flag, each.short, each.negative)}
    known |= {"--help", "--version"}
    written = getattr(error, "option_name", None)
    for short in (written, *getattr(getattr(error, "param", None), "opts", ())):
        if isinstance(short, str) and len(short) == 2:  # it may begin a long flag with one dash
            long = re.compile(rf"{re.escape(short)}[A-Za-z].*")
            written = next((a for a in arguments if long.fullmatch(a)), written)
    if isinstance(written, str):
        hint = hints.flag(written, known)
        return f"; {hint}" if hint else ""
    if "unexpected extra argument" in str(getattr(error, "message", "")):
        return "; put quotes around a text, after --chat or --prompt"
    return ""


def _usage(error: Exception) -> str:
    """A parser's error as one clause that names the flag.

    Duck-typed: newer versions of Typer have their own copy of Click, older ones import it.
    """
    message = " ".join(str(getattr(error, "message", error)).split()).removesuffix(".")
    for pattern, plain in _NUMBERS:
        message = pattern.sub(plain, message)
    message = _LONG_VALUE.sub(r"'\1…'", message)
    parameter = getattr(error, "param", None)
    names = [*getattr(parameter, "opts", ()), *getattr(parameter, "secondary_opts", ())]
    flag = max((n for n in names if n.startswith("--")), key=len, default="")
    if parameter is not None and not message and not flag:
        return f"{parameter.metavar or parameter.name}: missing"
    return f"{flag}: {message}" if flag and flag not in message else message
