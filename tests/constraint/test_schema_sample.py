"""Schemas as the world writes them: how many the engine enforces as given, and walks over them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fucina_cli.constraint.kind import Prepared
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.judge import judge
from fucina_cli.constraint.schema.rewrites import all_of, applicators, references
from fucina_cli.constraint.schema.walk import Scope, rewritten
from tests.support.schema_walks import prepared, walked

SAMPLE = Path(__file__).parents[3] / "shared" / "schemas" / "jsonschemabench-sample.jsonl"
TOUCHED = ('"oneOf"', '"allOf"', '"not"', '"if"', '"dependencies"', '"dependent', '"$ref"')


@pytest.fixture(scope="module")
def sample() -> list[Any]:
    if not SAMPLE.exists():
        pytest.skip(f"no sample of schemas at {SAMPLE}")
    return [json.loads(line)["schema"] for line in SAMPLE.read_text().splitlines()]


def test_most_are_enforced_as_given(sample: list[Any]) -> None:
    kinds: Counter[str] = Counter()
    for schema in sample:
        found = prepared(schema)
        relaxed = isinstance(found, Prepared) and found.relaxed
        kinds[
            "refused" if not isinstance(found, Prepared) else ("relaxed" if relaxed else "given")
        ] += 1
    assert kinds["refused"] <= 1
    assert kinds["given"] >= 173


def test_walks_over_what_the_rewrites_touch_are_valid(sample: list[Any]) -> None:
    random, walks = Random(14), 0
    for schema in sample:
        text = json.dumps(schema)
        found = prepared(schema)
        if not isinstance(found, Prepared) or found.relaxed or len(text) > 20_000:
            continue
        if not any(word in text for word in TOUCHED) or '"format"' in text:
            continue
        written = walked(found.engine_text, random)
        if written is not None:
            walks += 1
            verdict = judge(document.parse_schema(text), written)
            assert verdict.valid is not False, (text[:500], written, verdict)
    assert walks > 5


def test_the_rewrites_leave_only_keywords_whose_schemas_must_hold(sample: list[Any]) -> None:
    for schema in sample:
        plain: Any = document.parse_schema(json.dumps(schema))
        for rewrite in (references.rewrite, applicators.rewrite, all_of.rewrite):
            plain = rewrite(plain, Scope(plain)) if isinstance(plain, dict) else plain
        keywords: set[str] = set()

        def look(part: Any, _scope: Scope, found: set[str] = keywords) -> Any:
            found |= part.keys()
            return part

        rewritten(plain, look, Scope(plain))
        assert not keywords & {"oneOf", "not", "if", "dependencies", "dependentSchemas"}
