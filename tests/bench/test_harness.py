"""What the benchmarks share: whatever a model can't serve is one line and exit code 2."""

from __future__ import annotations

import functools
import importlib
import itertools
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fucina_cli.bench import decode_overhead, harness, lockstep, speculation
from fucina_cli.cli.process import output, program
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.throughput import side_by_side
from tests.support import ggufs

MODULES = ("against", "constrained", "decode_overhead", "lockstep", "speculation", "startup")


class Ended:
    """How a benchmark ended in this process."""

    def __init__(
        self,
        monkeypatch: pytest.MonkeyPatch,
        capfd: pytest.CaptureFixture[str],
        name: str,
        *arguments: str | Path,
    ) -> None:
        monkeypatch.setattr("sys.argv", [name, *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            program.end(importlib.import_module(f"fucina_cli.bench.{name}").main)
        self.code = ended.value.code
        self.out, self.err = capfd.readouterr()

    def refused(self, *words: str) -> None:
        assert (self.code, self.out) == (2, ""), (self.code, self.out, self.err)
        assert self.err.startswith("error: argument ")
        assert self.err.count("\n") == 1, self.err
        assert all(word in self.err for word in words), self.err


Bench = Callable[..., Ended]


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Bench:
    """Runs a benchmark: its name and arguments."""
    return functools.partial(Ended, monkeypatch, capfd)


# -- models that can't serve -----------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("content", [None, b"", b"no model", b"GGUF\3\0\0\0" + bytes(16)])
def test_a_file_that_is_no_model_is_named_without_a_traceback(
    name: str, content: bytes | None, tmp_path: Path, bench: Bench
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    bench(name, path, "--rounds", "1").refused(f"error: argument model: '{path}': ")


@pytest.mark.parametrize("name", MODULES)
def test_a_model_that_only_embeds_is_refused(name: str, tmp_path: Path, bench: Bench) -> None:
    path = ggufs.build_embedding(tmp_path / "bert.gguf")
    bench(name, path, "--rounds", "1").refused(f"'{path}': ", "embedding-only")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("speculation", ("--rounds", "1")),
        ("lockstep", ("--requests", "1")),
        ("tiny", ("--model",)),
    ],
)
def test_what_asks_in_a_chat_needs_a_chat_template(
    name: str, arguments: tuple[str, ...], spm_path: Path, tmp_path: Path, bench: Bench
) -> None:
    bench(name, *arguments, spm_path).refused(f"'{spm_path}': the file has no chat template")
    failing = ggufs.build_llama(tmp_path / "a.gguf", template="{{ raise_exception('no') }}")
    bench(name, *arguments, failing).refused(f"'{failing}': the chat template failed: no")


def test_without_a_chat_template_other_cases_are_measured(spm_path: Path, bench: Bench) -> None:
    done = bench("speculation", spm_path, "--rounds", "2", "--case", "free: story", "--json")
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert [len(seconds) for seconds in record["free: story"].values()] == [2, 2]


@pytest.mark.parametrize("name", ["against", "constrained", "lockstep", "speculation"])
def test_a_context_that_is_too_short_is_refused(name: str, tmp_path: Path, bench: Bench) -> None:
    path = ggufs.build_llama(tmp_path / "short.gguf", n_ctx=128)
    bench(name, path, "--rounds", "1").refused(f"'{path}': its context of 128 tokens", "too short")


def test_the_context_is_too_short_for_many_tokens(llama_path: Path, bench: Bench) -> None:
    bench("decode_overhead", llama_path, "--tokens", "99999").refused("too short", "100000 more")


@pytest.mark.parametrize("name", ["against", "constrained", "lockstep", "speculation"])
def test_a_vocabulary_without_an_end_is_refused(
    name: str, llama_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> int:
        raise ModelError("the vocabulary has no end-of-text token")

    monkeypatch.setattr("fucina_cli.prompts.stop_token", none)
    bench(name, llama_path, "--rounds", "1").refused(f"'{llama_path}': the vocabulary has no end")


def test_a_recurrent_model_drafts_nothing_and_does_all_else(
    llama_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def truncate(*_: object) -> None:
        raise ModelError("can't be truncated")

    monkeypatch.setattr(Model, "can_rewind", False)
    monkeypatch.setattr(Context, "truncate", truncate)
    bench("speculation", llama_path, "--rounds", "1").refused(
        f"'{llama_path}': a recurrent model (llama) can't be rewound"
    )
    assert bench("constrained", llama_path, "--rounds", "1").code == 0
    assert bench("lockstep", llama_path, "--rounds", "1", "--streams", "2").code == 0
    assert bench("decode_overhead", llama_path, "--rounds", "1", "--tokens", "9").code == 0


def test_an_answer_that_fails_and_one_that_ends_at_once_are_the_models_fault(
    llama_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_numbers(self: Context, row: int) -> NDArray[np.float32]:
        return np.full(self.model.n_vocab, np.nan, dtype=np.float32)

    with monkeypatch.context() as patch:
        patch.setattr(Context, "logits", no_numbers)
        bench("constrained", llama_path, "--rounds", "1").refused(f"'{llama_path}': ")
    case = replace(speculation.CASES["free: story"], limit=1)
    monkeypatch.setitem(speculation.CASES, "free: story", case)
    bench("speculation", llama_path, "--case", "free: story").refused("nothing to measure")


def test_arms_that_disagree_end_it_with_the_code_of_a_mismatch(
    llama_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(decode_overhead, "bare", lambda *_: (1.0, [1]))
    done = bench("decode_overhead", llama_path, "--rounds", "1", "--tokens", "9")
    assert (done.code, done.out) == (4, "")
    assert done.err == "error: the two loops chose different tokens\n"


# -- figures ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_prints_a_table_or_a_json_object(
    name: str, llama_path: Path, bench: Bench
) -> None:
    fewer = {"lockstep": ("--streams", "2"), "speculation": ("--case", "drift: lease")}
    arguments = [llama_path, "--rounds", "1", *fewer.get(name, ())]
    table = bench(name, *arguments)
    assert table.code == 0, table.err
    assert "━" in table.out
    record = bench(name, *arguments, "--json")
    assert record.code == 0, record.err
    assert isinstance(json.loads(record.out), dict)


def test_arms_take_turns_forwards_and_backwards_and_warm_up_first() -> None:
    calls: list[str] = []
    times = itertools.count()

    def arm(name: str) -> Callable[[], int]:
        return lambda: calls.append(name) or next(times)  # type: ignore[func-returns-value]

    results = harness.in_turn({"a": arm("a"), "b": arm("b")}, 3)
    assert calls == ["a", "b", "b", "a", "a", "b", "b", "a"]
    assert results == {"a": [3, 4, 7], "b": [2, 5, 6]}
    assert harness.medians(results, float) == {"a": 4.0, "b": 5.0}


def test_a_replay_repeats_the_forwards_after_the_prefill(llama_path: Path) -> None:
    with harness.opened(llama_path) as host:
        jobs = [lockstep._job(i, lockstep.TRIAGE, False, 0.0) for i in range(2)]
        alone = harness.context_for(host, jobs)
        many = lockstep._Recorder(host.model, n_ctx=alone.n_ctx, n_slots=2)
        made = side_by_side(many, lambda number: harness.plan(host, jobs[number]), 2)
        before = many.total_forwards, many.total_rows
        many.replay(made.forwards)
        # Once more what was done since the cache was emptied.
        assert (many.total_forwards, many.total_rows) == tuple(2 * count for count in before)


# -- how it ends -----------------------------------------------------------------------------


def test_a_measurement_does_not_go_on_with_an_answer_that_was_cut_off(
    llama_path: Path, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Ctrl-C leaves of an answer is no figure: an engine returns it, the measurement ends."""
    decode = Context.decode
    forwards = 0

    def interrupted(self: Context, rows: Sequence[Row]) -> None:
        nonlocal forwards
        forwards += 1
        if forwards == 5:
            raise KeyboardInterrupt
        decode(self, rows)

    monkeypatch.setattr(Context, "decode", interrupted)
    for name in ("constrained", "decode_overhead", "speculation", "lockstep"):
        forwards = 0
        ended = bench(name, llama_path, "--rounds", "1")
        assert (ended.code, ended.out) == (130, ""), name


def test_a_program_ends_quietly_where_nobody_reads_and_with_a_line_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(error: OSError) -> Callable[[], None]:
        def main() -> None:
            raise error

        return main

    monkeypatch.setattr(output, "discard_stdout", lambda: None)
    with pytest.raises(SystemExit) as ended:
        program.end(failing(BrokenPipeError()))
    assert (ended.value.code, capfd.readouterr().err) == (0, "")
    with pytest.raises(SystemExit) as ended:
        program.end(failing(OSError(28, "No space left on device")))
    assert (ended.value.code, capfd.readouterr().err) == (
        2,
        "error: output: No space left on device\n",
    )
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(SystemExit) as ended:
        program.end(lambda: None)
    assert ended.value.code == 2
    assert "standard output is closed" in capfd.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "x", "1.5", "1" * 30])
@pytest.mark.parametrize("name", [*MODULES, "sampler_cost"])
def test_rounds_are_whole_numbers_from_one_on(name: str, rounds: str, bench: Bench) -> None:
    bench(name, f"--rounds={rounds}").refused("argument --rounds")


def test_a_vocabulary_has_a_least_size(bench: Bench) -> None:
    bench("sampler_cost", "--vocab", "999").refused("argument --vocab", "from 1000 on")
    done = bench("sampler_cost", "--vocab", "1000", "--rounds", "1", "--json")
    assert done.code == 0, done.err
    assert {"case", "median_us", "p90_us", "target_us"} == set(json.loads(done.out)["cases"][0])
