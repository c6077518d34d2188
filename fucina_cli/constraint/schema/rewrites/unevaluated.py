"""unevaluatedProperties and unevaluatedItems where it is plain what has been evaluated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.pointers import resolved
from fucina_cli.constraint.schema.shapes import allows_all
from fucina_cli.constraint.schema.tuples import Tuple
from fucina_cli.constraint.schema.walk import Schema, Scope

_MAX_DEPTH = 20


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` without the two keywords, which came with draft 2019-09."""
    if draft(scope.root) < 2019:
        return schema
    if "unevaluatedProperties" in schema:
        schema = _properties(schema, scope)
    if "unevaluatedItems" in schema:
        schema = _items(schema, scope)
    return schema


def _properties(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    rest = {name: part for name, part in schema.items() if name != "unevaluatedProperties"}
    left = schema["unevaluatedProperties"]
    if allows_all(left) or "additionalProperties" in schema:
        return rest
    seen = _Seen(scope.root)
    seen.add(rest, certain=True)
    if seen.keys.everything is True:
        return rest
    if not seen.keys.certain:
        scope.note("`unevaluatedProperties` is enforced only in part while decoding")
        if seen.keys.everything is None:
            return rest
    for keyword, names in (
        ("properties", seen.keys.names),
        ("patternProperties", seen.keys.patterns),
    ):
        missing = [name for name in names if name not in rest.get(keyword, {})]
        if missing:
            rest = {**rest, keyword: {**rest.get(keyword, {}), **dict.fromkeys(missing, True)}}
    return {**rest, "additionalProperties": left}


@dataclass
class _Evaluated:
    """What is evaluated of the parts of an object or of an array.

    Attributes:
        everything: True if surely all of it, None if perhaps.
        certain: whether the names (or the first items) are evaluated in every valid value.
        length: how many first items.
        names, patterns: which keys, in order.
    """

    everything: bool | None = False
    certain: bool = True
    length: int = 0
    names: dict[str, None] = field(default_factory=dict)
    patterns: dict[str, None] = field(default_factory=dict)

    def all(self, *, certain: bool) -> None:
        if self.everything is not True:
            self.everything = True if certain else None
        self.certain = self.certain and certain


class _Seen:
    """What a schema and what it applies in place evaluate."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.keys = _Evaluated()
        self.items = _Evaluated()
        self._followed: set[int] = set()

    def _unknown(self) -> None:
        self.keys.all(certain=False)
        self.items.all(certain=False)

    def add(self, schema: Schema, *, certain: bool, depth: int = 0) -> None:
        """Add what `schema` evaluates; `certain`: it applies to every valid value."""
        if not isinstance(schema, dict):
            return
        if depth > _MAX_DEPTH or schema.keys() & {"$dynamicRef", "$recursiveRef"}:
            self._unknown()
            return
        self._own(schema, certain=certain)
        for part in schema.get("allOf", []):
            self.add(part, certain=certain, depth=depth + 1)
        if "$ref" in schema:
            target = resolved(self.root, schema["$ref"])
            if target is None:
                self._unknown()
            if id(target) in self._followed:
                target = None
            self._followed.add(id(target))
            self.add(target, certain=certain, depth=depth + 1)
        for keyword in ("anyOf", "oneOf"):
            parts = schema.get(keyword, [])
            for part in parts:
                self.add(part, certain=certain and len(parts) == 1, depth=depth + 1)
        for keyword in ("if", "then", "else"):
            self.add(schema.get(keyword), certain=False, depth=depth + 1)
        for keyword in ("dependencies", "dependentSchemas"):
            for part in schema.get(keyword, {}).values():
                self.add(part, certain=False, depth=depth + 1)

    def _own(self, schema: dict[str, Any], *, certain: bool) -> None:
        names, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
        if names or patterns:
            self.keys.certain = self.keys.certain and certain
        self.keys.names.update(dict.fromkeys(names))
        self.keys.patterns.update(dict.fromkeys(patterns))
        if schema.keys() & {"additionalProperties", "unevaluatedProperties"}:
            self.keys.all(certain=certain)
        items = schema.get("items")
        first = items if isinstance(items, list) else schema.get("prefixItems", [])
        if first:
            self.items.certain = self.items.certain and certain
            self.items.length = max(self.items.length, len(first))
        if (
            "unevaluatedItems" in schema
            or isinstance(items, (dict, bool))
            or (isinstance(items, list) and "additionalItems" in schema)
        ):
            self.items.all(certain=certain)
        if "contains" in schema:  # evaluates the items that it finds, since draft 2020-12
            self.items.all(certain=False)


def _items(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    rest = {name: part for name, part in schema.items() if name != "unevaluatedItems"}
    left = schema["unevaluatedItems"]
    if allows_all(left):
        return rest
    number = draft(scope.root)
    seen = _Seen(scope.root)
    seen.add(rest, certain=True)
    if seen.items.everything is True:
        return rest
    if not seen.items.certain:
        scope.note("`unevaluatedItems` is enforced only in part while decoding")
        if seen.items.everything is None:
            return rest
    own = Tuple.of(rest, number)
    padding = (True,) * (seen.items.length - len(own.prefix))
    made = Tuple((*own.prefix, *padding), left)
    return made.put(rest, number) if made.prefix else {**rest, "items": left}
