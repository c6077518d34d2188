"""The gate: when drafts are verified, on a machine whose costs the test decides."""

from __future__ import annotations

import itertools
import json
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fucina_cli.drafting.cost import CostModel
from fucina_cli.drafting.gate import Gate, GateSettings
from fucina_cli.drafting.source import CERTAIN, Outlook
from tests.support.gates import GEMMA, QWEN, STRONG, WEAK, Machine, cost_of


@pytest.mark.parametrize("table", [QWEN, GEMMA], ids=["qwen", "gemma"])
@pytest.mark.parametrize("count", [60, 120, 250, 1000])
def test_drafts_that_always_fail_cost_less_than_three_percent(
    table: Sequence[tuple[int, float]], count: int
) -> None:
    kinds = [Outlook(f"kind {i}", 0.3, 0.6) for i in range(4)]
    machine = Machine(Gate(), table)
    for i in range(count):
        machine.step(kinds[i % 4], held=0)
    assert machine.tokens / machine.time >= 0.97
    if count == 1000:
        assert any(machine.lengths)  # it did look again


@pytest.mark.parametrize("table", [QWEN, GEMMA], ids=["qwen", "gemma"])
def test_even_when_a_confident_source_is_always_wrong_little_is_lost(
    table: Sequence[tuple[int, float]],
) -> None:
    machine = Machine(Gate(), table)
    for _ in range(250):
        machine.step(STRONG, held=0)
    assert machine.tokens / machine.time >= 0.965


@pytest.mark.parametrize("table", [QWEN, GEMMA], ids=["qwen", "gemma"])
def test_copies_are_drafted_from_the_start_and_nearly_in_full(
    table: Sequence[tuple[int, float]],
) -> None:
    machine = Machine(Gate(), table)
    for _ in range(3):
        machine.step(None, held=0)
    for _ in range(40):
        machine.step(STRONG, held=16)
    assert machine.lengths[3] > 0
    assert machine.lengths[-1] >= 12  # 16 would give less than 5% more
    assert machine.tokens / machine.time > 2


def test_a_kind_that_does_better_than_it_looked_is_found_and_used() -> None:
    machine = Machine(Gate(), QWEN)
    for _ in range(400):
        machine.step(WEAK, held=10)
    assert machine.lengths[-20:].count(0) <= 1
    assert machine.tokens / machine.time > 1.5


def test_short_matches_are_off_while_long_ones_are_on() -> None:
    machine = Machine(Gate(), GEMMA)
    for i in range(300):
        long = i % 10 == 0
        machine.step(STRONG if long else WEAK, held=16 if long else 0)
    assert all(machine.lengths[i] for i in range(100, 300, 10))
    short = [n for i, n in enumerate(machine.lengths) if i % 10]
    assert sum(map(bool, short[100:])) <= 8
    assert machine.tokens / machine.time > 1.4


def test_the_budget_follows_how_far_drafts_hold() -> None:
    def length(held: int) -> int:
        machine = Machine(Gate(), GEMMA)
        for _ in range(3):
            machine.step(None, 0)
        for _ in range(30):
            machine.step(STRONG, held)
        return machine.lengths[-1]

    assert length(3) < length(6) < length(16)
    assert length(16) >= 12
    assert 2 <= length(3) <= 6


def test_one_bad_timing_changes_no_decision() -> None:
    """A forward that took 50 times as long, at any moment, plain or not."""

    def run(bad: int | None) -> list[int]:
        machine = Machine(Gate(), GEMMA)
        for _ in range(4):
            machine.step(None, 0)
        for i in range(60):
            machine.step(STRONG, held=12, noise=50.0 if i == bad else 1.0)
        return machine.lengths

    calm = run(None)
    assert calm[-1]
    for bad in range(30):
        noisy = run(bad)
        assert [bool(n) for n in noisy] == [bool(n) for n in calm], bad


def test_the_first_timing_of_all_may_be_bad() -> None:
    gate = Gate()
    machine = Machine(gate, GEMMA)
    machine.step(None, 0, noise=100.0)
    machine.step(None, 0)
    assert gate.costs.plain_seconds == pytest.approx(0.01)


def test_between_the_two_thresholds_a_kind_stays_as_it_is() -> None:
    """Both kinds end with an estimate between off and on; one came from above, one from below."""
    table = ((1, 1.0), (17, 1.96))  # the 16 rows cost 0.06 each
    config = GateSettings(on=3.0, off=1.2, share=0.5, grant=50)
    # About one accepted token per draft: a speed-up near 2 / cost, between 1.2 and 3.
    from_above, from_below = Gate(config), Gate(config)
    for gate, outlook in ((from_above, Outlook("k", 0.99, 0.9)), (from_below, WEAK)):
        machine = Machine(gate, table)
        for _ in range(3):
            for rows in (1, 2, 3, 5, 9, 17):
                gate.record(rows, rows, 0.01 * cost_of(table, rows))
        for _ in range(200):
            machine.step(outlook, held=1)
        speedup = gate.state()["kinds"][outlook.kind]["speedup"]
        assert 1.2 < speedup < 3.0
    assert from_above.state()["kinds"]["k"]["on"] is True
    assert from_below.state()["kinds"]["reply 2+"]["on"] is False


def test_probes_of_a_failing_kind_come_ever_more_rarely_and_small() -> None:
    config = GateSettings(grant=1e6)  # so that only the waiting holds them back
    machine = Machine(Gate(config), QWEN)
    for _ in range(1200):
        machine.step(WEAK, held=0)
    at = [i for i, n in enumerate(machine.lengths) if n]
    gaps = [b - a for a, b in itertools.pairwise(at)]
    assert gaps == [9, 17, 33, 65, 129, 257, 257, 257]
    assert max(machine.lengths) <= config.probe


def test_a_text_that_changes_is_noticed_both_ways() -> None:
    machine = Machine(Gate(), GEMMA)
    for held, count in ((16, 60), (0, 60), (16, 300)):
        for _ in range(count):
            machine.step(STRONG, held)
    bad = machine.lengths[60:120]
    assert sum(map(bool, bad[12:])) <= 4
    assert sum(map(bool, machine.lengths[-50:])) >= 48


def test_forwards_that_were_slow_for_a_while_do_not_switch_drafting_off_for_good() -> None:
    machine = Machine(Gate(), GEMMA)
    for _ in range(40):
        machine.step(STRONG, held=16)
    machine.table = [(rows, cost if rows == 1 else 4 * cost) for rows, cost in GEMMA]
    for _ in range(60):
        machine.step(STRONG, held=16)
    assert machine.lengths[60:100].count(0) > 20
    machine.table = GEMMA
    for _ in range(700):
        machine.step(STRONG, held=16)
    assert machine.lengths[-50:].count(0) <= 1


def test_timings_of_long_ago_give_way_to_the_prior_and_then_to_new_ones() -> None:
    costs = CostModel()
    prior = costs.cost(4, 4)
    for _ in range(9):
        costs.record(1, 1, 0.01)
        costs.record(4, 4, 0.2)
    assert costs.cost(4, 4) == pytest.approx(20)
    for _ in range(250):
        costs.record(1, 1, 0.01)
    costs.record(4, 4, 0.03)
    assert costs.cost(4, 4) == pytest.approx(prior)
    for _ in range(2):
        costs.record(4, 4, 0.03)
    assert costs.cost(4, 4) == pytest.approx(3.0)


def test_drafts_too_short_to_pay_leave_a_good_kind_on_and_are_not_probed() -> None:
    machine = Machine(Gate(), QWEN)
    for _ in range(5):
        machine.step(None, 0)
    for _ in range(20):
        machine.step(STRONG, held=16)
    for _ in range(50):
        machine.step(STRONG, held=1, limit=1)
    assert machine.lengths[-40:] == [0] * 40  # at first the cost of two rows was not known
    assert machine.step(STRONG, held=16) >= 12


def test_drafts_of_one_token_say_nothing_of_the_ones_after() -> None:
    gate = Gate()
    for _ in range(2000):
        gate.record(2, 2, 0.01)
        gate.settle(1, 1, WEAK)
    assert gate.state()["kinds"][WEAK.kind]["then"] == pytest.approx(0.7)


def test_certain_tokens_are_exempt() -> None:
    gate = Gate(GateSettings(grant=0, share=0))
    for _ in range(300):
        gate.record(8, 8, 0.5)  # whatever it costs and however long without a plain step
    assert gate.budget(9, CERTAIN) == 9
    before = gate.state()
    gate.settle(9, 9, CERTAIN)
    assert gate.state() == before


def test_one_more_row_beside_forced_ones_is_worth_what_alone_is_not() -> None:
    gate = Gate()
    for _ in range(8):
        gate.record(1, 1, 0.010)
        gate.record(2, 2, 0.0217)
        gate.record(5, 1, 0.025)
        gate.record(6, 2, 0.027)
    sure = Outlook("boundary", 0.9, 0.9)
    assert gate.budget(1, sure) == 0  # at 2.17 plain steps for two tokens
    assert gate.budget(1, sure, rows=5, logit_rows=1) == 1  # 0.2 steps more for another token


def test_the_time_that_making_a_draft_takes_counts() -> None:
    outlook = Outlook("draft model", 0.8, 0.8)

    def tries(seconds: float) -> int:
        gate = Gate()
        for _ in range(5):
            gate.record(1, 1, 0.01)
        used = 0
        for _ in range(60):
            n = gate.budget(8, outlook)
            gate.record(1 + n, 1 + n, 0.01 * cost_of(GEMMA, 1 + n))
            gate.settle(n, min(n, 5), outlook, seconds=seconds * n)
            used += bool(n)
        return used

    assert tries(0.0001) >= 58
    assert tries(0.01) <= 6


def test_after_long_without_a_plain_step_one_is_taken() -> None:
    machine = Machine(Gate(), GEMMA)
    for _ in range(300):
        machine.step(STRONG, held=16)
    late = machine.lengths[100:]
    assert 2 <= late.count(0) <= 4


def test_costs_between_the_row_counts_seen_are_interpolated_and_the_two_tables_kept_apart() -> None:
    costs = CostModel()
    unseen = costs.cost(6, 6)
    for _ in range(8):
        costs.record(1, 1, 0.02)
        costs.record(4, 4, 0.02 * 4.0)
        costs.record(8, 8, 0.02 * 9.0)
    assert costs.cost(1, 1) == 1
    assert costs.cost(4, 4) == pytest.approx(4.0)
    assert costs.cost(8, 8) == pytest.approx(9.0)
    assert 4.0 < costs.cost(6, 6) < 9.0 != unseen
    assert costs.cost(4, 1) < 2.5  # the prior's: no forced rows were timed
    assert costs.measured() == {"4": pytest.approx(4.0), "8": pytest.approx(9.0)}


def test_a_new_row_count_is_believed_only_after_three_timings() -> None:
    costs = CostModel()
    for _ in range(3):
        costs.record(1, 1, 0.02)
    prior = costs.cost(4, 4)
    seen = []
    for _ in range(4):
        costs.record(4, 4, 0.02 * 10 * prior)
        seen.append(costs.cost(4, 4) / prior)
    assert seen[0] == pytest.approx(1.0)
    assert seen[2] == pytest.approx(10.0)


@pytest.mark.parametrize(
    "sample", [(1, 1, 0.0), (1, 1, -1.0), (1, 1, math.nan), (1, 1, math.inf), (4, 0, 1.0),
               (512, 1, 9.0), (2, 3, 1.0)]
)  # fmt: skip
def test_timings_that_say_nothing_are_ignored(sample: tuple[int, int, float]) -> None:
    costs = CostModel()
    costs.record(*sample)
    assert costs.plain_seconds is None
    assert costs.measured() == {}


def test_without_any_plain_step_costs_are_still_relative_to_one() -> None:
    costs = CostModel()
    for _ in range(9):
        costs.record(4, 4, 0.1)
        costs.record(8, 8, 0.2)
    assert 1.6 < costs.cost(8, 8) / costs.cost(4, 4) < 2.4
    assert costs.cost(4, 4) > 1.5


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("on", 0.9),
        ("on", math.nan),
        ("off", 0.0),
        ("off", math.inf),
        ("share", 1.0),
        ("share", -0.1),
        ("grant", -1.0),
        ("credit", -1.0),
        ("unaffordable_weight", -0.1),
        ("unaffordable_weight", 1.1),
        ("first_wait", 0),
        ("first_wait", 2.5),
        ("longest_wait", 7),
        ("probe", 0),
        ("memory", 0.0),
        ("memory", 1.0),
        ("refresh", 1),
    ],
)
def test_a_constant_that_makes_no_sense_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be"):
        GateSettings(**{name: value})  # type: ignore[arg-type]


def test_every_constant_is_validated() -> None:
    for field in fields(GateSettings):
        with pytest.raises(ValueError, match=f"^{field.name} must be"):
            GateSettings(**{field.name: math.inf})  # type: ignore[arg-type]


def test_the_state_is_plain_json() -> None:
    machine = Machine(Gate(), GEMMA)
    assert json.loads(json.dumps(machine.gate.state()))["plain_ms"] is None
    for i in range(50):
        machine.step(STRONG, held=i % 16)
    state = json.loads(json.dumps(machine.gate.state()))
    assert state == machine.gate.state()
    assert state["steps"] == 50
    assert state["kinds"]["reply 16+"]["on"] is True


def _any_machine(
    seed: int, held: Callable[[random.Random], int], table: Sequence[tuple[int, float]], count: int
) -> Machine:
    rng = random.Random(seed)
    kinds = [WEAK, STRONG, Outlook("recycling", 0.3, 0.5), Outlook("boundary", 0.9, 0.9)]
    machine = Machine(Gate(), table)
    for _ in range(count):
        machine.step(rng.choice(kinds), held(rng), noise=rng.uniform(0.8, 1.3), limit=16)
    return machine


@settings(max_examples=30, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.95]),
    st.sampled_from([QWEN, GEMMA]),
)
def test_whatever_holds_and_however_noisy_the_clock_drafting_is_never_much_of_a_loss(
    seed: int, probability: float, table: Sequence[tuple[int, float]]
) -> None:
    def held(rng: random.Random) -> int:
        n = 0
        while n < 16 and rng.random() < probability:
            n += 1
        return n

    machine = _any_machine(seed, held, table, 200)
    assert machine.tokens / machine.time >= 0.96
    again = _any_machine(seed, held, table, 200)
    assert again.lengths == machine.lengths
    assert again.gate.state() == machine.gate.state()
