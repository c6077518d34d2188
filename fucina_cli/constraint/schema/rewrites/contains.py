"""contains, minContains and maxContains where it is plain which items can satisfy them."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import Any

from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.shapes import (
    allows_all,
    allows_none,
    barring,
    conjoined,
    finite_values,
    key,
    same,
    types,
    weight,
)
from fucina_cli.constraint.schema.tuples import Tuple
from fucina_cli.constraint.schema.walk import Schema, Scope

_KEYWORDS = ("contains", "minContains", "maxContains")
_NO_ITEM = "no item satisfies `contains`"
_MAX_BRANCHES = 64
_MAX_WEIGHT = 3000


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` without the three keywords, which came with drafts 6 and 2019-09."""
    number = draft(scope.root)
    if number < 6 or "contains" not in schema:
        return _without(schema) if number >= 2019 else schema
    least = schema.get("minContains", 1) if number >= 2019 else 1
    most = schema.get("maxContains") if number >= 2019 else None
    rest = _without(schema)
    wanted = schema["contains"]
    if "array" not in types(schema) or (not least and most is None):
        return rest
    if most is not None and most < least:
        return barring(rest, "array", scope, "`minContains` is greater than `maxContains`")
    if allows_none(wanted):
        return barring(rest, "array", scope, _NO_ITEM) if least else rest
    items = Tuple.of(rest, number)
    if all(_implies(part, wanted, number) for part in (*items.prefix, items.rest)):
        return items.bounded(rest, least, most)
    longest = items.longest(rest)
    if longest is not None:
        branches = _placed(rest, items, wanted, least, most, longest, number)
        if branches:
            return conjoined(rest, branches)
        if branches is not None:
            return barring(rest, "array", scope, _NO_ITEM)
    if most is None:
        scope.note("`contains` is not enforced while decoding")
    else:
        scope.note("`contains` with `maxContains` is not enforced while decoding")
    return items.bounded(rest, least, None)


def _without(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: part for name, part in schema.items() if name not in _KEYWORDS}


def _implies(item: Schema, wanted: Schema, draft: int) -> bool:
    """Whether every item that is valid by `item` is plainly valid by `wanted`."""
    if allows_all(wanted) or allows_none(item) or same(item, wanted):
        return True
    given = _told(item, wanted, draft)
    return given is not None and allows_none(given[1])


def _told(item: Schema, wanted: Schema, draft: int) -> tuple[Schema, Schema] | None:
    """`item` split into what is valid by `wanted` and what is not; None if not plain."""
    if allows_all(wanted):
        return item, False
    values, searched = finite_values(item, draft), finite_values(wanted, draft)
    if values is not None and searched is not None:
        keys = {key(value) for value in searched}
        return (
            _enum([value for value in values if key(value) in keys]),
            _enum([value for value in values if key(value) not in keys]),
        )
    if not isinstance(wanted, dict) or wanted.keys() != {"type"} or "integer" in types(wanted):
        return None
    if item is True:
        item = {}
    if not isinstance(item, dict):
        return item, item
    if item.keys() & {"$ref", "enum", "const"}:
        return None
    given = types(item)
    inside = [
        name
        for name in given
        if name in types(wanted) or (name == "integer" and "number" in types(wanted))
    ]
    outside = [name for name in given if name not in inside]
    return (
        {**item, "type": inside} if inside else False,
        {**item, "type": outside} if outside else False,
    )


def _enum(values: list[Any]) -> Schema:
    return {"enum": values} if values else False


def _placed(
    schema: dict[str, Any],
    items: Tuple,
    wanted: Schema,
    least: int,
    most: int | None,
    longest: int,
    number: int,
) -> list[Schema] | None:
    """Alternatives for the places of the items that are wanted; None if there are too many."""
    if least > longest:
        return []
    if longest > _MAX_BRANCHES:
        return None
    every = [items.at(place) for place in range(longest)]
    told = [_told(item, wanted, number) for item in every]
    limit = min(_MAX_BRANCHES, _MAX_WEIGHT // max(1, weight(schema)))
    exact = most is not None and most < longest
    sizes = range(least, (most or 0) + 1) if exact else range(least, least + 1)
    if sum(comb(longest, size) for size in sizes) > limit:
        return None
    if exact and any(pair is None for pair in told):
        return None
    branches: list[Schema] = []
    for size in sizes:
        for places in combinations(range(longest), size):
            parts = [
                _at(item, pair, wanted, here=place in places, exact=exact)
                for place, (item, pair) in enumerate(zip(every, told, strict=True))
            ]
            shortest = places[least - 1] + 1 if least else 0
            if any(allows_none(part) for part in parts[:shortest]):
                continue
            branch: dict[str, Any] = {"minItems": shortest} if shortest else {}
            if types(schema) == ["array"]:
                branch["type"] = "array"
            branches.append(Tuple(tuple(parts), True).put(branch, number))
    return branches


def _at(
    item: Schema, pair: tuple[Schema, Schema] | None, wanted: Schema, *, here: bool, exact: bool
) -> Schema:
    if pair is not None and (here or exact):
        return pair[0] if here else pair[1]
    return wanted if here else True
