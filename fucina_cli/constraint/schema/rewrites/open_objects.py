r"""Keys of open objects, so that none spells a declared or patterned key by `\uXXXX`.

The engine writes declared keys and those of patterns in one way only, but lets the other keys have
any escapes, also `"\u0061"` for a declared "a" (RFC 8259, section 7: the same string). So these
other keys become a pattern too. The pattern of all keys serves where their values are free, as the
engine takes declared keys out of every pattern itself; elsewhere it excludes what is not meant.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema import conjunctions, languages
from fucina_cli.constraint.schema.conjunctions import Closing
from fucina_cli.constraint.schema.key_classes import split
from fucina_cli.constraint.schema.languages import Unreadable
from fucina_cli.constraint.schema.shapes import allows_all
from fucina_cli.constraint.schema.walk import Schema, Scope

_NOT_ENFORCED = r"an additional key may spell a declared one by \u escapes"


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with its additional keys as a pattern."""
    closing = scope.whole(conjunctions.closings).get(scope.pointer, Closing.NONE)
    leaks = conjunctions.leaks(schema)
    if closing is Closing.CLASH:
        if leaks:
            scope.note(_NOT_ENFORCED)
        return schema
    if closing is Closing.NONE or not (leaks or closing is Closing.ALL):
        return schema
    try:
        patterns = {"^": True} if closing is not Closing.OWN else _own(schema)
    except Unreadable:
        scope.note(_NOT_ENFORCED)
        return schema
    return {**schema, "patternProperties": patterns, "additionalProperties": False}


def _own(schema: dict[str, Any]) -> dict[str, Schema]:
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties", True)
    declared = schema.get("properties", {})
    required = schema.get("required", [])
    odd = any(map(conjunctions.spelled_in_many_ways, conjunctions.names(schema)))
    if not patterns:
        names = conjunctions.names(schema) if allows_all(rest) else declared
        if not any(conjunctions.spelled_in_many_ways(n) for n in required if n not in names):
            return {languages.without(names) if names else "^": rest}
    if odd:
        raise Unreadable("a name with several spellings that is not only declared")
    return split(patterns, rest=rest, names=declared)
