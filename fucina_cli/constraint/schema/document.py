"""JSON documents with exact numbers: integers of any size, other numbers as Decimal."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from decimal import Decimal, InvalidOperation
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema import mistakes
from fucina_cli.text import one_line

#: Longer integers are Decimals with the exponent 0: Python reads digits in quadratic time, and
#: by default no more than these.
INT_DIGITS = 4300
#: What an exponent beyond Decimal's is read as; larger or smaller than any number that is written
#: without one.
_FAR = 9 * 10**17


class Written(float):
    """A float that keeps the text it was read from, for JSON that is no schema as a whole."""

    __slots__ = ("text",)

    def __new__(cls, text: str) -> Written:
        """The float of a JSON number's text; an infinity where it is out of range."""
        made = super().__new__(cls, text)
        made.text = text
        return made

    text: str


def parse_schema(text: str) -> Any:
    """The JSON value of a schema's text. Raises GrammarError naming line and column."""
    try:
        return loads(text)
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        hint = mistakes.way_out(text)
        told = f"; {hint}" if hint else ""
        raise GrammarError(f"not valid JSON: {error.msg} at {where}{told}") from None
    except ValueError as error:
        raise GrammarError(f"not valid JSON: {one_line(str(error))}") from None


def loads(text: str) -> Any:
    """JSON with exact numbers, in linear time. Raises ValueError, also for NaN and Infinity."""
    return json.loads(text, parse_int=integer, parse_float=_number, parse_constant=_no_constant)


def integer(text: str) -> int | Decimal:
    """An integer of any length, as Decimal where it has more than 4,300 digits."""
    return int(text) if len(text.lstrip("-")) <= INT_DIGITS else Decimal(text)


def dumps(value: Any) -> str:
    """The JSON text of a value as `loads` makes it, with the numbers' own digits.

    Raises TypeError for what is no JSON, ValueError for NaN and infinities, and RecursionError.
    """
    try:
        return json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):  # Decimals, or no JSON
        return given(value)


def given(value: Any) -> str:
    """`dumps` for a value of Python's numbers.

    A float is written by its shortest digits (`repr`), a `Written` one by its own, and integers
    may be of any length.
    """
    return "".join(_written(value, set()))


def key(value: Any) -> Hashable:
    """Equal for equal JSON values (JSON Schema 2020-12 core, 4.2.2): 1 and 1.0 are, 1 and true not.

    Raises RecursionError.
    """
    if isinstance(value, dict):
        return "object", frozenset((name, key(member)) for name, member in value.items())
    if isinstance(value, list):
        return "array", tuple(key(item) for item in value)
    if isinstance(value, bool) or value is None:
        return "literal", str(value)
    return value if isinstance(value, str) else ("number", value)


def _written(value: Any, above: set[int]) -> Iterator[str]:
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise ValueError(f"{value} is not JSON")
        yield str(value)
    elif isinstance(value, Written):
        yield value.text
    elif isinstance(value, int) and not isinstance(value, bool):
        yield str(Decimal(value))
    elif isinstance(value, dict | list | tuple):
        if id(value) in above:
            raise ValueError("it contains itself")
        above.add(id(value))
        yield from _members(value, above) if isinstance(value, dict) else _items(value, above)
        above.remove(id(value))
    else:
        yield json.dumps(value, allow_nan=False)


def _members(value: dict[Any, Any], above: set[int]) -> Iterator[str]:
    yield "{"
    for index, (name, member) in enumerate(value.items()):
        if index:
            yield ", "
        # Also Python's own keys that are not texts, as `json` writes them.
        yield json.dumps({name: None}).removeprefix("{").removesuffix("null}")
        yield from _written(member, above)
    yield "}"


def _items(value: list[Any] | tuple[Any, ...], above: set[int]) -> Iterator[str]:
    yield "["
    for index, item in enumerate(value):
        if index:
            yield ", "
        yield from _written(item, above)
    yield "]"


def _number(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:  # an exponent of more than 18 digits
        digits, exponent = text.lower().split("e")
        mantissa = Decimal(digits)
        if not mantissa:
            return mantissa
        sign, figures, _ = mantissa.as_tuple()
        far = -_FAR if exponent.startswith("-") else _FAR
        return Decimal((sign, figures, far - len(figures)))


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
