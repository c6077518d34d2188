"""`pattern` and what depends on `patternProperties`, by patterns of ECMA-262.

Where a pattern can't be read, PatternError ends the judging: no verdict is possible.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fucina_cli.constraint.patterns.errors import PatternError
from fucina_cli.constraint.patterns.matcher import ecma_matcher
from fucina_cli.constraint.schema.judging.texts import shown


def matches(pattern: str, text: str) -> bool:
    """Whether a schema's pattern is found in a text. Raises PatternError that names it."""
    try:
        return ecma_matcher(pattern)(text)
    except PatternError as error:
        raise PatternError(f"the pattern {shown(pattern)} can't be read: {error}") from None


def pattern(validator: Any, wanted: str, instance: Any, _schema: Any) -> Iterator[str]:
    """`pattern`."""
    if validator.is_type(instance, "string") and not matches(wanted, instance):
        yield f"{shown(instance)} does not match {shown(wanted)}"


def pattern_properties(
    validator: Any, patterns: dict[str, Any], instance: Any, _schema: Any
) -> Iterator[Any]:
    """`patternProperties`."""
    if not validator.is_type(instance, "object"):
        return
    for wanted, part in patterns.items():
        for key, value in instance.items():
            if matches(wanted, key):
                yield from validator.descend(value, part, path=key, schema_path=wanted)


def additional_properties(
    validator: Any, part: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[Any]:
    """`additionalProperties`."""
    if not validator.is_type(instance, "object"):
        return
    for key in instance:
        if _is_additional(key, schema):
            if part is False:
                yield f"the key {shown(key)} is not allowed"
            else:
                yield from validator.descend(instance[key], part, path=key)


def unevaluated_properties(
    validator: Any, part: Any, instance: Any, schema: dict[str, Any]
) -> Iterator[Any]:
    """`unevaluatedProperties`."""
    if not validator.is_type(instance, "object"):
        return
    rest = {key: value for key, value in schema.items() if key != "unevaluatedProperties"}
    for key in instance.keys() - _evaluated(validator, instance, rest):
        if part is False:
            yield f"the key {shown(key)} is not evaluated and not allowed"
        else:
            yield from validator.descend(instance[key], part, path=key)


def _is_additional(key: str, schema: dict[str, Any]) -> bool:
    return key not in schema.get("properties", ()) and not any(
        matches(wanted, key) for wanted in schema.get("patternProperties", ())
    )


def _evaluated(validator: Any, instance: dict[str, Any], schema: Any) -> set[str]:
    """The keys that a schema which the object satisfies evaluates (2020-12 core, 11.3)."""
    if not isinstance(schema, dict):
        return set()
    if "unevaluatedProperties" in schema:
        return set(instance)
    found = set(instance.keys() & schema.get("properties", {}).keys())
    for wanted in schema.get("patternProperties", ()):
        found |= {key for key in instance if matches(wanted, key)}
    if "additionalProperties" in schema:
        found |= {key for key in instance if _is_additional(key, schema)}
    for inner, part in _applied(validator, instance, schema):
        found |= _evaluated(inner, instance, part)
    return found


def _applied(
    validator: Any, instance: dict[str, Any], schema: dict[str, Any]
) -> Iterator[tuple[Any, Any]]:
    """The schemas that apply in place and hold, each with the validator of where it stands."""

    def holds(part: Any) -> bool:
        return next(iter(validator.descend(instance, part)), None) is None

    for keyword in ("$ref", "$dynamicRef", "$recursiveRef"):
        if keyword in schema and keyword in validator.VALIDATORS:
            found = _resolved(validator, keyword, schema[keyword])
            yield validator.evolve(schema=found.contents, _resolver=found.resolver), found.contents
    parts = [part for key in ("allOf", "anyOf", "oneOf") for part in schema.get(key, ())]
    parts += [part for key, part in schema.get("dependentSchemas", {}).items() if key in instance]
    if "if" in schema:
        condition = holds(schema["if"])
        parts += [schema["if"]] if condition else []
        parts += [schema[key] for key in ("then" if condition else "else",) if key in schema]
    for part in parts:
        if holds(part):
            yield validator, part


def _resolved(validator: Any, keyword: str, reference: str) -> Any:
    if keyword == "$recursiveRef":
        from referencing.jsonschema import lookup_recursive_ref

        return lookup_recursive_ref(validator._resolver)
    return validator._resolver.lookup(reference)


KEYWORDS: dict[str, Callable[[Any, Any, Any, dict[str, Any]], Iterator[Any]]] = {
    "additionalProperties": additional_properties,
    "pattern": pattern,
    "patternProperties": pattern_properties,
    "unevaluatedProperties": unevaluated_properties,
}
