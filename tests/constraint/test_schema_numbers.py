"""Numbers in schemas and answers: read, judged and written exactly."""

from __future__ import annotations

import json
import time
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fucina_cli import JsonSchema
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.judging.numbers import is_multiple


def valid(schema: str, answer: str) -> bool | None:
    return JsonSchema(schema).judge(answer).valid


#: Numbers as people write them: few digits, few decimals, sometimes an exponent.
decimals = st.builds(
    lambda digits, places: Decimal(digits).scaleb(-places),
    st.integers(-(10**6), 10**6) | st.integers(-(10**25), 10**25),
    st.integers(-3, 8),
)


@pytest.mark.parametrize(
    "text",
    ["1187654321098765432", "1.50", "1e400", "-0", "1E+999999999999", "0.1", "1e-400", "-7"],
)
def test_numbers_keep_their_value_through_reading_and_writing(text: str) -> None:
    for wrapped in (text, f'{{"a": [{text}, true, null, "é\\n"]}}'):
        again = document.dumps(document.loads(wrapped))
        assert document.loads(again) == document.loads(wrapped)
        assert type(document.loads(again)) is type(document.loads(wrapped))


def test_a_document_of_a_million_digits_is_read_written_and_judged_in_no_time() -> None:
    digits = "7" * 10**6
    begin = time.process_time()
    assert document.dumps(document.loads(f"[{digits}]")) == f"[{digits}]"
    assert valid('{"type": "integer", "minimum": 3, "multipleOf": 7}', digits)
    assert valid('{"multipleOf": 2}', digits) is False
    assert valid(f'{{"const": {digits}, "maximum": {digits}8, "type": "integer"}}', digits)
    assert time.process_time() - begin < 5


def test_numbers_of_python_mean_what_they_show() -> None:
    schema = JsonSchema({"multipleOf": 0.01, "maximum": 10**5000})
    assert schema.judge("19.99").valid
    assert schema.judge("9" * 5000).valid
    assert schema.judge("1" + "0" * 5000 + "1").valid is False


@pytest.mark.parametrize("number", [float("nan"), float("inf"), Decimal("NaN")])
def test_what_is_no_number_of_json_is_refused(number: Any) -> None:
    with pytest.raises(GrammarError, match="not JSON"):
        JsonSchema({"minimum": number})
    with pytest.raises(ValueError, match="not JSON"):
        document.loads("[NaN]")


@pytest.mark.parametrize(
    ("schema", "answer", "right"),
    [
        ('{"type": "number", "multipleOf": 0.01}', "19.99", True),
        ('{"type": "number", "multipleOf": 0.01}', "19.991", False),
        ('{"multipleOf": 0.1, "minimum": 0.3, "maximum": 0.3}', "0.3", True),
        ('{"multipleOf": 1e-999999999}', "1e999999999", True),
        ('{"multipleOf": 3}', "1e999999999", False),
        ('{"multipleOf": 7}', "0e999999999999999999999", True),
        ('{"type": "integer"}', "1.0", True),
        ('{"type": "integer"}', "1e3", True),
        ('{"type": "integer"}', "1.5", False),
        ('{"type": "integer"}', "1e999999999999", True),
        ('{"type": "integer"}', "12.50e1", True),
        ('{"type": "integer"}', "12.50e0", False),
        ('{"type": "integer"}', "true", False),
        ('{"type": "integer"}', "1e400", True),
        ('{"type": "number"}', "1e99999999999999999999", True),
        ('{"maximum": 5}', "1e99999999999999999999", False),
        ('{"maximum": 5}', "-1e99999999999999999999", True),
        ('{"type": "integer"}', "1e-99999999999999999999", False),
        ('{"minimum": 0, "exclusiveMinimum": 1e-400}', "1e-401", False),
        ('{"enum": [1187654321098765432]}', "1187654321098765433", False),
        ('{"enum": [1187654321098765432]}', "1187654321098765432", True),
        ('{"const": 1}', "1.0", True),
        ('{"const": 1}', "true", False),
        ('{"enum": [[false]]}', "[0]", False),
        ('{"const": {"a": [1e3]}}', '{"a": [1000]}', True),
        ('{"uniqueItems": true}', "[1, 1.0]", False),
        ('{"uniqueItems": true}', "[1, true]", True),
        ('{"uniqueItems": true}', "[[1], [true], [1]]", False),
        ('{"uniqueItems": true}', '[{"a": 1, "b": 2}, {"b": 2.0, "a": 1}]', False),
        ('{"minItems": 1.0, "maxItems": 2.0}', "[1]", True),
        ('{"minItems": 1.0}', "[]", False),
        ('{"minLength": 2.0}', '"a"', False),
    ],
)
def test_numbers_are_judged_exactly(schema: str, answer: str, right: bool) -> None:
    assert valid(schema, answer) is right


@pytest.mark.parametrize(
    ("keywords", "answer", "right"),
    [
        ('"minimum": 3, "exclusiveMinimum": true', "3", False),
        ('"minimum": 3, "exclusiveMinimum": true', "3.01", True),
        ('"minimum": 3, "exclusiveMinimum": false', "3.0", True),
        ('"maximum": 3, "exclusiveMaximum": true', "3.0", False),
        ('"type": "integer"', "1.0", False),
        ('"type": "integer"', "7" * 5000, True),
    ],
)
def test_draft_4_is_judged_by_its_own_words(keywords: str, answer: str, right: bool) -> None:
    draft = '"$schema": "http://json-schema.org/draft-04/schema#"'
    assert valid(f"{{{draft}, {keywords}}}", answer) is right


@settings(max_examples=150, deadline=None)
@given(decimals, decimals, decimals.filter(lambda d: d > 0), decimals | decimals.map(abs))
def test_the_judge_agrees_with_fractions(
    low: Decimal, high: Decimal, step: Decimal, number: Decimal
) -> None:
    exact = Fraction(number)
    for keyword, value, right in (
        ("minimum", low, exact >= Fraction(low)),
        ("exclusiveMinimum", low, exact > Fraction(low)),
        ("maximum", high, exact <= Fraction(high)),
        ("exclusiveMaximum", high, exact < Fraction(high)),
        ("multipleOf", step, (exact / Fraction(step)).denominator == 1),
        ("const", low, exact == Fraction(low)),
        ("enum", [low, high], exact in (Fraction(low), Fraction(high))),
    ):
        schema = document.dumps({keyword: value})
        for text in (str(number), f"{number:f}"):
            assert valid(schema, text) is right, (schema, text)


def test_every_price_is_a_multiple_of_a_cent() -> None:
    cent = Decimal("0.01")
    assert all(is_multiple(cents * cent, cent) for cents in range(100_000))
    assert not any(is_multiple(tenths * cent / 10, cent) for tenths in range(1, 100_000, 10))


def test_a_subschema_that_names_its_draft_is_judged_as_exactly() -> None:
    schema = (
        '{"$schema": "https://json-schema.org/draft/2020-12/schema", "multipleOf": 0.01,'
        ' "type": ["number", "array"], "items": {"$ref": "#"}, "contains": {"$ref": "#/$defs/a"},'
        ' "$defs": {"a": {"$id": "urn:x", "$schema": "http://json-schema.org/draft-07/schema#",'
        ' "const": 1187654321098765432}}}'
    )
    assert valid(schema, "[19.99, 1187654321098765432.0]")
    assert valid(schema, "[19.999, 1187654321098765432]") is False
    assert valid(schema, "[19.99, 1187654321098765433]") is False


def test_a_long_integer_is_a_value() -> None:
    text = "7" * 5000
    assert JsonSchema("{}").value(f'{{"a": {text}}}') == {"a": Decimal(text)}
    assert json.loads("[1.5]") == JsonSchema("{}").value("[1.5]")
