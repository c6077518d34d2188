"""Untrusted JSON: one object per line, values checked by type without any conversion."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from fucina_cli.constraint.schema.document import Written

#: Python's own limit for turning digits into an integer, which its oldest versions lack.
_MAX_DIGITS = 4300
_SHOWN = 40


class WrongValue(Exception):
    """JSON of the wrong type or form; the text names the key and says why."""


def load_object(raw: bytes) -> tuple[dict[str, Any], list[str]]:
    """The object in `raw`, and the keys that are repeated in it or in an object within.

    Raises WrongValue for what is not UTF-8, not JSON, nested too deeply or not an object.
    """
    repeated: list[str] = []

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            repeated.extend(key for key, count in counts.items() if count > 1)
        return result

    try:
        value = json.loads(
            raw.decode("utf-8"),
            object_pairs_hook=table,
            parse_int=_integer_of,
            parse_float=Written,  # a schema in the line keeps its digits
            parse_constant=_no_constant,
        )
    except UnicodeDecodeError as error:
        raise WrongValue(f"not valid UTF-8 (byte {error.start + 1})") from None
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        raise WrongValue(f"not valid JSON: {what} at column {error.pos + 1}") from None
    except RecursionError:
        raise WrongValue("nested too deeply") from None
    if not isinstance(value, dict):
        way_out = "; give each of its elements a line" if isinstance(value, list) and value else ""
        raise WrongValue(f"must be a JSON object, not {kind(value)}{way_out}")
    return value, repeated


def is_text(value: object) -> bool:
    """Whether all of `value` can be written as UTF-8: no string in it has half a surrogate pair."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def is_id(value: object) -> bool:
    """Whether `value` may name a request: text or an integer."""
    if isinstance(value, str):
        return is_text(value)
    return isinstance(value, int) and not isinstance(value, bool)


def string(name: str, value: object) -> str:
    """`value` if it is a string. Raises WrongValue."""
    if isinstance(value, str):
        return value
    raise WrongValue(f"{name}: must be a string, not {kind(value)}")


def boolean(name: str, value: object) -> bool:
    """`value` if it is true or false. Raises WrongValue."""
    if isinstance(value, bool):
        return value
    raise WrongValue(f"{name}: must be true or false, not {kind(value)}")


def integer(name: str, value: object) -> int:
    """`value` if it is a number without a fraction or exponent. Raises WrongValue."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise WrongValue(f"{name}: must be an integer, not {kind(value)}")


def number(name: str, value: object) -> float:
    """`value` as a float if it is a number that a float can hold. Raises WrongValue."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongValue(f"{name}: must be a number, not {kind(value)}")
    try:
        result = float(value)
    except OverflowError:
        result = float("inf")
    if abs(result) == float("inf"):  # JSON has no infinity, but 1e999 is JSON
        raise WrongValue(f"{name}: the number is out of range")
    return result


def quoted(key: str) -> str:
    """A key as JSON writes it, short, and printable even with half of a surrogate pair."""
    return json.dumps(key[:_SHOWN], ensure_ascii=not is_text(key))


def kind(value: object) -> str:
    """The JSON type of `value`, with an article."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, float):
        return "a number with a fraction or exponent"
    names: dict[type, str] = {dict: "an object", list: "an array", str: "a string"}
    return names.get(type(value), "a number")


def _integer_of(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise WrongValue(f"a number of {len(digits)} digits is too long")
    return int(digits)


def _no_constant(name: str) -> Any:
    raise WrongValue(f"not valid JSON: {name} is not JSON")
