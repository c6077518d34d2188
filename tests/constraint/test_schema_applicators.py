"""oneOf, not, if, dependencies and allOf: what the engine accepts is what is valid."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from fucina_cli.constraint.kind import GrammarError, Prepared
from tests.support.schema_walks import accepts, disagreement, prepared, schemas, values

DRAFT_7 = "http://json-schema.org/draft-07/schema#"


def ready(schema: Any) -> Prepared:
    found = prepared(schema)
    assert isinstance(found, Prepared), found
    return found


@pytest.mark.parametrize("draft", [4, 7, 2020])
@pytest.mark.parametrize("chunk", range(4))
def test_random_schemas_mean_the_same_to_engine_and_validator(draft: int, chunk: int) -> None:
    for seed in range(chunk * 12, chunk * 12 + 12):
        random = Random(seed * 31 + draft)
        schema = next(schemas(random, draft))
        told = disagreement(schema, values(random, 15), draft, walks=5, seed=seed)
        assert told is None, (schema, told)


#: A schema, documents that are valid (in the order of keys of the schema), and some that are not.
AS_GIVEN: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    (
        {"oneOf": [{"properties": {"t": {"const": c}}, "required": ["t"]} for c in "ab"]},
        [{"t": "a"}, {"t": "b"}],
        [{"t": "c"}, {}, 1],
    ),
    (
        {"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        [{"a": 1}, {"b": 1}, {"a": 1, "c": 2}],
        [{"a": 1, "b": 1}, {}],
    ),
    (
        {"oneOf": [{"type": "integer", "maximum": 3}, {"type": "number", "minimum": 4}]},
        [3, 4, 4.5],
        [3.5],
    ),
    ({"oneOf": [{"maxLength": 2}, {"minLength": 3}], "type": "string"}, ["", "abc"], [1]),
    ({"oneOf": [{"type": "string"}, {"enum": ["x", 1]}]}, ["y", 1], ["x", 2]),
    ({"oneOf": [{"const": 1}, {"const": 1}, {"type": "string"}]}, ["x"], [1]),
    (
        {
            "oneOf": [
                {"properties": {name: {"type": "string"}}, "additionalProperties": False}
                for name in "ab"
            ],
            "type": "object",
        },
        [{"a": "x"}, {"b": "x"}],
        [{}, {"a": "x", "b": "x"}, {"c": "x"}],
    ),
    (
        {
            "oneOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}],
            "$defs": {
                "a": {"allOf": [{"$ref": "#/$defs/o"}, {"properties": {"k": {"const": 1}}}]},
                "b": {"$ref": "#/$defs/o", "properties": {"k": {"const": 2}}},
                "o": {"type": "object", "required": ["k"]},
            },
        },
        [{"k": 1}, {"k": 2}],
        [{"k": 3}, {}],
    ),
    (
        {"not": {"enum": ["ab", "ac", 1, None]}, "type": ["string", "integer", "null"]},
        ["a", "abc", "", 2],
        ["ab", "ac", 1, None],
    ),
    ({"not": {"enum": ['"', "\\"]}, "type": "string"}, ["", "x", '""'], ['"', "\\"]),
    ({"not": {"pattern": "^a|b$"}, "type": "string"}, ["", "c", "ba"], ["a", "ac", "cb", "b"]),
    (
        {
            "type": "object",
            "properties": {"k": {"type": "string"}, "v": {}},
            "if": {"properties": {"k": {"pattern": "^x"}}, "required": ["k"]},
            "then": {"required": ["v"]},
            "else": {"properties": {"v": False}},
        },
        [{"k": "x", "v": 1}, {"k": "y"}, {}],
        [{"k": "x"}, {"k": "y", "v": 1}, {"v": 1}],
    ),
    ({"not": {"required": ["a"]}, "type": "object"}, [{}, {"b": 1}], [{"a": 1}, 1]),
    ({"not": {"type": ["object", "array"]}}, ["x", 1, None], [{}, []]),
    ({"properties": {"a": {"not": {}}}}, [{}, {"b": 1}], [{"a": 1}]),
    (
        {"not": {"properties": {"a": {"minimum": 2}}, "required": ["a"]}, "type": "object"},
        [{}, {"a": 1}],
        [{"a": 2}, {"a": "x"}],
    ),
    (
        {
            "properties": {"k": {"enum": ["x", "y"]}, "v": {}},
            "type": "object",
            "if": {"properties": {"k": {"const": "x"}}, "required": ["k"]},
            "then": {"required": ["v"]},
            "else": {"properties": {"v": {"type": "string"}}},
        },
        [{"k": "x", "v": 1}, {"k": "y", "v": "s"}, {"k": "y"}, {"v": "s"}, {}],
        [{"k": "x"}, {"k": "y", "v": 1}, {"v": 1}],
    ),
    (
        {"dependentRequired": {"a": ["b"], "b": ["c"]}, "type": "object"},
        [{}, {"c": 1}, {"b": 1, "c": 1}, {"a": 1, "b": 1, "c": 1}],
        [{"a": 1}, {"a": 1, "b": 1}],
    ),
    (
        {"dependentSchemas": {"a": {"properties": {"b": {"type": "integer"}}}}},
        [{"a": 1}, {"a": 1, "b": 1}, {"b": "x"}, 5],
        [{"a": 1, "b": "x"}],
    ),
    (
        {"$schema": DRAFT_7, "dependencies": {"a": ["b"], "c": {"required": ["d"]}}},
        [{}, {"a": 1, "b": 1}, {"c": 1, "d": 1}],
        [{"a": 1}, {"c": 1}],
    ),
    # Each closed part of an intersection is closed by its own properties.
    (
        {
            "allOf": [
                {"properties": {"a": {}}, "additionalProperties": False},
                {"properties": {"b": {}}},
            ]
        },
        [{"a": 1}, {}],
        [{"b": 1}, {"a": 1, "b": 1}],
    ),
    (
        {
            "allOf": [
                {"patternProperties": {"^a": {"maxLength": 1}}},
                {"properties": {"a": {}, "b": {}}, "additionalProperties": False},
            ]
        },
        [{"a": "x", "b": "xx"}],
        [{"a": "xx"}, {"ay": "x"}],
    ),
    (
        {
            "allOf": [
                {"patternProperties": {"^a": {}}, "additionalProperties": False},
                {"properties": {"b": {}, "ab": {"type": "integer"}}},
            ]
        },
        [{"ab": 1}, {"ax": "s"}],
        [{"b": 1}, {"ab": "x"}],
    ),
    # Keywords that act together, parted by one that does not.
    (
        {"$schema": DRAFT_7, "items": [{}], "anyOf": [{}], "additionalItems": False},
        [[], [1]],
        [[1, 2]],
    ),
]


@pytest.mark.parametrize(("schema", "valid", "invalid"), AS_GIVEN)
def test_the_engine_accepts_what_is_valid(
    schema: dict[str, Any], valid: list[Any], invalid: list[Any]
) -> None:
    found = ready(schema)
    assert not found.relaxed, found.warnings
    assert [value for value in valid if not accepts(found.engine_text, value)] == []
    assert [value for value in invalid if accepts(found.engine_text, value)] == []


def test_an_impossible_definition_only_forbids_what_refers_to_it() -> None:
    for impossible in (
        False,
        {"type": "string", "enum": [1]},
        {"type": "string", "pattern": "^a$", "minLength": 5},  # only the engine finds out
        {"type": "object", "required": ["x"], "properties": {"x": {"$ref": "#/$defs/d"}}},
    ):
        schema = {"properties": {"a": {"$ref": "#/$defs/d"}}, "$defs": {"d": impossible}}
        found = ready(schema)
        assert not found.relaxed
        assert accepts(found.engine_text, {"b": 1})
        assert not accepts(found.engine_text, {"a": {}})


def test_what_is_left_out_is_noted_with_its_place_and_the_rest_is_enforced() -> None:
    found = ready(
        {
            "type": "object",
            "properties": {"a": {"type": "string", "maxLength": 2, "not": {"format": "uri"}}},
        }
    )
    assert found.relaxed
    assert found.warnings == (
        "`not` is not enforced while decoding (at /properties/a); the answer is validated "
        "afterwards",
    )
    assert not accepts(found.engine_text, {"a": "abc"})
    assert accepts(found.engine_text, {"a": "x"})


def test_overlapping_options_that_no_keyword_tells_apart_are_noted() -> None:
    found = ready({"oneOf": [{"format": "uri"}, {"format": "uri-reference"}], "type": "string"})
    assert found.relaxed
    assert "`oneOf` is decoded as `anyOf` (at the top)" in found.warnings[0]


def test_many_choices_are_left_to_the_judge_instead_of_multiplied_out() -> None:
    schema = {"dependentRequired": {f"a{i}": [f"b{i}"] for i in range(12)}, "type": "object"}
    found = ready(schema)
    assert found.relaxed
    assert accepts(found.engine_text, {"a11": 1, "b11": 1})


def test_a_keyword_of_another_draft_is_ignored_and_said() -> None:
    found = ready({"dependencies": {"a": ["b"]}})
    assert not found.relaxed
    assert "`dependencies` is ignored" in found.warnings[0]
    assert accepts(found.engine_text, {"a": 1})


@pytest.mark.parametrize(
    "schema", [{"const": 1, "enum": [2]}, {"allOf": [{"type": "string"}, {"type": "null"}]}]
)
def test_a_schema_without_any_value_is_refused(schema: Any) -> None:
    found = prepared(schema)
    assert isinstance(found, GrammarError)
    assert "unsatisfiable" in str(found)
