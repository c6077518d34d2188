"""Lengths and counts as the grammar engine takes them: integers of 32 bits."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.walk import Schema, Scope

_TYPES = {"Length": "string", "Items": "array", "Properties": "object"}
_LEAST = ("minLength", "minItems", "minProperties", "minContains")
_MOST = ("maxLength", "maxItems", "maxProperties", "maxContains")
#: No answer is that long.
_BEYOND = 2**32


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The schema with counts as integers: 2.0 is 2, and no bound is beyond every answer."""
    result = dict(schema)
    for keyword in (*_LEAST, *_MOST):
        count = schema.get(keyword)
        if isinstance(count, bool) or not isinstance(count, int | Decimal):
            continue
        if count < _BEYOND:
            result[keyword] = int(count)
        elif keyword in _MOST:
            del result[keyword]
        elif keyword != "minContains":
            kind = _TYPES[keyword.removeprefix("min")]
            types = schema.get("type", ())
            if types == kind or types == [kind]:
                return scope.impossible(f"`{keyword}` {document.dumps(count)} is beyond any answer")
            result[keyword] = _BEYOND - 1
    return result
