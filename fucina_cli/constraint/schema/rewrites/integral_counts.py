"""Counts that are written as integral numbers with a fraction, such as 2.0, as integers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema.walk import Schema, Scope

_COUNTS = frozenset(
    {
        "maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems",
        "minLength", "minProperties",
    }
)  # fmt: skip
#: No answer is longer.
_UNREACHABLE = 10**6


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with integers for its counts, of a size that the engine can hold.

    A maximum that no answer reaches says nothing and is left out; such a minimum is lowered.
    """
    result = {}
    for name, value in schema.items():
        if name not in _COUNTS or isinstance(value, bool):
            result[name] = value
            continue
        if isinstance(value, Decimal) and value == value.to_integral_value():
            value = int(value) if value.adjusted() < 20 else _UNREACHABLE + 1
        if isinstance(value, int) and value > _UNREACHABLE:
            if name.startswith("max"):
                continue
            scope.note(f"`{name}` is beyond every answer")
            value = _UNREACHABLE
        result[name] = value
    return result
