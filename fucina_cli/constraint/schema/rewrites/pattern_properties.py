"""patternProperties of which no two have a key in common: the engine refuses others."""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.key_classes import clash, split
from fucina_cli.constraint.schema.pattern_syntax import Unreadable
from fucina_cli.constraint.schema.shapes import allows_all, same, with_keys
from fucina_cli.constraint.schema.walk import Schema, Scope


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with disjoint patterns, or one pattern for all of them where that can't be had."""
    patterns = schema.get("patternProperties")
    if not isinstance(patterns, dict):
        return schema
    rest = schema.get("additionalProperties", True)
    if allows_all(rest):  # then keys that only match these are as free as all others
        patterns = {name: part for name, part in patterns.items() if not allows_all(part)}
    if not patterns:
        return with_keys(schema, None, schema.get("additionalProperties"))
    if clash(patterns) or any("(?=" in name or "(?!" in name for name in patterns):
        try:
            patterns = split(patterns)
        except Unreadable:
            patterns = _joined(patterns, scope)
    return with_keys(schema, patterns, schema.get("additionalProperties"))


def _joined(patterns: dict[str, Schema], scope: Scope) -> dict[str, Schema]:
    """One pattern for all, whose values fit any of the schemas: a key may match only one."""
    parts = list(patterns.values())
    if all(same(part, parts[0]) for part in parts):
        either = parts[0]
    else:
        scope.note(
            "`patternProperties`: patterns overlap in a way that can't be split; "
            "values are held to one of their schemas"
        )
        either = {"anyOf": parts}
    return {"|".join(f"(?:{pattern})" for pattern in patterns): either}
