"""A schema as it was meant, out of what was given: no wrappers, no older forms unsaid."""

from __future__ import annotations

import json
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema.older import modernized
from fucina_cli.constraint.schema.source import Source
from fucina_cli.constraint.schema.walk import Note
from fucina_cli.constraint.schema.wrappers import unwrapped

_LISTED = 3


def read(value: Any, text: str = "") -> tuple[Any, Source]:
    """The schema in a JSON value, and where it was written; its notes tell what was read how.

    `text` is that of the value, "" where it was not given as text. Raises GrammarError for several
    schemas in one wrapper, and for what is nested too deeply.
    """
    schema, prefix = unwrapped(value)
    notes = []
    if prefix:
        notes.append(Note("the schema is taken out of its wrapper", "", relaxed=False))
    notes += _repeated(text, prefix)
    try:
        schema, older = modernized(schema)
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    return schema, Source(text, prefix, (*notes, *older), schema)


def _repeated(text: str, prefix: str) -> list[Note]:
    """Notes about keys that an object of the schema has more than once: only the last counts."""
    if not text or not _has_repeated(text):
        return []
    places = [
        (pointer[len(prefix) :], count)
        for pointer, count in Source(text).repeated()
        if pointer.startswith(prefix)
    ]
    return [
        Note(f"the key is given {count} times; the last one counts", pointer, relaxed=False)
        for pointer, count in places[:_LISTED]
    ]


def _has_repeated(text: str) -> bool:
    found = False

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        result = dict(pairs)
        found = found or len(result) < len(pairs)
        return result

    json.loads(text, object_pairs_hook=table, parse_int=str)
    return found
