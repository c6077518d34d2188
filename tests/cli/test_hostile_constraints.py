"""Commands and runners under constraints that crash the engine, take for ever or fail answers."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import pytest
from numpy.typing import NDArray

from fucina_cli import Job, Lark, Runner
from fucina_cli.builtin import builtin_path
from fucina_cli.constraint import guard as guards
from fucina_cli.constraint import serving
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.errors import InputError
from fucina_cli.llama.model import Model
from tests.support.command_line import RunHere, run, run_here
from tests.support.hostile import CRASHING, ENDLESS, HUNGRY, Hostile
from tests.support.processes import Running, start

__all__ = ["run_here", "start"]  # fixtures

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no worker")

CHAT = ("tiny", "--chat", "Hi", "--greedy")
#: Chooses its first word, and then has no token left where digits are banned.
STUCK = "(Hello|Good) [0-9]{3}!"


def records(text: str) -> dict[Any, dict[str, Any]]:
    return {record["id"]: record for record in map(json.loads, text.splitlines())}


@pytest.fixture
def endless(tmp_path: Path) -> str:
    """A flag's value that names a file with a grammar that takes for ever to compile."""
    path = tmp_path / "endless.lark"
    path.write_text(ENDLESS)
    return f"@{path}"


def test_a_schema_that_compiles_for_ever_is_refused_after_the_timeout(endless: str) -> None:
    result = run(*CHAT, "--lark", endless, "--compile-timeout", "0.3", family="qwen3")
    result.refused("--lark (", "longer than 0.3 s", "raise --compile-timeout")


def test_a_batch_goes_on_beside_hostile_lines_and_so_does_a_resumed_one(
    tmp_path: Path, run_here: RunHere
) -> None:
    lines = [
        {"chat": "Hi", "regex": "[a-z]{3}"},
        {"chat": "Hi", "lark": CRASHING},
        {"chat": "Hi", "lark": ENDLESS},
        {"chat": "Hi", "lark": ENDLESS},
        {"chat": "Hi", "choices": ["yes", "no"]},
    ]
    path, out = tmp_path / "b.jsonl", tmp_path / "out.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ("tiny", "--batch", path, "--out", out, "--greedy", "--compile-timeout", "2")
    for more in ((), ("--resume", "--in-order")):
        begin = time.monotonic()
        result = run_here(*flags, *more, family="qwen3")
        assert result.code == 2
        got = records(out.read_text())
        assert sorted(got) == [1, 2, 3, 4, 5]
        assert got[2]["error"].startswith('line 2: "lark": native code crashed on it')
        for number in (3, 4):
            assert "longer than 2 s" in got[number]["error"]
            assert "--compile-timeout" in got[number]["error"]
        assert got[5]["text"] in ("yes", "no")
        assert got[1]["constraint"]["valid"]
        assert time.monotonic() - begin < 20


def test_streams_are_decoded_while_a_line_beside_them_is_compiled(
    tmp_path: Path, start: Callable[..., Running]
) -> None:
    lines = [
        {"prompt": "Once", "gen": 20},
        {"chat": "Hi", "lark": ENDLESS},
    ]
    path = tmp_path / "b.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    flags = ("--batch", path, "--streams", "2", "--compile-timeout", "600")
    running = start("tiny", *flags, family="qwen3")
    running.wait_for(b"\n")  # the first record, long before the second can be refused
    begin = time.monotonic()
    running.interrupt()
    code, out, _ = running.end()
    assert code == 130
    assert time.monotonic() - begin < 5
    assert [json.loads(line)["id"] for line in out.splitlines()] == [1]


def test_ctrl_c_ends_a_compilation_at_once(start: Callable[..., Running], endless: str) -> None:
    running = start(*CHAT, "--lark", endless, "--compile-timeout", "600", family="qwen3")
    worker = _busy_worker(running.process.pid)
    begin = time.monotonic()
    running.interrupt()
    assert running.end() == (130, "", "")
    assert time.monotonic() - begin < 2
    _ends(worker)


@pytest.mark.parametrize("victim", ["supervisor", "main"])
def test_kill_9_leaves_no_worker_behind(
    start: Callable[..., Running], victim: str, endless: str
) -> None:
    running = start(*CHAT, "--lark", endless, "--compile-timeout", "600", family="qwen3")
    worker = _busy_worker(running.process.pid)
    main = _children(running.process.pid)[0]
    os.kill(running.process.pid if victim == "supervisor" else main, signal.SIGKILL)
    running.end()
    _ends(worker)
    _ends(main)


def test_a_worker_keeps_no_pipe_of_the_command_open(
    start: Callable[..., Running], endless: str
) -> None:
    running = start(*CHAT, "--lark", endless, "--compile-timeout", "600", family="qwen3")
    worker = _busy_worker(running.process.pid)
    for number in (0, 1, 2):
        held = os.readlink(f"/proc/{worker}/fd/{number}")
        assert held == os.devnull or "stderr" in held
    pipes = {os.readlink(f"/proc/{running.process.pid}/fd/{number}") for number in (1, 2)}
    assert not pipes & {
        os.readlink(f"/proc/{worker}/fd/{name}") for name in os.listdir(f"/proc/{worker}/fd")
    }


def _children(pid: int) -> list[int]:
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def _busy_worker(supervisor: int) -> int:
    """The worker of a command, once it works."""
    if not sys.platform.startswith("linux"):
        pytest.skip("looks into /proc")
    until = time.monotonic() + 30
    while time.monotonic() < until:
        for main in _children(supervisor):
            for worker in _children(main):
                with open(f"/proc/{worker}/stat") as file:
                    ticks = int(file.read().rpartition(")")[2].split()[11])
                if ticks / os.sysconf("SC_CLK_TCK") > 0.3:
                    return worker
        time.sleep(0.02)
    raise AssertionError("no worker")


def _ends(pid: int) -> None:
    until = time.monotonic() + 2
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return
        except OSError:
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} still runs")


@pytest.mark.parametrize("deed", ["crash", "hang in native code"])
def test_an_answer_whose_judging_fails_is_whole_and_unjudged(
    tiny_qwen3: Path, deed: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guards, "JUDGE_SECONDS", 0.3)
    job = Job.chat("Hi", greedy=True)
    object.__setattr__(job, "constraint", Hostile(deed, judging=True))
    with Runner.open(tiny_qwen3, family="qwen3") as runner:
        answer = runner.answer(job)
        assert answer.complete
        assert len(answer.text) == 3
        assert answer.valid is None
        assert answer.errors
        assert runner.answer(Job.chat("Hi", ["yes", "no"])).valid


def test_in_a_library_a_hostile_constraint_is_an_error_and_no_worker_is_left(
    tiny_qwen3: Path,
) -> None:
    with Runner.open(tiny_qwen3, family="qwen3", compile_timeout=0.3) as runner:
        with pytest.raises(InputError, match=r"longer than 0.3 s.*raise compile_timeout=$"):
            runner.answer(Job.chat("Hi", Lark(ENDLESS)))
        assert runner.answer(Job.chat("Hi", ["yes", "no"])).valid
        guard = runner.host._guard
        pids = [worker._pid for worker in guard._idle]
        assert pids
    for pid in pids:
        assert pid is not None
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_an_answer_without_a_token_left_keeps_its_text(run_here: RunHere) -> None:
    flags = (*CHAT, "--regex", STUCK, *(f"--logit-bias={i}=-inf" for i in _digits()))
    plain = run_here(*flags, family="qwen3")
    assert plain.code == 2
    assert plain.out in ("Hello \n", "Hello\n", "Good \n", "Good\n")
    assert plain.err.startswith("error: --logit-bias: leaves no token")
    assert plain.err.count("\n") == 1
    told = run_here(*flags, "--json", family="qwen3")
    record = json.loads(told.out)
    assert (told.code, told.err) == (plain.code, plain.err)
    assert record["stop_reason"] == "failed"
    assert record["text"] == plain.out.removesuffix("\n")
    assert record["constraint"]["complete"] is False
    many = run_here(*flags, "--json", "--streams", "2", family="qwen3")
    assert [json.loads(line)["text"] for line in many.out.splitlines()] == [record["text"]] * 2


def test_a_batch_record_of_a_failed_answer_has_its_text(tmp_path: Path, run_here: RunHere) -> None:
    lines = [
        {"chat": "Hi", "regex": STUCK, "logit_bias": dict.fromkeys(_digits(), "-inf")},
        {"chat": "Hi", "choices": ["yes", "no"]},
    ]
    path = tmp_path / "b.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run_here("tiny", "--batch", path, "--greedy", family="qwen3")
    got = records(result.out)
    assert result.code == 2
    assert got[1]["text"].strip() in ("Hello", "Good")
    assert got[1]["error"].startswith('line 1: "logit_bias": leaves no token')
    assert got[2]["text"] in ("yes", "no")


def _digits() -> list[str]:
    """Ids of the digits' tokens."""
    path = builtin_path("qwen3")
    assert path is not None
    model = Model(path, vocab_only=True)
    try:
        return [str(model.vocabulary.tokenize(digit)[0]) for digit in "0123456789"]
    finally:
        model.close()


@pytest.mark.parametrize("options", [{}, {"spec": True}], ids=["plain", "speculative"])
@pytest.mark.parametrize("streams", [1, 3])
@pytest.mark.parametrize("failures", [1, 99])
def test_an_engine_that_gives_up_in_mid_answer_is_recompiled_once_and_ends_its_request_only(
    tiny_qwen3: Path,
    options: dict[str, Any],
    streams: int,
    failures: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hungry = Job.chat("Hi", re.compile("[a-z]{12}"), greedy=True, id=0)
    free = Job.chat("Hi", greedy=True, gen=9, id=1)
    with Runner.open(tiny_qwen3, family="qwen3", **options) as runner:
        expected = [runner.answer(job).text for job in (hungry, free)]
    mask_words, commit, left = Constraint.mask_words, Constraint.commit, [failures]
    committed: WeakKeyDictionary[Constraint, int] = WeakKeyDictionary()

    def starved(self: Constraint) -> NDArray[np.uint32]:
        if committed.get(self, 0) >= 2 and left[0]:
            left[0] -= 1
            raise ConstraintError("the grammar engine gave up: too many expressions")
        return mask_words(self)

    def counted(self: Constraint, token: int) -> None:
        commit(self, token)
        committed[self] = committed.get(self, 0) + 1

    monkeypatch.setattr(Constraint, "mask_words", starved)
    monkeypatch.setattr(Constraint, "commit", counted)
    with Runner.open(tiny_qwen3, family="qwen3", **options) as runner:
        answers = {
            answer.job.id: answer
            for answer in runner.answers([hungry, free], streams=streams)
            if answer.job is not None
        }
    if failures == 1:
        assert answers[0].error is None
        assert answers[0].text == expected[0]
    else:
        assert answers[0].stop_reason == "failed"
        assert "too many expressions" in str(answers[0].error)
        assert answers[0].text
        assert expected[0].startswith(answers[0].text)
    assert answers[1].text == expected[1]


def test_an_engine_that_gives_up_on_the_command_line_leaves_a_record(
    run_here: RunHere, tmp_path: Path
) -> None:
    path = tmp_path / "hungry.lark"
    path.write_text(HUNGRY)
    result = run_here(*CHAT, "--lark", f"@{path}", "--json", family="qwen3")
    assert result.code == 2
    assert "the grammar engine gave up" in result.err
    record = json.loads(result.out)
    assert record["stop_reason"] == "failed"
    assert record["text"]


def test_memory_is_bounded(run_here: RunHere) -> None:
    assert 1 << 28 < serving.most_bytes() <= 4 << 30
