"""Drafts that the gate left out: what it learns from them, and what it then does."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.drafting.gate import Gate, GateSettings
from fucina_cli.drafting.source import Outlook
from fucina_cli.drafting.unverified import UnverifiedDrafts
from tests.support.gates import GEMMA, QWEN, STRONG, WEAK, Machine


class Told(Gate):
    """A gate that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.firsts: list[tuple[str, bool]] = []
        self.nexts: dict[str, list[bool]] = {}
        self.unaffordable_settled: list[tuple[int, int, int]] = []

    def learn_first(self, outlook: Outlook, held: bool) -> None:
        self.firsts.append((outlook.kind, held))
        super().learn_first(outlook, held)

    def learn_next(self, outlook: Outlook, held: int, failed: bool) -> None:
        self.nexts.setdefault(outlook.kind, []).extend([True] * held + [False] * failed)
        super().learn_next(outlook, held, failed)

    def settle_unaffordable(
        self, drafted: int, held: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
    ) -> None:
        self.unaffordable_settled.append((drafted, held, rows))
        super().settle_unaffordable(drafted, held, outlook, rows=rows, logit_rows=logit_rows)


def test_a_draft_is_followed_over_steps_to_its_first_wrong_token() -> None:
    unverified, gate = UnverifiedDrafts(), Told()
    text = [5, 6]
    unverified.add(WEAK, [7, 8, 9, 1, 1], len(text))
    for new in ([7], [8, 9], [2], [1]):
        text += new
        unverified.settle(gate, text)
    assert gate.firsts == [(WEAK.kind, True)]
    assert gate.nexts == {WEAK.kind: [True, True, False]}


def test_a_draft_whose_first_token_is_wrong_says_nothing_of_the_others() -> None:
    unverified, gate = UnverifiedDrafts(), Told()
    unverified.add(WEAK, [7, 8, 9], 0)
    unverified.settle(gate, [3, 8, 9])
    unverified.settle(gate, [3, 8, 9, 4])
    assert gate.firsts == [(WEAK.kind, False)]
    assert gate.nexts == {}


def test_nothing_is_learned_before_a_token_is_there() -> None:
    unverified, gate = UnverifiedDrafts(), Told()
    unverified.add(WEAK, [7], 2)
    unverified.settle(gate, [1, 2])
    assert gate.firsts == []
    unverified.settle(gate, [1, 2, 7])
    assert gate.firsts == [(WEAK.kind, True)]


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=40),
    st.lists(st.integers(1, 5), max_size=20),
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), max_size=20),
)
def test_first_tokens_are_counted_as_a_comparison_afterwards_counts_them(
    text: list[int], steps: list[int], drafts: list[list[int]]
) -> None:
    unverified, gate = UnverifiedDrafts(), Told()
    at, expected = 0, []
    for step, draft in zip(steps, drafts, strict=False):
        unverified.add(STRONG, draft, at)
        if at < len(text):
            expected.append((STRONG.kind, text[at] == draft[0]))
        at = min(at + step, len(text))
        unverified.settle(gate, text[:at])
    assert gate.firsts == expected
    # A chain ends with its first failure, so between two failures lies another draft's beginning.
    failures = gate.nexts.get(STRONG.kind, []).count(False)
    assert failures <= sum(held for _, held in gate.firsts)


def test_a_kind_that_is_off_is_used_once_the_drafts_left_out_would_have_held() -> None:
    gate = Gate()
    machine = Machine(gate, GEMMA)
    for _ in range(6):
        machine.step(None, 0)
    assert gate.budget(16, WEAK) <= gate.settings.probe
    for _ in range(10):
        gate.learn_first(WEAK, True)
        gate.learn_next(WEAK, 8, False)
    assert gate.budget(16, WEAK) > gate.settings.probe


def test_a_kind_known_to_fail_is_not_probed_until_costs_are_old() -> None:
    gate = Gate(GateSettings(grant=1e6))
    machine = Machine(gate, GEMMA)
    machine.step(STRONG, held=16)  # so that the cost of rows is known
    for _ in range(600):
        machine.step(WEAK, held=0)
        if not machine.lengths[-1]:
            gate.learn_first(WEAK, False)
    probes = [i for i, n in enumerate(machine.lengths) if n]
    assert len(probes) <= 4
    assert len(probes) >= 3
    gaps = [b - a for a, b in itertools.pairwise(probes[1:])]
    assert min(gaps) >= gate.settings.longest_wait


@pytest.mark.parametrize(
    ("steps", "held"),
    [([[7], [8, 9], [1], [1]], 4), ([[7], [8, 2], [1]], 2), ([[3]], 0), ([[7, 8]], None)],
    ids=["whole", "in part", "not at all", "not known yet"],
)
def test_what_the_gate_had_no_means_for_is_settled_unaffordable_settled_once_it_is_known(
    steps: list[list[int]], held: int | None
) -> None:
    unverified, gate = UnverifiedDrafts(), Told()
    text = [5]
    unverified.add_unaffordable(STRONG, [7, 8, 9, 1], 1, rows=3, logit_rows=1)
    for new in steps:
        text += new
        unverified.add_unaffordable(
            STRONG, [6, 6], len(text), rows=1, logit_rows=1
        )  # one at a time
        unverified.settle(gate, text)
    assert gate.unaffordable_settled == ([] if held is None else [(4, held, 3)])


def _used_up(settings: GateSettings | None = None) -> tuple[Gate, Machine]:
    """A gate whose means are used up by sure-looking drafts that failed, on a known machine."""
    gate = Gate(settings)
    machine = Machine(gate, GEMMA)
    for _ in range(6):
        machine.step(None, 0)
    while gate.budget(16, STRONG):
        machine.step(STRONG, held=0)
    return gate, machine


def _steps_until_drafting(settings: GateSettings | None = None) -> int:
    """Plain steps after such losses, while all that is suggested would hold: 100 at most."""
    gate, machine = _used_up(settings)
    unverified, text = UnverifiedDrafts(), [0]
    for step in range(100):
        if gate.budget(16, STRONG):
            assert gate.state()["balance"] <= 0  # only verified gains can be spent
            return step
        unverified.add(STRONG, [1] * 16, len(text))
        if missed := gate.unaffordable(16, STRONG):
            unverified.add_unaffordable(STRONG, [1] * missed, len(text), rows=1, logit_rows=1)
        machine.step(None, 0)
        text.append(1)
        unverified.settle(gate, text)
    return 100


def test_after_losses_drafts_that_would_have_held_bring_drafting_back() -> None:
    soon, late = _steps_until_drafting(), _steps_until_drafting(GateSettings(unaffordable_weight=0))
    assert 5 < soon < 40
    assert late > 2 * soon


def test_nothing_is_unaffordable_that_would_not_pay_or_that_can_be_had() -> None:
    gate, _ = _used_up()
    assert gate.unaffordable(16, STRONG) > 0
    assert gate.unaffordable(16, WEAK) == 0
    rich = Gate(GateSettings(grant=100))
    assert rich.budget(16, STRONG) > 0
    assert rich.unaffordable(16, STRONG) == 0


@pytest.mark.parametrize("table", [QWEN, GEMMA], ids=["qwen", "gemma"])
def test_a_text_that_holds_unaffordable_settled_and_fails_in_earnest_still_costs_little(
    table: Sequence[tuple[int, float]],
) -> None:
    """The worst text there is: it copies as long as nothing is drafted, and only then."""
    gate = Gate()
    machine = Machine(gate, table)
    unverified, text = UnverifiedDrafts(), [0]
    for _ in range(1000):
        n = machine.step(STRONG, held=0)
        if not n:
            unverified.add(STRONG, [1] * 16, len(text))
            if missed := gate.unaffordable(16, STRONG):
                unverified.add_unaffordable(STRONG, [1] * missed, len(text), rows=1, logit_rows=1)
        text.append(2 if n else 1)
        unverified.settle(gate, text)
    assert machine.tokens / machine.time >= 0.97
