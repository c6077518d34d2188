"""Which family a file belongs to."""

from __future__ import annotations

import functools

from fucina_cli import families as package
from fucina_cli.discovery import declared
from fucina_cli.families.family import Family


class WrongFamily(Exception):
    """The entry point is not the one for this file; the text names the right one."""


@functools.cache
def families() -> tuple[Family, ...]:
    """Every family that a file of this folder declares, the generic one last."""
    found = declared(package, Family)
    return tuple(sorted(found, key=lambda family: (not family.architectures, family.name)))


def family_named(name: str) -> Family | None:
    """The family of that name; None without one."""
    return next((family for family in families() if family.name == name), None)


def family_of(architecture: str) -> Family:
    """The family that claims `architecture`; the generic one when none does."""
    return next((f for f in families() if architecture in f.architectures), families()[-1])


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
