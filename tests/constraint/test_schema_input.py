"""Schemas as they are given: wrappers, older forms, unknown keywords, and what refusals say."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.constraint.schema.contradiction import contradiction
from fucina_cli.constraint.schema.keywords import KEYWORDS
from fucina_cli.constraint.schema.locate import locate
from fucina_cli.constraint.schema.older import modernized
from fucina_cli.constraint.schema.refusal import refusal
from fucina_cli.constraint.schema.rewrites import trivial
from fucina_cli.constraint.schema.source import Source
from fucina_cli.constraint.schema.walk import Scope, resolved, rewritten, subschemas

_INNER = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
_DRAFT = "http://json-schema.org/draft-0%d/schema#"
_2020 = "https://json-schema.org/draft/2020-12/schema"


def _warnings(schema: Any) -> tuple[str, ...]:
    return JsonSchema(schema).prepare().warnings


def _refusal(schema: Any) -> str:
    with pytest.raises(GrammarError) as caught:
        JsonSchema(schema).prepare()
    return str(caught.value)


# --- wrappers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrapper", "pointer"),
    [
        ({"schema": _INNER}, "/schema"),
        ({"name": "x", "strict": True, "schema": _INNER}, "/schema"),
        ({"type": "json_schema", "name": "x", "schema": _INNER}, "/schema"),
        ({"type": "json_object", "schema": _INNER}, "/schema"),
        (
            {"type": "json_schema", "json_schema": {"name": "x", "schema": _INNER}},
            "/json_schema/schema",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": _INNER}}},
            "/response_format/json_schema/schema",
        ),
        (
            {"text": {"format": {"type": "json_schema", "name": "x", "schema": _INNER}}},
            "/text/format/schema",
        ),
        (
            {"type": "function", "function": {"name": "f", "parameters": _INNER}},
            "/function/parameters",
        ),
        ({"type": "function", "name": "f", "strict": True, "parameters": _INNER}, "/parameters"),
        ({"name": "f", "description": "d", "input_schema": _INNER}, "/input_schema"),
        ({"name": "f", "inputSchema": _INNER}, "/inputSchema"),
        ({"tools": [{"name": "f", "input_schema": _INNER}]}, "/tools/0/input_schema"),
        ([{"type": "function", "function": {"parameters": _INNER}}], "/0/function/parameters"),
        ({"generationConfig": {"responseSchema": _INNER}}, "/generationConfig/responseSchema"),
        ({"model": "m", "messages": [], "format": _INNER}, "/format"),
        ({"guided_json": _INNER}, "/guided_json"),
        ({"structured_outputs": {"json": _INNER}}, "/structured_outputs/json"),
    ],
)
def test_a_schema_is_taken_out_of_the_wrappers_of_apis_and_said_so(
    wrapper: Any, pointer: str
) -> None:
    given_schema = JsonSchema(json.dumps(wrapper))
    assert given_schema.schema == _INNER
    assert given_schema.prepare().warnings == (
        f"the schema is taken out of its wrapper (at {pointer})",
    )
    assert given_schema.judge('{"city": 1}').valid is False


@pytest.mark.parametrize(
    "schema",
    [
        _INNER,
        {"type": "object", "properties": {"schema": {"type": "object"}}},
        {"properties": {"parameters": {"type": "object"}}},
        {"$ref": "#/schema", "schema": {"type": "string"}},
        {"enum": [{"schema": {}}]},
        {"format": "date"},
    ],
)
def test_a_schema_that_has_keywords_is_no_wrapper(schema: Any) -> None:
    assert JsonSchema(schema).schema == schema


def test_several_tools_are_refused() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": _INNER}}
    assert "2 tools (at /tools)" in _refusal({"tools": [tool, tool]})


# --- keywords --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"city": "string"}, ('"city" is no keyword', '"properties": {"city"')),
        ({"name": "string", "date": "string"}, ('"name", "date" are no keywords',)),
        ({"propertis": {}}, ('did you mean "properties"?',)),
        ({"Type": "string"}, ('did you mean "type"?',)),
        ({"description": "d", "city": "string"}, ('"city" is no keyword',)),
        ({"x-a": 1}, ('"x-a" is no keyword',)),
        ({"openapi": "3.0.0", "components": {}}, ("OpenAPI", '"$defs"')),
    ],
)
def test_an_object_without_any_keyword_is_refused_with_the_way_out(
    schema: Any, words: tuple[str, ...]
) -> None:
    message = _refusal(schema)
    assert message.startswith("not a JSON schema: ")
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("schema", "warning"),
    [
        ({"definitions": {"A": {"type": "string"}}}, '"$ref": "#/definitions/A"'),
        ({"title": "t", "$schema": _2020}, "any JSON is an answer"),
    ],
)
def test_a_schema_that_constrains_nothing_is_told(schema: Any, warning: str) -> None:
    assert warning in _warnings(schema)[0]


def test_the_schema_of_anything_is_taken_without_a_word() -> None:
    assert _warnings({}) == _warnings(True) == ()


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("propertis", "properties"),
        ("additonalProperties", "additionalProperties"),
        ("additional_properties", "additionalProperties"),
        ("requred", "required"),
        ("max_length", "maxLength"),
        ("maxLenght", "maxLength"),
        ("anyof", "anyOf"),
        ("one_of", "oneOf"),
        ("enums", "enum"),
        ("item", "items"),
        ("ref", "$ref"),
        ("exclusiveMinimun", "exclusiveMinimum"),
    ],
)
def test_a_misspelled_keyword_is_told_with_what_was_meant_and_where(key: str, meant: str) -> None:
    (warning,) = _warnings({"type": "object", "properties": {"a/b": {"type": "array", key: 1}}})
    assert warning == (
        f"`{key}` is no keyword of JSON Schema and is ignored; "
        f'did you mean "{meant}"? (at /properties/a~1b/{key})'
    )


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "string", "nullable": True}, '"type": ["string", "null"]'),
        ({"enum": ["a"], "type": "string", "nullable": True}, 'null in "enum"'),
        ({"$ref": "#/$defs/a", "$defs": {"a": {}}, "nullable": True}, '{"type": "null"}'),
        ({"type": "string", "values": ["a"]}, 'write "enum"'),
        ({"type": "string", "regex": "a"}, 'write "pattern"'),
        ({"type": "string", "minWords": 3}, "`minWords` is no keyword"),
        ({"type": "object", "optional": True}, 'unless "required" names it'),
        ({"type": "object", "street": {"type": "string"}}, 'a property goes under "properties"'),
        ({"$schema": _DRAFT % 4, "type": "string", "const": "a"}, "`const` is ignored, as `$sch"),
        ({"$schema": _DRAFT % 7, "type": "object", "dependentRequired": {}}, "draft 2019-09"),
        ({"$schema": _2020, "type": "object", "dependencies": {}}, '"dependentRequired"'),
    ],
)
def test_a_keyword_of_elsewhere_that_seems_to_constrain_is_told_with_the_way_out(
    schema: Any, words: str
) -> None:
    assert words in _warnings(schema)[0]


@pytest.mark.parametrize(
    "schema",
    [
        {"x-order": 1, "_format": "a", "example": 1, "examples": [1], "deprecated": True},
        {"id": "a", "discriminator": {}, "xml": {}, "externalDocs": {}, "nullable": False},
        {"markdownDescription": "a", "options": {}, "enumNames": [], "propertyOrder": 1},
        {"$comment": "a", "readOnly": True, "additionalItems": False, "definitions": {}},
        {"type": ["string", "null"], "nullable": True},
        {"properties": {"propertis": {"type": "string"}, "city": {"enum": [{"requred": 1}]}}},
        {"$ref": "#/own/a", "own": {"a": {"type": "string"}}},
    ],
)
def test_annotations_names_of_properties_values_and_targets_are_not_told(schema: Any) -> None:
    assert _warnings({"type": "object", **schema} if "$ref" not in schema else schema) == ()


def test_other_unknown_keywords_are_told_together_and_once() -> None:
    part = {"type": "string", "foo": 1, "bar": 2}
    (warning,) = _warnings({"properties": {"a": part, "b": part}})
    assert warning == (
        "JSON Schema has no such keywords, ignored: `foo`, `bar` (at /properties/a/foo)"
    )


def test_many_misspelled_keywords_take_few_lines() -> None:
    wrong = {f"requred{n}": 1 for n in range(30)}
    assert len(_warnings({"type": "object", **wrong})) <= 7


# --- older forms -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({"minimum": 1, "exclusiveMinimum": True}, {"exclusiveMinimum": 1}),
        ({"maximum": 1, "exclusiveMaximum": True}, {"exclusiveMaximum": 1}),
        ({"minimum": 1, "exclusiveMinimum": False}, {"minimum": 1}),
        ({"items": [{"type": "string"}]}, {"prefixItems": [{"type": "string"}]}),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"prefixItems": [{"type": "string"}], "items": False},
        ),
        ({"items": [], "additionalItems": {"type": "null"}}, {"items": {"type": "null"}}),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}),
        (
            {"dependencies": {"a": {"minProperties": 2}}},
            {"dependentSchemas": {"a": {"minProperties": 2}}},
        ),
        (
            {"properties": {"a": {"type": "string", "required": True}, "b": {"required": False}}},
            {"properties": {"a": {"type": "string"}, "b": {}}, "required": ["a"]},
        ),
    ],
)
def test_forms_of_older_drafts_are_read_as_such_where_no_draft_is_named(old: Any, new: Any) -> None:
    for outer, inner in ((old, new), ({"properties": {"x": old}}, {"properties": {"x": new}})):
        schema, notes = modernized(outer)
        assert schema == inner
        assert len(notes) == 1
        assert JsonSchema(outer).schema == inner
        assert any(notes[0].text in warning for warning in _warnings(outer))


@pytest.mark.parametrize(
    "schema",
    [
        {"$schema": _DRAFT % 4, "minimum": 1, "exclusiveMinimum": True},
        {"$schema": _DRAFT % 7, "items": [{"type": "string"}], "dependencies": {"a": ["b"]}},
        {"items": [{"$ref": "#/items/0"}]},
        _INNER,
    ],
)
def test_a_schema_that_names_its_draft_or_refers_into_an_old_form_is_left_alone(
    schema: Any,
) -> None:
    assert modernized(schema) == (schema, [])


# --- what is no schema -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"$schema": 7}, ("`$schema` takes text", "not 7 (at /$schema)")),
        ({"$schema": []}, ("`$schema` takes text",)),
        ({"$schema": "http://["}, ("`$schema`",)),
        ({"type": "str"}, ('not "str"; write "string" (at /type)',)),
        ({"type": "STRING"}, ('write "string"',)),
        ({"type": ["string", "int"]}, ('not "int"; write "integer"',)),
        ({"type": "date"}, ('"format": "date"',)),
        ({"type": "any"}, ('leave "type" out',)),
        ({"properties": {"a": "string"}}, ('{"type": "string"} (at /properties/a)',)),
        ({"properties": ["a"]}, ("an object from names to schemas", "(at /properties)")),
        ({"properties": {"a": ["x"]}}, ('{"enum": […]}',)),
        ({"required": "a"}, ('write ["a"]',)),
        ({"required": ["a", "a"]}, ("a list of different names", "(at /required)")),
        ({"required": True}, ("beside `properties`",)),
        ({"minLength": -1}, ("a whole number from 0, not -1 (at /minLength)",)),
        ({"anyOf": []}, ("at least one schema", "(at /anyOf)")),
        ({"anyOf": [{"not": 3}]}, ("not 3 (at /anyOf/0/not)",)),
        ({"$schema": _2020, "items": [{}]}, ('"prefixItems"', "(at /items)")),
        ({"$schema": _2020, "maximum": 3, "exclusiveMaximum": True}, ("$schema", "draft-04")),
        ({"$schema": _DRAFT % 4, "exclusiveMaximum": 3}, ("$schema", "draft 6")),
        ({"$schema": _DRAFT % 4, "properties": {"a": True}}, ("$schema", "draft 6")),
        (
            {"$schema": _DRAFT % 7, "properties": {"a": {"required": True}}},
            ("beside `properties`",),
        ),
        ({"properties": {"\ud800": {}}}, ("half of a surrogate pair",)),
    ],
)
def test_what_is_no_schema_is_told_by_keyword_place_and_way_out(
    schema: Any, words: tuple[str, ...]
) -> None:
    message = _refusal(schema)
    assert all(word in message for word in words), message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{type:object,properties:{city:{type:string}}}", ("no quotes", "shell", "@FILE")),
        ("{city:string}", ("no quotes",)),
        ('\'{"type": "string"}\'', ("single quotes",)),
        ("{'type': 'string'}", ("double quotes",)),
        ('{"type": "string",}', ("after the last element",)),
        ('{"type": "string" // text\n}', ("line 1",)),
        ('{\n  // text\n  "type": "string"}', ("line 2", "no comments")),
        ('{"uniqueItems": True}', ("true, false and null",)),
        ("type: string", ("written in JSON",)),
        ("", ("empty",)),
    ],
)
def test_text_that_is_no_json_is_told_with_what_went_wrong(
    text: str, words: tuple[str, ...]
) -> None:
    message = _refusal(text)
    assert message.startswith("not valid JSON: ")
    assert all(word in message for word in words), message


# --- places ----------------------------------------------------------------------------------


def test_places_are_pointers_and_lines_of_the_text_that_was_given() -> None:
    text = '{\n "properties": {\n  "a": {"type": "str"}\n }\n}'
    assert "(at /properties/a/type, line 3)" in _refusal(text)
    wrapped = f'{{"name": "x",\n "schema": {text}}}'
    assert "(at /schema/properties/a/type, line 4)" in _refusal(wrapped)
    assert "(at /properties/a/type)" in _refusal(text.replace("\n", " "))


def test_a_key_that_is_given_twice_is_told() -> None:
    (warning,) = _warnings('{"type": "object",\n"type": "string"}')
    assert warning == "the key is given 2 times; the last one counts (at /type, line 2)"


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(_JSON)
def test_every_key_and_element_has_its_line(value: Any) -> None:
    text = "\n" + json.dumps(value, indent=1)
    source = Source(text)
    lines = text.split("\n")

    def check(part: Any, pointer: str) -> None:
        items = (
            part.items()
            if isinstance(part, dict)
            else enumerate(part)
            if isinstance(part, list)
            else ()
        )
        for key, inner in items:
            name = str(key).replace("~", "~0").replace("/", "~1")
            line = source.line(f"{pointer}/{name}")
            assert line is not None
            if isinstance(part, dict):
                assert lines[line - 1].lstrip().startswith(json.dumps(key))
            check(inner, f"{pointer}/{name}")

    check(value, "")
    assert source.repeated() == []


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"$ref": "#/$defs/B"}}}, ("#/$defs/B", "(at /properties/a)")),
        ({"anyOf": [{"$ref": "http://a.b/c"}]}, ("`$ref`", "http://a.b/c", "(at /anyOf/0")),
        ({"const": 1, "enum": [2]}, ("`const` 1 is not in `enum` [2]",)),
        ({"type": "string", "enum": [1]}, ('`enum` [1] has no value of `type` "string"',)),
        ({"type": "array", "minItems": 5, "maxItems": 1}, ("`minItems` 5 is above `maxItems` 1",)),
        (
            {
                "type": "object",
                "required": ["a"],
                "properties": {"a": {"$ref": "#/$defs/x y"}},
                "$defs": {"x y": {"type": "array", "minItems": 5, "maxItems": 1}},
            },
            ("`minItems` 5 is above `maxItems` 1 (at /$defs/x y)",),
        ),
        (
            {"type": "object", "additionalProperties": False, "required": ["a"]},
            ('"a"', "`additionalProperties: false`"),
        ),
        (
            {"type": "string", "pattern": "^x$", "minLength": 2},
            ("`pattern` and `minLength`", "unsatisfiable"),
        ),
        ({"type": "string", "enum": []}, ("`enum` is empty",)),
    ],
)
def test_a_refusal_of_the_engine_names_keyword_and_place(
    schema: Any, words: tuple[str, ...]
) -> None:
    message = _refusal(schema)
    assert all(word in message for word in words), message
    assert "line 1 column" not in message
    assert "json-schema:" not in message


@pytest.mark.parametrize(
    ("schema", "place"),
    [
        ({"type": "integer", "minimum": 5, "maximum": 1}, ""),
        ({"allOf": [{}, {"type": "array", "minItems": 2, "maxItems": 1}]}, "/allOf/1"),
        (
            {"type": "object", "properties": {"a": {"enum": []}}, "required": ["a"]},
            "/properties/a",
        ),
        ({"type": "array", "minItems": 1, "items": {"const": 1, "type": "null"}}, "/items"),
        ({"$ref": "#/$defs/a", "$defs": {"a": False}}, "/$defs/a"),
    ],
)
def test_a_contradiction_is_found_where_every_answer_must_satisfy(schema: Any, place: str) -> None:
    found = contradiction(schema)
    assert found is not None
    assert found[0] == place
    assert _refusal(schema).endswith(f"(at {place or 'the top'})")


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": False}},
        {"anyOf": [False, {"type": "integer", "minimum": 5, "maximum": 1}, {}]},
        {"minimum": 5, "maximum": 1},
        {"type": "array", "items": False},
        {"const": 1.0, "type": "integer"},
        {"$ref": "#"},
        {"required": ["a"], "additionalProperties": False},
    ],
)
def test_no_contradiction_is_seen_where_there_is_an_answer(schema: Any) -> None:
    assert contradiction(schema) is None


def test_a_long_pattern_does_not_push_the_reason_out_of_the_message() -> None:
    pattern = "x" * 5000 + "(?=a)"
    schema = {"properties": {"a": {"type": "string", "pattern": pattern}, "b": {"type": "null"}}}
    failure = f"regex parse error: {pattern} look-around is not supported"

    def fails(trial: Any) -> str | None:
        return failure if pattern in json.dumps(resolved(trial, trial["$ref"][1:])) else None

    message = refusal(schema, failure, fails, Source())
    assert message.startswith('`pattern` "xxx')
    assert "look-around" in message
    assert message.endswith("(at /properties/a)")
    assert len(message) < 400


def test_a_warning_of_the_engine_names_its_places() -> None:
    (warning,) = _warnings({"properties": {"a": {"type": "array", "uniqueItems": True}}})
    assert "`uniqueItems`" in warning or "/uniqueItems" in warning
    assert "/properties/a" in warning


def test_locating_takes_few_trials() -> None:
    trials = 0

    def fails(_schema: Any) -> str:
        nonlocal trials
        trials += 1
        return "no"

    deep: dict[str, Any] = {}
    for _ in range(300):
        deep = {"items": deep}
    assert locate(deep, "no", fails)[0] == "/items" * 200
    assert trials <= 200


# --- rewrites --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "simpler"),
    [
        ({"not": {}}, False),
        ({"not": True, "type": "string"}, False),
        ({"not": {"description": "d"}}, False),
        ({"not": False, "type": "string"}, {"type": "string"}),
        ({"properties": {"a": {"not": {}}}}, {"properties": {"a": False}}),
        ({"propertyNames": {"type": "string"}}, {}),
        ({"propertyNames": True}, {}),
        (
            {"propertyNames": {"type": ["string", "null"], "maxLength": 3}},
            {"propertyNames": {"maxLength": 3}},
        ),
        ({"propertyNames": {"type": "integer"}}, {"propertyNames": {"type": "integer"}}),
        ({"propertyNames": False}, {"propertyNames": False}),
        ({"$schema": _DRAFT % 7, "$ref": "#/definitions/a", "not": {}}, None),
    ],
)
def test_keywords_that_forbid_everything_or_nothing_are_simplified(
    schema: Any, simpler: Any
) -> None:
    scope = Scope(schema)
    assert rewritten(schema, trivial.rewrite, scope) == (schema if simpler is None else simpler)
    assert scope.notes == []


@pytest.mark.parametrize("schema", [{"not": {}}, {"not": True}, {"allOf": [{"not": {}}]}])
def test_a_schema_that_forbids_every_value_is_unsatisfiable(schema: Any) -> None:
    assert "unsatisfiable" in _refusal(schema)


# --- anything --------------------------------------------------------------------------------

_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [
        None, True, False, 0, -1, 1.5, "", "a", "object", "#/x", "#", "http://[", "[", [], {},
        ["a"], [1], {"a": {}}, {"a": ["b"]}, [{}], [True], {"type": "string"}, 10**30, "\ud800",
    ]
)  # fmt: skip
_SCHEMAS = st.recursive(
    _VALUES,
    lambda inner: st.dictionaries(
        st.sampled_from([*KEYWORDS, "schema", "parameters", "name", "nullable", "propertis"]),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)


@given(_SCHEMAS)
def test_any_json_is_a_schema_or_refused(schema: Any) -> None:
    message = ""
    try:
        JsonSchema(json.dumps(schema)).prepare()
    except GrammarError as error:
        message = str(error)
    assert len(message) < 700
    assert "json-schema:///" not in message


@pytest.mark.parametrize("name", ["My Type", "Partial<A>", "a[b]", "é", "«a»", "100%", 'q"', "#"])
def test_a_reference_may_spell_a_name_as_it_is(name: str) -> None:
    schema = JsonSchema({"$ref": f"#/$defs/{name}", "$defs": {name: {"type": "integer"}}})
    schema.prepare()
    assert schema.judge("1").valid
    assert schema.judge('"1"').valid is False


def test_every_subschema_is_visited_once() -> None:
    schema = {"items": [{"not": {}}, True], "properties": {"a/b": {"anyOf": [{}]}}, "enum": [{}]}
    assert [pointer for pointer, _ in subschemas(schema)] == [
        "", "/items/0", "/items/0/not", "/items/1", "/properties/a~1b", "/properties/a~1b/anyOf/0",
    ]  # fmt: skip
