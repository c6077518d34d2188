"""Sets of strings: from patterns, combined, and back."""

from __future__ import annotations

import re

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fucina_cli.constraint.schema import languages
from fucina_cli.constraint.schema.pattern_syntax import Unreadable

_LETTERS = "ab-é\n"
_atoms = st.sampled_from(["a", "b", "-", "[ab]", "[^a]", "[a-é]", r"[^\n]"])
_parts = st.recursive(
    _atoms,
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda pair: f"(?:{pair[0]}|{pair[1]})"),
        st.tuples(inner, st.sampled_from(["*", "+", "?", "{2}", "{1,2}"])).map(
            lambda pair: f"(?:{pair[0]}){pair[1]}"
        ),
    ),
    max_leaves=6,
)
_patterns = st.tuples(st.sampled_from(["", "^"]), _parts, st.sampled_from(["", "$"])).map("".join)
_texts = st.text(_LETTERS, max_size=6)


def found(pattern: str, text: str) -> bool:
    return re.search(pattern.replace("$", r"\Z"), text) is not None


@settings(deadline=None)
@given(_patterns, _texts)
def test_pattern_holds_the_texts_in_which_it_is_found(pattern: str, text: str) -> None:
    assert (text in languages.of_pattern(pattern)) == found(pattern, text)


@settings(max_examples=50, deadline=None)
@given(_patterns, _patterns, _texts)
def test_what_is_combined_is_written_as_a_pattern_of_the_same_texts(
    one: str, other: str, text: str
) -> None:
    a, b = languages.of_pattern(one), languages.of_pattern(other)
    in_a, in_b = found(one, text), found(other, text)
    for made, expected in (
        (a & b, in_a and in_b),
        (a | b, in_a or in_b),
        (a - b, in_a and not in_b),
        (languages.ALL - a, not in_a),
    ):
        assert (text in made) == expected
        try:
            written = made.pattern()
        except languages.TooLarge:
            assume(False)
        assert (re.fullmatch(written[1:-1], text) is not None) == expected
        assert languages.of_pattern(written) == made


@settings(max_examples=50, deadline=None)
@given(st.lists(_texts, min_size=1, max_size=5), _texts)
def test_all_texts_but_some(names: list[str], text: str) -> None:
    pattern = languages.without(names)
    for each in (*names, text):
        assert (each in languages.of_pattern(pattern)) == (each not in names)
    assert languages.of_pattern(pattern) == languages.ALL - languages.of_strings(names)


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [
        (r"^(?!x-)[a-z]", "ax", "x-a"),
        (r"^(?=.{2}$)a", "ab", "abc"),
        (r"^\d+$", "12", "٣"),
        (r"^[\w.]+$", "a_1.", "é"),
        (r"^.$", "é", "\u2028"),
        (r"^\s$", "\ufeff", "\x85"),
        (r"^\u{1F600}$", "😀", "a"),
        (r"^\ud83d\ude00$", "😀", "a"),
        (r"^\cA$", "\x01", "A"),
        (r"^[^]$", "\n", ""),
        (r"^\/[\b]$", "/\b", "/b"),
    ],
)
def test_ecma_syntax(pattern: str, inside: str, outside: str) -> None:
    language = languages.of_pattern(pattern)
    assert inside in language
    assert outside not in language


@pytest.mark.parametrize(
    "pattern",
    ["(a", "a)", "[a", "a{2,1}", "*a", r"(a)\1", "(?<=a)b", r"\bword", r"\p{L}", "a(?=b)", "[b-a]"],
)
def test_what_is_not_regular_or_no_pattern_is_unreadable(pattern: str) -> None:
    with pytest.raises(Unreadable):
        languages.of_pattern(pattern)


def test_large_patterns_are_refused_in_time() -> None:
    with pytest.raises(Unreadable):
        languages.of_pattern("(?:a{1000}){1000}")
    with pytest.raises(Unreadable):
        languages.of_pattern("(a|b)*a(a|b){12}")
    with pytest.raises(Unreadable):
        languages.of_lengths(0, 10**6)
