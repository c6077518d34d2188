"""The keys of an object as classes without overlap, as the engine wants its patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from llguidance._lib import LLMatcher

from fucina_cli.constraint.schema import document, languages
from fucina_cli.constraint.schema.languages import Language, TooLarge
from fucina_cli.constraint.schema.shapes import allows_all, same
from fucina_cli.constraint.schema.walk import Schema

_MAX_CLASSES = 24


def split(
    patterns: Mapping[str, Schema],
    *,
    rest: Schema | None = None,
    within: Language = languages.ALL,
    names: Iterable[str] = (),
) -> dict[str, Schema]:
    """`patterns` as patterns of which no two have a key in common.

    Keys that match several get all their schemas. With `rest`, keys that match none get it, but
    for `names`, which are keys of their own. Only keys in `within` are allowed. Raises Unreadable
    for patterns that can't be read or combined, or that the engine can't tell apart.
    """
    classes: list[tuple[Language, tuple[Schema, ...]]] = [(within, ())]
    known = {}
    for pattern, schema in patterns.items():
        matched = known[pattern] = languages.of_pattern(pattern)
        parts = []
        for keys, schemas in classes:
            added = schemas if any(same(schema, one) for one in schemas) else (*schemas, schema)
            parts += [(keys & matched, added), (keys - matched, schemas)]
        classes = [(keys, schemas) for keys, schemas in parts if not keys.empty]
        if len(classes) > _MAX_CLASSES:
            raise TooLarge("the patterns overlap in too many ways")
    together: dict[str, tuple[Language, Schema]] = {}
    for keys, schemas in classes:
        if schemas:
            schema = schemas[0] if len(schemas) == 1 else {"allOf": list(schemas)}
        elif rest is None:
            continue
        else:
            schema = rest
            if not allows_all(rest):
                keys = keys - languages.of_strings(name for name in names if name in keys)
        text = document.dumps(schema)
        keys = keys | together[text][0] if text in together else keys
        together[text] = (keys, schema)
    written = {_written(keys, known): schema for keys, schema in together.values()}
    if len(written) > 1 and not _told_apart(written):
        raise TooLarge("the engine can't tell the patterns apart")
    return written


def clash(patterns: Iterable[str]) -> bool:
    """Whether two of the patterns have a key in common, or the engine can't tell."""
    patterns = list(patterns)
    if len(patterns) < 2 or _told_apart(patterns):
        return False
    try:
        read = [languages.of_pattern(pattern) for pattern in patterns]
        return any(
            not (one & other).empty for i, one in enumerate(read) for other in read[i + 1 :]
        ) or not _told_apart(_written(keys, {}) for keys in read)
    except languages.Unreadable:
        return True


def _written(keys: Language, known: Mapping[str, Language]) -> str:
    if keys.everything:
        return "^"
    for pattern, language in known.items():
        if language == keys and "(?!" not in pattern and "(?=" not in pattern:
            return pattern
    return keys.pattern()


def _told_apart(patterns: Iterable[str]) -> bool:
    """Whether the engine finds within its own limits that no two patterns have a key in common."""
    schema = {"type": "object", "patternProperties": dict.fromkeys(patterns, True)}
    overrides = cast(Any, {"whitespace_flexible": False})
    grammar = LLMatcher.grammar_from_json_schema(document.dumps(schema), overrides=overrides)
    failed, _ = LLMatcher.validate_grammar_with_warnings(grammar)
    return not failed
