"""JSON with numbers as they are written, so that a text read and written again says the same."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

_LONE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True)
class Number:
    """A number of a JSON text, as its text."""

    text: str


def loads(text: str) -> Any:
    """A JSON value with every number as a `Number`. Raises ValueError and RecursionError."""
    return json.loads(text, parse_float=Number, parse_int=Number, parse_constant=Number)


def dumps(value: Any) -> str:
    """The compact text of such a value; characters are written out. Raises RecursionError."""
    if isinstance(value, Number):
        return value.text
    if isinstance(value, str):
        quoted = json.dumps(value, ensure_ascii=False)
        return _LONE.sub(lambda found: f"\\u{ord(found.group()):04x}", quoted)
    if isinstance(value, dict):
        return "{" + ",".join(f"{dumps(key)}:{dumps(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(dumps, value)) + "]"
    return json.dumps(value)
