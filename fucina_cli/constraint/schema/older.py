"""Forms of older drafts in a schema that names no draft."""

from __future__ import annotations

import re
from typing import Any

from fucina_cli.constraint.schema.walk import Note, Schema, Scope, escaped, rewritten, subschemas

#: A reference into a list of `items`, or into `dependencies`, whose targets would move.
_INTO_MOVED = re.compile(r"/(items/\d|additionalItems|dependencies/)")
_BOUNDS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


def modernized(schema: Schema) -> tuple[Schema, list[Note]]:
    """`schema` in the words of draft 2020-12, where it names no draft and uses those of older ones.

    Boolean `exclusiveMinimum` and `exclusiveMaximum` (draft 4), lists under `items` and
    `dependencies` (draft 7), `required` within a property (draft 3). The notes tell what was read
    so. A schema with a reference to what would move is returned as it is. Raises RecursionError.
    """
    if not isinstance(schema, dict) or "$schema" in schema:
        return schema, []
    scope = Scope(schema)
    result = rewritten(schema, _modern, scope)
    if not scope.notes:
        return schema, []
    for _pointer, part in subschemas(schema):
        ref = part.get("$ref") if isinstance(part, dict) else None
        if isinstance(ref, str) and _INTO_MOVED.search(ref):
            return schema, []
    return result, scope.notes


def _modern(schema: dict[str, Any], scope: Scope) -> Schema:
    for bound, exclusive in _BOUNDS:
        if isinstance(schema.get(exclusive), bool):
            schema = _with_bound(schema, bound, exclusive, scope)
    if isinstance(schema.get("items"), list) and "prefixItems" not in schema:
        _say(scope, "items", '`items`, a list, is read as "prefixItems"', "draft 7")
        names = {"items": "prefixItems", "additionalItems": "items"}
        schema = {names.get(key, key): value for key, value in schema.items()}
        if not schema["prefixItems"]:  # which draft 2020-12 forbids, and which says nothing
            del schema["prefixItems"]
    if isinstance(schema.get("dependencies"), dict):
        schema = _with_dependents(schema, scope)
    if isinstance(schema.get("properties"), dict):
        schema = _with_required(schema, scope)
    return schema


def _with_bound(schema: dict[str, Any], bound: str, exclusive: str, scope: Scope) -> dict[str, Any]:
    value, number = schema[exclusive], schema.get(bound)
    if value and (number is None or isinstance(number, bool)):
        return schema  # not of draft 4 either, where it needs the bound
    meant = f'"{exclusive}": {number}' if value else "its absence"
    _say(scope, exclusive, f"`{exclusive}: {str(value).lower()}` is read as {meant}", "draft 4")
    if not value:
        return {key: part for key, part in schema.items() if key != exclusive}
    rest = {key: part for key, part in schema.items() if key != exclusive}
    return {exclusive if key == bound else key: part for key, part in rest.items()}


def _with_dependents(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    names, schemas = {}, {}
    for name, needed in schema["dependencies"].items():
        if isinstance(needed, list):
            names[name] = needed
        elif isinstance(needed, str):
            names[name] = [needed]
        else:
            schemas[name] = needed
    new = {"dependentRequired": names, "dependentSchemas": schemas}
    new = {key: value for key, value in new.items() if value}
    if any(key in schema for key in new):
        return schema
    told = " and ".join(f'"{key}"' for key in new) or "nothing"
    _say(scope, "dependencies", f"`dependencies` is read as {told}", "draft 7")
    rest = {key: value for key, value in schema.items() if key != "dependencies"}
    return {**rest, **new}


def _with_required(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """`schema` with the names of properties that are `required: true` in its own list."""
    given = schema.get("required", [])
    old = {
        name: part["required"]
        for name, part in schema["properties"].items()
        if isinstance(part, dict) and isinstance(part.get("required"), bool)
    }
    if not old or not isinstance(given, list):
        return schema
    properties = {
        name: {k: v for k, v in part.items() if k != "required"} if name in old else part
        for name, part in schema["properties"].items()
    }
    names = [*given, *(name for name, value in old.items() if value and name not in given)]
    first = next(iter(old))
    _say(
        scope,
        f"properties/{escaped(first)}/required",
        f'`required` within a property is read as "required": {list_of(names)} beside `properties`',
        "draft 3",
    )
    result = {**schema, "properties": properties}
    if names:
        result["required"] = names
    return result


def list_of(names: list[str]) -> str:
    """Names as a short list in a message."""
    shown = ", ".join(f'"{name[:40]}"' for name in names[:4])
    return f"[{shown}{', …' if len(names) > 4 else ''}]"


def _say(scope: Scope, path: str, text: str, draft: str) -> None:
    pointer = f"{scope.pointer}/{path}"
    scope.notes.append(Note(f"{text} (a form of {draft}); write that", pointer, relaxed=False))
