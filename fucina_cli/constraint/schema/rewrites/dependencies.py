"""`dependencies`, `dependentRequired` and `dependentSchemas` as choices (core 2020-12, 10.2.2.4).

Each dependency is an `anyOf`: the property is absent, or it is present and what depends on it
holds. A value that is no object satisfies the first option, as it does the dependency.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.walk import Schema

KEYWORDS = ("dependencies", "dependentRequired", "dependentSchemas")


def options(name: str, needed: Any) -> list[Schema]:
    """The options of the dependency of `needed` (names, or a schema) on the property `name`."""
    absent = {"properties": {name: False}}
    if isinstance(needed, str):  # draft 3
        needed = [needed]
    if isinstance(needed, list):
        return [absent, {"required": list(dict.fromkeys([name, *needed]))}] if needed else [True]
    if needed is True or needed == {}:
        return [True]
    if needed is False:
        return [absent]
    return [absent, {"allOf": [{"required": [name]}, needed]}]
