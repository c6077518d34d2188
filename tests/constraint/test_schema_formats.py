"""`format`: right values of the RFCs, and the engine's patterns against the judge's reading."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from llguidance import LLTokenizer
from llguidance._lib import LLMatcher

from fucina_cli import JsonSchema
from fucina_cli.constraint.schema.judging.formats import CHECKS
from fucina_cli.constraint.schema.rewrites.format_patterns import FORMATS

EXACT = sorted(name for name, form in FORMATS.items() if form.exact)
BYTES = LLTokenizer("byte")

#: Right and wrong values per format, most of them near the edges of its RFC.
VALUES: dict[str, dict[str, list[str]]] = json.loads(
    Path(__file__).with_name("format_values.json").read_text(encoding="utf-8")
)


@functools.cache
def matcher_of(schema: str) -> LLMatcher:
    prepared = JsonSchema(schema).prepare()
    made = LLMatcher(BYTES, prepared.engine_text, log_level=0)
    assert not made.is_error(), made.get_error()
    return made


def allows(form: str, text: str) -> bool:
    """Whether the text's plainest spelling can be decoded."""
    spelled = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").encode()
    state = matcher_of(json.dumps({"type": "string", "format": form})).deep_copy()
    return state.try_consume_tokens(list(spelled)) == len(spelled) and state.is_accepting()


def test_every_format_is_known_to_engine_and_judge() -> None:
    assert set(CHECKS) == set(FORMATS) == set(VALUES)


@pytest.mark.parametrize("form", VALUES)
def test_the_judge_reads_formats_by_their_rfcs(form: str) -> None:
    right, wrong = VALUES[form]["right"], VALUES[form]["wrong"]
    assert [text for text in right if not CHECKS[form](text)] == []
    assert [text for text in wrong if CHECKS[form](text)] == []


@pytest.mark.parametrize("form", VALUES)
def test_the_engine_allows_all_that_is_right_and_nothing_wrong_where_exact(form: str) -> None:
    right, wrong = VALUES[form]["right"], VALUES[form]["wrong"]
    assert [text for text in right if not allows(form, text)] == []
    if FORMATS[form].exact:
        assert [text for text in wrong if allows(form, text)] == []


def near(form: str) -> st.SearchStrategy[str]:
    """Values of the table with a few characters changed, so that most are almost right."""
    every = [text for part in VALUES[form].values() for text in part if not _surrogates(text)]
    characters = sorted({c for text in every for c in text})

    def edited(text: str, edits: list[tuple[float, str, int]]) -> str:
        for where, character, removed in edits:
            at = int(where * len(text))
            text = text[:at] + character + text[at + removed :]
        return text

    edit = st.tuples(st.floats(0, 1), st.sampled_from(["", *characters]), st.integers(0, 2))
    return st.builds(edited, st.sampled_from(every), st.lists(edit, max_size=3))


@pytest.mark.parametrize("form", EXACT)
def test_the_engine_allows_what_the_judge_takes(form: str) -> None:
    @settings(max_examples=150, deadline=None)
    @given(text=near(form))
    def agree(text: str) -> None:
        assert allows(form, text) == CHECKS[form](text)

    agree()


@settings(max_examples=400, deadline=None)
@given(
    year=st.integers(0, 9999),
    month=st.integers(0, 13),
    day=st.integers(27, 32),
)
@example(year=0, month=2, day=29)
@example(year=100, month=2, day=29)
@example(year=400, month=2, day=29)
def test_dates_agree(year: int, month: int, day: int) -> None:
    text = f"{year:04}-{month:02}-{day:02}"
    assert allows("date", text) == CHECKS["date"](text)


@settings(max_examples=400, deadline=None)
@given(
    minute=st.integers(0, 1439),
    second=st.sampled_from([0, 59, 60, 61]),
    offset=st.integers(-1439, 1439),
    near_midnight=st.sampled_from([None, 0, 1, -1, 60, 600]),
    form=st.sampled_from(["time", "date-time"]),
)
def test_leap_seconds_agree(
    minute: int, second: int, offset: int, near_midnight: int | None, form: str
) -> None:
    if near_midnight is not None:  # else few would be leap seconds
        minute = (1439 + offset + near_midnight) % 1440
    sign, size = "-" if offset < 0 else "+", abs(offset)
    text = f"{minute // 60:02}:{minute % 60:02}:{second:02}{sign}{size // 60:02}:{size % 60:02}"
    if form == "date-time":
        text = f"2016-12-31T{text}"
    right = second < 60 or (second == 60 and (minute - offset) % 1440 == 1439)
    assert allows(form, text) == CHECKS[form](text) == right


def _surrogates(text: str) -> bool:
    return any("\ud800" <= c <= "\udfff" for c in text)


# -- beside other keywords ---------------------------------------------------------------------


def accepted(schema: dict[str, Any], text: str) -> bool:
    state = matcher_of(json.dumps(schema)).deep_copy()
    return state.try_consume_tokens(list(text.encode())) == len(text) and state.is_accepting()


@pytest.mark.parametrize("form", FORMATS)
def test_formats_say_nothing_about_other_values(form: str) -> None:
    schema = JsonSchema({"format": form})
    for text in ("12", "null", "[]", "true", "{}"):
        assert accepted(schema.schema, text)
        assert schema.judge(text).valid
    assert JsonSchema({"type": "integer", "format": form}).prepare().warnings == ()


@pytest.mark.parametrize("kind", [{}, {"type": "string"}, {"type": ["string", "null"]}])
def test_a_pattern_beside_a_format_and_its_lengths_hold_too(kind: dict[str, Any]) -> None:
    schema = {**kind, "format": "date-time", "pattern": "^20.*[Zz]$", "maxLength": 20}
    schema["allOf"] = [{"pattern": "-0"}]
    assert accepted(schema, '"2016-02-29T23:59:60Z"')
    for text in ("1999-01-01T00:00:00Z", "2016-12-31T23:59:60Z", "2016-01-01T00:00:00+00:00"):
        assert not accepted(schema, f'"{text}"')
    assert not accepted(schema, '"2016-01-01T00:00:00.5Z"')
    assert not accepted({**kind, "format": "hostname", "maxLength": 3}, '"four"')
    assert not accepted({**kind, "format": "hostname", "maxLength": 999}, f'"{"a." * 127}a"')


def test_formats_that_no_draft_knows_are_left_out_with_one_note() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer", "format": "int32"},
            "b": {"type": "string", "format": "markdown", "maxLength": 9},
            "format": {"type": "string", "format": "int32"},
        },
    }
    prepared = JsonSchema(schema).prepare()
    (warning,) = prepared.warnings
    assert "int32, markdown" in warning
    assert "/properties/a" in warning
    assert not prepared.relaxed
    assert JsonSchema(schema).judge('{"a":1,"b":"x","format":""}').valid


def test_formats_that_patterns_only_bound_are_told_once_each() -> None:
    host = {"type": "string", "format": "hostname"}
    prepared = JsonSchema({"anyOf": [host, {"items": host}]}).prepare()
    (warning,) = prepared.warnings
    assert "`format` hostname" in warning
    assert prepared.relaxed


def test_a_format_in_a_negation_is_never_weakened_to_one_of_all_strings() -> None:
    schema = {"type": "string", "maxLength": 4, "not": {"format": "regex"}}
    prepared = JsonSchema(schema).prepare()
    assert prepared.relaxed
    assert accepted(schema, '"("')


# -- keys that are there twice -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pointer", "key"),
    [
        ('{"red":1,"red":1}', "answer", "red"),
        (r'{"red":1,"\u0072ed":2,"red":3}', "answer", "red"),
        ('[0,{"a/b":{"x":[{"k":1,"k":2}]}}]', "/1/a~1b/x/0", "k"),
        ('{"a":{"b":1,"b":2},"a":3}', "/a", "b"),
        (r'{"\n":1,"\u000a":2}', "answer", r"\n"),
        ('{"":1,"":1}', "answer", ""),
    ],
)
def test_the_judge_finds_keys_that_an_object_has_twice(text: str, pointer: str, key: str) -> None:
    verdict = JsonSchema({}).judge(text)
    assert verdict.valid is False
    assert f'{pointer}: the key "{key}" is there twice' in verdict.errors


def test_equal_keys_of_different_objects_are_no_fault() -> None:
    assert JsonSchema({}).judge('{"a":{"a":[{"a":1},{"a":1}]},"A":1,"á":1,"a\u0301":1}').valid
