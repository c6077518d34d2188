"""The items of arrays: those with a place of their own, and the rest, in every draft's words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fucina_cli.constraint.schema.shapes import allows_none
from fucina_cli.constraint.schema.walk import Schema


@dataclass(frozen=True)
class Tuple:
    """Schemas of the first items, and the one of all that follow."""

    prefix: tuple[Schema, ...]
    rest: Schema

    @classmethod
    def of(cls, schema: dict[str, Any], draft: int) -> Tuple:
        """The items of `schema`."""
        items = schema.get("items", True)
        if isinstance(items, list):
            return cls(tuple(items), schema.get("additionalItems", True))
        prefix = schema.get("prefixItems", []) if draft >= 2020 else []
        return cls(tuple(prefix), items)

    def put(self, schema: dict[str, Any], draft: int) -> dict[str, Any]:
        """`schema` with these items."""
        if draft >= 2020:
            return {**schema, "prefixItems": list(self.prefix), "items": self.rest}
        return {**schema, "items": list(self.prefix), "additionalItems": self.rest}

    def at(self, place: int) -> Schema:
        """The schema of the item at a place, from 0."""
        return self.prefix[place] if place < len(self.prefix) else self.rest

    def longest(self, schema: dict[str, Any]) -> int | None:
        """The most items that an array can have, None without a plain end."""
        found: int | None = schema.get("maxItems")
        for place, part in enumerate((*self.prefix, self.rest)):
            if allows_none(part):
                return place if found is None else min(found, place)
        return found

    def bounded(self, schema: dict[str, Any], least: int, most: int | None) -> dict[str, Any]:
        """`schema` with at least and at most these numbers of items."""
        made = dict(schema)
        if least > schema.get("minItems", 0):
            made["minItems"] = least
        if most is not None and ("maxItems" not in schema or schema["maxItems"] > most):
            made["maxItems"] = most
        return made
