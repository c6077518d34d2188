"""propertyNames as names and patterns of a closed object."""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema import languages
from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.key_classes import split
from fucina_cli.constraint.schema.languages import Language
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.shapes import (
    ANNOTATIONS,
    allows_all,
    allows_none,
    finite_values,
    types,
    with_keys,
)
from fucina_cli.constraint.schema.walk import Schema, Scope

_NAME = "propertyNames"


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` without propertyNames."""
    if _NAME not in schema or draft(scope.root) < 6:
        return schema
    naming = schema[_NAME]
    rest = {name: part for name, part in schema.items() if name != _NAME}
    if _every_name(naming) or "object" not in types(schema):
        return rest
    names = [] if _no_name(naming) else finite_values(naming, draft(scope.root))
    try:
        if names is not None:
            return _listed(rest, [name for name in names if isinstance(name, str)])
        return _matching(rest, naming)
    except Unreadable:
        scope.note("`propertyNames` is not enforced while decoding")
        return rest


def _every_name(naming: Schema) -> bool:
    return allows_all(naming) or (
        isinstance(naming, dict)
        and naming.keys() - ANNOTATIONS == {"type"}
        and "string" in types(naming)
    )


def _no_name(naming: Schema) -> bool:
    return allows_none(naming) or (isinstance(naming, dict) and "string" not in types(naming))


def _listed(schema: dict[str, Any], names: list[str]) -> Schema:
    """Only these names: those that are not declared get the schemas that undeclared keys get."""
    declared = schema.get("properties", {})
    patterns = schema.get("patternProperties", {})
    properties = {name: declared[name] if name in names else False for name in declared}
    for name in names:
        if name not in declared:
            properties[name] = _undeclared(schema, name)
    kept = {name: part for name, part in schema.items() if name != "patternProperties"}
    for name in properties:  # the patterns are gone, so what they say is said here
        found = [p for pattern, p in patterns.items() if name in languages.of_pattern(pattern)]
        if name in declared and found and not allows_none(properties[name]):
            properties[name] = {"allOf": [properties[name], *found]}
    return {**kept, "properties": properties, "additionalProperties": False}


def _undeclared(schema: dict[str, Any], name: str) -> Schema:
    found = [
        part
        for pattern, part in schema.get("patternProperties", {}).items()
        if name in languages.of_pattern(pattern)
    ]
    if not found:
        return schema.get("additionalProperties", True)
    return found[0] if len(found) == 1 else {"allOf": found}


def _matching(schema: dict[str, Any], naming: dict[str, Any]) -> Schema:
    allowed = _language(naming)
    patterns = schema.get("patternProperties", {})
    others = schema.get("additionalProperties", True)
    declared = schema.get("properties", {})
    properties = {name: part if name in allowed else False for name, part in declared.items()}
    plain = _single_pattern(naming)
    if plain is not None and not patterns and (allows_all(others) or not declared):
        keys = {plain: others}
    else:
        keys = split(patterns, rest=others, within=allowed, names=declared)
    changed = with_keys(schema, keys, False)
    if properties:
        changed["properties"] = properties
    return changed


def _single_pattern(naming: dict[str, Any]) -> str | None:
    """The one pattern that says what `naming` says, if it is written so simply."""
    rules = naming.keys() - ANNOTATIONS - {"type"}
    if rules == {"pattern"}:
        return str(naming["pattern"]) if "(?" not in naming["pattern"] else None
    if rules and rules <= {"minLength", "maxLength"}:
        return languages.lengths_pattern(naming.get("minLength", 0), naming.get("maxLength"))
    return None


def _language(naming: Schema) -> Language:
    """The names that are valid. Raises Unreadable where it is not only about text."""
    if naming is True or naming is False:
        return languages.ALL if naming else languages.NOTHING
    found = languages.ALL
    for name, value in naming.items():
        if name in ANNOTATIONS or name in ("minLength", "maxLength"):
            continue
        if name == "type":
            found = found if "string" in types(naming) else languages.NOTHING
        elif name == "pattern":
            found = found & languages.of_pattern(value)
        elif name in ("enum", "const"):
            values = value if name == "enum" else [value]
            found = found & languages.of_strings(v for v in values if isinstance(v, str))
        elif name == "not":
            found = found - _language(value)
        elif name == "allOf":
            for part in value:
                found = found & _language(part)
        elif name == "anyOf":
            either = languages.NOTHING
            for part in value:
                either = either | _language(part)
            found = found & either
        else:
            raise Unreadable(f"`{name}` of names")
    if "minLength" in naming or "maxLength" in naming:
        found = found & languages.of_lengths(naming.get("minLength", 0), naming.get("maxLength"))
    return found
