"""Which family a file belongs to."""

from __future__ import annotations

from fucina_cli.families.family import Family
from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.generic import GENERIC
from fucina_cli.families.qwen3 import QWEN3

FAMILIES = (QWEN3, GEMMA4, GENERIC)


class WrongFamily(Exception):
    """The entry point is not the one for this file; the text names the right one."""


def family_of(architecture: str) -> Family:
    """The family that claims `architecture`; the generic one when none does."""
    return next((f for f in FAMILIES if architecture in f.architectures), GENERIC)


def check_family(family: Family, architecture: str) -> None:
    """Raise WrongFamily when `architecture` belongs to another family's entry point."""
    right = family_of(architecture)
    if right is not family:
        raise WrongFamily(
            f"its architecture is '{architecture}'; {family.command} runs "
            f"{_described(family)}, use {right.command} for this file"
        )


def _described(family: Family) -> str:
    if not family.architectures:
        return "models without an entry point of their own"
    return " and ".join(sorted(family.architectures)) + " models"
