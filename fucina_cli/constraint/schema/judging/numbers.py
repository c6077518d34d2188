"""Types, bounds and multiples of numbers: exact, whatever their size and exponent."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema.document import INT_DIGITS
from fucina_cli.constraint.schema.judging.texts import shown

#: Digits that are divided at once.
_CHUNK = 4000


def types(checker: Any, *, by_value: bool = False) -> Any:
    """A type checker of jsonschema that knows the integers among Decimals.

    Drafts 3 and 4 call a number with a fraction or an exponent no integer (draft 4 core, 3.5);
    later drafts go by its value (draft 6 validation, 6.25), and so does `by_value` always.
    """
    by_value = by_value or checker.is_type(1.0, "integer")
    return checker.redefine("integer", _is_whole if by_value else _is_long)


def _is_whole(_checker: Any, instance: object) -> bool:
    if isinstance(instance, Decimal):
        return not instance or _parts(instance)[1] >= 0
    return isinstance(instance, int) and not isinstance(instance, bool)


def _is_long(_checker: Any, instance: object) -> bool:
    if isinstance(instance, Decimal):  # of digits only, and too many for an int
        _, digits, exponent = instance.as_tuple()
        return exponent == 0 and len(digits) > INT_DIGITS
    return isinstance(instance, int) and not isinstance(instance, bool)


def minimum(validator: Any, bound: Any, instance: Any, schema: dict[str, Any]) -> Iterator[str]:
    """`minimum`, with the boolean `exclusiveMinimum` of drafts 3 and 4."""
    if validator.is_type(instance, "number"):
        if instance < bound:
            yield f"{shown(instance)} is less than the minimum of {shown(bound)}"
        elif instance == bound and schema.get("exclusiveMinimum") is True:
            yield f"{shown(instance)} is not greater than the exclusive minimum"


def maximum(validator: Any, bound: Any, instance: Any, schema: dict[str, Any]) -> Iterator[str]:
    """`maximum`, with the boolean `exclusiveMaximum` of drafts 3 and 4."""
    if validator.is_type(instance, "number"):
        if instance > bound:
            yield f"{shown(instance)} is greater than the maximum of {shown(bound)}"
        elif instance == bound and schema.get("exclusiveMaximum") is True:
            yield f"{shown(instance)} is not less than the exclusive maximum"


def exclusive_minimum(validator: Any, bound: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`exclusiveMinimum` of draft 6 and later."""
    if validator.is_type(instance, "number") and instance <= bound:
        yield f"{shown(instance)} is not greater than the exclusive minimum of {shown(bound)}"


def exclusive_maximum(validator: Any, bound: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`exclusiveMaximum` of draft 6 and later."""
    if validator.is_type(instance, "number") and instance >= bound:
        yield f"{shown(instance)} is not less than the exclusive maximum of {shown(bound)}"


def multiple_of(validator: Any, step: Any, instance: Any, _schema: Any) -> Iterator[str]:
    """`multipleOf`, and `divisibleBy` of draft 3."""
    if validator.is_type(instance, "number") and not is_multiple(instance, step):
        yield f"{shown(instance)} is not a multiple of {shown(step)}"


def is_multiple(number: int | Decimal, step: int | Decimal) -> bool:
    """Whether `number` is an integer times `step`, which is not 0.

    No power of ten is ever built: 1e999999999 is divided by its remainders.
    """
    if not number:
        return True
    if Decimal(number).copy_abs() < step:
        return False
    digits, exponent = _parts(number)
    divisor, below = _parts(step)
    shift = exponent - below
    if shift < 0:
        return False  # a digit is left behind the last place that a multiple has
    modulus = int(Decimal(divisor))
    return _remainder(digits, modulus) * pow(10, shift, modulus) % modulus == 0


def _parts(number: int | Decimal) -> tuple[str, int]:
    """Digits without zeros at the end, and the exponent of ten."""
    _, figures, exponent = Decimal(number).as_tuple()
    digits = "".join(map(str, figures))
    kept = digits.rstrip("0")
    return kept, int(exponent) + len(digits) - len(kept)


def _remainder(digits: str, modulus: int) -> int:
    """Of a number that may have millions of digits, in linear time."""
    rest = 0
    for start in range(0, len(digits), _CHUNK):
        chunk = digits[start : start + _CHUNK]
        rest = (rest * pow(10, len(chunk), modulus) + int(chunk)) % modulus
    return rest


KEYWORDS = {
    "minimum": minimum,
    "maximum": maximum,
    "exclusiveMinimum": exclusive_minimum,
    "exclusiveMaximum": exclusive_maximum,
    "multipleOf": multiple_of,
    "divisibleBy": multiple_of,
}
