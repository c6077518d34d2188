"""The Typer command of a family, made from the declared flags."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from fucina_cli.cli.choosing import flags
from fucina_cli.cli.commandline import IDS, CommandLine
from fucina_cli.cli.mode import OUTPUT
from fucina_cli.families.family import Family
from fucina_cli.options import Option

_MODEL_HELP = "Path of a .gguf file; fucina-qwen3 and fucina-gemma4 also take: tiny, built in."
_IDS_HELP = (
    "Comma-separated ids to start from: alone their next token's top 5, "
    "with --gen or a constraint a raw completion."
)
_EPILOG = (
    "Text values take @FILE, and - for standard input; @@ escapes a leading @. "
    "Exit codes: 0 complete, 1 bug, 2 bad input, 3 constraint not satisfied, 4 a cross-check "
    "found a difference, 130 interrupted."
)


def build(family: Family, execute: Callable[[CommandLine], int]) -> typer.Typer:
    """A Typer app with the one command of `family`; `execute` returns the exit code."""
    app = typer.Typer(
        add_completion=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    def command(**values: Any) -> int:
        values.pop("version")
        return execute(CommandLine(family, values.pop("model"), values, flags()))

    parameters = [
        _parameter("model", str, typer.Argument(metavar="MODEL", help=_MODEL_HELP)),
        _parameter(
            IDS, str | None, typer.Argument(metavar="[TOKEN_IDS]", help=_IDS_HELP), default=None
        ),
        *(_option(each) for each in flags()),
        _parameter(
            "version",
            bool,
            typer.Option(
                "--version",
                help="Print the version and exit.",
                is_eager=True,
                callback=_print_version,
                rich_help_panel=OUTPUT,
            ),
            default=False,
        ),
    ]
    # Typer reads signature and annotations, as of a function declared with these parameters.
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    app.command(help=_help(family), epilog=_EPILOG)(command)
    return app


def _option(each: Option) -> inspect.Parameter:
    names = f"{each.flag}/{each.negative}" if each.negative else each.flag
    declared = typer.Option(
        names,
        *([each.short] if each.short else []),
        metavar=each.metavar,
        help=each.help,
        rich_help_panel=each.panel,
    )
    if each.repeatable:
        return _parameter(each.name, list[str] | None, declared, default=None)
    if each.type is bool and each.default is not None:
        return _parameter(each.name, bool, declared, default=each.default)
    return _parameter(each.name, each.type | None, declared, default=None)


def _parameter(name: str, kind: Any, declared: Any, **default: Any) -> inspect.Parameter:
    annotation = Annotated[kind, declared]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=annotation, **default)


def _help(family: Family) -> str:
    if family.architectures:
        models = " and ".join(sorted(family.architectures))
        what = f"Run a {models} GGUF"
    else:
        what = "Run any chat GGUF"
    return f"{what}; its answer fits a JSON schema, regex, Lark grammar or list of choices."


def _print_version(asked: bool) -> None:
    if asked:
        import importlib.metadata  # slow to load, and only this flag needs it

        typer.echo(importlib.metadata.version("fucina-cli"))
        raise typer.Exit
