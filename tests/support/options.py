"""Command lines, made without parsing one."""

from __future__ import annotations

from typing import Any

from fucina_cli.cli.choosing import flags
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.families.generic import GENERIC

#: No test here gets as far as opening it.
MODEL = "no-such-model.gguf"


def command_line(**given: Any) -> CommandLine:
    """A command line on which only `given` stands, by the names of the options."""
    defaults = {each.name: each.default for each in flags() if each.type is bool}
    return CommandLine(GENERIC, MODEL, {**defaults, **given}, flags())
