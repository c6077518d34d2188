"""Modes that measure the model on this machine: what rows cost, and whether they are exact."""

from __future__ import annotations

from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.families.family import Family


def run(family: Family, options: Options) -> int:
    """The measuring mode that the flags ask for; the exit code."""
    raise FlagError("--spec-bench", "in the making")
