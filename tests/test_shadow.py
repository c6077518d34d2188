"""Drafts that the gate left out: what it learns from them, and what it then does."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st
from test_gate import GEMMA, STRONG, WEAK, Machine

from fucina_cli.drafting.gate import Gate, GateSettings
from fucina_cli.drafting.shadow import Shadow
from fucina_cli.drafting.source import Outlook


class Told(Gate):
    """A gate that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.firsts: list[tuple[str, bool]] = []
        self.nexts: dict[str, list[bool]] = {}

    def learn_first(self, outlook: Outlook, held: bool) -> None:
        self.firsts.append((outlook.kind, held))
        super().learn_first(outlook, held)

    def learn_next(self, outlook: Outlook, held: int, failed: bool) -> None:
        self.nexts.setdefault(outlook.kind, []).extend([True] * held + [False] * failed)
        super().learn_next(outlook, held, failed)


def test_a_draft_is_followed_over_steps_to_its_first_wrong_token() -> None:
    shadow, gate = Shadow(), Told()
    text = [5, 6]
    shadow.add(WEAK, [7, 8, 9, 1, 1], len(text))
    for new in ([7], [8, 9], [2], [1]):
        text += new
        shadow.settle(gate, text)
    assert gate.firsts == [(WEAK.kind, True)]
    assert gate.nexts == {WEAK.kind: [True, True, False]}


def test_a_draft_whose_first_token_is_wrong_says_nothing_of_the_others() -> None:
    shadow, gate = Shadow(), Told()
    shadow.add(WEAK, [7, 8, 9], 0)
    shadow.settle(gate, [3, 8, 9])
    shadow.settle(gate, [3, 8, 9, 4])
    assert gate.firsts == [(WEAK.kind, False)]
    assert gate.nexts == {}


def test_nothing_is_learned_before_a_token_is_there() -> None:
    shadow, gate = Shadow(), Told()
    shadow.add(WEAK, [7], 2)
    shadow.settle(gate, [1, 2])
    assert gate.firsts == []
    shadow.settle(gate, [1, 2, 7])
    assert gate.firsts == [(WEAK.kind, True)]


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=40),
    st.lists(st.integers(1, 5), max_size=20),
    st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), max_size=20),
)
def test_first_tokens_are_counted_as_a_comparison_afterwards_counts_them(
    text: list[int], steps: list[int], drafts: list[list[int]]
) -> None:
    shadow, gate = Shadow(), Told()
    at, expected = 0, []
    for step, draft in zip(steps, drafts, strict=False):
        shadow.add(STRONG, draft, at)
        if at < len(text):
            expected.append((STRONG.kind, text[at] == draft[0]))
        at = min(at + step, len(text))
        shadow.settle(gate, text[:at])
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
