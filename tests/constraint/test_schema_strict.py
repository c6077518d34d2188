"""A strict schema is enforced as a whole or refused, with the keyword that is not and its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fucina_cli import GrammarError, JsonSchema
from fucina_cli.constraint.kind import Prepared
from fucina_cli.constraint.schema.strictness import check_strict
from tests.support.command_line import RunHere, run_here

__all__ = ["run_here"]  # a fixture

WHOLE: dict[str, Any] = {"type": "object", "properties": {"a": {"enum": [1, 2]}}}
#: No automaton of a sensible size tells the multiples of such a number.
PART: dict[str, Any] = {"properties": {"a/b": {"type": "number", "multipleOf": 0.333331}}}


def test_a_schema_that_is_enforced_as_a_whole_compiles_to_the_same_grammar() -> None:
    strict = JsonSchema(WHOLE, strict=True)
    assert strict.prepare() == JsonSchema(WHOLE).prepare()
    assert strict.identity != JsonSchema(WHOLE).identity


def test_what_is_left_to_the_check_is_refused_with_its_place() -> None:
    assert JsonSchema(PART).prepare().relaxed
    with pytest.raises(GrammarError) as caught:
        JsonSchema(PART, strict=True).prepare()
    told = str(caught.value)
    assert "`multipleOf` 0.333331" in told
    assert "/properties/a~1b" in told
    assert "without strict= that is left" in told
    assert "validated afterwards" not in told


def test_the_first_keyword_that_is_not_enforced_is_the_one_that_is_told() -> None:
    prepared = Prepared("", relaxations=("`contains` is not (at /a)", "`not` is not (at /b)"))
    with pytest.raises(GrammarError, match=r"`contains` is not \(at /a\); without") as caught:
        check_strict(prepared)
    assert "/b" not in str(caught.value)


def test_strict_is_a_flag_and_a_key_of_a_line(run_here: RunHere, tmp_path: Path) -> None:
    base = ["tiny", "--chat", "a", "--gen", "30", "--greedy"]
    part, whole = json.dumps(PART), json.dumps(WHOLE)
    refused = run_here(*base, "--json-schema", part, "--strict", family="qwen3")
    refused.refused("--json-schema", "`multipleOf` 0.333331", "without --strict")
    assert run_here(*base, "--json-schema", whole, "--strict", family="qwen3").code != 2
    run_here(*base, "--strict", family="qwen3").refused("--strict: needs --json-schema")
    lines = tmp_path / "lines.jsonl"
    lines.write_text(json.dumps({"chat": "a", "json_schema": PART, "strict": True}) + "\n")
    done = run_here("tiny", "--batch", lines, "--quiet", family="qwen3")
    assert "`multipleOf` 0.333331" in json.loads(done.out)["error"]
    assert 'without "strict"' in json.loads(done.out)["error"]
