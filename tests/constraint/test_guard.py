"""Preparing and judging in a worker: what is hostile ends it at most, and it is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from fucina_cli import JsonSchema, Lark, Regex
from fucina_cli.constraint import guard as guards
from fucina_cli.constraint.guard import Guard, JudgeFailed
from fucina_cli.constraint.judge import Judge
from fucina_cli.constraint.kind import GrammarError, Prepared, Verdict
from tests.support.grammars import SOURCES
from tests.support.hostile import CRASHING, ENDLESS, Hostile

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no worker")

SECONDS = 0.3


@pytest.fixture(scope="module")
def shared() -> Iterator[Guard]:
    guard = Guard(SECONDS)
    guard.prepare(JsonSchema("{}"))
    yield guard
    guard.close()


@pytest.fixture
def guard(shared: Guard, monkeypatch: pytest.MonkeyPatch) -> Guard:
    monkeypatch.setattr(guards, "JUDGE_SECONDS", SECONDS)
    return shared


DEEDS = {
    "crash": "crashed",
    "exit": "crashed",
    "be killed": "lack of memory",
    "hang": "SECONDS",
    "hang in native code": "SECONDS",
    "eat memory": "GB of memory",
}


@pytest.mark.parametrize("deed", DEEDS)
def test_what_is_hostile_is_refused_in_words_and_the_next_constraint_is_prepared(
    guard: Guard, deed: str
) -> None:
    with pytest.raises(GrammarError) as caught:
        guard.prepare(Hostile(deed))
    words = DEEDS[deed].replace("SECONDS", "longer than 0.3 s to compile; simplify it, or raise")
    assert words in str(caught.value)
    assert guard.prepare(Hostile("be well")).engine_text
    begin = time.monotonic()
    with pytest.raises(GrammarError, match=words):  # at once: it is not tried again
        guard.prepare(Hostile(deed))
    assert time.monotonic() - begin < SECONDS / 2


@pytest.mark.parametrize("deed", DEEDS)
def test_an_answer_that_can_not_be_judged_is_left_unjudged_with_the_reason(
    guard: Guard, deed: str
) -> None:
    judge = Judge(Hostile(deed, judging=True), guard)
    verdict = judge.judge("abc")
    words = DEEDS[deed].replace("SECONDS", "did not finish within")
    assert verdict.valid is None
    assert words in verdict.errors[0]
    assert "on an earlier answer" in judge.judge("abc").errors[0]
    assert guard.judge(SOURCES["triage"], "{}").valid is False


def test_the_engine_itself_may_take_for_ever_and_crash() -> None:
    guard = Guard(2.0)
    try:
        with pytest.raises(GrammarError, match="longer than 2 s"):
            guard.prepare(Lark(ENDLESS))
        with pytest.raises(GrammarError, match="native code crashed on it"):
            guard.prepare(Lark(CRASHING))
    finally:
        guard.close()


_HUNGRY = """
from fucina_cli import Choice
from fucina_cli.constraint import serving
from fucina_cli.constraint.guard import Guard
serving._MOST_BYTES = 60 << 20
guard = Guard(60.0)
guard.start()
try: guard.prepare(Choice([f"{number * 7919:030x}" for number in range(60_000)]))
except ValueError as error: print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="has no such limit")
def test_an_engine_that_eats_memory_is_told_from_one_that_crashes() -> None:
    done = subprocess.run([sys.executable, "-c", _HUNGRY], capture_output=True, check=True)
    assert b"GB of memory" in done.stdout


@pytest.mark.parametrize("name", SOURCES)
def test_a_worker_prepares_and_judges_as_this_process_does(guard: Guard, name: str) -> None:
    spec = SOURCES[name]
    assert guard.prepare(spec) == spec.prepare()
    for text in ("bug", "{}", "12", ""):
        assert guard.judge(spec, text) == spec.judge(text)


@pytest.mark.parametrize("spec", [JsonSchema('{"type":"strin"}'), Regex("a(")])
def test_refusals_have_the_same_words(guard: Guard, spec: JsonSchema | Regex) -> None:
    with pytest.raises(GrammarError) as here:
        spec.prepare()
    with pytest.raises(GrammarError) as there:
        guard.prepare(spec)
    assert str(here.value) == str(there.value)


def test_a_defect_of_a_kind_is_raised_with_its_traceback(guard: Guard) -> None:
    with pytest.raises(KeyError, match="a defect") as caught:
        guard.prepare(Hostile("raise"))
    assert "_do" in str(caught.value.__cause__)
    with pytest.raises(JudgeFailed, match="KeyError"):
        guard.judge(Hostile("raise", judging=True), "")


def test_a_worker_killed_from_outside_is_replaced(guard: Guard) -> None:
    guard.prepare(Regex("before"))
    for number, worker in enumerate(list(guard._idle)):
        assert worker._pid is not None
        os.kill(worker._pid, 9)
        assert guard.prepare(Regex(f"after{number}")).engine_text


def test_what_was_begun_is_ready_later_and_others_need_not_wait_for_it(guard: Guard) -> None:
    spec = Hostile("hang")
    fresh = Guard(SECONDS)
    try:
        begin = time.monotonic()
        assert not fresh.is_ready(spec, 0.01)
        assert not fresh.is_ready(Regex("waiting"), 0.01)
        assert fresh.judge(SOURCES["triage"], "{}").valid is False
        while not fresh.is_ready(spec, 0.01):
            assert time.monotonic() - begin < 30
        with pytest.raises(GrammarError, match="longer than"):
            fresh.prepare(spec)
        while not fresh.is_ready(Regex("waiting"), 0.01):
            assert time.monotonic() - begin < 30
        assert fresh.prepare(Regex("waiting")).engine_text
    finally:
        fresh.close()


def test_a_class_that_another_process_can_not_import_is_prepared_here(guard: Guard) -> None:
    @dataclass(frozen=True)
    class Local:
        here: list[int]
        kind = "local"
        identity = "local"

        def prepare(self) -> Prepared:
            self.here.append(os.getpid())
            return Prepared("start: /a/")

        def judge(self, _text: str) -> Verdict:
            return Verdict(bool(self.here))

        def value(self, text: str) -> str:
            return text

    spec = Local([])
    assert guard.prepare(spec).engine_text == "start: /a/"
    assert spec.here == [os.getpid()]
    assert guard.judge(spec, "").valid


_OWNER = """
import sys, threading, time
from fucina_cli import Lark, Regex
from fucina_cli.constraint.guard import Guard
guard = Guard(60.0)
if sys.argv[1] == "fork": guard.start()
guard.prepare(Regex("a"))
print(guard._idle[0]._pid, flush=True)
if sys.argv[2] == "busy": guard.begin(Lark(open(sys.argv[3]).read())); guard._begun.is_done(0.3)
time.sleep(60)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("state", ["idle", "busy"])
def test_no_worker_outlives_its_owner_however_that_ends(
    start: str, state: str, tmp_path: Path
) -> None:
    grammar = tmp_path / "endless.lark"
    grammar.write_text(ENDLESS)
    owner = subprocess.Popen(
        [sys.executable, "-c", _OWNER, start, state, str(grammar)], stdout=subprocess.PIPE
    )
    assert owner.stdout is not None
    worker = int(owner.stdout.readline())
    if state == "busy":
        until = time.monotonic() + 30
        while _cpu(worker) < 0.1:
            assert time.monotonic() < until
            time.sleep(0.02)
    owner.kill()
    owner.communicate()
    until = time.monotonic() + 2
    while _runs(worker):
        assert time.monotonic() < until
        time.sleep(0.01)


def _stat(pid: int) -> list[str]:
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rpartition(")")[2].split()


def _runs(pid: int) -> bool:
    try:
        return _stat(pid)[0] != "Z"
    except OSError:
        return False


def _cpu(pid: int) -> float:
    fields = _stat(pid)
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_two_guards_in_two_threads_do_not_disturb_each_other() -> None:
    found: list[object] = []

    def work(number: int) -> None:
        guard = Guard(5.0)
        found.append(guard.prepare(Regex(f"[a-z]{{{number}}}")).engine_text)
        guard.close()

    threads = [threading.Thread(target=work, args=(n,)) for n in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(found)) == 2
