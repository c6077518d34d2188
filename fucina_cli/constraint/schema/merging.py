"""Two schemas that hold together as one flat schema, where that can be written exactly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fucina_cli.constraint.schema.facts import KINDS, kinds_named, matches
from fucina_cli.constraint.schema.walk import Schema

_LARGEST = ("minLength", "minItems", "minProperties")
_SMALLEST = ("maxLength", "maxItems", "maxProperties")
_OBJECT = ("properties", "patternProperties", "additionalProperties")
_ARRAY = ("prefixItems", "items", "additionalItems")
_CONTAINS = ("contains", "minContains", "maxContains")
#: Keywords that may stand once, and otherwise in an `allOf` of their own.
_APART = ("anyOf", "pattern", "format", "multipleOf")
#: Keywords that depend on what stands in the same schema.
DEPENDENT = frozenset({"unevaluatedProperties", "unevaluatedItems", "$dynamicRef", "$recursiveRef"})
_NUMBERS = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


class Unmergeable(Exception):
    """No flat schema says the same, or not one that is found."""


def merged(one: dict[str, Any], other: dict[str, Any], draft: int) -> Schema:
    """The intersection: properties of `one` first, both parts of a value below in an `allOf`.

    Neither has `allOf`, `$ref`, `enum` or `const`, or a keyword in which a schema need not hold.
    What can't stand in one schema is in an `allOf`. Raises Unmergeable.
    """
    if DEPENDENT & (one.keys() | other.keys()):
        raise Unmergeable
    result = {**other, **one}
    result = {key: result[key] for key in [*one, *(key for key in other if key not in one)]}
    apart: dict[str, Any] = {}
    if "type" in one and "type" in other:
        names = _types(one["type"], other["type"])
        if not names:
            return False
        result["type"] = names[0] if len(names) == 1 else names
    for keywords, best in ((_LARGEST, max), (_SMALLEST, min)):
        for key in keywords:
            if key in one and key in other:
                result[key] = best(one[key], other[key])
    for keyword, exclusive in _NUMBERS:
        _bounds(result, one, other, keyword, exclusive)
    for key in _APART:
        if key in one and key in other and one[key] != other[key]:
            apart[key] = other[key]
    if "required" in one and "required" in other:
        result["required"] = list(dict.fromkeys([*one["required"], *other["required"]]))
    if "uniqueItems" in one and "uniqueItems" in other:
        result["uniqueItems"] = one["uniqueItems"] or other["uniqueItems"]
    if "propertyNames" in one and "propertyNames" in other:
        result["propertyNames"] = both(one["propertyNames"], other["propertyNames"])
    if "contains" in one and "contains" in other:
        apart |= {key: other[key] for key in _CONTAINS if key in other}
        for key in _CONTAINS:
            if key not in one:
                result.pop(key, None)
    _replace(result, _OBJECT, _objects, one, other)
    _replace(result, _ARRAY, lambda a, b: _arrays(a, b, draft), one, other)
    if apart:
        result["allOf"] = [apart]
    return result


def both(one: Schema, other: Schema) -> Schema:
    """A schema for the values that satisfy both."""
    if one is False or other is False:
        return False
    if one is True or one == {} or one == other:
        return other
    return one if other is True or other == {} else {"allOf": [one, other]}


def _types(one: Any, other: Any) -> list[str]:
    common = kinds_named(one) & kinds_named(other)
    return [
        "number" if kind == "fraction" else kind
        for kind in KINDS
        if kind in common and not (kind == "integer" and "fraction" in common)
    ]


def _replace(
    result: dict[str, Any],
    keywords: tuple[str, ...],
    merge: Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]],
    one: dict[str, Any],
    other: dict[str, Any],
) -> None:
    mine = {key: one[key] for key in keywords if key in one}
    theirs = {key: other[key] for key in keywords if key in other}
    if not mine or not theirs:
        return
    for key in keywords:
        result.pop(key, None)
    result.update(merge(mine, theirs))


def _bounds(
    result: dict[str, Any],
    one: dict[str, Any],
    other: dict[str, Any],
    keyword: str,
    exclusive: str,
) -> None:
    """The tighter bounds of both, also of drafts 3 and 4, where `exclusive` is a boolean."""
    low = keyword == "minimum"
    if not isinstance(one.get(exclusive, other.get(exclusive)), bool):
        for key in (keyword, exclusive):
            if key in one and key in other:
                result[key] = (max if low else min)(one[key], other[key])
        return
    found = [
        (part[keyword] if low else -part[keyword], part.get(exclusive) is True)
        for part in (one, other)
        if keyword in part
    ]
    result.pop(exclusive, None)
    if found:
        bound, opened = max(found)
        result[keyword] = bound if low else -bound
        if opened:
            result[exclusive] = True


def _objects(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    names = list(dict.fromkeys([*one.get("properties", {}), *other.get("properties", {})]))
    properties = {name: both(_of_name(one, name), _of_name(other, name)) for name in names}
    patterns: dict[str, Schema] = {}
    for mine, theirs in ((one, other), (other, one)):
        for pattern, part in mine.get("patternProperties", {}).items():
            if _only_names(theirs):
                # Only listed names are left: the pattern holds for those that it matches.
                for name in _matched(pattern, names):
                    properties[name] = both(properties[name], part)
            elif pattern not in patterns:
                patterns[pattern] = _with_rest(pattern, part, theirs)
    if properties:
        result["properties"] = properties
    if patterns:
        result["patternProperties"] = patterns
    if "additionalProperties" in one or "additionalProperties" in other:
        result["additionalProperties"] = both(_rest(one), _rest(other))
    return result


def _only_names(schema: dict[str, Any]) -> bool:
    return _rest(schema) is False and not schema.get("patternProperties")


def _of_name(schema: dict[str, Any], name: str) -> Schema:
    """What holds for the property but for `patternProperties`, which stay beside it."""
    if name in schema.get("properties", {}):
        found: Schema = schema["properties"][name]
        return found
    if "additionalProperties" not in schema:
        return True
    if any(_matched(pattern, [name]) for pattern in schema.get("patternProperties", {})):
        return True
    return _rest(schema)


def _matched(pattern: str, names: list[str]) -> list[str]:
    verdicts = {name: matches(pattern, name) for name in names}
    if None in verdicts.values():
        raise Unmergeable
    return [name for name, found in verdicts.items() if found]


def _with_rest(pattern: str, part: Schema, other: dict[str, Any]) -> Schema:
    """What holds for names that a pattern matches: its part, and what `other` says of them."""
    theirs, rest = other.get("patternProperties", {}), _rest(other)
    if pattern in theirs:
        return both(part, theirs[pattern])
    if rest is True or rest == {}:
        return part
    if theirs or _matched(pattern, list(other.get("properties", {}))):
        raise Unmergeable  # for some names it is not the rest that holds
    return both(part, rest)


def _rest(schema: dict[str, Any]) -> Schema:
    found: Schema = schema.get("additionalProperties", True)
    return found


def _arrays(one: dict[str, Any], other: dict[str, Any], draft: int) -> dict[str, Any]:
    (first, rest), (other_first, other_rest) = _tuple(one, draft), _tuple(other, draft)
    size = max(len(first), len(other_first))
    mine = [*first, *[rest] * (size - len(first))]
    theirs = [*other_first, *[other_rest] * (size - len(other_first))]
    items = [both(a, b) for a, b in zip(mine, theirs, strict=True)]
    tail = both(rest, other_rest)
    if not items:
        return {"items": tail}
    if draft >= 2020:
        return {"prefixItems": items, "items": tail}
    return {"items": items, "additionalItems": tail}


def _tuple(schema: dict[str, Any], draft: int) -> tuple[list[Schema], Schema]:
    """The schemas of the first items, and that of the rest."""
    items = schema.get("items", True)
    if draft >= 2020:
        return schema.get("prefixItems", []), items
    return (items, schema.get("additionalItems", True)) if isinstance(items, list) else ([], items)
