"""`dependencies`, `dependentRequired` and `dependentSchemas` as choices (core 2020-12, 10.2.2.4).

Each dependency is an `anyOf`: the property is absent, or the value is an object that has it and
what depends on it holds. A value that is no object satisfies the first option only, so that
options that contradict each other are seen to.
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
        names = list(dict.fromkeys([name, *needed]))
        return [absent, {"type": "object", "required": names}] if needed else [True]
    if needed is True or needed == {}:
        return [True]
    if needed is False:
        return [absent]
    return [absent, {"allOf": [{"type": "object", "required": [name]}, needed]}]
