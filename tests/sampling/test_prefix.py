"""The common prefix of token sequences."""

from __future__ import annotations

from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.llama.prefix import common_prefix

_IDS = st.lists(st.integers(0, 2), max_size=40)


@given(_IDS, _IDS, _IDS)
def test_it_counts_equal_tokens_from_the_start_whatever_the_types(
    start: list[int], a: list[int], b: list[int]
) -> None:
    a, b = start + a, start + b
    expected = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False))))
    assert common_prefix(a, b) == common_prefix(a, tuple(b)) == expected
