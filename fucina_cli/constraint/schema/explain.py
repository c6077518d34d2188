"""Why a value is no schema: what its keyword takes, what it got, and the way out."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from fucina_cli.constraint.schema.keywords import (
    DRAFT_4,
    DRAFT_6,
    DRAFT_2020,
    DRAFT_NAMES,
    KEYWORDS,
    TYPE_NAMES,
    TYPES,
    draft_of,
)
from fucina_cli.constraint.schema.walk import MANY, NAMED, ONE, escaped
from fucina_cli.text import one_line

_SHOWN = 60
_DRAFT_4_URI = '"$schema": "http://json-schema.org/draft-04/schema#"'


def explained(path: Sequence[str | int], message: str, schema: Any) -> tuple[str, str]:
    """JSON pointer and explanation of an error that a meta-schema found at `path`.

    `message` is the validator's own, taken where nothing better is known.
    """
    keyword, value, used, parent = _keyword(path, schema)
    pointer = "".join(f"/{escaped(str(part))}" for part in path)
    if keyword is None and isinstance(value, dict):
        return pointer, one_line(message)  # about several of its keywords
    if keyword is None:
        return pointer, _no_schema(value, draft_of(schema), parent)
    if keyword not in KEYWORDS:
        return pointer, one_line(message)
    special = _SPECIAL.get(keyword)
    text = special(value, draft_of(schema)) if special else None
    if text is not None:
        pointer = "".join(f"/{escaped(str(part))}" for part in path[:used])
        return pointer, text
    if used < len(path):  # inside its value
        inner = _at(schema, path)
        return pointer, f"`{keyword}` takes {KEYWORDS[keyword].takes}; here is {shown(inner)}"
    return pointer, f"`{keyword}` takes {KEYWORDS[keyword].takes}, not {shown(value)}"


def shown(value: Any) -> str:
    """A JSON value, short."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=_plain)
    except (TypeError, ValueError, RecursionError):
        text = str(value)
    return one_line(text, _SHOWN)


def _keyword(path: Sequence[str | int], schema: Any) -> tuple[str | None, Any, int, str]:
    """The keyword whose value is wrong, that value, and how much of the path leads to it.

    None for the keyword where a schema itself is expected at the end of the path; the last part is
    the keyword that expects it.
    """
    value, used, holder = schema, 0, ""
    while used < len(path):
        key = str(path[used])
        inner, step = value[key], 1
        listed = key in MANY and isinstance(inner, list)
        if listed or (key in NAMED and isinstance(inner, dict)):
            if used + 1 == len(path):
                return key, inner, used + 1, holder
            part = inner[path[used + 1]]
            if isinstance(part, list) and used + 2 < len(path):  # of names, in dependencies
                return key, inner, used + 1, holder
            inner, step = part, 2
        elif key not in ONE or isinstance(inner, list):
            return key, inner, used + 1, holder
        value, used, holder = inner, used + step, key
    return None, value, used, holder


def _at(schema: Any, path: Sequence[str | int]) -> Any:
    for part in path:
        schema = schema[part]
    return schema


def _no_schema(value: Any, draft: int, holder: str) -> str:
    """A value where a schema belongs."""
    if isinstance(value, bool) and draft < DRAFT_6:
        instead = "{}" if value else '{"not": {}}'
        return (
            f"true and false are schemas from draft 6 on, and `$schema` names "
            f"{DRAFT_NAMES[draft]}; write {instead}"
        )
    text = f"a schema is an object, true or false, not {shown(value)}"
    kind = _type_for(value) if isinstance(value, str) else None
    if kind is not None:
        return f'{text}; write {{"type": "{kind}"}}'
    if isinstance(value, list) and holder in NAMED:
        return f'{text}; write {{"enum": […]}} for a list of values'
    return text


def _type(value: Any, _draft: int) -> str | None:
    names = value if isinstance(value, list) else [value]
    strange = next((name for name in names if name not in TYPES), None)
    if strange is None:
        return "`type` names a type twice, or none" if isinstance(value, list) else None
    text = f"`type` takes one of {', '.join(TYPES)}, or a list of them, not {shown(strange)}"
    if isinstance(strange, str):
        if strange.lower() == "any":
            return f'{text}; leave "type" out to allow any'
        if strange.lower() in ("date", "time", "datetime", "date-time", "email", "uuid", "uri"):
            form = strange.lower().replace("datetime", "date-time")
            return f'{text}; write "type": "string", "format": "{form}"'
        kind = _type_for(strange)
        return f'{text}; write "{kind}"' if kind else text
    return text


def _type_for(name: str) -> str | None:
    """The type that a name was probably meant to be."""
    plain = name.strip().lower()[:_SHOWN]
    if plain in TYPES:
        return plain
    if plain in TYPE_NAMES:
        return TYPE_NAMES[plain]
    similar = difflib.get_close_matches(plain, TYPES, 1, 0.75)
    return similar[0] if similar else None


def _exclusive(bound: str, exclusive: str) -> Callable[[Any, int], str | None]:
    def text(value: Any, draft: int) -> str | None:
        if isinstance(value, bool) and draft >= DRAFT_6:
            return (
                f"`{exclusive}` takes a number; {shown(value)} is of draft 4: write "
                f'"{exclusive}": N in place of "{bound}": N, or {_DRAFT_4_URI}'
            )
        if draft <= DRAFT_4 and not isinstance(value, bool):
            return (
                f'`{exclusive}` takes true or false in {DRAFT_NAMES[draft]}, beside "{bound}"; a '
                f"number needs a `$schema` of draft 6 or later, not {shown(value)}"
            )
        return None

    return text


def _items(value: Any, draft: int) -> str | None:
    if isinstance(value, list) and draft >= DRAFT_2020:
        return (
            "`items` takes one schema in draft 2020-12; a list of schemas, one per element, is "
            '"prefixItems", and "items" then is what "additionalItems" was'
        )
    return None


def _required(value: Any, draft: int) -> str | None:
    if isinstance(value, bool):
        return (
            f"`required` takes a list of names, beside `properties`, not {shown(value)} within a "
            'property; write "required": ["name", …]'
        )
    if value == [] and draft <= DRAFT_4:
        return "`required` takes at least one name in draft 4; leave it out"
    if isinstance(value, str):
        return f'`required` takes a list of names, not {shown(value)}; write ["{value[:_SHOWN]}"]'
    return None


def _properties(value: Any, _draft: int) -> str | None:
    if isinstance(value, list):
        return (
            "`properties` takes an object from names to schemas, not a list; write "
            '{"name": {"type": "string"}, …}'
        )
    return None


_SPECIAL: Mapping[str, Callable[[Any, int], str | None]] = {
    "type": _type,
    "exclusiveMinimum": _exclusive("minimum", "exclusiveMinimum"),
    "exclusiveMaximum": _exclusive("maximum", "exclusiveMaximum"),
    "items": _items,
    "required": _required,
    "properties": _properties,
}


def _plain(value: object) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)
