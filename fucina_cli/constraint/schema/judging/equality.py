"""`const`, `enum` and `uniqueItems` by the equality of JSON Schema (2020-12 core, 4.2.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fucina_cli.constraint.schema.document import key
from fucina_cli.constraint.schema.judging.texts import shown


def const(_validator: Any, expected: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`const`."""
    if key(instance) != key(expected):
        yield f"{shown(expected)} was expected"


def enum(_validator: Any, allowed: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`enum`."""
    wanted = key(instance)
    if all(key(value) != wanted for value in allowed):
        yield f"{shown(instance)} is not one of {shown(allowed)}"


def unique_items(_validator: Any, wanted: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`uniqueItems`."""
    if wanted is not True or not isinstance(instance, list):
        return
    seen: set[object] = set()
    for item in instance:
        found = key(item)
        if found in seen:
            yield f"the items are not unique: {shown(item)} is there twice"
            return
        seen.add(found)


KEYWORDS = {"const": const, "enum": enum, "uniqueItems": unique_items}
