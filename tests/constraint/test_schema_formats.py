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
def matcher(**schema: Any) -> LLMatcher:
    prepared = JsonSchema(schema).prepare()
    made = LLMatcher(BYTES, prepared.engine_text, log_level=0)
    assert not made.is_error(), made.get_error()
    return made


def allows(form: str, text: str) -> bool:
    """Whether the text's plainest spelling can be decoded."""
    spelled = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f").encode()
    state = matcher(type="string", format=form).deep_copy()
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
