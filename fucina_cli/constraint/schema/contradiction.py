"""Keywords of a schema that exclude each other, for a message about an unsatisfiable one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any
from urllib.parse import unquote

from fucina_cli.constraint.schema.explain import shown
from fucina_cli.constraint.schema.walk import Schema, escaped, resolved

#: Pairs of lower and upper bounds, and the types that they are about.
_BOUNDS: tuple[tuple[str, str, tuple[Any, ...]], ...] = (
    ("minimum", "maximum", (["number"], ["integer"])),
    ("minLength", "maxLength", (["string"],)),
    ("minItems", "maxItems", (["array"],)),
    ("minProperties", "maxProperties", (["object"],)),
)
_MOST = 1000


def contradiction(schema: Schema, pointer: str = "") -> tuple[str, str] | None:
    """JSON pointer and description of keywords that exclude each other.

    It looks where every answer must satisfy: from `pointer` on through `allOf`, `$ref`, required
    properties and items that must be there. None where it finds nothing.
    """
    waiting, seen = [pointer], set[str]()
    while waiting and len(seen) < _MOST:
        here = waiting.pop(0)
        if here in seen:
            continue
        seen.add(here)
        try:
            part = resolved(schema, here)
        except (LookupError, ValueError, TypeError):
            continue
        if part is False:
            return here, "`false` allows no value"
        if not isinstance(part, dict):
            continue
        why = _between_keywords(part)
        if why is not None:
            return here, why
        waiting += _needed(part, here)
    return None


def _between_keywords(part: dict[str, Any]) -> str | None:
    values: Any = part.get("enum")
    if values == []:
        return "`enum` is empty"
    if "const" in part:
        if isinstance(values, list) and part["const"] not in values:
            return f"`const` {shown(part['const'])} is not in `enum` {shown(values)}"
        values = [part["const"]]
    types: Any = part.get("type")
    types = [types] if isinstance(types, str) else types
    given = "const" if "const" in part else "enum"
    possible = isinstance(types, list) and isinstance(values, list)
    if possible and not any(_is_of(value, name) for value in values for name in types):
        return f"`{given}` {shown(part[given])} has no value of `type` {shown(part['type'])}"
    for low, high, of in _BOUNDS:
        least: Any = part.get(low)
        most: Any = part.get(high)
        applies = types in of and _is_number(least) and _is_number(most)
        if applies and least > most:
            return f"`{low}` {shown(least)} is above `{high}` {shown(most)}"
    if types == ["object"] and part.get("additionalProperties") is False:
        declared = part.get("properties", {})
        for required in part.get("required", []):
            if required not in declared and not part.get("patternProperties"):
                forbids = "which `additionalProperties: false` forbids"
                return f"`required` names {shown(required)}, {forbids}"
    return None


def _needed(part: dict[str, Any], here: str) -> list[str]:
    """Pointers of the schemas that every value of a part, or a value within it, satisfies."""
    found = [f"{here}/allOf/{index}" for index in range(len(part.get("allOf", [])))]
    ref = part.get("$ref")
    if isinstance(ref, str) and (ref == "#" or ref.startswith("#/")):
        found.append(unquote(ref[1:]))
    if part.get("type") == "object":
        declared = part.get("properties", {})
        names = (name for name in part.get("required", []) if name in declared)
        found += (f"{here}/properties/{escaped(name)}" for name in names)
    least: Any = part.get("minItems", 0)
    if part.get("type") == "array" and _is_number(least) and least > 0:
        first = part.get("prefixItems", [])
        found += (f"{here}/prefixItems/{index}" for index in range(min(int(least), len(first))))
        if least > len(first) and "items" in part:
            found.append(f"{here}/items")
    return found


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _is_of(value: Any, name: str) -> bool:
    if name in ("integer", "number"):
        return _is_number(value) and (name == "number" or value == value // 1)
    kinds: dict[str, type | tuple[type, ...]]
    kinds = {"string": str, "boolean": bool, "object": dict, "array": list, "null": type(None)}
    return isinstance(value, kinds.get(name, ()))
