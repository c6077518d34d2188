"""JSON documents with exact numbers: integers of any size, other numbers as Decimal."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema import mistakes
from fucina_cli.text import one_line


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
    """JSON with exact numbers. Raises ValueError, also for NaN and Infinity."""
    return json.loads(text, parse_float=Decimal, parse_constant=_no_constant)


def dumps(value: Any) -> str:
    """The JSON text of a value as `loads` makes it.

    Raises TypeError, ValueError and RecursionError.
    """
    return json.dumps(value, default=_plain)


def _plain(value: object) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} is not JSON")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")
