"""Whether schemas that must all hold are impossible: no value satisfies them.

Sound, not complete: True only where it is proven. A schema that requires itself, at some depth,
has no finite value, so a question met again while it is being answered is answered True
(the least fixed point of "has a value").
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema.facts import (
    ALL_KINDS,
    facts,
    kind_of,
    kinds,
    listed,
    of_property,
    required,
)
from fucina_cli.constraint.schema.instances import Instances
from fucina_cli.constraint.schema.languages import ALL, of_pattern
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.walk import Schema

_STEPS = 300  # questions within one question
_BRANCHES = 64  # options of one `anyOf` or `oneOf`
#: Formats of which no string has two (RFC 3339, 4122, 4291, 5321 and dotted quads).
_UNLIKE = frozenset({"date", "date-time", "email", "ipv4", "ipv6", "time", "uuid"})
_VALUES = 1000  # listed values that are tried


class Emptiness:
    """Answers for the schemas of one root, whose references are gathered."""

    def __init__(self, root: Schema, instances: Instances) -> None:
        self._root = root
        self._instances = instances
        self._asked: set[frozenset[int]] = set()
        self._steps = 0

    def impossible(self, schemas: Iterable[Schema]) -> bool:
        """Whether it is proven that no value satisfies all of `schemas`."""
        self._steps, self._asked = _STEPS, set()
        return self._none(list(schemas), splits=3)

    def _none(self, schemas: Sequence[Schema], splits: int) -> bool:
        known = facts(schemas, self._root)
        if known is None:
            return True
        self._steps -= 1
        if self._steps < 0 or not known:
            return False
        key = frozenset(id(fact) for fact in known)
        if key in self._asked:
            return True
        self._asked.add(key)
        try:
            return self._no_value(known, splits)
        finally:
            self._asked.discard(key)

    def _no_value(self, known: list[dict[str, Any]], splits: int) -> bool:
        lists = [values for fact in known if (values := listed(fact)) is not None]
        shortest = min(lists, key=len, default=None)
        if shortest is not None and len(shortest) <= _VALUES:
            return all(self._instances.refused(value, known) for value in shortest)
        possible = kinds(known)
        if all(self._no_value_of(kind, known, splits) for kind in sorted(possible)):
            return True
        return any(self._refutes(fact, known, splits) for fact in known)

    def _refutes(self, fact: dict[str, Any], known: list[dict[str, Any]], splits: int) -> bool:
        """Whether `anyOf`, `oneOf` or `not` of a fact can't hold beside all facts."""
        for keyword in ("anyOf", "oneOf"):
            options = fact.get(keyword)
            if isinstance(options, list) and splits and len(options) <= _BRANCHES:
                # Without this `anyOf` in the question: else the question would be its own answer.
                rest = [{k: v for k, v in fact.items() if k != keyword}]
                rest += [other for other in known if other is not fact]
                if all(self._none([option, *rest], splits - 1) for option in options):
                    return True
        return "not" in fact and holds_for_all(fact["not"])

    def _no_value_of(self, kind: str, known: list[dict[str, Any]], splits: int) -> bool:
        if kind in ("integer", "fraction"):
            return _no_number(known, whole=kind == "integer")
        if kind == "string":
            return _no_string(known)
        if kind == "array":
            return self._no_array(known, splits)
        if kind == "object":
            return self._no_object(known, splits)
        return False

    def _no_array(self, known: list[dict[str, Any]], splits: int) -> bool:
        if _crossed(known, "minItems", "maxItems"):
            return True
        least = _largest(known, "minItems") or 0
        for index in range(min(int(least), 8)):
            parts = [part for fact in known if (part := _item(fact, index)) is not None]
            if parts and self._none(parts, splits):
                return True
        return False

    def _no_object(self, known: list[dict[str, Any]], splits: int) -> bool:
        names = required(known)
        most = _smallest(known, "maxProperties")
        least = _largest(known, "minProperties") or 0
        if most is not None and max(len(names), least) > most:
            return True
        for fact in known:
            closed = fact.get("additionalProperties") is False
            if closed and not fact.get("patternProperties"):
                properties = fact.get("properties", {})
                if len(properties) < least or any(name not in properties for name in names):
                    return True
        return any(
            parts and self._none(parts, splits)
            for parts in (of_property(known, name) for name in names)
        )


def holds_for_all(schema: Schema) -> bool:
    """Whether `schema` plainly accepts every value."""
    if not isinstance(schema, dict):
        return schema is True
    if "type" in schema and len(schema) == 1:
        return not ALL_KINDS - kinds([schema])
    return not schema


def _item(fact: dict[str, Any], index: int) -> Schema | None:
    rest, first = fact.get("items"), fact.get("prefixItems", [])
    if isinstance(rest, list):
        first, rest = rest, fact.get("additionalItems")
    return first[index] if index < len(first) else rest


def _no_string(known: list[dict[str, Any]]) -> bool:
    if _crossed(known, "minLength", "maxLength"):
        return True
    formats = {fact["format"] for fact in known if fact.get("format") in _UNLIKE}
    if len(formats) > 1:
        return True
    patterns = {fact["pattern"] for fact in known if isinstance(fact.get("pattern"), str)}
    if len(patterns) < 2:  # of one, the engine finds out
        return False
    try:
        found = ALL
        for pattern in patterns:
            found = found & of_pattern(pattern)
        return found.empty
    except Unreadable:
        return False


def _no_number(known: list[dict[str, Any]], *, whole: bool) -> bool:
    low, open_low = _bound(known, "minimum", "exclusiveMinimum", largest=True)
    high, open_high = _bound(known, "maximum", "exclusiveMaximum", largest=False)
    if low is None or high is None:
        return False
    if low > high or (low == high and (open_low or open_high)):
        return True
    if not whole:
        return low == high and kind_of(low) == "integer"
    first = -(-low // 1) if not open_low else low // 1 + 1
    last = high // 1 if not open_high else -(-high // 1) - 1
    return bool(first > last)


def _bound(
    known: list[dict[str, Any]], closed: str, opened: str, *, largest: bool
) -> tuple[Any, bool]:
    """The tightest bound, and whether it is excluded itself."""
    best: Any = None
    excluded = False
    for fact in known:
        strict = fact.get(opened)
        for value, is_open in (
            (fact.get(closed), strict is True),
            (None if isinstance(strict, bool) else strict, True),
        ):
            if not isinstance(value, (int, Decimal)) or isinstance(value, bool):
                continue
            exact = Decimal(value)
            if abs(exact.adjusted()) > 25:  # beyond what the default context divides exactly
                continue
            tighter = best is None or (exact > best if largest else exact < best)
            if tighter or (exact == best and is_open):
                best, excluded = exact, is_open
    return best, excluded


def _crossed(known: list[dict[str, Any]], least: str, most: str) -> bool:
    low, high = _largest(known, least), _smallest(known, most)
    return low is not None and high is not None and low > high


def _numbers(known: list[dict[str, Any]], keyword: str) -> list[Any]:
    return [fact[keyword] for fact in known if isinstance(fact.get(keyword), (int, Decimal))]


def _largest(known: list[dict[str, Any]], keyword: str) -> Any:
    return max(_numbers(known, keyword), default=None)


def _smallest(known: list[dict[str, Any]], keyword: str) -> Any:
    return min(_numbers(known, keyword), default=None)
