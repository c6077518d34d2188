"""uniqueItems over few values: which values are left depends on the items so far."""

from __future__ import annotations

from itertools import permutations
from math import perm
from typing import Any

from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.shapes import allows_none, conjoined, finite_values, types
from fucina_cli.constraint.schema.tuples import Tuple
from fucina_cli.constraint.schema.walk import Schema, Scope

_MAX_WALKS = 128


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` without uniqueItems."""
    if "uniqueItems" not in schema:
        return schema
    rest = {name: part for name, part in schema.items() if name != "uniqueItems"}
    if schema["uniqueItems"] is not True or "array" not in types(schema):
        return rest
    number = draft(scope.root)
    items = Tuple.of(rest, number)
    longest = items.longest(rest)
    if longest is not None and longest <= 1:
        return rest
    values = finite_values(items.rest, number)
    if values is None or items.prefix:
        scope.note("`uniqueItems` is not enforced while decoding")
        return rest
    longest = len(values) if longest is None else min(len(values), longest)
    rest = items.bounded(rest, 0, longest)
    depth = max(0, longest - 1)  # with at most one more item, what is left can't repeat
    while depth and perm(len(values), depth) > _MAX_WALKS:
        depth -= 1
    if depth < longest - 1:
        scope.note(
            "`uniqueItems` is enforced only in part while decoding: there are too many orders"
        )
    if not depth:
        return rest
    kind: dict[str, Any] = {"type": "array"} if types(schema) == ["array"] else {}
    branches: list[Schema] = []
    for walk in permutations(range(len(values)), depth):
        left = [value for index, value in enumerate(values) if index not in walk]
        prefix = tuple({"enum": [values[index]]} for index in walk)
        tail: Schema = {"enum": left} if left else False
        branches.append(Tuple(prefix, tail).put(kind, number))
    rest = {name: part for name, part in rest.items() if name != "items"}
    return conjoined(rest, [branch for branch in branches if not allows_none(branch)])
