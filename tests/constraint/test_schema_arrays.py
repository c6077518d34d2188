"""Arrays: items that must be there, and items that must differ."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.schemas import Engine, compact, valid

_DRAFTS = [
    "https://json-schema.org/draft/2020-12/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "http://json-schema.org/draft-07/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-04/schema#",
]


@pytest.mark.parametrize("draft", _DRAFTS)
def test_different_values_of_an_enum(draft: str) -> None:
    items = {"enum": ["a", 1, True, None]}
    engine = Engine({"$schema": draft, "type": "array", "items": items, "uniqueItems": True})
    assert not engine.relaxed
    assert all(map(engine.accepts, ("[]", '["a"]', '[null,1,true,"a"]', "[true,1]")))
    assert not any(map(engine.accepts, ("[1,1]", "[1,null,1]", '["a",1,true,null,"a"]', "[2]")))


def test_many_values_are_told_apart_in_part() -> None:
    values = list(range(10))
    engine = Engine({"type": "array", "items": {"enum": values}, "uniqueItems": True})
    assert engine.relaxed
    assert "`uniqueItems` is enforced only in part" in engine.prepared.warnings[0]
    assert engine.accepts(compact(values[::-1]))
    assert not engine.accepts("[3,3]")
    assert not engine.accepts(compact([*values, 0]))


def test_free_items_are_left_to_the_judge() -> None:
    engine = Engine({"type": "array", "items": {"type": "string"}, "uniqueItems": True})
    assert engine.relaxed
    assert "`uniqueItems`" in engine.prepared.warnings[0]
    assert not Engine({"type": "array", "maxItems": 1, "uniqueItems": True}).relaxed


@pytest.mark.parametrize(
    ("schema", "accepted", "refused"),
    [
        ({"contains": {}}, ["[1]", "[1,2]"], ["[]"]),
        ({"contains": {"type": "string"}, "items": {"type": "string"}}, ['["a"]'], ["[]"]),
        ({"contains": {"const": 1}, "maxItems": 3}, ["[1]", "[0,0,1]"], ["[]", "[0]", "[0,0,0]"]),
        (
            {"contains": {"type": "string"}, "maxContains": 1, "maxItems": 3},
            ['["a"]', '[1,"a",1]'],
            ["[1]", '["a","b"]', '["a",1,"b"]'],
        ),
        (
            {"contains": {"enum": [1]}, "items": {"enum": [0, 1]}, "minContains": 2, "maxItems": 3},
            ["[1,1]", "[1,0,1]"],
            ["[1]", "[1,0,0]"],
        ),
        ({"contains": False, "minContains": 0}, ["[]", "[1]"], []),
    ],
)
def test_items_that_must_be_there(
    schema: dict[str, Any], accepted: list[str], refused: list[str]
) -> None:
    engine = Engine({"type": "array", **schema})
    assert not engine.relaxed
    assert [text for text in accepted if not engine.accepts(text)] == []
    assert [text for text in refused if engine.accepts(text)] == []


def test_an_item_at_any_place_is_left_to_the_judge() -> None:
    engine = Engine({"type": "array", "contains": {"const": 1}})
    assert engine.relaxed
    assert "`contains` is not enforced" in engine.prepared.warnings[0]
    assert not engine.accepts("[]")


def test_unevaluated_items() -> None:
    first = {"prefixItems": [{"type": "integer"}]}
    for schema in ({**first}, {"allOf": [first]}):
        engine = Engine({"type": "array", **schema, "unevaluatedItems": {"type": "string"}})
        assert not engine.relaxed
        assert all(map(engine.accepts, ("[]", "[1]", '[1,"a","b"]')))
        assert not any(map(engine.accepts, ('["a"]', "[1,2]")))


_values = st.sampled_from([0, 1, 2, "s", None, True, False])
_leaf = st.sampled_from(
    [True, {"type": "integer"}, {"type": "string"}, {"enum": [1, "s"]}, {"type": "boolean"}, False]
)
_keywords: dict[str, st.SearchStrategy[Any]] = {
    "items": st.one_of(
        _leaf, st.lists(_values, min_size=1, max_size=4).map(lambda values: {"enum": values})
    ),
    "prefixItems": st.lists(_leaf, min_size=1, max_size=3),
    "uniqueItems": st.booleans(),
    "contains": st.one_of(_leaf, st.sampled_from([{"const": 1}, {"type": "number"}])),
    "minContains": st.integers(0, 3),
    "maxContains": st.integers(0, 3),
    "minItems": st.integers(0, 3),
    "maxItems": st.integers(0, 4),
    "unevaluatedItems": _leaf,
}


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["array", ["array", "null"]])}, optional=_keywords
    ),
    st.lists(st.lists(_values, max_size=4), min_size=8, max_size=8),
)
def test_grammar_and_schema_agree(schema: dict[str, Any], documents: list[list[Any]]) -> None:
    expected = [valid(schema, document) for document in documents]
    engine = Engine.if_possible(schema)
    if engine is None:
        assert not any(expected)
        return
    for document, right in zip(documents, expected, strict=True):
        accepted = engine.accepts_value(document)
        assert accepted or not right, document
        assert right or not accepted or engine.relaxed, document
