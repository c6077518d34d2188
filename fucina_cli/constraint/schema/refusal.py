"""The grammar engine's words about a schema, in words of the schema, with places."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from fucina_cli.constraint.schema.contradiction import contradiction
from fucina_cli.constraint.schema.explain import shown
from fucina_cli.constraint.schema.locate import Fails, locate
from fucina_cli.constraint.schema.source import Source
from fucina_cli.constraint.schema.walk import Schema, resolved, subschemas
from fucina_cli.text import one_line

#: What the engine adds about places of the text that it was handed, which is not the user's.
_FOREIGN_PLACES = re.compile(
    r"(:?\s*(while processing )?json-schema:///\S*|\s*at line \d+ column \d+\S*)"
)
_UNSATISFIABLE = "the schema is unsatisfiable"
_OF_TEXT = ("type", "pattern", "format", "minLength", "maxLength", "enum", "const")
_LISTED = 3
#: Keywords whose values are URIs.
_NAMING = ("$ref", "$schema", "$id", "id", "$dynamicRef", "$recursiveRef")


def refusal(schema: Schema, failure: str, fails: Fails, source: Source) -> str:
    """Why `schema` can't be compiled, with the place: the smallest part that fails alone.

    `failure` is the engine's reason for the whole, `fails` gives that of any other schema.
    """
    try:
        named = _reference(schema, failure)
        if named is not None:  # the engine resolves all of them first, whatever refers to them
            pointer, text = named
            return f"{text} (at {source.place(pointer)})"
        pointer, failure = locate(schema, failure, fails)
        if "nsatisfiable" in failure:
            written = contradiction(source.schema, pointer) or contradiction(source.schema)
            if written is not None:
                pointer, text = written
                return f"{_UNSATISFIABLE}: {text} (at {source.place(pointer)})"
            # The engine's words for what a rewrite has proven.
            failure = failure.replace("anyOf is empty", "no value satisfies it")
        part = resolved(schema, pointer)
    except RecursionError:
        return without_places(failure)
    return f"{one_line(_plain(failure, part), 280)} (at {source.place(pointer)})"


def _reference(schema: Schema, failure: str) -> tuple[str, str] | None:
    """Pointer of the reference or name that can't be resolved, and why; None for other failures."""
    outside = re.match(r"Resource '(.*)' is not present in a registry", failure)
    invalid = re.match(r"Invalid URI reference '(.*)'", failure)
    match = outside or invalid
    if match is None:
        return None
    uri = match.group(1)
    for pointer, part in subschemas(schema):
        for key in _NAMING if isinstance(part, dict) else ():
            value = part.get(key)
            if not isinstance(value, str) or not value:
                continue
            if uri.endswith(value if invalid else value.partition("#")[0] or value):
                why = "is no URI" if invalid else "names another document, and none is fetched"
                out = "" if key == "$schema" or invalid else '; put it under "$defs"'
                return f"{pointer}/{key}", f"`{key}` {shown(value)} {why}{out}"
    return None


def without_places(message: str) -> str:
    """A message of the engine without positions in its own text."""
    return _FOREIGN_PLACES.sub("", message).strip()


def with_places(message: str, schema: Schema, source: Source) -> str:
    """A warning of the engine and where in the schema the keywords are that it is about."""
    message = without_places(message)
    pointers = list(_mentioned(message, schema))
    if not pointers:
        return message
    listed = ", ".join(source.place(pointer) for pointer in pointers[:_LISTED])
    if len(pointers) > _LISTED:
        listed += f" and {len(pointers) - _LISTED} more"
    if "nimplemented" in message:
        return listed  # which ends in the keywords that the message lists
    return f"{message.removesuffix('.')}, at {listed}"


def _mentioned(message: str, schema: Schema) -> Iterable[str]:
    unknown_format = re.match(r"Unknown format: (.+?)(?: \(\d+ times\))?$", message)
    keys = set(re.findall(r'"([^"]+)"', message)) if "nimplemented" in message else set()
    if message.startswith("oneOf"):
        keys = {"oneOf"}
    for pointer, part in subschemas(schema):
        if not isinstance(part, dict):
            continue
        if unknown_format and part.get("format") == unknown_format.group(1):
            yield f"{pointer}/format"
        yield from (f"{pointer}/{key}" for key in sorted(keys) if key in part)


def _plain(failure: str, part: Any) -> str:
    """The failure of a part of a schema in words of that part."""
    failure = without_places(failure)
    if not isinstance(part, dict):
        return failure
    if "nsatisfiable" in failure:
        return f"{_UNSATISFIABLE}: {_contradiction(failure, part)}"
    if "ook-around" in failure or "lookaround" in failure:
        return f"{_patterns(part)}look-around and word boundaries are beyond the grammar engine"
    if "not a regular expression" in failure:
        return f"{_patterns(part)}{failure}"
    missing = re.search(r"(?:Pointer|Anchor) '.*?' does not exist", failure)
    if missing and "$ref" in part:
        return f"`$ref` {shown(part['$ref'])} names no part of the schema"
    return failure


def _patterns(part: dict[str, Any]) -> str:
    if "pattern" in part:
        return f"`pattern` {shown(part['pattern'])}: "
    named = part.get("patternProperties")
    if isinstance(named, dict) and named:
        return f"`patternProperties` {', '.join(map(shown, list(named)[:_LISTED]))}: "
    return ""


def _contradiction(failure: str, part: dict[str, Any]) -> str:
    """Which keywords of a part exclude each other."""
    reason = failure.partition("schema: ")[2] or failure
    if reason == "incompatible types":
        return "its parts have no type in common"
    required = re.match(r"required property '(.*)' is unsatisfiable", reason)
    if required:
        name = required.group(1)
        declared = part.get("properties")
        why = "which no value can have"
        if isinstance(declared, dict) and name in declared:
            why = "whose schema no value satisfies"
        return f'`required` names "{name}", {why}'
    if reason.startswith("Regex is empty"):
        keys = [f"`{key}`" for key in _OF_TEXT if key in part and key != "type"]
        return f"no text satisfies {' and '.join(keys) or 'its patterns'} at once"
    return reason
