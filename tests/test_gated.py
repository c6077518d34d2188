"""One stream's drafts: what is cut from them, what is settled, and which slot they take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.gated import DRAFT_LIMIT, Gated
from fucina_cli.drafting.source import Counters, Outlook
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.llama.context import Context
from fucina_cli.llama.model import Model
from fucina_cli.llama.prefix import common_prefix

END = 99
KIND = Outlook("scripted", 0.9, 0.9)


class Scripted:
    """A source that suggests what it was given, and keeps what it is told."""

    outlook = KIND
    wants_topk = 2

    def __init__(self, suggestion: Sequence[int]) -> None:
        self.suggestion = list(suggestion)
        self.asked: list[int] = []
        self.pending: list[int] = []
        self.observed: list[list[int]] = []
        self.taught: list[tuple[int, list[int]]] = []
        self.counts = [0, 0]

    @property
    def counters(self) -> Counters:
        return {"scripted": (self.counts[0], self.counts[1])}

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        self.asked.append(limit)
        self.pending = list(self.suggestion)
        return list(self.suggestion)

    def observe(self, committed: Sequence[int]) -> None:
        self.observed.append(list(committed))
        self.counts[0] += len(self.pending)
        self.counts[1] += common_prefix(self.pending, committed)
        self.pending = []

    def truncate_pending(self, length: int) -> None:
        del self.pending[length:]

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        self.taught += [(token, list(best)) for token, best in rows]


class Fixed(Gate):
    """A gate that lets `most` tokens through, and keeps what it is told."""

    def __init__(self, most: int, missed: int = 0) -> None:
        super().__init__()
        self.most, self.missed = most, missed
        self.told: list[tuple[object, ...]] = []

    def budget(self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1) -> int:
        return min(limit, self.most)

    def unaffordable(
        self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
    ) -> int:
        return self.missed

    def settle(
        self,
        drafted: int,
        accepted: int,
        outlook: Outlook,
        *,
        rows: int = 1,
        logit_rows: int = 1,
        seconds: float = 0.0,
    ) -> None:
        assert seconds >= 0
        self.told.append(("settle", drafted, accepted, outlook.kind, rows, logit_rows))

    def learn_first(self, outlook: Outlook, held: bool) -> None:
        self.told.append(("first", held))

    def settle_unaffordable(
        self, drafted: int, held: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
    ) -> None:
        self.told.append(("unaffordable", drafted, held, rows))


def ends_turn(token: int) -> bool:
    return token == END


def row(i: int) -> NDArray[np.float32]:
    """A row of logits whose best ids are i and i + 1."""
    logits = np.zeros(50, np.float32)
    logits[i], logits[i + 1] = 2.0, 1.0
    return logits


def draft(drafts: Gated, text: Sequence[int], room: int = 9) -> list[int]:
    return drafts.draft(text, room, ends_turn, rows=3, logit_rows=2)


def test_a_draft_is_cut_to_the_room_the_turn_and_the_budget_and_the_source_told_so() -> None:
    for suggestion, room, gate, expected in (
        (range(30), 9, None, list(range(9))),
        (range(90), 80, None, list(range(DRAFT_LIMIT))),
        ([1, 2, END, 3], 9, None, [1, 2]),
        ([1, 2, 3, 4], 9, Fixed(3), [1, 2, 3]),
        ([END], 9, Fixed(3), []),
    ):
        source = Scripted(list(suggestion))
        assert draft(Gated(source, gate), [5, 6], room) == expected
        assert source.pending == expected
        assert source.asked == [min(room, DRAFT_LIMIT)]


def test_without_room_the_source_is_not_asked_and_still_observes() -> None:
    source, gate = Scripted([1]), Fixed(9)
    drafts = Gated(source, gate)
    assert draft(drafts, [5, 6], room=0) == []
    drafts.settle([5, 6, 7], 0, row)
    assert (source.asked, source.observed) == ([], [[7]])


def test_source_and_gate_learn_what_became_of_a_draft() -> None:
    source, gate = Scripted([1, 2, 3]), Fixed(9)
    drafts, text = Gated(source, gate), [5, 6]
    draft(drafts, text)
    drafts.settle([*text, 1, 8], 1, row)
    assert source.observed == [[1, 8]]
    assert drafts.counters == {"scripted": (3, 1)}
    assert gate.told == [("settle", 3, 1, "scripted", 3, 2)]
    # The rows that follow the rejected tokens 2 and 3, which are the draft's second and third.
    assert source.taught == [(2, [2, 3]), (3, [3, 4])]


def test_a_draft_that_was_left_out_is_compared_with_what_is_committed() -> None:
    source, gate = Scripted([1, 2, 3]), Fixed(0, missed=2)
    drafts, text = Gated(source, gate), [5, 6]
    assert draft(drafts, text) == []
    text.append(1)
    drafts.settle(text, 0, row)
    assert gate.told == [("first", True), ("settle", 0, 0, "scripted", 3, 2)]
    draft(drafts, text)
    text.append(2)
    drafts.settle(text, 0, row)
    assert ("unaffordable", 2, 2, 3) in gate.told
    assert source.taught == []
    assert drafts.counters == {"scripted": (0, 0)}


def test_a_draft_that_was_never_verified_is_in_no_account() -> None:
    source, gate = Scripted([1, 2]), Fixed(9)
    drafts = Gated(source, gate)
    draft(drafts, [5])
    draft(drafts, [5])
    drafts.settle([5, 1, 2, 4], 2, row)
    assert drafts.counters == {"scripted": (2, 2)}
    assert [told[0] for told in gate.told] == ["settle"]


def test_what_drafts_say_of_a_source_that_counts_nothing() -> None:
    class Bare:
        def suggest(self, context: Sequence[int], limit: int) -> list[int]:
            return [1]

        def observe(self, committed: Sequence[int]) -> None:
            pass

        def truncate_pending(self, length: int) -> None:
            pass

    drafts = Gated(Bare())
    assert draft(drafts, [5]) == [1]
    drafts.settle([5, 2], 0, row)
    assert (drafts.counters, drafts.masked) == ({}, None)


def test_streams_share_the_draft_models_slots_and_give_them_back(llama_path: Path) -> None:
    model = Model(llama_path)
    context = Context(model, n_ctx=64, n_slots=2)
    speculation = Speculation(False, draft_context=context, gate=Fixed(9))

    def made() -> Gated:
        drafts = speculation.drafts(None, model.vocabulary)
        assert drafts is not None
        return drafts

    def slots(drafts: Gated) -> set[int]:
        """Slots that the draft model decodes in for these drafts."""
        seen: set[int] = set()
        prefill = context.prefill

        def spied(slot: int, tokens: Sequence[int], start: int = 0, *, logits: bool = False) -> int:
            seen.add(slot)
            return prefill(slot, tokens, start, logits=logits)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(context, "prefill", spied)
            draft(drafts, [5, 6, 7])
        return seen

    first, second = made(), made()
    assert first.masked == 0
    assert (slots(first), slots(second)) == ({0}, {1})
    with pytest.raises(ValueError, match="2 slots"):
        made()
    first.close()
    third = made()
    assert slots(third) == {0}
    del second  # a stream that was never run to its end
    assert slots(made()) == {1}
    context.close()


def test_nothing_to_draft_from_makes_no_drafts(llama_path: Path) -> None:
    vocabulary = Model(llama_path, vocab_only=True).vocabulary
    assert Speculation(cascade=False).drafts(None, vocabulary) is None
    assert Speculation().drafts(None, vocabulary) is not None
