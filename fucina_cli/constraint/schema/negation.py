"""Complements of schemas, exact where one can be written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

from fucina_cli.constraint.schema.facts import (
    KINDS,
    facts,
    kind_of,
    kinds,
    kinds_named,
    listed,
    names_of,
    of_property,
    same,
)
from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.languages import ALL, of_pattern, without
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.walk import Schema

#: The most options of an `anyOf` that is written here.
MOST = 64
_STEPS = 400  # schemas within one complement
_NUMBERS = 16  # listed numbers whose complement is written as ranges
#: The kind of value that a keyword says something about.
_ABOUT = {
    keyword: about
    for about, keywords in (
        (
            frozenset({"object"}),
            "required properties additionalProperties patternProperties minProperties "
            "maxProperties propertyNames dependencies dependentRequired dependentSchemas",
        ),
        (
            frozenset({"array"}),
            "items prefixItems additionalItems minItems maxItems uniqueItems contains",
        ),
        (frozenset({"string"}), "minLength maxLength pattern format"),
        (
            frozenset({"integer", "fraction"}),
            "minimum maximum exclusiveMinimum exclusiveMaximum multipleOf",
        ),
    )
    for keyword in keywords.split()
}
#: Keywords that only act through another one beside them.
_HELPERS = frozenset({"then", "else", "minContains", "maxContains"})
#: Counts: the kind of value, and the opposite keyword.
_COUNTS = {
    "minLength": ("string", "maxLength"), "maxLength": ("string", "minLength"),
    "minItems": ("array", "maxItems"), "maxItems": ("array", "minItems"),
    "minProperties": ("object", "maxProperties"), "maxProperties": ("object", "minProperties"),
}  # fmt: skip

_Context = list[dict[str, Any]]


def negated(schema: Schema, context: Iterable[Schema], ground: Ground) -> Schema | None:
    """A schema for the values that satisfy `context` and not `schema`, to stand beside `context`.

    None where it can't be written exactly. Parts of `schema` are used as they are, with their own
    `not`, `if` and so on.
    """
    known = facts(context, ground.root)
    return False if known is None else _Negation(ground).of(schema, known)


class _Negation:
    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self._steps = _STEPS
        self._trail: list[str] = []

    def of(self, schema: Schema, context: _Context) -> Schema | None:
        self._steps -= 1
        if self._steps < 0:
            return None
        if not isinstance(schema, dict):
            return not schema
        values = self._ground.values(context)
        if values is not None:
            verdicts = [self._ground.instances.valid(value, schema) for value in values]
            if None not in verdicts:
                left = [v for v, valid in zip(values, verdicts, strict=True) if not valid]
                return {"enum": left} if left else False
        active = [
            key
            for key in schema
            if self._ground.asserts(key) and key not in _HELPERS and not _says_nothing(key, schema)
        ]
        allowed = kinds(context)
        parts: list[Schema | None] = []
        for key in active:
            if key in _ABOUT and not _ABOUT[key] & allowed:
                continue
            parts.append(self._keyword(key, schema, context, allowed))
        return any_of(parts)

    def _keyword(
        self, key: str, schema: dict[str, Any], context: _Context, allowed: frozenset[str]
    ) -> Schema | None:
        value = schema[key]
        if key == "type":
            return _of_kinds(allowed - kinds_named(value), allowed)
        if key in ("const", "enum"):
            return self._listed(listed(schema) if key == "const" else value, allowed)
        if key == "required":
            return any_of([_lacking(name) for name in value])
        if key == "properties":
            return any_of([self._property(name, part, context) for name, part in value.items()])
        if key in _COUNTS:
            return _count(key, value)
        if key in ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"):
            return self._bound(key, schema)
        if key == "contains":
            if "minContains" in schema or "maxContains" in schema:
                return None
            return _typed("array", "items", self.of(value, []))
        if key == "pattern":
            return _matching(lambda: (ALL - of_pattern(value)).pattern())
        if key == "additionalProperties":
            return self._additional(schema, context)
        return self._applicator(key, schema, context)

    def _additional(self, schema: dict[str, Any], context: _Context) -> Schema | None:
        # "Some other property" can be said where the context lists all properties.
        names = names_of(context)
        if names is None or schema.get("patternProperties"):
            return None
        others = [name for name in names if name not in schema.get("properties", {})]
        part = schema["additionalProperties"]
        return any_of([self._property(name, part, context) for name in others])

    def _applicator(self, key: str, schema: dict[str, Any], context: _Context) -> Schema | None:
        value = schema[key]
        if key == "not":
            return value
        if key == "$ref":
            return self._reference(value, context)
        if key == "allOf":
            return any_of([self.of(part, context) for part in value])
        if key == "anyOf" or (key == "oneOf" and self._ground.exclusive(value, context)):
            return all_of([self.of(part, context) for part in value])
        if key == "if":
            then, other = schema.get("then", True), schema.get("else", True)
            lacks_then = all_of([value, self.of(then, context)])
            lacks_else = all_of([self.of(value, context), self.of(other, context)])
            return any_of([lacks_then, lacks_else])
        if key in ("dependencies", "dependentRequired", "dependentSchemas"):
            return any_of([self._dependency(name, v, context) for name, v in value.items()])
        return None

    def _reference(self, reference: str, context: _Context) -> Schema | None:
        if reference in self._trail:
            return None
        self._trail.append(reference)
        try:
            leads_to = self._ground.target(reference)
            return None if leads_to is None else self.of(leads_to, context)
        finally:
            self._trail.pop()

    def _property(self, name: str, part: Schema, context: _Context) -> Schema | None:
        inside = facts(of_property(context, name), self._ground.root)
        if inside is None:
            return False
        other = self.of(part, inside)
        if other is None or other is False:
            return other
        return {"type": "object", "required": [name], "properties": {name: other}}

    def _dependency(self, name: str, needed: Any, context: _Context) -> Schema | None:
        if isinstance(needed, str):  # draft 3
            needed = [needed]
        other = (
            any_of([_lacking(each) for each in needed])
            if isinstance(needed, list)
            else self.of(needed, context)
        )
        return all_of([{"type": "object", "required": [name]}, other])

    def _listed(self, values: Any, allowed: frozenset[str]) -> Schema | None:
        parts: list[Schema | None] = []
        taken = {kind: [v for v in values if kind_of(v) == kind] for kind in KINDS}
        plain = frozenset(kind for kind in allowed if not taken[kind])
        numeric = {"integer", "fraction"}
        if plain & numeric != allowed & numeric:
            plain -= numeric
            numbers = sorted({*taken["integer"], *taken["fraction"]})
            parts.append(self._other_numbers(numbers, whole="fraction" not in allowed))
        parts.append(_of_kinds(plain, allowed))
        for kind in sorted(allowed - plain - numeric):
            parts.append(_others_of(kind, taken[kind]))
        return any_of(parts)

    def _other_numbers(self, numbers: list[Any], *, whole: bool) -> Schema | None:
        if len(numbers) > _NUMBERS:
            return None
        name = "integer" if whole else "number"
        options: list[Schema] = []
        edges = [None, *numbers, None]
        for low, high in pairwise(edges):
            if whole and low is not None and high is not None and high - low <= 1:
                continue
            option: dict[str, Any] = {"type": name}
            if low is not None:
                option |= self._beyond("Minimum", low)
            if high is not None:
                option |= self._beyond("Maximum", high)
            options.append(option)
        return any_of(options)

    def _beyond(self, side: str, bound: Any) -> dict[str, Any]:
        """A bound that is not reached itself, as the draft writes it."""
        if self._ground.asserts(f"exclusive{side}"):
            return {f"exclusive{side}": bound}
        return {side.lower(): bound, f"exclusive{side}": True}

    def _bound(self, key: str, schema: dict[str, Any]) -> Schema | None:
        value = schema[key]
        if isinstance(value, bool):  # drafts 3 and 4: said by the bound beside it
            return False
        if key.startswith("exclusive"):
            return {"type": "number", "maximum" if key == "exclusiveMinimum" else "minimum": value}
        other = "Maximum" if key == "minimum" else "Minimum"
        opened = schema.get(f"exclusive{key.capitalize()}") is True
        return {
            "type": "number",
            **({other.lower(): value} if opened else self._beyond(other, value)),
        }


def any_of(parts: Iterable[Schema | None]) -> Schema | None:
    """The union; None where a part is None or there are too many."""
    options: list[Schema] = []
    for part in parts:
        if part is None:
            return None
        if part is True:
            return True
        if isinstance(part, dict) and set(part) == {"anyOf"}:
            options += part["anyOf"]
        elif part is not False:
            options.append(part)
    if len(options) > MOST:
        return None
    if not options:
        return False
    return options[0] if len(options) == 1 else {"anyOf": options}


def all_of(parts: Iterable[Schema | None]) -> Schema | None:
    """The intersection; None where a part is None, unless another one is False."""
    listed_parts = list(parts)
    if any(part is False for part in listed_parts):
        return False
    if any(part is None for part in listed_parts):
        return None
    kept = [part for part in listed_parts if part is not True]
    if len(kept) < 2:
        return kept[0] if kept else True
    return {"allOf": kept}


def _says_nothing(key: str, schema: dict[str, Any]) -> bool:
    value = schema[key]
    if key in ("properties", "patternProperties", "required", "dependencies", "allOf"):
        return not value
    if key in ("uniqueItems", "exclusiveMinimum", "exclusiveMaximum"):
        return value is False
    if key in ("items", "additionalProperties", "additionalItems", "propertyNames"):
        return value is True or value == {}
    return False


def _lacking(name: str) -> Schema:
    return {"type": "object", "properties": {name: False}}


def _typed(kind: str, keyword: str, value: Schema | None) -> Schema | None:
    return None if value is None else {"type": kind, keyword: value}


def _count(key: str, value: Any) -> Schema:
    kind, opposite = _COUNTS[key]
    if key.startswith("max"):
        return {"type": kind, opposite: int(value) + 1}
    return {"type": kind, opposite: int(value) - 1} if value > 0 else False


def _of_kinds(named: frozenset[str], allowed: frozenset[str]) -> Schema | None:
    """A schema for the values of these kinds, among the allowed ones."""
    if "fraction" in named and "integer" in allowed - named:
        return None  # no keyword says "not an integer"
    names = [
        "number" if kind == "fraction" else kind
        for kind in KINDS
        if kind in named and not (kind == "integer" and "fraction" in named)
    ]
    return {"type": names[0] if len(names) == 1 else names} if names else False


def _others_of(kind: str, values: list[Any]) -> Schema | None:
    """The values of one kind but these."""
    if kind == "null":
        return False
    if kind == "boolean":
        left = [each for each in (False, True) if not any(same(each, v) for v in values)]
        return {"enum": left} if left else False
    if kind == "string":
        return _matching(lambda: without(values))
    return None


def _matching(written: Callable[[], str]) -> Schema | None:
    """The strings of a pattern, where it can be written."""
    try:
        return {"type": "string", "pattern": written()}
    except Unreadable:
        return None
