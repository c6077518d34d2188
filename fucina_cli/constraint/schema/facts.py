"""What several schemas that hold together say about a value, as far as it is easily seen."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fucina_cli.constraint.schema.languages import of_pattern
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.references import target
from fucina_cli.constraint.schema.walk import Schema

#: The types of values, numbers parted in two: every value is of exactly one.
KINDS = ("null", "boolean", "integer", "fraction", "string", "array", "object")
ALL_KINDS = frozenset(KINDS)
_DEEP = 64  # references and `allOf` within each other


def facts(schemas: Iterable[Schema], root: Schema) -> list[dict[str, Any]] | None:
    """The schemas that must all hold, `allOf` and references followed; None where one is false.

    What a reference leads to and the parts of `allOf` are listed beside the schema that has them.
    """
    found: list[dict[str, Any]] = []
    seen: set[int] = set()
    todo = [(schema, 0) for schema in schemas]
    while todo:
        schema, depth = todo.pop(0)
        if schema is False:
            return None
        if not isinstance(schema, dict) or id(schema) in seen or depth > _DEEP:
            continue
        seen.add(id(schema))
        found.append(schema)
        if isinstance(schema.get("$ref"), str):
            todo.append((target(schema["$ref"], root), depth + 1))
        if isinstance(schema.get("allOf"), list):
            todo += [(part, depth + 1) for part in schema["allOf"]]
    return found


def kinds_named(named: Any) -> frozenset[str]:
    """The kinds of values that a value of `type` admits."""
    found: set[str] = set()
    for name in named if isinstance(named, list) else [named]:
        if name == "number":
            found |= {"integer", "fraction"}
        elif name in KINDS and name != "fraction":
            found.add(name)
        else:  # of draft 3, such as "any"
            return ALL_KINDS
    return frozenset(found)


def kind_of(value: Any) -> str:
    """The kind of a value as `document.loads` makes it."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (str, list, dict)):
        return {str: "string", list: "array", dict: "object"}[type(value)]
    whole = isinstance(value, int) or value == value.to_integral_value()
    return "integer" if whole else "fraction"


def same(one: Any, other: Any) -> bool:
    """JSON equality: 1 equals 1.0, and no boolean equals a number."""
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def kinds(known: Iterable[dict[str, Any]]) -> frozenset[str]:
    """The kinds that a value may be of for which all of `known` hold; perhaps too many."""
    possible = ALL_KINDS
    for fact in known:
        if "type" in fact:
            possible &= kinds_named(fact["type"])
        values = listed(fact)
        if values is not None:
            possible &= {kind_of(value) for value in values}
    return possible


def listed(schema: dict[str, Any]) -> list[Any] | None:
    """The values that `const` or `enum` admit; None where the schema has neither."""
    if "const" in schema:
        return [schema["const"]]
    return schema["enum"] if isinstance(schema.get("enum"), list) else None


def of_property(known: Iterable[dict[str, Any]], name: str) -> list[Schema]:
    """Schemas that hold for the property `name` where it is present; perhaps not all of them."""
    found: list[Schema] = []
    for fact in known:
        properties, patterns = fact.get("properties", {}), fact.get("patternProperties", {})
        verdicts = {pattern: matches(pattern, name) for pattern in patterns}
        if name in properties:
            found.append(properties[name])
        elif "additionalProperties" in fact and not any(v is not False for v in verdicts.values()):
            found.append(fact["additionalProperties"])
        found += [part for pattern, part in patterns.items() if verdicts[pattern]]
    return found


def names_of(known: Iterable[dict[str, Any]]) -> list[str] | None:
    """The only names that properties may have, if that is said by a list of them."""
    lists = [
        list(fact.get("properties", {}))
        for fact in known
        if fact.get("additionalProperties") is False and not fact.get("patternProperties")
    ]
    return [name for name in lists[0] if all(name in names for names in lists)] if lists else None


def matches(pattern: str, name: str) -> bool | None:
    """Whether an ECMA-262 pattern is found in `name`; None for one that can't be read."""
    try:
        return name in of_pattern(pattern)
    except Unreadable:
        return None


def required(known: Iterable[dict[str, Any]]) -> list[str]:
    """The names that `required` lists, each once, in order."""
    names = [name for fact in known for name in _strings(fact.get("required"))]
    return list(dict.fromkeys(names))


def _strings(value: Any) -> list[str]:
    return value if isinstance(value, list) else []
