"""The cascade: who drafts, how much, and what is counted."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.source import (
    Counting,
    Forecasting,
    LearnsTopK,
)
from fucina_cli.llama.prefix import common_prefix


def test_the_longest_match_drafts_whoever_has_it() -> None:
    document = Reference([1, 2, 3, 4, 50, 51])
    context = [2, 3, 4, 60, 61, 9, 1, 2, 3, 4]
    assert Cascade().suggest(context, 2) == [60, 61]  # 2 3 4 in the conversation
    assert Cascade({"doc": document}).suggest(context, 2) == [50, 51]  # 1 2 3 4 in the document


def test_of_equal_matches_the_conversation_comes_first_then_references_in_order() -> None:
    a, b = Reference([3, 4, 50]), Reference([3, 4, 60])
    assert Cascade({"a": a, "b": b}).suggest([3, 4], 1) == [50]
    assert Cascade({"b": b, "a": a}).suggest([3, 4], 1) == [60]
    assert Cascade({"b": b, "a": a}).suggest([3, 4, 70, 3, 4], 1) == [70]


def test_the_budget_grows_with_the_match_and_never_passes_the_limit() -> None:
    line = list(range(100))
    lengths = []
    for matched in (2, 3, 5, 8):
        source = Cascade()
        lengths.append(len(source.suggest([*line, 200, *line[:matched]], 12)))
    assert lengths == [4, 6, 10, 12]


def test_matches_in_the_prompt_in_the_reply_and_in_references_are_of_different_kinds() -> None:
    source = Cascade({"doc": Reference([7, 8, 9, 70])})
    prompt, kinds = [1, 2, 3, 4, 5], []
    source.suggest(prompt, 1)
    for reply in ([1, 2], [1, 2, 6, 8], [1, 2, 6, 8, 7, 1, 2, 6], [1, 2, 6, 8, 7, 1, 2, 6, 8, 9]):
        source.suggest([*prompt, *reply], 1)
        kinds.append(source.outlook.kind)
    assert kinds == ["prompt 2+", "recycling", "reply 2+", "reference 2+"]
    source.suggest([3, 1, 2, 5, 1, 2], 1)  # another conversation, all of it prompt
    assert source.outlook.kind == "prompt 2+"


def test_without_a_match_of_two_tokens_bigrams_draft() -> None:
    source = Cascade()
    draft = source.suggest([5, 6, 7, 9, 5], 8)
    assert draft == [6, 7, 9, 5]
    assert source.outlook.kind == "recycling"
    source.observe([6])
    assert source.counters == {"history": (0, 0), "recycling": (4, 1)}


def test_rows_of_logits_teach_the_bigrams() -> None:
    source = Cascade()
    source.suggest([1, 2], 4)
    source.observe_topk([(2, [30, 31]), (30, [40])])
    assert source.suggest([1, 2], 4) == [30, 40]


def test_tokens_committed_without_a_draft_or_a_call_are_seen_in_the_context() -> None:
    source = Cascade()
    source.suggest([1, 2, 3], 4)
    source.observe([4])
    # 5 and 6 were forced, 7 came from a step that asked nobody
    assert source.suggest([1, 2, 3, 4, 5, 6, 7, 1, 2], 3) == [3, 4, 5]


def test_a_context_that_does_not_go_on_from_the_last_one_starts_afresh() -> None:
    source = Cascade({"doc": Reference([8, 9, 10])})
    source.suggest([1, 2, 3, 8, 9], 4)
    assert source.suggest([1, 2], 4) == [] or source.outlook.kind == "recycling"
    assert source.suggest([5, 6, 1, 2, 7, 7, 1, 2], 1) == [7]
    assert source.suggest([4, 8, 9], 1) == [10]


def test_a_pending_draft_is_settled_once_and_for_what_was_left_of_it() -> None:
    source = Cascade()
    context = [1, 2, 3, 4, 5, 1, 2]
    assert source.suggest(context, 4) == [3, 4, 5, 1]
    source.truncate_pending(2)
    source.observe([3, 4, 5])
    assert source.counters["history"] == (2, 2)
    source.observe([3, 4, 5])
    assert source.counters["history"] == (2, 2)
    source.suggest(context, 4)
    source.truncate_pending(0)
    source.observe([3])
    source.suggest(context, 4)
    source.suggest(context, 4)  # the draft before was never verified
    source.observe([3, 9])
    assert source.counters["history"] == (6, 3)


def test_the_suggestion_may_be_changed_without_touching_the_account() -> None:
    source = Cascade()
    draft = source.suggest([1, 2, 3, 1, 2], 2)
    draft.clear()
    source.observe([3, 1])
    assert source.counters["history"] == (2, 2)


def test_the_longest_match_drafts_however_it_failed_before() -> None:
    source = Cascade({"doc": Reference([7, 7, 50])})
    for _ in range(40):
        source.suggest([7, 7, 90, 7, 7, 7], 2)
        source.observe([50])
    assert source.counters == {"history": (80, 0), "doc": (0, 0), "recycling": (0, 0)}
    assert source.wants_topk == 8


def test_names_of_the_cascade_itself_are_refused_for_references() -> None:
    with pytest.raises(ValueError, match="recycling"):
        Cascade({"recycling": Reference([1, 2])})


def test_it_offers_what_the_decode_core_looks_for() -> None:
    assert isinstance(Cascade(), Forecasting)
    assert isinstance(Cascade(), Counting)
    assert isinstance(Cascade(), LearnsTopK)


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=60),
    st.lists(st.integers(0, 3), max_size=20),
    st.integers(0, 6),
)
def test_drafts_are_deterministic_within_limit_and_counted_as_they_held(
    text: list[int], document: list[int], limit: int
) -> None:
    a, b = (Cascade({"doc": Reference(document)}) for _ in range(2))
    drafted = held = 0
    at = 1
    while at < len(text):
        draft = a.suggest(text[:at], limit)
        assert draft == b.suggest(text[:at], limit)
        assert len(draft) <= limit
        good = common_prefix(draft, text[at:])
        drafted, held = drafted + len(draft), held + good
        committed = text[at : at + good + 1]
        a.observe(committed)
        b.observe(committed)
        at += len(committed)
    assert a.counters == b.counters
    assert tuple(map(sum, zip(*a.counters.values(), strict=True))) == (drafted, held)
