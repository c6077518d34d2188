"""Objects: keys, their counts and their names, as the grammar takes them and as the schema says."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fucina_cli.constraint.kind import GrammarError
from tests.support.schemas import Engine, orders, valid

_INTEGER = {"type": "integer"}


def spelled(name: str) -> str:
    return "".join(f"\\u{ord(char):04x}" for char in name)


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": _INTEGER}},
        {"properties": {"a": _INTEGER}, "additionalProperties": {"type": "string"}},
        {"patternProperties": {"^a": _INTEGER}},
        {"patternProperties": {"^a": _INTEGER}, "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"a": _INTEGER}, "anyOf": [{"required": ["b"]}, True]},
        {"allOf": [{"properties": {"a": _INTEGER}}, {"properties": {"b": _INTEGER}}]},
        {
            "properties": {"c": {}},
            "$ref": "#/$defs/d",
            "$defs": {"d": {"properties": {"a": False}}},
        },
        {"properties": {"a": _INTEGER}, "anyOf": [{"patternProperties": {"^x": False}}, {}]},
    ],
)
def test_no_key_spells_a_declared_one_by_escapes(schema: dict[str, Any]) -> None:
    engine = Engine(schema)
    assert not engine.relaxed
    assert not engine.accepts('{"\\u0061":"s"}')
    assert not engine.accepts('{"a":"s"}')
    assert engine.accepts('{"b":"s"}') == valid(schema, {"b": "s"})
    assert engine.accepts('{"é\\u0001":"s","\\n":"s"}') == valid(schema, {"é\x01": "s", "\n": "s"})


@pytest.mark.parametrize("rest", [{}, {"additionalProperties": {"type": "string"}}])
def test_a_name_that_the_engine_spells_in_several_ways_is_declared_in_all(rest: Any) -> None:
    engine = Engine({"properties": {"x\ny": _INTEGER}, "required": ["x\ny", "\t"], **rest})
    assert engine.accepts('{"x\\ny":1,"\\t":"s"}')
    assert not engine.accepts('{"x\\ny":1,"\\t":"s","x\\u000ay":"s"}')
    assert not engine.accepts('{"x\\ny":1,"\\t":"s","\\u0009":"s"}')


def test_declared_keys_do_not_come_again() -> None:
    engine = Engine({"type": "object", "properties": {"a": {}}, "required": ["b"]})
    assert engine.accepts('{"a":1,"b":1,"c":1}')
    for again in ('{"a":1,"b":1,"a":1}', '{"a":1,"b":1,"b":1}', '{"a":1,"b":1,"\\u0062":1}'):
        assert not engine.accepts(again)


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        (
            {"properties": {"a": {}, "b": {}}, "additionalProperties": False, "minProperties": 2},
            ['{"a":1,"b":1}'],
            ["{}", '{"a":1}', '{"b":1}'],
        ),
        (
            {"properties": {"a": {}}, "minProperties": 1},
            ['{"a":1}', '{"b":1}', '{"a":1,"b":1}'],
            ["{}"],
        ),
        (
            {"properties": {"a": {}, "b": {}, "c": {}}, "minProperties": 2},
            ['{"a":1,"c":1}', '{"b":1,"x":1}', '{"x":1,"y":1}', '{"a":1,"b":1,"c":1,"x":1}'],
            ["{}", '{"b":1}', '{"x":1}'],
        ),
        (
            {"properties": {"a": {}, "b": {}}, "required": ["a"], "maxProperties": 2},
            ['{"a":1}', '{"a":1,"b":1}', '{"a":1,"x":1}'],
            ['{"a":1,"b":1,"x":1}', '{"a":1,"x":1,"y":1}'],
        ),
        (
            {
                "properties": {"a": {}, "b": {}, "c": {}},
                "additionalProperties": False,
                "minProperties": 1,
                "maxProperties": 2,
            },
            ['{"a":1}', '{"b":1,"c":1}'],
            ["{}", '{"a":1,"b":1,"c":1}'],
        ),
        (
            {
                "minProperties": 2,
                "anyOf": [{"properties": {"a": {}, "b": False}}, {"required": ["z"]}],
            },
            ['{"a":1,"x":1}', '{"a":1,"z":1}'],
            ['{"a":1}', '{"z":1}'],
        ),
    ],
)
def test_counts_of_keys(schema: dict[str, Any], accepted: list[str], refused: list[str]) -> None:
    engine = Engine({"type": "object", **schema})
    assert not engine.relaxed
    assert [text for text in accepted if not engine.accepts(text)] == []
    assert [text for text in refused if engine.accepts(text)] == []


def test_counts_with_too_many_cases_are_left_to_the_judge() -> None:
    names = {f"n{index}": _INTEGER for index in range(30)}
    engine = Engine({"type": "object", "properties": names, "minProperties": 5})
    assert engine.relaxed
    assert "`minProperties`" in engine.prepared.warnings[0]
    assert engine.accepts('{"n1":1,"n2":1,"n3":1,"n4":1,"n5":1}')
    assert not engine.accepts("{}")


def test_impossible_counts_are_refused() -> None:
    with pytest.raises(GrammarError, match="unsatisfiable"):
        Engine({"type": "object", "required": ["a", "b"], "maxProperties": 1})
    engine = Engine({"type": ["object", "null"], "minProperties": 2, "maxProperties": 1})
    assert engine.accepts("null")
    assert not engine.accepts("{}")


@pytest.mark.parametrize(
    ("naming", "accepted", "refused"),
    [
        ({"enum": ["a", "x1"]}, ['{"a":1,"x1":null}', "{}"], ['{"b":1}', '{"x1":1}', '{"a":""}']),
        ({"pattern": "^x"}, ['{"x1":null}', '{"x":null}', "{}"], ['{"a":1}', '{"y":1}', '{"x":1}']),
        ({"maxLength": 1}, ['{"a":1,"b":1}'], ['{"bb":1}', '{"x1":null}']),
        ({"not": {"const": "b"}}, ['{"a":1}', '{"x1":null}'], ['{"b":1}', '{"x1":1}']),
        (False, ["{}"], ['{"a":1}']),
        (True, ['{"a":1}', '{"b":1}'], ['{"a":""}']),
    ],
)
def test_names_of_keys(naming: Any, accepted: list[str], refused: list[str]) -> None:
    schema = {
        "type": "object",
        "properties": {"a": _INTEGER},
        "patternProperties": {"^x": {"type": "null"}},
        "propertyNames": naming,
    }
    engine = Engine(schema)
    assert not engine.relaxed
    assert [text for text in accepted if not engine.accepts(text)] == []
    assert [text for text in refused if engine.accepts(text)] == []


def test_names_that_a_pattern_can_not_say_are_left_to_the_judge() -> None:
    engine = Engine({"type": "object", "propertyNames": {"format": "uuid"}})
    assert engine.relaxed
    assert "`propertyNames` is not enforced" in engine.prepared.warnings[0]


def test_overlapping_patterns_are_split() -> None:
    engine = Engine(
        {
            "type": "object",
            "patternProperties": {"^x": _INTEGER, "y$": {"minimum": 3}, "^(?!x)": {}},
            "additionalProperties": False,
        }
    )
    assert not engine.relaxed
    assert all(map(engine.accepts, ('{"xy":3}', '{"x":1}', '{"ay":"s"}', '{"b":[]}')))
    assert not any(map(engine.accepts, ('{"xy":1}', '{"x":"s"}', '{"ay":1}')))


def test_patterns_that_can_not_be_split_hold_values_to_one_of_their_schemas() -> None:
    long = "|".join(f"(?:[0-9a-f]{{{count}}})" for count in (40, 51, 62))
    engine = Engine({"patternProperties": {long: _INTEGER, "(?:a|b){60}c": {"type": "string"}}})
    assert engine.relaxed
    assert any("`patternProperties`" in text for text in engine.prepared.warnings)
    assert engine.accepts(json.dumps({"a" * 60 + "c": "s"}).replace(" ", ""))


def test_additional_properties_knows_patterns_beyond_an_applicator() -> None:
    engine = Engine(
        {
            "type": "object",
            "patternProperties": {"^x": _INTEGER},
            "anyOf": [{"required": ["x"]}, {"required": ["x1"]}],
            "additionalProperties": False,
        }
    )
    assert engine.accepts('{"x":1}')
    assert not engine.accepts('{"x":1,"y":1}')


@pytest.mark.parametrize(
    ("schema", "relaxed"),
    [
        ({"properties": {"a": {}}}, False),
        ({"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}]}, False),
        ({"properties": {"a": {}}, "anyOf": [{"properties": {"b": {}}}, True]}, True),
    ],
)
def test_unevaluated_properties(schema: dict[str, Any], relaxed: bool) -> None:
    schema = {"type": "object", **schema, "unevaluatedProperties": False}
    engine = Engine(schema)
    assert engine.relaxed == relaxed
    assert engine.accepts('{"a":1}')
    assert engine.accepts('{"a":1,"b":1}') == valid(schema, {"a": 1, "b": 1})
    assert not engine.accepts('{"a":1,"c":1}')


def test_old_drafts_do_not_know_younger_keywords() -> None:
    draft_4 = {"$schema": "http://json-schema.org/draft-04/schema#", "type": "object"}
    for unknown in ({"propertyNames": False}, {"unevaluatedProperties": False}):
        assert Engine({**draft_4, **unknown}).accepts('{"a":1}')


_NAMES = ["a", "b", "xa", "xy", "y", "\n"]
_leaf = st.sampled_from(
    [
        True,
        {},
        _INTEGER,
        {"type": "string"},
        {"enum": [1, "s"]},
        {"type": ["integer", "null"]},
        False,
    ]
)
_patterns = st.sampled_from(["^x", "y$", "^[a-b]", "a", "^xy$", "^", "^(?!x)", "^.$"])
_keywords: dict[str, st.SearchStrategy[Any]] = {
    "properties": st.dictionaries(st.sampled_from(_NAMES), _leaf, min_size=1, max_size=3),
    "patternProperties": st.dictionaries(_patterns, _leaf, max_size=3),
    "additionalProperties": st.one_of(st.booleans(), _leaf),
    "required": st.lists(st.sampled_from(_NAMES), min_size=1, max_size=2, unique=True),
    "minProperties": st.integers(0, 3),
    "maxProperties": st.integers(0, 3),
    "propertyNames": st.sampled_from(
        [{"enum": ["a", "xa", "y"]}, {"pattern": "^x"}, {"maxLength": 1}, {"not": {"const": "a"}}]
    ),
    "unevaluatedProperties": st.one_of(st.just(False), _leaf),
}
_plain: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {"type": st.sampled_from(["object", ["object", "null"]])}, optional=_keywords
)
_schemas = st.recursive(
    _plain,
    lambda inner: st.tuples(
        _plain, st.sampled_from(["allOf", "anyOf"]), st.lists(inner, min_size=1, max_size=2)
    ).map(lambda made: {**made[0], made[1]: made[2]}),
    max_leaves=3,
)
_documents = st.lists(
    st.dictionaries(
        st.sampled_from([*_NAMES, "zz"]), st.sampled_from([1, 0, "s", None, True]), max_size=3
    ),
    min_size=8,
    max_size=8,
)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(_schemas, _documents)
def test_grammar_and_schema_agree(schema: dict[str, Any], documents: list[dict[str, Any]]) -> None:
    expected = [valid(schema, document) for document in documents]
    engine = Engine.if_possible(schema)
    if engine is None:
        assert not any(expected)
        return
    for document, right in zip(documents, expected, strict=True):
        accepted = engine.accepts_value(document)
        assert accepted or not right, document
        if engine.relaxed:
            continue
        assert right or not accepted, document
        for name in document if not right else ():
            for text in orders(document):
                escaped = text.replace(f"{json.dumps(name)}:", f'"{spelled(name)}":')
                assert not engine.accepts(escaped), escaped
