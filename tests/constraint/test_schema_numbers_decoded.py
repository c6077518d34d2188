"""Numbers that the grammar engine writes under a schema, against the judge."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from llguidance import LLMatcher, LLTokenizer

from fucina_cli import JsonSchema
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.engine_numbers import digits_of
from fucina_cli.constraint.trial import LIMITS

_BYTES = LLTokenizer("byte")


class Engine:
    """The engine under a schema as it compiles it, over a vocabulary of single bytes."""

    def __init__(self, schema: str) -> None:
        self.schema = JsonSchema(schema)
        self.prepared = self.schema.prepare()
        self._matcher = LLMatcher(_BYTES, self.prepared.engine_text, log_level=0, limits=LIMITS)
        assert not self._matcher.is_error(), self._matcher.get_error()

    def writes(self, answer: str) -> bool:
        matcher = self._matcher.deep_copy()
        data = list(answer.encode())
        if matcher.validate_tokens(data) < len(data):
            return False
        matcher.consume_tokens(data)
        return bool(matcher.is_accepting())

    def valid(self, answer: str) -> bool:
        return bool(self.schema.judge(answer).valid)


def plain(number: Fraction | Decimal) -> str:
    """A number without an exponent and without zeros at its end."""
    return f"{Decimal(digits_of(Fraction(number))):f}"


def unsatisfiable(error: GrammarError) -> None:
    assert "unsatisfiable" in str(error)


def agrees(schema: dict[str, Any], numbers: list[Fraction]) -> None:
    text = document.dumps(schema)
    try:
        engine = Engine(text)
    except GrammarError as error:
        unsatisfiable(error)
        judge = JsonSchema(text).judge
        assert not any(judge(plain(number)).valid for number in numbers)
        return
    for number in numbers:
        answer = plain(number)
        writes, valid = engine.writes(answer), engine.valid(answer)
        assert writes or not valid, (text, answer, "is refused")
        assert engine.prepared.relaxed or valid or not writes, (text, answer, "is taken")


small = st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(-1200, 1200),
    st.integers(0, 4),
)
whole = st.integers(-30, 30) | st.integers(-(10**19), 10**19)
bounds = st.fixed_dictionaries(
    {"type": st.sampled_from(["number", "integer", ["number", "null"], ["null", "integer"]])},
    optional={
        "minimum": small | whole,
        "exclusiveMinimum": small | whole,
        "maximum": small | whole,
        "exclusiveMaximum": small | whole,
    },
)
steps = st.sampled_from(
    [*map(Decimal, ("0.01", "0.07", "0.1", "0.25", "0.3", "1.5", "1E+2", "2.5E-7")), 1, 3, 7, 1000]
)


def near(schema: dict[str, Any], seed: list[Fraction]) -> list[Fraction]:
    """The numbers of a schema, their neighbours and their beginnings."""
    places = [Fraction(1, 10**p) for p in (0, 1, 2, 3, 7, 12)]
    found = {Fraction(0), Fraction(1), *seed}
    for value in schema.values():
        if isinstance(value, int | Decimal):
            given = Fraction(value)
            found |= {given, -given}
            found |= {given + sign * place for place in places for sign in (1, -1)}
            found |= {(given // place) * place for place in places[:4]}
    return sorted(found)


@settings(max_examples=100, deadline=None)
@given(bounds, st.lists(small.map(Fraction), max_size=8))
@example({"type": "number", "exclusiveMinimum": 0, "maximum": Decimal("0.5")}, [])
@example({"type": "number", "exclusiveMinimum": Decimal("-1.5"), "exclusiveMaximum": -1}, [])
@example({"type": "number", "minimum": Decimal("-0.5"), "exclusiveMaximum": 0}, [])
@example({"type": "number", "minimum": Decimal("1.25"), "maximum": Decimal("1.75")}, [])
@example({"type": "number", "minimum": 10**18}, [])
@example({"type": "number", "maximum": -(10**18)}, [])
@example({"type": "integer", "minimum": -(2**63), "maximum": 2**63 - 1}, [])
def test_under_bounds_the_engine_writes_what_the_judge_takes(
    schema: dict[str, Any], numbers: list[Fraction]
) -> None:
    agrees(schema, near(schema, numbers))


@settings(max_examples=60, deadline=None)
@given(bounds, steps, st.lists(st.integers(-40, 40), max_size=8))
@example(
    {"type": "number", "minimum": Decimal("0.3"), "maximum": Decimal("0.3")}, Decimal("0.1"), [3]
)
def test_under_a_step_too(schema: dict[str, Any], step: int | Decimal, times: list[int]) -> None:
    multiples = [Fraction(step) * n for n in times]
    agrees({**schema, "multipleOf": step}, near(schema, multiples))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_a_constant_is_written_with_its_digits_or_refused(data: st.DataObject) -> None:
    value: int | Decimal = data.draw(
        small | st.integers(-(10**20), 10**20) | st.integers(-(2**54), 2**54)
    )
    schema = document.dumps({"const": value})
    try:
        engine = Engine(schema)
    except GrammarError as error:
        assert "can't write" in str(error)  # noqa: PT017  (not every one is refused)
        assume(abs(Fraction(value)) > 2**53)
        return
    answer = plain(Fraction(value))
    assert engine.writes(answer)
    assert engine.valid(answer)
    assert not any(engine.writes(plain(Fraction(value) + delta)) for delta in (1, -1, 64, -256))


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ('{"enum": [1187654321098765432]}', "1187654321098765432", "1187654321098765440"),
        ('{"enum": [1.0, 1e3]}', "1000", "10"),
        ('{"type": "integer", "enum": [1.0, 1.5]}', "1", "1.5"),
        ('{"enum": [3, 4, 5], "minimum": 4}', "5", "3"),
        ('{"const": {"a": [1187654321098765432]}}', '{"a":[1187654321098765432]}', "{}"),
        ('{"const": 9223372036854774784}', "9223372036854774784", "9223372036854775807"),
        ('{"type": "integer", "maximum": 9007199254740993}', "9007199254740992", "1.5"),
        (
            '{"type": "integer", "multipleOf": 86400000, "minimum": 0, "maximum": 8640000000}',
            "8640000000",
            "86400001",
        ),
        ('{"type": "number", "default": 1e400}', "1", "x"),
        ('{"type": "string", "minLength": 2.0, "maxLength": 4294967296}', '"ab"', '"a"'),
        ('{"type": "array", "minItems": 1.0, "items": {"type": "null"}}', "[null]", "[]"),
        (
            '{"$schema": "http://json-schema.org/draft-04/schema#", "type": "number",'
            ' "minimum": 0, "exclusiveMinimum": true, "maximum": 0.5}',
            "0.25",
            "0",
        ),
    ],
)
def test_what_the_engine_alone_gets_wrong(schema: str, good: str, bad: str) -> None:
    engine = Engine(schema)
    assert engine.writes(good)
    assert engine.valid(good)
    assert not engine.writes(bad)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ('{"const": 1, "enum": [2]}', ["`const` 1", "`enum` [2]"]),
        ('{"type": "integer", "minimum": 5, "maximum": 3}', ["`minimum` 5", "`maximum` 3"]),
        (
            '{"properties": {"a": {"type": "integer", "minimum": 0.2, "maximum": 0.8}},'
            ' "type": "object", "required": ["a"]}',
            ["`minimum` 0.2", "/properties/a"],
        ),
        ('{"type": "number", "minimum": 1e999999999999}', ["`minimum` 1E+999999999999"]),
        ('{"type": "string", "minLength": 4294967296}', ["`minLength` 4294967296"]),
    ],
)
def test_a_contradiction_is_told_with_its_keywords(schema: str, words: list[str]) -> None:
    with pytest.raises(GrammarError, match="unsatisfiable") as caught:
        JsonSchema(schema).prepare()
    assert all(word in str(caught.value) for word in words)


def test_an_impossible_number_is_left_out_where_it_is_optional() -> None:
    engine = Engine(
        '{"type": "object", "properties": {"a": {"type": "integer", "minimum": 2, "maximum": 1}},'
        ' "additionalProperties": false}'
    )
    assert engine.writes("{}")
    assert not engine.prepared.relaxed
    assert "/properties/a" in engine.prepared.warnings[0]


@pytest.mark.parametrize("keyword", ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"])
@pytest.mark.parametrize(
    "bound",
    ["-9223372036854775808", "18446744073709551615", "3.4028234663852886e38", "1e-300", "-1e400"],
)
@pytest.mark.parametrize("kind", ["integer", "number"])
def test_bounds_beyond_the_engine_are_left_to_the_judge_with_a_warning(
    keyword: str, bound: str, kind: str
) -> None:
    try:
        engine = Engine(f'{{"type": "{kind}", "{keyword}": {bound}}}')
    except GrammarError as error:
        unsatisfiable(error)
        return
    text = " ".join(engine.prepared.warnings)
    assert engine.prepared.relaxed == ("beyond what the grammar engine holds" in text)
    for answer in ("-1", "0", "1"):
        assert engine.writes(answer) or not engine.valid(answer)
