"""Finds the part of a schema that the grammar engine refuses."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote, unquote

from fucina_cli.constraint.schema.walk import Schema, parts, resolved

#: Why the engine refuses a schema, None where it takes it.
Fails = Callable[[Schema], str | None]

_MOST_TRIALS = 200
_SECONDS = 1.0
_HELD = "whole"  # name of the whole schema among the definitions of a trial


def locate(schema: Schema, failure: str, fails: Fails) -> tuple[str, str]:
    """JSON pointer of the smallest part that fails alone as the whole does, and its own failure.

    Each part is tried as a schema of its own that still has the whole for its references; from one
    that fails the search goes on among its own parts, and through its references. It takes at most
    200 trials and 1 s: then the smallest part found so far is the answer. Raises RecursionError.
    """
    whole = _moved(schema)
    deadline, trials = time.monotonic() + _SECONDS, 0
    here, seen = "", {""}
    while True:
        for pointer in _parts(schema, here):
            if pointer in seen:
                continue
            seen.add(pointer)
            trials += 1
            if trials > _MOST_TRIALS or time.monotonic() > deadline:
                return here, failure
            found = fails(_trial(schema, whole, pointer))
            if found is not None and _alike(found, failure):
                here, failure = pointer, found
                break
        else:
            return here, failure


def _parts(schema: Schema, pointer: str) -> Iterator[str]:
    """Pointers of the schemas directly inside one, and of the target of its reference."""
    part = resolved(schema, pointer)
    for inner, value in parts(part, pointer):
        if isinstance(value, dict):
            yield inner
    ref = part.get("$ref")
    if isinstance(ref, str) and ref.startswith("#/"):
        target = unquote(ref[1:])
        try:
            if isinstance(resolved(schema, target), dict):
                yield target
        except (LookupError, ValueError, TypeError):
            return


def _moved(schema: Schema) -> Schema:
    """The whole schema as a definition: its references begin at the definition's place."""
    root = f"#/$defs/{_HELD}"

    def moved(value: Any) -> Any:
        if isinstance(value, list):
            return [moved(each) for each in value]
        if not isinstance(value, dict):
            return value
        return {
            key: f"{root}{part[1:]}"
            if key == "$ref" and isinstance(part, str) and (part == "#" or part.startswith("#/"))
            else moved(part)
            for key, part in value.items()
        }

    return {k: v for k, v in moved(schema).items() if k not in ("$schema", "$id", "id")}


def _trial(schema: Schema, whole: Schema, pointer: str) -> Schema:
    dialect = {"$schema": schema["$schema"]} if "$schema" in schema else {}
    target = f"#/$defs/{_HELD}{quote(pointer, safe='/~$!*(),;:@&=+')}"
    return {**dialect, "$ref": target, "$defs": {_HELD: whole}}


def _alike(failure: str, other: str) -> bool:
    """Whether two failures are of one kind, whatever names and numbers they have."""
    return _kind(failure) == _kind(other)


def _kind(failure: str) -> str:
    for kind in ("nsatisfiable", "regular expression", "lookaround", "Pointer", "registry"):
        if kind in failure:
            return kind
    plain = re.sub(r"[\"'`/].*[\"'`/]|\d+", "", failure)
    return " ".join(plain.split()[:6])
