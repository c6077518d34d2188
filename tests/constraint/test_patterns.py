"""Patterns: one reading for the grammar and the judge, and both against another engine's."""

from __future__ import annotations

import json
import time
import warnings
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fucina_cli import JsonSchema, Regex
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.patterns import ecma, matcher, writing
from fucina_cli.constraint.patterns.engine import translated
from fucina_cli.constraint.patterns.errors import PatternError, TooComplexError
from fucina_cli.constraint.patterns.tree import Choice, Look, Node, Repeat, nodes, plain
from tests.support.patterns import ECMA, ECMA_LOOKS, RUST, Walker, texts, written


def string(pattern: str, **more: object) -> JsonSchema:
    """The schema of strings with this pattern."""
    return JsonSchema(json.dumps({"type": "string", "pattern": pattern, **more}))


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (r"^[^\\]{1,3}$", ["a", 'a"', "\n/é"], ["\\", "a\\", "", "abcd"]),
        ('^[^"]$', ["\\", "x", "\x16"], ['"', "ab"]),
        ('^[^"]+$', ["\\\x16", "\x16", "x\ny"], ['"', 'a"', ""]),
        ('^[^"]{2,}$', ["\\x", "x\ny"], ['""', 'a"', "x"]),
        (r"^\W$", ["é", "-", "😀"], ["a", "_", "0"]),
        (r"^\D$", ["٣", "a"], ["3"]),
        (r"^[^\w]$", ["é", '"', "\\"], ["w"]),
        (r"^\s$", ["\xa0", "\ufeff", "\u2028", "\u3000", "\x0b"], ["\x85", "\u180e", "x"]),
        (r"^\S$", ["\x85", "x", "\x1f"], ["\ufeff", " "]),
        (r"^[^[\]]$", ["a"], ["[", "]"]),
        ("^[^]$", ["\n", "a", "😀"], ["", "ab"]),
        (r"^\cA$", ["\x01"], ["A", "cA"]),
        (r"^[\b]$", ["\x08"], ["b", "\\"]),
        ("^a{,2}$", ["a{,2}"], ["a", "aa"]),
        (r"^\/$", ["/"], ["\\/"]),
        (r"^\-\_$", ["-_"], ["\\-"]),
        ("^[[a]b]$", ["[b]", "ab]"], ["a", "ab", "b"]),
        (r"^[\w-.]+$", ["a-.b"], ["a b"]),
        (r"^(?<n>a|b)\u{1F600}$", ["a😀"], ["a"]),
        (r"^\p{Lu}\P{Lu}$", ["Éé", "A1"], ["éÉ"]),
        (r"^\p{Script=Greek}$", ["λ"], ["a"]),
        ("^.$", ["😀", "\x85"], ["\n", "\r", "\u2028", "😀😀"]),
        ("a$", ["a", "ba"], ["a\n"]),
        ("^a|b$", ["ax", "xb"], ["xa", "bx"]),
        ("(^|,)a(,|$)", ["a", "b,a", "a,b", "b,a,c"], ["ba", "ab"]),
        (r"^(?!foo$)\w+$", ["fo", "foo1", "bar"], ["foo", ""]),
        ("^(?!.*--)[a-z-]+$", ["a-b", "-"], ["a--b", "--"]),
        (r"^(?=.*[A-Z])(?=.*\d).{3,5}$", ["A1x", "xx1A"], ["abc", "A1", "A12345"]),
        (r"^(?:(?!\.\.).)*$", ["a.b", ".", ""], ["a..b"]),
        (r"^[a-z]+(?<!-|bad)$", ["abc"], ["bad", "xbad"]),
        (r"\bfoo\b", ["foo", "a foo!"], ["afoo", "foo1"]),
        (r"(?<=\$)\d", ["$1", "a$2"], ["1", "$a1"]),
        ("(?i)^straße$", ["STRAßE", "straẞe"], ["strasse"]),
    ],
)
def test_a_pattern_means_what_ecma_262_says_to_grammar_and_judge(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    schema = string(pattern)
    prepared = schema.prepare()
    walker = Walker.of(prepared)
    assert not prepared.relaxed
    for text in matching + others:
        wanted = text in matching
        assert walker.accepts(written(text)) is wanted, text
        assert schema.judge(json.dumps(text)).valid is wanted, text


@settings(max_examples=60, deadline=None)
@given(ECMA.patterns(), st.lists(texts, min_size=8, max_size=8))
def test_what_the_grammar_takes_is_what_the_judge_takes(pattern: str, samples: list[str]) -> None:
    agree(pattern, samples)


@settings(max_examples=40, deadline=None)
@given(ECMA_LOOKS.patterns(), st.lists(texts, min_size=8, max_size=8))
def test_so_do_patterns_with_look_arounds(pattern: str, samples: list[str]) -> None:
    agree(pattern, samples)


def agree(pattern: str, samples: list[str]) -> None:
    schema = string(pattern)
    try:
        prepared = schema.prepare()
    except GrammarError:
        assert not any(matcher.ecma_matcher(pattern)(text) for text in samples)
        return
    walker = Walker.of(prepared)
    for text in samples:
        verdict = schema.judge(json.dumps(text)).valid
        if verdict is not None and not (prepared.relaxed and verdict is False):
            assert walker.accepts(written(text)) is verdict, text


@settings(max_examples=100, deadline=None)
@given(ECMA_LOOKS.patterns(), texts)
def test_derivatives_find_what_regress_finds(pattern: str, text: str) -> None:
    try:
        tree = ecma.parse(pattern)
        followed = matcher._Followed(plain(tree))
    except (PatternError, TooComplexError):
        assume(False)
    assume(not any(loops(node) for node in nodes(tree)))
    compiled: Any = matcher._compiled(pattern) or matcher._compiled(writing.ecma(tree))
    assert followed(text) is matcher._found(compiled, text)


def loops(node: Node) -> bool:
    """What regress may repeat for ever."""
    return isinstance(node, Repeat) and any(
        isinstance(part, Repeat | Choice | Look) or not list(nodes(part))
        for part in nodes(node.body)
    )


@settings(max_examples=40, deadline=None)
@given(ECMA_LOOKS.patterns(), st.lists(texts, min_size=8, max_size=8))
def test_what_is_written_for_the_engine_means_the_same_when_it_is_read_again(
    pattern: str, samples: list[str]
) -> None:
    try:
        for one in translated(pattern).patterns:
            agree(one, samples)
            assert translated(one).lost == ""
    except PatternError:
        assume(False)


@settings(max_examples=60, deadline=None)
@given(RUST.patterns(), st.lists(texts, min_size=8, max_size=8))
def test_the_judge_of_regex_takes_what_the_engine_takes(pattern: str, samples: list[str]) -> None:
    try:
        spec = Regex(pattern)
        walker = Walker.of(spec.prepare())
    except GrammarError:
        assume(False)
    for text in samples:
        assert spec.judge(text).valid in (walker.accepts(text), None), text


@pytest.mark.parametrize(
    ("pattern", "matching", "others"),
    [
        (r"[^\w]", ["é", "-"], ["w"]),
        (r"\W\D\S", ["éé\xa0", "-a-"], ["aaa"]),
        (r"\d", ["3"], ["٣"]),
        ("[[:alpha:]]{3}", ["abc"], ["ab1"]),
        ("[(?xyz)]", ["x", "("], ["a"]),
        ("[a-z&&[^aeiou]]", ["b"], ["a"]),
        (r"[\w--\d~~_a]", ["b", "c"], ["a", "_", "1"]),
        (r"\p{Lu}\pN", ["A1"], ["a1"]),
        ("(?i)k", ["k", "K", "\u212a"], ["x"]),
        ("^(?:a|b)$", ["a"], ["ab"]),
        (r"\Aa\z", ["a"], ["a\n"]),
        (r"(?s:.)\x{1F600}", ["\n😀"], ["😀"]),
    ],
)
def test_regex_is_rusts_with_ascii_shorthands(
    pattern: str, matching: list[str], others: list[str]
) -> None:
    spec = Regex(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        walker = Walker.of(spec.prepare())
        for text in matching + others:
            assert walker.accepts(text) is (text in matching), text
            assert spec.judge(text).valid is (text in matching), text


@pytest.mark.parametrize("pattern", ["(", r"^\Aa", "^(?P<n>a)$", "a++", r"\p{Nonsense}", "(" * 300])
def test_an_unreadable_pattern_is_left_out_with_a_warning_and_not_judged(pattern: str) -> None:
    schema = string(pattern)
    prepared = schema.prepare()
    assert prepared.relaxed
    assert "can't be read" in prepared.warnings[0]
    assert pattern[:20].replace("\\", "\\\\") in prepared.warnings[0]
    assert schema.judge('"a"').valid is None
    assert schema.judge("3").valid is False


def test_back_references_are_judged_and_widened() -> None:
    schema = string(r"^(a|b)-\1$")
    prepared = schema.prepare()
    walker = Walker.of(prepared)
    assert prepared.relaxed
    assert "back-references" in prepared.warnings[0]
    assert walker.accepts('"a-a"')
    assert not walker.accepts('"a-c"')
    assert [schema.judge(text).valid for text in ('"a-a"', '"a-b"')] == [True, False]


@pytest.mark.parametrize(
    "pattern", ["^(?:(?:a?)*)*$", "^(a+)+$", "^(a|aa|a*)*$", r"^(\w+\s?)*$", ".*.*.*.*.*=.*"]
)
def test_no_pattern_takes_the_judge_for_ever(pattern: str) -> None:
    begin = time.monotonic()
    assert string(pattern).judge(json.dumps("a" * 2000 + "!")).valid is False
    assert time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "pattern", ["^(a{1,1000}){1,1000}$", "^" + "(?:" * 120 + "a+" + ")+" * 120]
)
def test_no_pattern_is_refused_for_its_size(pattern: str) -> None:
    schema = string(pattern, minLength=1)
    assert Walker.of(schema.prepare()).accepts('"a"')


KEYS = {"properties": {"a": {}}, "patternProperties": {r"^\p{Lu}": {"type": "integer"}}}


@pytest.mark.parametrize(
    ("schema", "valid", "invalid"),
    [
        (KEYS, ['{"É":1}', '{"é":"x"}'], ['{"É":"x"}']),
        ({**KEYS, "additionalProperties": False}, ['{"a":"x","É":1}'], ['{"é":1}']),
        (
            {**KEYS, "additionalProperties": {"type": "null"}},
            ['{"a":"x","é":null}'],
            ['{"é":1}', '{"É":null}'],
        ),
        ({"allOf": [KEYS], "unevaluatedProperties": False}, ['{"a":"x","É":1}'], ['{"é":1}']),
        (
            {"$ref": "#/$defs/k", "$defs": {"k": KEYS}, "unevaluatedProperties": {"type": "null"}},
            ['{"É":1,"é":null}'],
            ['{"é":1}'],
        ),
        (
            {
                "if": {"required": ["a"]},
                "then": KEYS,
                "anyOf": [{"patternProperties": {"^x": {"type": "string"}}}, True],
                "unevaluatedProperties": False,
            },
            ['{"a":1,"É":1}', '{"x":"s"}'],
            ['{"É":1}', '{"x":1}'],
        ),
        (
            {"$schema": "https://json-schema.org/draft/2019-09/schema",
             "allOf": [{"additionalProperties": {"type": "integer"}}],
             "unevaluatedProperties": False},
            ['{"q":1}'],
            ['{"q":"s"}'],
        ),
    ],
)  # fmt: skip
def test_keys_are_judged_by_ecma_262(schema: Any, valid: list[str], invalid: list[str]) -> None:
    spec = JsonSchema(json.dumps(schema))
    assert [spec.judge(text).valid for text in valid] == [True] * len(valid)
    assert [spec.judge(text).valid for text in invalid] == [False] * len(invalid)


@pytest.mark.parametrize(
    ("key", "matching", "others"),
    [
        (r"^(?!a)\w+$", ["b", "ba"], ["a", "ab"]),
        (r"^\d$", ["1"], ["٣", "11"]),
        ('^[^"]{1,2}$', ["x", "xy", "\\x"], ['"', 'x"', ""]),
        (r"^(?=.*\d)(?!0).{1,3}$", ["1", "a1"], ["01", "a"]),
    ],
)
def test_keys_of_objects_match_as_strings_do(
    key: str, matching: list[str], others: list[str]
) -> None:
    schema = {"type": "object", "patternProperties": {key: True}, "additionalProperties": False}
    walker = Walker.of(JsonSchema(json.dumps(schema)).prepare())
    for text in matching + others:
        assert walker.accepts(f"{{{written(text)}:1}}") is (text in matching), text


@pytest.mark.parametrize("key", [r"^(a)\1$", "^(?P<n>a)$"])
def test_a_key_that_can_not_be_written_exactly_opens_the_object(key: str) -> None:
    schema = {"type": "object", "patternProperties": {key: {}}, "additionalProperties": False}
    prepared = JsonSchema(json.dumps(schema)).prepare()
    assert prepared.relaxed
    assert Walker.of(prepared).accepts('{"aa":1}')
