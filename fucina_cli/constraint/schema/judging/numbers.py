"""Numbers as a judge sees them: exact, of any size."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any


def types(checker: Any) -> Any:
    """A type checker of jsonschema that knows the integers among Decimals.

    Draft 3 and 4 call a number with a fraction or an exponent no integer (draft 4, 3.5); later
    drafts go by the value. So does this where the draft's own checker does.
    """
    if not checker.is_type(1.0, "integer"):
        return checker
    return checker.redefine("integer", _is_integer)


def _is_integer(_checker: Any, instance: object) -> bool:
    if isinstance(instance, Decimal):
        return instance == instance.to_integral_value()
    return isinstance(instance, int) and not isinstance(instance, bool)


def minimum(validator: Any, bound: Any, instance: Any, schema: dict[str, Any]) -> Iterator[str]:
    """`minimum`, with the boolean `exclusiveMinimum` of drafts 3 and 4."""
    if validator.is_type(instance, "number"):
        if instance < bound:
            yield f"{instance} is less than the minimum of {bound}"
        elif instance == bound and schema.get("exclusiveMinimum") is True:
            yield f"{instance} is not greater than the exclusive minimum of {bound}"


KEYWORDS = {"minimum": minimum}
