"""`pattern` and `patternProperties`, patterns of ECMA-262, in the syntax of the engine.

To run after all rewrites that write patterns of ECMA-262 themselves.
"""

from __future__ import annotations

import functools
import json
from typing import Any

from llguidance._lib import LLMatcher

from fucina_cli.constraint.patterns.engine import Translation, translated
from fucina_cli.constraint.patterns.errors import PatternError
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.walk import Schema, Scope

_SHOWN = 80
#: Longer patterns, in characters, and deeper ones, in groups, are tried by themselves before the
#: engine gets them.
_LONG, _DEEP = 1000, 40
_ANY_KEY = "^(?:(?s:.)*)$"


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with patterns that the engine reads as the standard does, or wider ones."""
    result = schema
    if isinstance(schema.get("pattern"), str):
        result = _with_pattern(result, scope)
    if isinstance(schema.get("patternProperties"), dict):
        result = _with_keys(result, scope)
    return result


def _with_pattern(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    pattern = schema["pattern"]
    bounds: dict[str, Any] = {
        key: schema[key] for key in ("minLength", "maxLength") if key in schema
    }
    rest = {key: value for key, value in schema.items() if key != "pattern"}
    try:
        found = translated(pattern)
    except PatternError as error:
        scope.note(
            f"`pattern` {_shown(pattern)} can't be read as ECMA-262 and is left out: {error}"
        )
        return rest
    kept = _within_limits(found.patterns, bounds)
    lost = found.lost
    if kept != found.patterns:
        lost = lost or "it is too complex for the grammar engine"
    if lost:
        scope.note(f"`pattern` {_shown(pattern)} is enforced only in part: {lost}")
    if not kept:
        return rest
    # In the place of the old one: keywords keep their order.
    result = {key: kept[0] if key == "pattern" else value for key, value in schema.items()}
    if len(kept) > 1:
        # With its type a branch is one kind of value to the engine, else six to intersect.
        kind = {"type": "string"} if schema.get("type") == "string" else {}
        branches = [{**kind, "pattern": one} for one in kept[1:]]
        result["allOf"] = [*result.get("allOf", ()), *branches]
    return result


def _within_limits(patterns: tuple[str, ...], bounds: dict[str, Any]) -> tuple[str, ...]:
    """The patterns that the engine can handle together, the first ones first."""
    simple = sum(map(len, patterns)) < _LONG and all(one.count("(") < _DEEP for one in patterns)
    if simple and (len(patterns) == 1 or not bounds):
        return patterns
    text = document.dumps(bounds)
    while patterns and not _compiles(patterns, text):
        patterns = patterns[:-1]
    return patterns


@functools.lru_cache(maxsize=256)
def _compiles(patterns: tuple[str, ...], bounds: str) -> bool:
    """Whether the engine takes a string of these, or finds that there is none."""
    schema = {
        "type": "string",
        **json.loads(bounds),
        "allOf": [{"type": "string", "pattern": one} for one in patterns],
    }
    failed, messages = LLMatcher.validate_grammar_with_warnings(
        LLMatcher.grammar_from_json_schema(schema)
    )
    return not failed or "nsatisfiable" in messages[0]


def _with_keys(schema: dict[str, Any], scope: Scope) -> dict[str, Any]:
    """A key's pattern that can't be written exactly is left out, and what limits other keys."""
    keys: dict[str, list[Schema]] = {}
    complete = True
    for pattern, part in schema["patternProperties"].items():
        try:
            found = translated(pattern, single=True)
            lost = found.lost or _too_long(found)
        except PatternError as error:
            found, lost = Translation(()), f"can't be read as ECMA-262: {error}"
        if lost:
            complete = False
            scope.note(f"`patternProperties` {_shown(pattern)} is not enforced: {lost}")
        else:
            keys.setdefault(found.patterns[0] if found.patterns else _ANY_KEY, []).append(part)
    result = dict(schema)
    result["patternProperties"] = {
        key: parts[0] if len(parts) == 1 else {"allOf": parts} for key, parts in keys.items()
    }
    if not complete:
        # The keys of the pattern that is left out would be among the others.
        for other in ("additionalProperties", "unevaluatedProperties"):
            result.pop(other, None)
    return result


def _too_long(found: Translation) -> str:
    kept = _within_limits(found.patterns, {})
    return "" if kept == found.patterns else "it is too complex for the grammar engine"


def _shown(pattern: str) -> str:
    text = json.dumps(pattern, ensure_ascii=False)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
