"""Which numbers and bounds the grammar engine writes exactly, and the next best of the others.

llguidance 1.9 holds a number of a schema as a double. An integer that a double holds exactly is
written by its digits, any other number by the shortest decimal digits of its double: 17 digits at
most. Bounds are turned into patterns over those digits as 64-bit integers and a fraction. A number
of `multipleOf` is an unsigned 32-bit integer and a power of ten, and costs states of the lexer in
proportion to that integer. Numbers here are Fractions of decimals.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

#: The largest double below 2^63.
_MOST = 2**63 - 1024
#: Read as 2^63 and cut to this by the engine: the one bound beyond `_MOST` that it holds.
_INT64 = 2**63 - 1
#: From here on, digits of a bound without a bound on its other side are too many for it.
_OPEN_END = 10**18
#: Decimal places of a bound: the engine's pattern nests once for each.
_PLACES = 60
#: Stands for everything nearer to zero.
TINY = Fraction(1, 10**_PLACES)
#: Costs a few thousand states; ten times as many exhaust the engine's budget while decoding.
_LARGEST_STEP = 10_000
_DIVISORS = 30_000
_NEIGHBOURS = 5


def digits_of(value: Fraction) -> int | Decimal:
    """A decimal fraction as a number of a JSON document."""
    if value.denominator == 1:
        return value.numerator
    places = 0
    while value.denominator != 1:
        value *= 10
        places += 1
    sign, figures, _ = Decimal(value.numerator).as_tuple()
    return Decimal((sign, figures, -places))


def shortest(value: float) -> Fraction:
    """The number that the engine takes a double for: the one of its shortest digits."""
    return Fraction(Decimal(repr(value)))


def _survives(value: float) -> bool:
    """Whether the engine reads a double's shortest digits as this double.

    It takes the digits as an integer, rounds that to a double, and then divides or multiplies by
    a power of ten: of 16 digits and more, some come out as a neighbour.
    """
    sign, figures, exponent = Decimal(repr(value)).as_tuple()
    read = float(int("".join(map(str, figures))))
    power = float(f"1e{abs(int(exponent))}")
    read = read * power if int(exponent) >= 0 else read / power
    return (-read if sign else read) == value


def constant(value: Fraction) -> int | Decimal | None:
    """The number in a form that the engine writes with exactly its digits, if there is one."""
    whole = value.denominator == 1
    if whole and abs(value) <= _MOST and int(float(value)) == value:
        return int(value)
    near = _double(value)
    if near is None or shortest(near) != value or not _survives(near):
        return None
    return Decimal(repr(near))  # with a fraction or exponent: not taken for a 64-bit integer


def lone_integer(value: int) -> dict[str, Any] | None:
    """A schema of the integer alone, where a divisor tells it from all others between doubles."""
    if abs(value) >= _MOST:
        return None
    low, high = _whole_below(value), _whole_above(value)
    apart = max(value - low, high - value)
    for step in range(apart + 1, _DIVISORS):
        if value % step == 0:
            return {"type": "integer", "minimum": low, "maximum": high, "multipleOf": step}
    return None


@dataclass(frozen=True)
class Held:
    """A bound as the engine can have it: the same, or the next wider one, or none."""

    value: Fraction | None
    same: bool


def integer_bounds(low: int | None, high: int | None) -> tuple[Held, Held]:
    """The closest bounds around integers from `low` to `high` (both included)."""
    upper = _integer_above(high)
    if high is not None and _MOST < high <= _INT64:
        upper = Held(Fraction(_INT64), high == _INT64)
    lower = _mirrored(_integer_above(None if low is None else -low))
    if low is not None and low >= _OPEN_END and upper.value is None:
        lower = Held(Fraction(_whole_below(_OPEN_END - 1)), False)
    if high is not None and high <= -_OPEN_END and lower.value is None:
        upper = Held(Fraction(-_whole_below(_OPEN_END - 1)), False)
    return lower, upper


def decimal_bounds(low: Fraction | None, high: Fraction | None) -> tuple[Held, Held]:
    """The closest bounds around numbers from `low` to `high`."""
    upper = _decimal_above(high)
    lower = _mirrored(_decimal_above(None if low is None else -low))
    if low is not None and low >= _OPEN_END and upper.value is None:
        lower = Held(Fraction(_OPEN_END, 10), False)
    if high is not None and high <= -_OPEN_END and lower.value is None:
        upper = Held(Fraction(-_OPEN_END, 10), False)
    return lower, upper


def next_decimal(value: Fraction) -> Fraction:
    """The least number above `value`, which is not negative, that can be a bound."""
    if not value:
        return TINY
    near = math.nextafter(float(value), math.inf)
    while not _survives(near):
        near = math.nextafter(near, math.inf)
    return shortest(near)


def steps(value: Fraction) -> list[Fraction]:
    """Steps whose multiples are, in the engine's patterns, together those of `value`.

    Of the multiples of 0.25 its pattern misses 0.5: a remainder is asked of the digits written,
    whatever places are left. The multiples with one place fewer are those of 0.5, and so on until
    the digits of the step have no factor with ten in common.
    """
    found = [value]
    digits = digits_of(value)
    places = -int(digits.as_tuple().exponent) if isinstance(digits, Decimal) else 0
    while places > 1 and math.gcd(int(found[-1] * 10**places), 10) > 1:
        places -= 1
        place = Fraction(1, 10**places)
        found.append(_common(found[-1], place))
    return found


def _common(one: Fraction, other: Fraction) -> Fraction:
    """The least common multiple."""
    return Fraction(
        math.lcm(one.numerator, other.numerator), math.gcd(one.denominator, other.denominator)
    )


def step(value: Fraction) -> int | Decimal | None:
    """`multipleOf` in a form that the engine reads as `value`, if there is one it can afford.

    It multiplies a double by ten until no fraction is left, which for some numbers, 0.07 among
    them, ends right only from a neighbour of the nearest double.
    """
    near = _double(value)
    if near is None or near <= 0:
        return None
    below = above = near
    for _ in range(_NEIGHBOURS):
        for candidate in (below, above):
            if _read_step(candidate) == value and _survives(candidate):
                return Decimal(repr(candidate))
        below, above = math.nextafter(below, 0.0), math.nextafter(above, math.inf)
    return None


def _read_step(value: float) -> Fraction | None:
    places = 0
    while value % 1:
        value *= 10
        places += 1
    read = Fraction(int(value), 10**places)
    if places > _PLACES or value >= 2**32 or read.numerator > _LARGEST_STEP:
        return None
    return read


def _double(value: Fraction) -> float | None:
    try:
        return float(value)
    except OverflowError:
        return None


def _mirrored(bound: Held) -> Held:
    return Held(None if bound.value is None else -bound.value, bound.same)


def _integer_above(value: int | None) -> Held:
    if value is None or value > _MOST:
        return Held(None, value is None)
    least = max(value, -_MOST)
    held = _whole_above(least)
    return Held(Fraction(held), held == value)


def _whole_below(value: int) -> int:
    near = float(value)
    return int(near if int(near) <= value else math.nextafter(near, -math.inf))


def _whole_above(value: int) -> int:
    return -_whole_below(-value)


def _decimal_above(value: Fraction | None) -> Held:
    if value is None or value > _MOST:
        return Held(None, value is None)
    if value < -_MOST:
        return Held(Fraction(-_OPEN_END, 10), False)
    if 0 < abs(value) < TINY:
        return Held(TINY if value > 0 else Fraction(0), False)
    near = float(value)
    while shortest(near) < value or not (shortest(near).denominator == 1 or _survives(near)):
        near = math.nextafter(near, math.inf)
    held = shortest(near)
    return Held(held, held == value)
