"""Bounds, multiples and constants of numbers, as the grammar engine writes them exactly.

Integers get whole bounds that are included; numbers are split where the engine's own pattern for
a range is wrong; few multiples become a list. What the engine can't hold is left to the judge.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema import document, engine_numbers
from fucina_cli.constraint.schema.engine_numbers import digits_of
from fucina_cli.constraint.schema.walk import MANY, NAMED, ONE, Schema, Scope

_KEYWORDS = ("minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf")
#: Of so few multiples the engine, which counts them in doubles, may miss one.
_FEW = 8
#: So many multiples are listed where the engine can't divide by their step.
_LISTED = 1000
#: Numbers of more places on either side of the point are not calculated with.
_PLACES = 5000
_WIDE = Context(prec=3 * _PLACES, Emin=MIN_EMIN, Emax=MAX_EMAX)
_TYPES = ("null", "boolean", "number", "string", "array", "object")
_NUMERIC = ("number", "integer")
_SHOWN = 40


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The schema with numbers that the engine takes exactly.

    Raises GrammarError for a constant number that it can't write.
    """
    schema = {key: value for key, value in schema.items() if not _is_idle(key, value)}
    if "const" in schema or "enum" in schema:
        return _constants(schema, scope)
    if any(keyword in schema for keyword in _KEYWORDS):
        return _bounded(schema, scope)
    return schema


def _is_idle(key: str, value: Any) -> bool:
    """Whether it is an annotation with a number that the engine, reading doubles, refuses."""
    if key in ONE or key in MANY or key in NAMED or key in ("const", "enum", *_KEYWORDS):
        return False
    return any(math.isinf(float(number)) for number in _numbers_in(value))


def _numbers_in(value: Any) -> Iterator[int | Decimal]:
    if isinstance(value, dict | list):
        for member in value.values() if isinstance(value, dict) else value:
            yield from _numbers_in(member)
    elif isinstance(value, int | Decimal) and not isinstance(value, bool):
        yield value if isinstance(value, Decimal) else Decimal(value)


# -- what the keywords allow -------------------------------------------------------------------


@dataclass(frozen=True)
class Numbers:
    """A set of numbers: between bounds (None: unbounded), multiples of a step, whole or not.

    `left_out`: keywords that it does not express, in the words of a note.
    """

    low: Fraction | None = None
    high: Fraction | None = None
    with_low: bool = True
    with_high: bool = True
    step: Fraction | None = None
    whole: bool = False
    left_out: tuple[str, ...] = ()

    def __contains__(self, value: Fraction) -> bool:
        return not (
            (self.whole and value.denominator != 1)
            or (self.step is not None and (value / self.step).denominator != 1)
            or (self.low is not None and value < self.low)
            or (self.low is not None and value == self.low and not self.with_low)
            or (self.high is not None and value > self.high)
            or (self.high is not None and value == self.high and not self.with_high)
        )

    @property
    def empty(self) -> bool:
        """Whether no number is in it."""
        if self.low is None or self.high is None:
            return False
        return self.low > self.high or (self.low == self.high and self.low not in self)

    @property
    def count(self) -> int | None:
        """How many multiples of the step there are; None for any number of them."""
        if self.low is None or self.high is None or self.step is None:
            return None
        return int((self.high - self.low) / self.step) + 1


def _allowed(schema: dict[str, Any], whole: bool) -> Numbers:
    """What the number keywords of a schema allow, with bounds moved to allowed numbers."""
    left_out: list[str] = []
    low, with_low = _lowest(schema, "minimum", "exclusiveMinimum", left_out)
    high, with_high = _mirrored_lowest(schema, left_out)
    step = None
    if "multipleOf" in schema:
        step, same = _fraction(schema["multipleOf"])
        if step is None or not same or step == 0:
            left_out.append(_shown(schema, "multipleOf"))
            step = None
    if whole and step is not None:
        step = Fraction(step.numerator)  # the least common multiple with 1
        step = None if step == 1 else step
    grid = step or (Fraction(1) if whole else None)
    if grid is not None:
        low, with_low = _first(low, with_low, grid), True
        high = _first(None if high is None else -high, with_high, grid)
        high, with_high = None if high is None else -high, True
    return Numbers(low, high, with_low, with_high, step, whole, tuple(left_out))


def _first(low: Fraction | None, with_low: bool, grid: Fraction) -> Fraction | None:
    """The least multiple of `grid` above a bound."""
    if low is None:
        return None
    steps = math.ceil(low / grid)
    return grid * (steps + (not with_low and grid * steps == low))


def _lowest(
    schema: dict[str, Any], keyword: str, exclusive: str, left_out: list[str], sign: int = 1
) -> tuple[Fraction | None, bool]:
    """The lower of two bounds times `sign`, and whether it is included."""
    bounds: list[tuple[Fraction, bool]] = []
    strict = schema.get(exclusive)
    for name, included in ((keyword, strict is not True), (exclusive, False)):
        given = schema.get(name)
        if given is None or isinstance(given, bool):
            continue
        value, same = _fraction(given, down=sign > 0)
        if not same:
            left_out.append(_shown(schema, name))
        if value is not None:
            bounds.append((sign * value, included))
    if not bounds:
        return None, True
    low = max(value for value, _ in bounds)
    return low, all(included for value, included in bounds if value == low)


def _mirrored_lowest(schema: dict[str, Any], left_out: list[str]) -> tuple[Fraction | None, bool]:
    low, included = _lowest(schema, "maximum", "exclusiveMaximum", left_out, sign=-1)
    return None if low is None else -low, included


def _fraction(given: int | Decimal, *, down: bool = True) -> tuple[Fraction | None, bool]:
    """A number as a fraction, and whether it is the same.

    Else it is rounded down or up to fewer places; None where it has too many before the point.
    """
    number = Decimal(given)
    if number and number.adjusted() > _PLACES:
        return None, False
    if number.as_tuple().exponent < -_PLACES:  # type: ignore[operator]  # it is finite
        least = Decimal((0, (1,), -_PLACES))
        rounding = ROUND_FLOOR if down else ROUND_CEILING
        return Fraction(number.quantize(least, rounding, _WIDE)), False
    return Fraction(number), True


# -- bounds ------------------------------------------------------------------------------------


def _bounded(schema: dict[str, Any], scope: Scope) -> Schema:
    rest = {key: value for key, value in schema.items() if key not in _KEYWORDS}
    types = _types(schema)
    others = [name for name in types if name not in _NUMERIC]
    if len(others) == len(types):
        return rest
    whole = "number" not in types
    numbers = _allowed(schema, whole)
    if numbers.empty or _is_out_of_reach(schema):
        if others:
            return {**rest, "type": others}
        kind = "integer" if whole else "number"
        return scope.impossible(f"no {kind} satisfies {_all_shown(schema)}")
    pieces: list[dict[str, Any]] = []
    left_out = list(numbers.left_out)
    for part in _parts(numbers):
        listed = _listed(part)
        if listed is not None:
            pieces += listed
            continue
        part, step = _affordable(part, schema)
        part = (_whole_held if whole else _held)(part, schema)
        pieces += [piece if "enum" in piece else {**piece, **step} for piece in _pieces(part)]
        left_out += part.left_out
    for keyword in dict.fromkeys(left_out):
        scope.note(f"{keyword} is beyond what the grammar engine holds")
    if len(pieces) == 1 and "enum" not in pieces[0]:
        return {**rest, **pieces[0]}
    rest.pop("type", None)
    name = "integer" if whole else "number"
    branches: list[dict[str, Any]] = [{"type": others}] if others else []
    branches += [piece if "enum" in piece else {"type": name, **piece} for piece in pieces]
    return _with_any_of(rest, branches)


def _parts(numbers: Numbers) -> list[Numbers]:
    """Sets that together are the numbers, each with a step that the engine gets right."""
    if numbers.step is None or numbers.whole:
        return [numbers]
    steps = engine_numbers.steps(numbers.step)
    few = numbers.count is not None and numbers.count < _FEW
    if few or not _has_step(numbers):
        return [numbers]
    parts = [_stepped(numbers, step) for step in steps]
    return [part for part in parts if not part.empty]


def _stepped(numbers: Numbers, step: Fraction) -> Numbers:
    low = _first(numbers.low, True, step)
    high = _first(None if numbers.high is None else -numbers.high, True, step)
    return replace(numbers, low=low, high=None if high is None else -high, step=step)


def _types(schema: dict[str, Any]) -> list[str]:
    types = schema.get("type", _TYPES)
    return [types] if isinstance(types, str) else list(types)


def _with_any_of(rest: dict[str, Any], branches: list[Any]) -> dict[str, Any]:
    if len(branches) == 1 and not any(key in rest for key in branches[0]):
        return {**rest, **branches[0]}
    if "anyOf" not in rest:
        return {**rest, "anyOf": branches}
    return {**rest, "allOf": [*rest.get("allOf", ()), {"anyOf": branches}]}


def _is_out_of_reach(schema: dict[str, Any]) -> bool:
    """Whether a lower bound is so high, or an upper one so low, that it was left out."""
    far = Decimal((0, (1,), _PLACES))
    lows = (schema.get("minimum"), schema.get("exclusiveMinimum"))
    highs = (schema.get("maximum"), schema.get("exclusiveMaximum"))
    return any(
        bound is not None and not isinstance(bound, bool) and bound > far for bound in lows
    ) or any(
        bound is not None and not isinstance(bound, bool) and bound < far.copy_negate()
        for bound in highs
    )


def _listed(numbers: Numbers) -> list[dict[str, Any]] | None:
    """The numbers one by one, where they are few and the engine can write them."""
    if numbers.low is not None and numbers.low == numbers.high:
        return _choices([numbers.low])
    if numbers.count is None or numbers.low is None or numbers.step is None:
        return None
    if numbers.count >= _FEW and _has_step(numbers):
        return None
    if numbers.count > _LISTED:
        return None
    return _choices([numbers.low + numbers.step * i for i in range(numbers.count)])


def _has_step(numbers: Numbers) -> bool:
    """Whether the engine gets the multiples right; those with fewer places are parts as well."""
    if numbers.step is None:
        return False
    steps = [numbers.step] if numbers.whole else engine_numbers.steps(numbers.step)
    return all(engine_numbers.step(step) is not None for step in steps)


def _choices(values: list[Fraction]) -> list[dict[str, Any]] | None:
    plain: list[int | Decimal] = []
    others: list[dict[str, Any]] = []
    for value in values:
        constant = engine_numbers.constant(value)
        if constant is not None:
            plain.append(constant)
            continue
        alone = engine_numbers.lone_integer(int(value)) if value.denominator == 1 else None
        if alone is None:
            return None
        others.append(alone)
    return [{"enum": plain}, *others] if plain else others


def _affordable(numbers: Numbers, schema: dict[str, Any]) -> tuple[Numbers, dict[str, Any]]:
    """The numbers without a step that the engine can't have, and the keyword for the others."""
    if numbers.step is None:
        return numbers, {}
    if _has_step(numbers):
        return numbers, {"multipleOf": engine_numbers.step(numbers.step)}
    left_out = (*numbers.left_out, _shown(schema, "multipleOf"))
    return replace(numbers, step=None, left_out=left_out), {}


def _whole_held(numbers: Numbers, schema: dict[str, Any]) -> Numbers:
    low, high = engine_numbers.integer_bounds(
        None if numbers.low is None else int(numbers.low),
        None if numbers.high is None else int(numbers.high),
    )
    return replace(
        numbers,
        low=low.value,
        high=high.value,
        left_out=(*numbers.left_out, *_not_same(schema, low.same, high.same)),
    )


def _held(numbers: Numbers, schema: dict[str, Any]) -> Numbers:
    low, high = engine_numbers.decimal_bounds(numbers.low, numbers.high)
    return replace(
        numbers,
        low=low.value,
        high=high.value,
        # A bound that had to be moved lies outside.
        with_low=numbers.with_low and low.same,
        with_high=numbers.with_high and high.same,
        left_out=(*numbers.left_out, *_not_same(schema, low.same, high.same)),
    )


def _not_same(schema: dict[str, Any], low: bool, high: bool) -> list[str]:
    lows = [] if low else ["minimum", "exclusiveMinimum"]
    highs = [] if high else ["maximum", "exclusiveMaximum"]
    return [_shown(schema, name) for name in lows + highs if _is_bound(schema, name)]


def _is_bound(schema: dict[str, Any], keyword: str) -> bool:
    return keyword in schema and not isinstance(schema[keyword], bool)


def _pieces(numbers: Numbers) -> list[dict[str, Any]]:
    """Keywords that together give the numbers from the engine's patterns."""
    if not numbers.whole:
        numbers = _off_the_integers(numbers)
    piece: dict[str, Any] = {}
    if numbers.low is not None:
        name = "minimum" if numbers.with_low else "exclusiveMinimum"
        piece[name] = digits_of(numbers.low)
    if numbers.high is not None:
        name = "maximum" if numbers.with_high else "exclusiveMaximum"
        piece[name] = digits_of(numbers.high)
    if numbers.whole:
        return [piece]
    cut = {value for value in _cut_short(numbers.high) if value in numbers}
    cut |= {-value for value in _cut_short(_negative(numbers.low)) if -value in numbers}
    constants = [engine_numbers.constant(value) for value in sorted(cut)]
    listed = [constant for constant in constants if constant is not None]
    return [piece, {"enum": listed}] if listed else [piece]


def _off_the_integers(numbers: Numbers) -> Numbers:
    """Between 1 (excluded) and 1.5, the engine's pattern takes 1: it begins at the next double.

    Likewise where the upper bound is such an integer and the numbers are negative. Nothing is
    lost that a double could tell from the bound.
    """
    low, high = numbers.low, numbers.high
    if low is None or high is None:
        return numbers
    if low >= 0 and not numbers.with_low and low.denominator == 1 and high < low + 1:
        return _if_any(numbers, replace(numbers, low=_next(low), with_low=True))
    if high <= 0 and not numbers.with_high and high.denominator == 1 and low > high - 1:
        return _if_any(numbers, replace(numbers, high=-_next(-high), with_high=True))
    return numbers


_next = engine_numbers.next_decimal


def _if_any(numbers: Numbers, fewer: Numbers) -> Numbers:
    return replace(numbers, with_low=True, with_high=True) if fewer.empty else fewer


def _negative(value: Fraction | None) -> Fraction | None:
    return None if value is None else -value


def _cut_short(bound: Fraction | None) -> Iterator[Fraction]:
    """The numbers that a bound begins with, 2.7 of 2.75: the engine's pattern misses them."""
    if bound is None or bound <= 0:
        return
    places = 1
    while (bound * 10**places).denominator != 1:
        yield Fraction(int(bound * 10**places), 10**places)
        places += 1


# -- constants ---------------------------------------------------------------------------------


def _constants(schema: dict[str, Any], scope: Scope) -> Schema:
    values = schema["enum"] if "enum" in schema else [schema["const"]]
    both = "enum" in schema and "const" in schema
    if both:
        wanted = document.key(schema["const"])
        values = [value for value in values if document.key(value) == wanted]
    elif next(_numbers_in(values), None) is None:
        return {key: value for key, value in schema.items() if key not in _KEYWORDS}
    numbers = _allowed(schema, whole=False)
    types = _types(schema)
    values = [value for value in values if _fits(value, types, numbers)]
    left = {
        key: value
        for key, value in schema.items()
        if key not in ("const", "enum", "type", *_KEYWORDS)
    }
    if not values and schema.get("enum") != []:
        return scope.impossible(f"no value satisfies {_all_shown(schema)}")
    place = f"{scope.pointer}/{'const' if 'const' in schema else 'enum'}"
    literals = [_literal(value, place) for value in values]
    plain = [literal.value for literal in literals if isinstance(literal, Plain)]
    branches: list[Any] = [{"enum": plain}]  # `const` is no keyword of draft 4
    others = [literal for literal in literals if not isinstance(literal, Plain)]
    return _with_any_of(left, [*(branches if plain or not others else []), *others])


def _fits(value: Any, types: list[str], numbers: Numbers) -> bool:
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int | Decimal):
        exact, same = _fraction(value)
        if exact is None or not same:
            return True  # it is refused as too long
        whole = exact.denominator == 1
        return ("number" in types or (whole and "integer" in types)) and exact in numbers
    names = {dict: "object", list: "array", str: "string", type(None): "null"}
    return names[type(value)] in types


@dataclass(frozen=True)
class Plain:
    """A JSON value with all its numbers in the form that the engine writes."""

    value: Any


def _literal(value: Any, place: str) -> Plain | dict[str, Any]:
    """A constant for the engine, or a schema that only it satisfies. Raises GrammarError."""
    if isinstance(value, list):
        items = [_literal(item, place) for item in value]
        plain_items = [item.value for item in items if isinstance(item, Plain)]
        if len(plain_items) == len(items):
            return Plain(plain_items)
        schemas = [_schema(item) for item in items]
        return {
            "type": "array", "items": schemas, "additionalItems": False, "minItems": len(schemas),
        }  # fmt: skip
    if isinstance(value, dict):
        members = {name: _literal(member, place) for name, member in value.items()}
        plain = {name: m.value for name, m in members.items() if isinstance(m, Plain)}
        if len(plain) == len(members):
            return Plain(plain)
        properties = {name: _schema(member) for name, member in members.items()}
        return {
            "type": "object", "properties": properties, "required": list(properties),
            "additionalProperties": False,
        }  # fmt: skip
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return Plain(value)
    exact, same = _fraction(value)
    if exact is not None and same:
        constant = engine_numbers.constant(exact)
        if constant is not None:
            return Plain(constant)
        alone = engine_numbers.lone_integer(int(exact)) if exact.denominator == 1 else None
        if alone is not None:
            return alone
    raise GrammarError(
        f"the grammar engine can't write {_short(value)} (at {place}): it holds numbers of about "
        "16 digits; a string can have any digits"
    )


def _schema(literal: Plain | dict[str, Any]) -> dict[str, Any]:
    return {"enum": [literal.value]} if isinstance(literal, Plain) else literal


# -- words -------------------------------------------------------------------------------------


def _all_shown(schema: dict[str, Any]) -> str:
    names = ("type", "const", "enum", *_KEYWORDS)
    return " and ".join(_shown(schema, name) for name in names if name in schema)


def _shown(schema: dict[str, Any], keyword: str) -> str:
    return f"`{keyword}` {_short(schema[keyword])}"


def _short(value: Any) -> str:
    text = document.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
