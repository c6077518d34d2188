"""The recycling matrix against a plain dictionary, and its bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.drafting.recycling import WIDTH, RecyclingMatrix

_TOKENS = st.integers(0, 12)
_COMMITS = st.lists(_TOKENS, max_size=12)
_ROWS = st.lists(
    st.tuples(_TOKENS, st.lists(_TOKENS, unique=True, min_size=0, max_size=11)), max_size=4
)


@given(st.lists(st.one_of(_COMMITS.map(lambda c: ("commit", c)), _ROWS.map(lambda r: ("rows", r)))))
def test_rows_replace_and_commits_come_first_as_in_a_plain_dictionary(
    events: list[tuple[str, list[int]]],
) -> None:
    matrix = RecyclingMatrix()
    model: dict[int, list[int]] = {}
    text: list[int] = []
    for kind, data in events:
        if kind == "commit":
            matrix.extend(data)
            for token in data:
                if text:
                    row = [t for t in model.get(text[-1], []) if t != token]
                    model[text[-1]] = [token, *row][:WIDTH]
                text.append(token)
        else:
            rows: list[tuple[int, list[int]]] = data  # type: ignore[assignment]
            matrix.observe_topk(rows)
            model.update((token, best[:WIDTH]) for token, best in rows if best)
    for token in range(13):
        assert matrix.successors(token) == model.get(token, [])
    chain: list[int] = []
    at = text[-1] if text else -1
    while at in model and model[at][0] not in chain:
        at = model[at][0]
        chain.append(at)
    assert matrix.draft(50) == chain
    assert matrix.draft(2) == chain[:2]


def test_a_row_keeps_eight_and_does_not_hold_on_to_the_list_it_came_from() -> None:
    matrix = RecyclingMatrix()
    best = list(range(10))
    matrix.observe_topk([(262_143, best)])
    matrix.extend([262_143, 9])
    assert matrix.successors(262_143) == [9, *range(7)]
    assert best == list(range(10))


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 5))
def test_memory_is_bounded_and_the_row_added_first_gives_way(
    text: list[int], capacity: int
) -> None:
    matrix = RecyclingMatrix(capacity)
    added: list[int] = []
    for i, token in enumerate(text):
        matrix.extend([token])
        if i and text[i - 1] not in added:
            added = [*added, text[i - 1]][-capacity:]
    assert len(matrix) == len(added)
    assert all(matrix.successors(token) for token in added)


def test_the_chain_stops_where_it_would_go_round() -> None:
    matrix = RecyclingMatrix()
    matrix.extend([1, 2, 3, 1])
    assert matrix.draft(10) == [2, 3, 1]


def test_nothing_is_drafted_from_nothing() -> None:
    matrix = RecyclingMatrix()
    assert matrix.draft(4) == []
    matrix.extend([5])
    assert matrix.draft(4) == []
    assert RecyclingMatrix().draft(0) == []


def test_a_capacity_below_one_is_refused() -> None:
    with pytest.raises(ValueError, match="capacity"):
        RecyclingMatrix(0)
