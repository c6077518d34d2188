"""Finds what the modules of a package declare, so that adding one takes no more than its file."""

from __future__ import annotations

import importlib
import pkgutil
from types import ModuleType
from typing import TypeVar

_Declared = TypeVar("_Declared")


def declared(package: ModuleType, kind: type[_Declared]) -> list[_Declared]:
    """Every `kind` that a module of `package` declares at its top, by the modules' names.

    Modules whose names begin with an underscore are not looked into.
    """
    found: dict[int, _Declared] = {}
    for info in pkgutil.iter_modules(package.__path__):
        if not info.name.startswith("_"):
            module = importlib.import_module(f"{package.__name__}.{info.name}")
            found.update({id(v): v for v in vars(module).values() if isinstance(v, kind)})
    return list(found.values())
