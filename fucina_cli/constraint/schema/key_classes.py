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
    known: dict[str, Language] = {}
    for pattern, schema in patterns.items():
        matched = known[pattern] = languages.of_pattern(pattern)
        parts = []
        for keys, schemas in classes:
            added = _with(schemas, schema)
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
    for kept in (known, {}):  # the engine may read some of the patterns in another way
        written = {_written(keys, kept): schema for keys, schema in together.values()}
        if not clash(written):
            return written
    raise TooLarge("the engine can't tell the patterns apart")


def _with(schemas: tuple[Schema, ...], schema: Schema) -> tuple[Schema, ...]:
    if schemas and (allows_all(schema) or any(same(schema, one) for one in schemas)):
        return schemas
    return (*(one for one in schemas if not allows_all(one)), schema)


def clash(patterns: Iterable[str]) -> bool:
    """Whether two of the patterns have a key in common, as the engine reads them, or it can't tell.

    Patterns that it can't read at all count too.
    """
    patterns = list(patterns)
    return len(patterns) > 1 and not _told_apart(patterns)


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
