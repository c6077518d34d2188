"""`format` as `pattern`: exact where a format is regular, left to the judge where it is not.

The engine knows some formats, and some of those otherwise than their RFCs.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.rewrites.format_patterns import FORMATS, Format
from fucina_cli.constraint.schema.walk import Schema, Scope, rewritten

_UNKNOWN = "`format`s that are not checked:"


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` without a `format` that is unknown, or that patterns say exactly."""
    name = schema.get("format")
    if not isinstance(name, str):
        return schema
    form = FORMATS.get(name)
    if form is None:
        _note_unknown(scope)
        return _without(schema)
    return _constrained(schema, form) if form.exact else schema


def relax(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with the other formats as patterns that allow more.

    Only after every rewrite that negates schemas or counts on them to exclude each other.
    """
    name = schema.get("format")
    if not isinstance(name, str):
        return schema
    text = f"`format` {name} is enforced only in part"
    if _allows_strings(schema) and not any(note.text == text for note in scope.notes):
        scope.note(text)
    return _constrained(schema, FORMATS[name])


def _constrained(schema: dict[str, Any], form: Format) -> dict[str, Any]:
    result = _without(schema)
    if not _allows_strings(schema):
        return result
    if form.longest is not None:
        result["maxLength"] = min(form.longest, result.get("maxLength", form.longest))
    patterns = list(form.patterns)
    if patterns and "pattern" not in result:
        result["pattern"] = patterns.pop(0)
    if patterns:
        # With its type a branch is one kind of value to the engine, else six to intersect.
        kind = {"type": "string"} if schema.get("type") == "string" else {}
        branches = [{**kind, "pattern": pattern} for pattern in patterns]
        result["allOf"] = [*result.get("allOf", ()), *branches]
    return result


def _allows_strings(schema: dict[str, Any]) -> bool:
    """Whether its `type` does; formats say nothing about other values."""
    kind = schema.get("type", "string")
    return kind == "string" or (isinstance(kind, list) and "string" in kind)


def _without(schema: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key != "format"}


def _note_unknown(scope: Scope) -> None:
    """One note for the whole schema, at the first of them."""
    if any(note.text.startswith(_UNKNOWN) for note in scope.notes):
        return
    names: dict[str, None] = {}
    rewritten(scope.root, lambda schema, _: _collect(schema, names), Scope(scope.root))
    scope.note(f"{_UNKNOWN} {', '.join(names)}", relaxed=False)


def _collect(schema: dict[str, Any], names: dict[str, None]) -> Schema:
    name = schema.get("format")
    if isinstance(name, str) and name not in FORMATS:
        names[name] = None
    return schema
