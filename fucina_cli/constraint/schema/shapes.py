"""Small facts about subschemas that several rewrites need."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.walk import MANY, NAMED, ONE, Schema, Scope

#: Keywords that allow and forbid nothing.
ANNOTATIONS = frozenset(
    {
        "$anchor", "$comment", "$defs", "$id", "$schema", "contentEncoding", "contentMediaType",
        "contentSchema", "default", "definitions", "deprecated", "description", "examples", "id",
        "readOnly", "title", "writeOnly",
    }
)  # fmt: skip
_TYPES = ("null", "boolean", "object", "array", "number", "string")


def allows_all(schema: Schema) -> bool:
    """Whether every value is plainly valid."""
    return schema is True or (isinstance(schema, dict) and schema.keys() <= ANNOTATIONS)


def allows_none(schema: Schema) -> bool:
    """Whether no value is plainly valid."""
    return schema is False or (
        isinstance(schema, dict) and "not" in schema and allows_all(schema["not"])
    )


def types(schema: dict[str, Any]) -> list[str]:
    """The types that `type` allows; all where it is absent."""
    named = schema.get("type", list(_TYPES))
    return [named] if isinstance(named, str) else list(named)


def barring(schema: dict[str, Any], kind: str, scope: Scope, why: str) -> Schema:
    """`schema` where no value of a type is valid any more; `why` is told if no other is left."""
    left = [name for name in types(schema) if name != kind]
    return {**schema, "type": left} if left else scope.impossible(why)


def key(value: Any) -> str:
    """A text for comparing values as JSON Schema does: 1 equals 1.0, but not true."""
    return json.dumps(_plain(value), sort_keys=True)


def _plain(value: Any) -> Any:
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, dict):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    sign, digits, exponent = Decimal(value).as_tuple()
    text = "".join(map(str, digits)).lstrip("0")
    zeros = len(text) - len(text.rstrip("0"))
    return {"": [sign, text.rstrip("0"), int(exponent) + zeros]} if text else {"": []}


def same(one: Schema, other: Schema) -> bool:
    """Whether two schemas are written alike."""
    return bool(document.dumps(one) == document.dumps(other))


def finite_values(schema: Schema, draft: int) -> list[Any] | None:
    """The different values of a schema that is only `enum`, `const`, `boolean` or `null`.

    None for all other schemas.
    """
    if not isinstance(schema, dict):
        return None
    rules = schema.keys() - ANNOTATIONS
    if rules == {"type"}:
        known: dict[str, list[Any]] = {"boolean": [False, True], "null": [None]}
        named = types(schema)
        if not set(named) <= known.keys():
            return None
        found = [value for name in named for value in known[name]]
    elif rules - {"type"} == {"enum"}:
        found = schema["enum"]
    elif rules - {"type"} == {"const"} and draft >= 6:
        found = [schema["const"]]
    else:
        return None
    if not isinstance(found, list):
        return None
    if "type" in schema:
        found = [value for value in found if of_type(value, types(schema))]
    return list({key(value): value for value in found}.values())


def of_type(value: Any, names: list[str]) -> bool:
    """Whether a value is of one of the types; 1.0 is an integer."""
    if value is None:
        return "null" in names
    if isinstance(value, bool):
        return "boolean" in names
    for kind, name in ((str, "string"), (list, "array"), (dict, "object")):
        if isinstance(value, kind):
            return name in names
    return "number" in names or (
        "integer" in names and Decimal(value) == Decimal(value).to_integral_value()
    )


def weight(schema: Schema) -> int:
    """How many schemas the engine makes of one: alternatives repeat what they share."""
    if not isinstance(schema, dict):
        return 1
    inside, branches = 1, 1
    for name, value in schema.items():
        parts: list[Any] = []
        if name in MANY and isinstance(value, list):
            parts = value
        elif name in NAMED and isinstance(value, dict):
            parts = [] if name in ("$defs", "definitions") else list(value.values())
        elif name in ONE:
            parts = [value]
        inside += sum(weight(part) for part in parts)
        if name in ("anyOf", "oneOf"):
            branches *= max(1, len(parts))
    return inside * branches


def conjoined(schema: dict[str, Any], branches: list[Schema]) -> Schema:
    """`schema` of which one of `branches` must hold too."""
    if not branches:
        return False
    if len(branches) == 1:
        return {**schema, "allOf": [*schema.get("allOf", []), branches[0]]}
    if "anyOf" not in schema:
        return {**schema, "anyOf": branches}
    return {**schema, "allOf": [*schema.get("allOf", []), {"anyOf": branches}]}


def with_keys(
    schema: dict[str, Any], patterns: dict[str, Schema] | None, rest: Schema | None
) -> dict[str, Any]:
    """`schema` with these patternProperties and additionalProperties, next to each other.

    The engine reads keywords in groups, which end at each `allOf`, `anyOf`, `oneOf` or `$ref`;
    additionalProperties is about all keys but declared ones and those of patterns in its group.
    """
    made: dict[str, Any] = {}
    names = ("patternProperties", "additionalProperties")
    values = {
        name: value
        for name, value in zip(names, (patterns, rest), strict=True)
        if value is not None
    }
    for name, part in schema.items():
        if name not in names:
            made[name] = part
        elif values:
            made.update(values)
            values = {}
    return {**made, **values}
