"""References: where they lead, what stands beside them, cycles."""

from __future__ import annotations

from typing import Any

import pytest

from fucina_cli.constraint.kind import GrammarError, Prepared
from tests.support.schema_walks import accepts, prepared

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def as_given(schema: Any) -> str:
    found = prepared(schema)
    assert isinstance(found, Prepared), found
    assert not found.relaxed, found.warnings
    return found.engine_text


def test_base_uris_anchors_and_escaped_pointers_are_followed() -> None:
    grammar = as_given(
        {
            "$id": "http://example.com/root.json",
            "properties": {
                "a": {"$ref": "item.json"},
                "b": {"$ref": "#named"},
                "c": {"$ref": "item.json#/properties/q~1r"},
                "d": {"$ref": "#/properties/e%25"},
                "e%": {"type": "null"},
            },
            "$defs": {
                "A": {
                    "$id": "item.json",
                    "type": "object",
                    "properties": {"q/r": {"type": "integer"}, "self": {"$ref": "#"}},
                },
                "B": {"$anchor": "named", "type": "string"},
            },
        }
    )
    for valid in ({"a": {"q/r": 1}}, {"a": {"self": {"q/r": 1}}}, {"b": ""}, {"c": 1}, {"d": None}):
        assert accepts(grammar, valid), valid
    for invalid in ({"a": {"q/r": ""}}, {"a": {"self": 1}}, {"b": 1}, {"c": ""}, {"d": 1}):
        assert not accepts(grammar, invalid), invalid


def test_up_to_draft_7_what_stands_beside_a_reference_is_ignored_and_said() -> None:
    schema = {
        "$schema": DRAFT_7,
        "properties": {"a": {"$ref": "#/definitions/d", "maxLength": 1}},
        "definitions": {"d": {"type": "string"}},
    }
    found = prepared(schema)
    assert isinstance(found, Prepared)
    assert found.warnings == (
        "`maxLength` beside `$ref`: ignored in this draft (at /properties/a)",
    )
    assert accepts(found.engine_text, {"a": "long"})


def test_later_drafts_enforce_both() -> None:
    schema = {"$ref": "#/$defs/d", "maxLength": 1, "$defs": {"d": {"type": "string"}}}
    assert accepts(as_given(schema), "a")
    assert not accepts(as_given(schema), "long")


def test_a_cycle_with_keywords_beside_the_reference() -> None:
    node = {
        "type": "object",
        "properties": {"c": {"$ref": "#/$defs/n", "required": ["v"]}, "v": {"type": "integer"}},
    }
    grammar = as_given({"$ref": "#/$defs/n", "$defs": {"n": node}})
    assert accepts(grammar, {"c": {"c": {"v": 1}, "v": 2}})
    assert accepts(grammar, {})
    assert not accepts(grammar, {"c": {}})
    assert not accepts(grammar, {"c": {"c": {}, "v": 2}})


def test_two_trees_that_must_both_hold() -> None:
    def tree(name: str, kind: str) -> dict[str, Any]:
        inside = {"child": {"$ref": f"#/$defs/{name}"}, name: {"type": kind}}
        return {"type": "object", "properties": inside}

    grammar = as_given(
        {
            "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/y"}],
            "$defs": {"x": tree("x", "integer"), "y": tree("y", "string")},
        }
    )
    assert accepts(grammar, {"child": {"child": {"x": 1, "y": "s"}}, "x": 2})
    assert not accepts(grammar, {"child": {"child": {"x": 1, "y": 2}}})


def test_a_dynamic_reference_within_one_resource_is_a_plain_one() -> None:
    grammar = as_given(
        {
            "$dynamicAnchor": "node",
            "type": "object",
            "properties": {"v": {"type": "integer"}, "c": {"$dynamicRef": "#node"}},
        }
    )
    assert accepts(grammar, {"c": {"v": 1}})
    assert not accepts(grammar, {"c": {"v": "x"}})


@pytest.mark.parametrize(
    ("reference", "told"),
    [
        ("http://example.com/other.json", "(at /properties/a) leads outside this schema"),
        ("#/nowhere", "(at /properties/a) leads nowhere in this schema"),
        ("#/properties/a", "leads back to itself"),
    ],
)
def test_references_without_a_target_are_refused_with_their_place(
    reference: str, told: str
) -> None:
    found = prepared({"properties": {"a": {"$ref": reference}}})
    assert isinstance(found, GrammarError)
    assert told in str(found)


def test_a_definition_that_nothing_needs_may_be_anything() -> None:
    assert as_given({"type": "integer", "$defs": {"d": {"$ref": "http://example.com/"}}})
