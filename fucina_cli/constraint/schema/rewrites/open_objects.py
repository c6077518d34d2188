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
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.shapes import allows_all, allows_none, with_keys
from fucina_cli.constraint.schema.walk import Schema, Scope

_NOT_ENFORCED = r"`additionalProperties`: a further key may spell a declared one by \u escapes"


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with its additional keys as a pattern."""
    closing = scope.whole(conjunctions.closings).get(scope.pointer, Closing.NONE)
    leaks = conjunctions.leaks(schema)
    if closing is Closing.DROP:
        scope.note("`patternProperties` is not enforced while decoding: other patterns overlap")
        return with_keys(schema, None, None)
    if closing is Closing.CLASH:
        if leaks:
            scope.note(_NOT_ENFORCED)
        return schema
    if closing is Closing.NONE or (closing is Closing.ANY and not leaks):
        return schema
    if not leaks and allows_none(schema.get("additionalProperties", True)):
        return schema
    try:
        if closing is not Closing.OWN:
            return with_keys(schema, {"^": True}, False)
        return with_keys(_all_declared(schema), _own(_all_declared(schema)), False)
    except Unreadable:
        scope.note(_NOT_ENFORCED)
        return schema


def _all_declared(schema: dict[str, Any]) -> dict[str, Any]:
    """`schema` with required names declared too, if one of them has several spellings."""
    declared = schema.get("properties", {})
    missing = [name for name in schema.get("required", []) if name not in declared]
    if "patternProperties" in schema or not any(map(conjunctions.spelled_in_many_ways, missing)):
        return schema
    rest = schema.get("additionalProperties", True)
    return {**schema, "properties": {**declared, **dict.fromkeys(missing, rest)}}


def _own(schema: dict[str, Any]) -> dict[str, Schema]:
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties", True)
    declared = schema.get("properties", {})
    odd = any(map(conjunctions.spelled_in_many_ways, conjunctions.names(schema)))
    if patterns and odd:
        raise Unreadable("a name with several spellings beside patterns")
    if patterns:
        return split(patterns, rest=rest, names=declared)
    if declared and (odd or not allows_all(rest)):
        return {languages.without(declared): rest}
    return {"^": rest}
