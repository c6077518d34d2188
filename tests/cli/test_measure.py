"""`--spec-bench` and `--verify-batch`: what they measure, what they find, and how they say so."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pytest
from numpy.typing import NDArray

from fucina_cli.llama import context, rowcheck, rowcosts
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import spread_ids
from fucina_cli.llama.model import Model
from fucina_cli.llama.rowcheck import AFTER_DRAFT, BATCHED, LOCKSTEP, Report
from tests.support.command_line import Result, RunHere, run_here

__all__ = ["run_here"]  # a fixture

_Kind = TypeVar("_Kind", bound=Context)
ARMS = (BATCHED, AFTER_DRAFT, LOCKSTEP)
FAMILIES = {"qwen3": "qwen3", "gemma4": "gemma4", "llama": "generic"}
#: Ids that every test vocabulary has, up to just before 512 cells.
LONG = ",".join(map(str, spread_ids(300, 505)))


def record(result: Result, code: int = 0) -> dict[str, Any]:
    assert result.code == code, result.err
    parsed = json.loads(result.out)
    assert isinstance(parsed, dict)
    return parsed


@pytest.fixture(params=sorted(FAMILIES))
def small(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """The family to run and the file of each small random model."""
    return FAMILIES[request.param], request.getfixturevalue(f"{request.param}_path")


# -- what rows cost ------------------------------------------------------------------------------


def check_costs(costs: dict[str, Any], prompt_tokens: int) -> None:
    assert costs["plain_ms"] > 0
    assert costs["prompt_tokens"] == prompt_tokens
    assert 3 <= costs["rounds"] <= 9
    assert [row["rows"] for row in costs["rows"]] == [2, 3, 4, 6, 8, 12, 16]
    for row in costs["rows"]:
        assert row["all_logits"] > 0
        assert row["last_logits"] > 0
        share = (row["all_logits"] - 1) / (row["rows"] - 1)
        assert row["break_even"] == pytest.approx(max(0.0, share), abs=1e-3)
        assert row["forced_speedup"] == pytest.approx(row["rows"] / row["last_logits"], rel=1e-2)


def test_spec_bench_records_every_row_count(small: tuple[str, Path], run_here: RunHere) -> None:
    family, path = small
    result = run_here(path, "--spec-bench", "--json", "--threads", "1", family=family)
    check_costs(record(result), 64)


@pytest.mark.model
def test_spec_bench_of_a_trained_model(smollm2: Path, run_here: RunHere) -> None:
    result = run_here(
        smollm2, "--spec-bench", "--json", "--chat", "Name a river.", "--threads", "1"
    )
    costs = record(result)
    check_costs(costs, costs["prompt_tokens"])
    # Most of a step is reading weights, which a forward of 16 rows does once.
    assert costs["rows"][-1]["last_logits"] < 16


def test_spec_bench_prints_a_table(llama_path: Path, run_here: RunHere) -> None:
    result = run_here(llama_path, "1,2,3", "--spec-bench", "--threads", "1")
    assert (result.code, result.err) == (0, "")
    assert "ms after 3 tokens" in result.out
    rows = [line.split("│") for line in result.out.splitlines() if line.startswith("│")]
    assert [row[1].strip() for row in rows] == ["2", "3", "4", "6", "8", "12", "16"]


def test_a_chat_is_a_place_to_measure_at(llama_path: Path, run_here: RunHere) -> None:
    spelled = ("--chat", "Hello", "--gen", "5", "--stop", "x", "--temp", "0.5", "--threads", "1")
    costs = record(run_here(llama_path, *spelled, "--spec-bench", "--json"))
    checked = record(run_here(llama_path, *spelled, "--verify-batch", "2", "--json"))
    assert costs["prompt_tokens"] == checked["prompt_tokens"] > 5


def test_costs_are_ratios_to_the_plain_steps_around_them(
    llama_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a clock that a forward moves by its rows, and by more in a slow phase of the machine."""
    now = 0.0
    forwards = 0

    class Timed(Context):
        def decode(self, rows: Sequence[Row]) -> None:
            nonlocal now, forwards
            forwards += 1
            slow = 3.0 if 40 < forwards < 60 else 1.0
            logits = sum(row.wants_logits for row in rows)
            now += slow * (0.007 + 0.002 * (len(rows) - 1) + 0.001 * logits)
            super().decode(rows)

    monkeypatch.setattr(time, "perf_counter", lambda: now)
    with opened(llama_path, Timed, n_slots=1) as context:
        costs = rowcosts.measure(context, [5, 6, 7], row_counts=(2, 8), budget_s=1.0)
    assert costs.plain_ms == pytest.approx(8)
    two, eight = costs.rows
    assert (two.rows, eight.rows) == (2, 8)
    assert (two.all_logits, two.last_logits) == pytest.approx((11 / 8, 10 / 8))
    assert (eight.all_logits, eight.last_logits) == pytest.approx((29 / 8, 22 / 8))
    assert costs.rows[0].break_even == pytest.approx(3 / 8)


def test_a_draft_that_always_loses_has_no_share_that_pays() -> None:
    assert rowcosts.RowCost(2, all_logits=2.17, last_logits=1.85).break_even > 1
    assert rowcosts.RowCost(4, all_logits=0.99, last_logits=0.9).break_even == 0
    assert rowcosts.RowCost(4, all_logits=2.5, last_logits=2.0).forced_speedup == 2


# -- exact on this machine -----------------------------------------------------------------------


def check_exact(found: dict[str, Any], steps: int) -> None:
    assert found["exact"] is True
    assert found["first_difference"] is None
    assert found["max_difference"] == 0
    assert found["steps"] == steps
    assert tuple(found["arms"]) == ARMS
    for name, arm in found["arms"].items():
        least = 2 * steps if name == LOCKSTEP else steps
        assert arm["compared"] >= least
        assert (arm["differing"], arm["max_difference"], arm["choices_changed"]) == (0, 0, 0)


def test_verify_batch_finds_exact_models_exact_beyond_512_cells(
    small: tuple[str, Path], run_here: RunHere
) -> None:
    family, path = small
    result = run_here(path, LONG, "--verify-batch", "34", "--json", "--threads", "2", family=family)
    found = record(result)
    check_exact(found, 34)
    assert found["prompt_tokens"] == 505
    assert result.err == ""


def test_verify_batch_sizes_the_context_by_itself(llama_path: Path, run_here: RunHere) -> None:
    found = record(run_here(llama_path, "--verify-batch", "600", "--json", "--threads", "1"))
    check_exact(found, 600)
    assert found["prompt_tokens"] == 64


@pytest.mark.model
def test_verify_batch_of_a_trained_model(smollm2: Path, run_here: RunHere) -> None:
    ids = ",".join(map(str, spread_ids(1000, 505)))
    check_exact(
        record(run_here(smollm2, ids, "--verify-batch", "12", "--json", "--threads", "1")), 12
    )


@pytest.mark.parametrize("steps", ["1", "2"])
def test_few_steps_from_one_token(llama_path: Path, run_here: RunHere, steps: str) -> None:
    result = run_here(llama_path, "7", "--verify-batch", steps, "--threads", "1")
    assert (result.code, result.err) == (0, "")
    title = "1 step after 1 token," if steps == "1" else "2 steps after 1 token,"
    assert title in result.out
    assert "bitwise equal" in result.out


def test_llama_cpps_defaults_are_told_apart_or_found_exact(
    llama_path: Path, run_here: RunHere
) -> None:
    """Two threads split an f16 cache of 512 cells for one row and not for more, on most CPUs."""
    result = run_here(
        llama_path, LONG, "--verify-batch", "8", "--no-exact", "--json", "--threads", "2"
    )
    found = record(result, 0 if json.loads(result.out)["exact"] else 4)
    assert found["cache_type"] == ["f16", "f16"]
    assert (found["first_difference"] is None) == found["exact"] == (result.err == "")


# -- a difference is found -----------------------------------------------------------------------


class Disturbed(Context):
    """Adds to one logit of the rows that `fault` picks: (rows of the forward, index of the row)."""

    fault: Callable[[Disturbed, Sequence[Row], int], bool]
    size = 0.25
    forgot = False

    def decode(self, rows: Sequence[Row]) -> None:
        self.rows = list(rows)
        super().decode(rows)

    def truncate(self, slot: int, length: int) -> None:
        self.forgot = bool(self.rows) and self.rows[0].slot == slot
        super().truncate(slot, length)

    def logits(self, row: int) -> NDArray[np.float32]:
        given = super().logits(row)
        if type(self).fault(self, self.rows, row):
            given = given.copy()
            given[11] += self.size
            given[13] -= self.size / 2
        return given


@contextmanager
def opened(path: Path, kind: type[_Kind], n_slots: int = rowcheck.N_SLOTS) -> Iterator[_Kind]:
    """A context of `kind` over the model, closed with it in the end."""
    model = Model(path)
    context = kind(model, n_ctx=256, n_slots=n_slots, threads=1)
    try:
        yield context
    finally:
        context.close()
        model.close()


def disturbed(fault: Callable[[Disturbed, Sequence[Row], int], bool]) -> type[Disturbed]:
    return type("Faulty", (Disturbed,), {"fault": fault})


def check_with(path: Path, fault: Callable[[Disturbed, Sequence[Row], int], bool]) -> Report:
    with opened(path, disturbed(fault)) as context:
        return rowcheck.check(context, [5, 6, 7], 12)


def test_a_batch_of_a_certain_size_is_found(llama_path: Path) -> None:
    """As kernels that start at four rows do: the third batch has four, rows 5 to 8."""

    def fault(_context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        return len(rows) == 4 and len({r.slot for r in rows}) == 1 and row == 2

    report = check_with(llama_path, fault)
    first = report.first
    assert first is not None
    assert (first.arm, first.step, first.position, first.rows) == (BATCHED, 7, 9, 4)
    assert first.token == 11
    assert first.size == pytest.approx(0.25, rel=1e-3)
    assert report.worst == first.size
    assert [report.arms[name].differing for name in ARMS] == [1, 0, 0]


def test_what_a_forgotten_draft_leaves_behind_is_found(llama_path: Path) -> None:
    def fault(context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        return len(rows) == 1 and context.forgot

    report = check_with(llama_path, fault)
    assert report.first is not None
    assert (report.first.arm, report.first.step, report.first.rows) == (AFTER_DRAFT, 0, 1)
    assert report.arms[AFTER_DRAFT].differing == 12


@pytest.mark.parametrize(("index", "step", "position"), [(0, 0, 2), (2, 0, 2), (3, 5, 2)])
def test_a_stream_that_its_neighbours_disturb_is_found(
    llama_path: Path, index: int, step: int, position: int
) -> None:
    """The fourth row appears once the stream that stays behind has begun, at step 5."""

    def fault(_context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        return len({r.slot for r in rows}) > 2 and row == index

    first = check_with(llama_path, fault).first
    assert first is not None
    assert (first.arm, first.step, first.position) == (LOCKSTEP, step, position)
    assert first.rows == (4 if step == 5 else 3)


def test_the_difference_of_the_lowest_step_comes_first(llama_path: Path) -> None:
    """Arms are compared block by block, and within one the batch comes before the others."""

    def fault(_context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        lockstep = len({r.slot for r in rows}) > 1
        return lockstep or (len(rows) > 1 and row == 1)

    first = check_with(llama_path, fault).first
    assert first is not None
    assert (first.arm, first.step) == (LOCKSTEP, 0)


def test_one_flipped_bit_is_a_difference(llama_path: Path) -> None:
    class OneBit(Context):
        def decode(self, rows: Sequence[Row]) -> None:
            self.count = len(rows)
            super().decode(rows)

        def logits(self, row: int) -> NDArray[np.float32]:
            given = super().logits(row)
            if self.count == 16:
                given.view(np.uint32)[3] ^= 1
            return given

    with opened(llama_path, OneBit) as context:
        report = rowcheck.check(context, [5, 6, 7], 30)
    assert report.first is not None
    assert (report.first.rows, report.first.token, report.first.step) == (16, 3, 17)
    assert 0 < report.first.size < 1e-5


def test_the_largest_difference_of_numbers_that_are_none() -> None:
    def row(*values: float) -> NDArray[np.float32]:
        return np.array(values, dtype=np.float32)

    inf, nan = float("inf"), float("nan")
    assert rowcheck.largest_difference(row(1, 2, 3), row(1, 4, 2)) == (2, 1)
    assert rowcheck.largest_difference(row(-inf, 1), row(-inf, 1.5)) == (0.5, 1)
    assert rowcheck.largest_difference(row(0, 1), row(0, nan)) == (inf, 1)


def test_a_model_without_numbers_is_refused_and_not_called_exact(llama_path: Path) -> None:
    class Broken(Context):
        def logits(self, row: int) -> NDArray[np.float32]:
            given = super().logits(row)
            given[0] = np.nan
            return given

    with (
        opened(llama_path, Broken) as context,
        pytest.raises(ModelError, match="no numbers"),
    ):
        rowcheck.check(context, [5, 6, 7], 3)


def test_the_script_or_the_model_itself_gives_the_tokens(llama_path: Path) -> None:
    class Recorded(Context):
        seen: list[int]

        def decode(self, rows: Sequence[Row]) -> None:
            if len(rows) == 1 and rows[0].slot == 0:
                self.seen.append(rows[0].token)
            super().decode(rows)

    with opened(llama_path, Recorded) as context:
        context.seen = []
        rowcheck.check(context, [5, 6, 7], 4, [21, 22, 23, 24])
        assert context.seen == [7, 21, 22, 23]
        context.seen = []
        rowcheck.check(context, [5, 6, 7], 4)
        chosen = context.seen
        context.clear_all()
        context.seen = []
        context.decode([Row(t, i, 0, i == 2) for i, t in enumerate([5, 6, 7])])
        assert int(context.logits(2).argmax()) == chosen[1]


def test_a_difference_exits_4_and_names_itself(
    llama_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(_context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        return len(rows) == 4 and len({r.slot for r in rows}) == 1 and row == 2

    monkeypatch.setattr(context, "Context", disturbed(fault))
    arguments = (llama_path, "5,6,7", "--verify-batch", "12", "--threads", "1")
    result = run_here(*arguments)
    assert result.code == 4
    assert result.err == (
        "error: --verify-batch: step 7 of 12 (position 9) differs from its single step in a "
        "verify batch, 4 rows in the forward: by 0.25 at token 11\n"
    )
    assert "NOT equal" in result.out
    told = run_here(*arguments, "--json")
    assert told.err == result.err
    found = record(told, 4)
    assert found["exact"] is False
    first = found["first_difference"]
    assert first.pop("difference") == pytest.approx(0.25, rel=1e-3)
    assert first == {"arm": BATCHED, "step": 7, "position": 9, "rows": 4, "token": 11}
    assert found["arms"][BATCHED]["differing"] == 1
    assert found["arms"][LOCKSTEP]["differing"] == 0


def test_a_difference_that_is_no_number_still_makes_a_record(
    llama_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fault(_context: Disturbed, rows: Sequence[Row], row: int) -> bool:
        return len(rows) == 2

    kind = disturbed(fault)
    kind.size = float("nan")
    monkeypatch.setattr(context, "Context", kind)
    found = record(
        run_here(llama_path, "5,6,7", "--verify-batch", "2", "--json", "--threads", "1"), 4
    )
    assert found["max_difference"] is None
    assert found["first_difference"]["difference"] is None


# -- what can't be measured ----------------------------------------------------------------------


def test_a_context_too_small_is_told_with_both_sizes(llama_path: Path, run_here: RunHere) -> None:
    run_here(llama_path, "--verify-batch", "600", "--ctx", "512").refused("--ctx", "512", "617")
    run_here(llama_path, "--spec-bench", "--ctx", "16").refused("--ctx", "16", "17")
    run_here(llama_path, LONG, "--spec-bench", "--ctx", "512").refused("--ctx", "521")
    run_here(llama_path, "--verify-batch", "3000").refused("--verify-batch", "3017", "2048")
    found = record(run_here(llama_path, "--verify-batch", "9", "--ctx", "26", "--json"))
    assert found["prompt_tokens"] == 1


@pytest.mark.parametrize("mode", [["--spec-bench"], ["--verify-batch", "5"]])
def test_a_model_that_cannot_rewind_is_refused(
    llama_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch, mode: list[str]
) -> None:
    monkeypatch.setattr(Model, "can_rewind", property(lambda _self: False))
    run_here(llama_path, *mode).refused(mode[0], "recurrent", "rewound")


@pytest.mark.parametrize("mode", [["--spec-bench"], ["--verify-batch", "5"]])
@pytest.mark.parametrize(
    "other", [["--regex", "a"], ["--spec"], ["--info"], ["--logits-out", "x"]], ids=" ".join
)
def test_what_does_not_go_together(
    llama_path: Path, run_here: RunHere, mode: list[str], other: list[str]
) -> None:
    run_here(llama_path, "--chat", "a", *mode, *other).refused(other[0])


@pytest.mark.parametrize("value", ["0", "-1", "100001", "x"])
def test_steps_out_of_range(llama_path: Path, run_here: RunHere, value: str) -> None:
    run_here(llama_path, "--verify-batch", value).refused("--verify-batch")


@pytest.mark.parametrize("mode", [["--spec-bench"], ["--verify-batch", "40"]])
def test_ctrl_c_ends_a_measurement_with_130(
    llama_path: Path, run_here: RunHere, monkeypatch: pytest.MonkeyPatch, mode: list[str]
) -> None:
    class Interrupted(Context):
        forwards = 0

        def decode(self, rows: Sequence[Row]) -> None:
            self.forwards += 1
            assert self.forwards < 40, "went on"
            if self.forwards == 30:
                os.kill(os.getpid(), signal.SIGINT)
            super().decode(rows)

    monkeypatch.setattr(context, "Context", Interrupted)
    result = run_here(llama_path, *mode, "--threads", "1")
    assert (result.code, result.out, result.err) == (130, "", "")
