"""`allOf`, and `$ref` beside other keywords, as one flat schema.

The engine intersects schemas itself, but not where a reference leads back into the intersection,
and it reads keywords that act together (`properties` and `minProperties`, say) only where they
stand together. An intersection that is met again inside itself becomes a definition.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.instances import Instances
from fucina_cli.constraint.schema.merging import DEPENDENT, Unmergeable, both, merged
from fucina_cli.constraint.schema.references import DEFINITIONS, target, to_definition
from fucina_cli.constraint.schema.walk import Schema, Scope, each_inside

_MOST = 5000  # schemas written; beyond, intersections are left to the engine
_BRANCHES = 64
#: Keywords that say nothing about values.
_REMARKS = frozenset(
    {
        "$schema", "$defs", "definitions", "title", "description", "default", "examples",
        "$comment", "readOnly", "writeOnly", "deprecated",
    }
)  # fmt: skip
#: Keywords that count or name properties together with `properties` beside them.
_TOGETHER = frozenset({"minProperties", "maxProperties", "patternProperties", "propertyNames"})
_OBJECT = _TOGETHER | {"properties", "additionalProperties", "required"}


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The whole schema flat; other places are left alone."""
    return schema if scope.pointer else _Flattening(schema, scope).flat_root()


class _Flattening:
    def __init__(self, root: dict[str, Any], scope: Scope) -> None:
        self._root = root
        self._scope = scope
        self._draft = draft(root)
        self._instances = Instances(root)
        self._left = _MOST
        #: Intersections being written, by their parts, and the names of those met again.
        self._open: dict[frozenset[str], str] = {}
        self._names: dict[str, Schema] = {}
        self._taken = {name for key in DEFINITIONS for name in root.get(key, {})}

    def flat_root(self) -> Schema:
        kept = {key: self._root[key] for key in ("$schema", *DEFINITIONS) if key in self._root}
        rest = {key: value for key, value in self._root.items() if key not in kept}
        flat = self._flat(rest)
        if not isinstance(flat, dict):
            return flat
        definitions = each_inside(kept, self._flat, self._scope)
        if self._names:
            definitions["$defs"] = {**definitions.get("$defs", {}), **self._names}
        return {**flat, **definitions}

    def _flat(self, schema: Schema) -> Schema:
        if not isinstance(schema, dict):
            return schema
        self._left -= 1
        if self._left < 0 or not _intersects(schema):
            return self._inside(schema)
        parts = self._parts(schema)
        if parts is None:
            return False
        key = frozenset(document.dumps(part) for part in parts)
        if key in self._open:
            self._open[key] = self._open[key] or self._fresh()
            return {"$ref": to_definition("$defs", self._open[key])}
        self._open[key] = ""
        try:
            whole = self._intersection(parts)
            result = self._inside(whole) if isinstance(whole, dict) else whole
            if name := self._open[key]:
                self._names[name] = result
                return {"$ref": to_definition("$defs", name)}
            return result
        finally:
            del self._open[key]

    def _inside(self, schema: dict[str, Any]) -> Schema:
        return each_inside(_in_order(schema), self._flat, self._scope)

    def _parts(self, schema: dict[str, Any]) -> list[dict[str, Any]] | None:
        """The parts of an intersection, references not followed; None where one is false."""
        parts: list[dict[str, Any]] = []
        rest = {k: v for k, v in schema.items() if k not in ("allOf", "$ref")}
        # In the order in which the engine would meet their properties.
        for key in schema:
            found: list[Schema] = []
            if key == "$ref":
                found = [{"$ref": schema["$ref"]}]
            elif key == "allOf":
                found = schema["allOf"]
            elif rest:
                found, rest = [rest], {}
            for part in found:
                if part is False:
                    return None
                if not isinstance(part, dict):
                    continue
                nested = [part] if part is schema or not _intersects(part) else self._parts(part)
                if nested is None:
                    return None
                parts += [new for new in nested if new not in parts]
        return parts

    def _intersection(self, parts: list[dict[str, Any]]) -> Schema:
        """One schema for all parts; an `allOf` of them where that is not found."""
        followed = self._followed(parts)
        if followed is None:
            return False
        listing = next((part for part in followed if "enum" in part or "const" in part), None)
        if listing is not None:
            return self._listed(listing, [part for part in followed if part is not listing])
        whole: Schema = {}
        apart: list[Schema] = []
        for part in followed:
            if not isinstance(whole, dict):
                return whole
            kept = {k: v for k, v in part.items() if k not in ("$defs", "definitions", "$schema")}
            try:
                whole = merged(whole, kept, self._draft)
            except Unmergeable:
                apart.append(kept)
                continue
            if isinstance(whole, dict):
                apart += whole.pop("allOf", [])
        if isinstance(whole, dict) and apart:
            return {**whole, "allOf": apart}
        return self._spread(whole) if isinstance(whole, dict) else whole

    def _followed(self, parts: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
        found: list[dict[str, Any]] = []
        todo, seen = list(parts), set()
        while todo:
            part = todo.pop(0)
            reference = part.get("$ref")
            if not isinstance(reference, str):
                found.append(part)
                continue
            if reference in seen:
                continue
            seen.add(reference)
            leads_to = target(reference, self._root)
            if leads_to is False:
                return None
            if isinstance(leads_to, dict):
                nested = self._parts(leads_to) if _intersects(leads_to) else [leads_to]
                if nested is None:
                    return None
                todo = [*nested, *todo]
        return found

    def _listed(self, listing: dict[str, Any], others: list[dict[str, Any]]) -> Schema:
        """The listed values that the other parts accept."""
        values = [listing["const"]] if "const" in listing else listing["enum"]
        verdicts = [[self._instances.valid(v, part) for part in others] for v in values]
        if any(None in row for row in verdicts):
            return {"allOf": [listing, *others]}
        left = [value for value, row in zip(values, verdicts, strict=True) if all(row)]
        remarks = {key: value for key, value in listing.items() if key in _REMARKS}
        return {**remarks, "enum": left} if left else False

    def _spread(self, schema: dict[str, Any]) -> Schema:
        """`schema` with what stands beside `anyOf` in each option, where the two act together."""
        options = schema.get("anyOf")
        if not isinstance(options, list) or len(options) > _BRANCHES:
            return schema
        beside = {k: v for k, v in schema.items() if k != "anyOf" and k not in _REMARKS}
        keys = {key for option in options if isinstance(option, dict) for key in option}
        together = bool(_TOGETHER & keys and _OBJECT & beside.keys())
        if not together and not (_TOGETHER & beside.keys() and _OBJECT & keys):
            return schema
        remarks = {k: v for k, v in schema.items() if k in _REMARKS}
        return {**remarks, "anyOf": [both(beside, option) for option in options]}

    def _fresh(self) -> str:
        count = 1
        while f"all-{count}" in self._taken:
            count += 1
        self._taken.add(f"all-{count}")
        return f"all-{count}"


def _intersects(schema: dict[str, Any]) -> bool:
    if DEPENDENT & schema.keys():
        return False
    if "allOf" in schema:
        return True
    return "$ref" in schema and any(key not in _REMARKS for key in schema if key != "$ref")


def _in_order(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with `anyOf` and `allOf` last: the engine parts what they stand between."""
    last = [key for key in ("anyOf", "allOf") if key in schema]
    return {key: schema[key] for key in [*(k for k in schema if k not in last), *last]}
