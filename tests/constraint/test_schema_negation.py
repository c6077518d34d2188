"""Complements of schemas, and proofs that schemas exclude each other."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema
import pytest

from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.negation import negated
from tests.support.schema_walks import schemas, values


@pytest.mark.parametrize("draft", [4, 7, 2020])
def test_a_complement_holds_exactly_where_the_schema_does_not(draft: int) -> None:
    kind = {
        4: jsonschema.Draft4Validator,
        7: jsonschema.Draft7Validator,
        2020: jsonschema.Draft202012Validator,
    }[draft]
    named = {"$schema": kind.META_SCHEMA["$schema" if draft > 4 else "id"]}
    written = 0
    for seed in range(120):
        random = Random(seed)
        schema, context = next(schemas(random, draft)), next(schemas(random, draft))
        schema = {k: v for k, v in schema.items() if k not in ("$defs", "definitions")}
        if "$ref" in str([schema, context]):
            continue
        exact = document.loads(json.dumps([schema, context]))
        other = negated(exact[0], [exact[1]], Ground({**named, **exact[0]}))
        if other is None:
            continue
        written += 1
        for value in values(random, 20):
            if kind({**named, **context}).is_valid(value):
                both = {"allOf": [schema]}, {"allOf": [other]}
                valid = [kind(part).is_valid(value) for part in both]
                assert valid[0] != valid[1], (schema, other, value)
    assert written > 20


OPTIONS: list[tuple[list[Any], bool]] = [
    ([{"type": "string"}, {"type": "integer"}], True),
    ([{"type": "integer"}, {"type": "number"}], False),
    ([{"minimum": 2}, {"maximum": 1}], False),  # a string satisfies both
    ([{"type": "number", "minimum": 2}, {"type": "number", "exclusiveMaximum": 2}], True),
    ([{"type": "integer", "minimum": 1}, {"type": "integer", "exclusiveMaximum": 1.5}], False),
    ([{"type": "string", "pattern": "^ab"}, {"type": "string", "pattern": "^ac"}], True),
    ([{"type": "string", "pattern": "^ab?"}, {"type": "string", "pattern": "^ac"}], False),
    ([{"type": "string", "format": "ipv4"}, {"type": "string", "format": "ipv6"}], True),
    ([{"type": "array", "minItems": 2}, {"type": "array", "maxItems": 1}], True),
    (
        [
            {"type": "object", "required": ["a"]},
            {"type": "object", "patternProperties": {"^[ab]$": {"type": "null"}}},
        ],
        False,
    ),
    (
        [
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"type": "string"}},
            },
            {"type": "object", "patternProperties": {"^[ab]$": {"type": "null"}}},
        ],
        True,
    ),
]


@pytest.mark.parametrize(("options", "exclusive"), OPTIONS)
def test_options_are_called_exclusive_only_where_they_are(
    options: list[Any], exclusive: bool
) -> None:
    assert Ground({}).exclusive(options, []) is exclusive
