"""The Python API: the command's answers and errors, and good manners in a process of others."""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fucina_cli import (
    Answer,
    Choice,
    GrammarError,
    InputError,
    Job,
    JsonSchema,
    Lark,
    Regex,
    Runner,
    RunnerError,
)
from fucina_cli.constraint.kind import Verdict
from fucina_cli.limits import TimeLimit, time_limit
from tests.support.command_line import RunHere, run_here

__all__ = ["run_here"]  # a fixture

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "capital": {"type": "boolean"}},
    "required": ["city", "capital"],
    "additionalProperties": False,
}
UNIQUE = {
    "type": "array",
    "items": {"type": "string", "pattern": "^[12]$"},
    "minItems": 2,
    "maxItems": 2,
    "uniqueItems": True,
}


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner.open("tiny", family="qwen3") as opened:
        yield opened


def gist(answer: Answer) -> tuple[object, ...]:
    return answer.text, answer.thinking, answer.tokens, answer.stop_reason, answer.complete


#: Jobs, and the command lines that ask for the same.
SAME: list[tuple[Job, list[str]]] = [
    (Job.prompt("Rome is", gen=20), ["--prompt", "Rome is", "--gen", "20"]),
    (Job.ids([5, 6, 7], gen=6), ["5,6,7", "--gen", "6"]),
    (
        Job.chat("Tell me about Vienna.", seed=7, think=False),
        ["--chat", "Tell me about Vienna.", "--seed", "7", "--no-think"],
    ),
    (
        Job.chat("Describe Rome.", CITY, greedy=True),
        ["--chat", "Describe Rome.", "--json-schema", json.dumps(CITY), "--greedy"],
    ),
    (
        Job.chat("A date?", re.compile(r"\d{4}-\d{2}"), seed=3, temperature=1.5, top_p=0.9),
        [
            *("--chat", "A date?", "--regex", r"\d{4}-\d{2}", "--seed", "3", "--temp", "1.5"),
            *("--top-p", "0.9"),
        ],
    ),
    (
        Job.chat("x", Lark("start: /[a-z]{2,5}/"), system="Be brief.", temperature=0.0, stop="z"),
        [
            *("--chat", "x", "--lark", "start: /[a-z]{2,5}/", "--system", "Be brief."),
            *("--temp", "0", "--stop", "z"),
        ],
    ),
    (
        Job.chat("Pick.", ["yes", "no"], think=True, gen=60, greedy=True, logit_bias={" the": -3}),
        [
            *("--chat", "Pick.", "--choice", "yes", "--choice", "no", "--think", "--gen", "60"),
            *("--greedy", "--logit-bias", " the=-3"),
        ],
    ),
]


@pytest.mark.parametrize(("job", "arguments"), SAME, ids=lambda value: "")
@pytest.mark.parametrize("family", ["qwen3", "gemma4"])
def test_a_job_gets_the_record_that_the_command_prints(
    family: str, job: Job, arguments: list[str], run_here: RunHere
) -> None:
    with Runner.open("tiny", family=family) as runner:
        record = json.loads(json.dumps(runner.answer(job).record()))
    printed = json.loads(run_here("tiny", *arguments, "--json", family=family).out)
    for told in (record, printed):
        del told["timing"]
        if told["constraint"]:
            del told["constraint"]["mask_us_p50"], told["constraint"]["mask_us_p99"]
    assert record == printed


@pytest.mark.model
def test_a_real_model_gets_the_same_from_python(smollm2: Path, run_here: RunHere) -> None:
    job = Job.chat("Describe Rome.", CITY, seed=5)
    with Runner.open(smollm2) as runner:
        answer = runner.answer(job)
        assert "".join(runner.stream(job)) == answer.text
    flags = ["--chat", "Describe Rome.", "--json-schema", json.dumps(CITY), "--seed", "5"]
    assert json.loads(run_here(smollm2, *flags, "--json").out)["tokens"] == answer.tokens


def test_a_stream_gives_the_text_piece_by_piece(runner: Runner) -> None:
    job = Job.chat("Tell me about Vienna.", greedy=True, think=True)
    pieces = list(runner.stream(job))
    answer = runner.answer(job)
    assert len(pieces) > 5
    assert "".join(pieces) == answer.text
    assert answer.thinking not in "".join(pieces)


def test_an_answer_that_may_be_drawn_again_is_streamed_whole(runner: Runner) -> None:
    job = Job.chat("Two numbers.", UNIQUE, seed=2, temperature=2.0)
    assert list(runner.stream(job)) == [runner.answer(job).text]


class OnlyB(Regex):
    """A pattern whose judge takes less than the grammar allows, by nobody's intent."""

    def judge(self, text: str) -> Verdict:
        return Verdict(text == "b", () if text == "b" else ("not b",))


def test_a_sampled_answer_that_only_the_judge_refuses_is_drawn_again(runner: Runner) -> None:
    answers = {}
    for seed in range(6):
        job = Job.chat("a or b?", OnlyB("[abcd]"), seed=seed, temperature=20.0)
        answer = answers[seed] = runner.answer(job)
        assert answer.valid == (answer.text == "b")
        assert answer.valid or answer.sampling.seed == seed + 3
        assert list(runner.stream(job)) == [answer.text]
    assert any(answer.sampling.seed > seed for seed, answer in answers.items())
    assert any(answer.valid for answer in answers.values())
    job = Job.chat("a or b?", OnlyB("[acd]"), greedy=True)
    assert runner.answer(job).valid is False


def test_an_answer_that_only_the_limit_cut_is_not_drawn_again(runner: Runner) -> None:
    answer = runner.answer(Job.chat("Hi.", Regex("[a-z]{50}"), seed=1, temperature=1.0, gen=3))
    assert (answer.valid, answer.sampling.seed) == (False, 1)


def test_what_no_judge_can_refuse_is_streamed_piece_by_piece_when_sampled(runner: Runner) -> None:
    job = Job.chat("Hi.", Lark("start: /[a-z]{50}/"), seed=1, temperature=1.0)
    assert len(list(runner.stream(job))) > 5


@pytest.mark.parametrize("streams", [1, 3, 8])
def test_many_jobs_are_answered_as_each_alone_in_the_order_in_which_they_end(
    runner: Runner, streams: int
) -> None:
    jobs = [
        Job.chat(f"Tell me about {city}.", seed=seed, think=False, gen=10 + 7 * seed, id=seed)
        for seed, city in enumerate(("Rome", "Oslo", "Lima", "Bern", "Vienna", "Lyon"))
    ] + [Job.chat("Describe Rome.", CITY, seed=9, id="json")]
    alone = {job.id: gist(runner.answer(job)) for job in jobs}
    random.Random(streams).shuffle(jobs)
    answers = list(runner.answers(jobs, streams=streams))
    assert {answer.job.id: gist(answer) for answer in answers if answer.job} == alone
    assert [jobs[answer.index] for answer in answers] == [answer.job for answer in answers]


def test_jobs_are_taken_one_by_one_and_need_not_end(runner: Runner) -> None:
    def jobs() -> Iterator[Job]:
        number = 0
        while True:
            yield Job.prompt("Rome is", gen=1, id=number)
            number += 1

    answers = runner.answers(jobs(), streams=2)
    first = [next(answers) for _ in range(5)]
    assert sorted(answer.job.id for answer in first if answer.job) == list(range(5))
    answers.close()  # type: ignore[attr-defined]
    assert runner.answer(Job.prompt("Rome is", gen=1)).text == first[0].text


def test_a_job_that_cannot_be_answered_fails_alone(runner: Runner) -> None:
    jobs = [
        Job.prompt("Rome is", gen=4, id="good"),
        Job.ids([10**9], gen=4, id="no such token"),
        Job.chat("a", {"type": "strig"}, id="no schema"),
        Job.chat("word " * 9000, id="too long"),
        Job.prompt("Rome is", gen=4, id="good too"),
        Job.prompt("a", logit_bias={"two words": 1.0}, id="no token"),
    ]
    answers = {answer.job.id: answer for answer in runner.answers(jobs, streams=2) if answer.job}
    assert answers["good"].error is None
    assert answers["good"].text == answers["good too"].text
    for name, words in (
        ("no such token", "token id 1000000000 is out of range"),
        ("no schema", "not a JSON schema"),
        ("too long", "do not fit the context"),
        ("no token", "not one; give an id"),
    ):
        assert answers[name].stop_reason == "failed"
        assert not answers[name].satisfied
        assert words in str(answers[name].error)
        with pytest.raises(InputError, match=re.escape(words)):
            runner.answer(next(job for job in jobs if job.id == name))


# -- values --------------------------------------------------------------------------------------


class City:
    """What a pydantic model offers of itself."""

    def __init__(self, city: str, capital: bool) -> None:
        self.city, self.capital = city, capital

    @classmethod
    def model_json_schema(cls) -> dict[str, Any]:
        return CITY

    @classmethod
    def model_validate_json(cls, text: str) -> City:
        return cls(**json.loads(text))


def test_the_value_is_what_the_constraint_stands_for(runner: Runner) -> None:
    def value(constraint: Any, **settings: Any) -> Any:
        return runner.answer(Job.chat("Describe Rome.", constraint, greedy=True, **settings)).value

    city = value(City)
    assert isinstance(city, City)
    for same in (CITY, JsonSchema(CITY), JsonSchema(json.dumps(CITY)), JsonSchema(City).schema):
        assert value(same) == {"city": city.city, "capital": city.capital}
    assert value(True) is not None
    for same in (["a", "b"], ("a", "b"), Choice(["a", "b", "a"])):
        assert value(same) in ("a", "b")
    assert value(re.compile("[ab]{3}")) == value(Regex("[ab]{3}")) != ""
    assert value(Lark("start: /x/")) == "x"
    assert value(None, gen=3, think=False) != ""
    cut = runner.answer(Job.chat("Describe Rome.", CITY, greedy=True, gen=3))
    assert (cut.value, cut.complete, cut.valid, cut.satisfied) == (None, False, False, False)


def test_what_is_only_checked_afterwards_is_told(runner: Runner) -> None:
    answer = runner.answer(Job.chat("Two numbers.", UNIQUE, seed=1))
    assert [text.count("uniqueItems") for text in answer.warnings] == [1]
    assert runner.answer(Job.chat("Rome", CITY, greedy=True)).warnings == ()


# -- errors --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"top_k": -1}, "top_k=: -1 is out of range; give 0 to 10000000"),
        ({"top_k": 1.5}, "top_k=: must be an integer (tokens), not 1.5"),
        ({"temperature": "hot"}, "temperature=: must be a number, not 'hot'"),
        ({"temperature": 1e-9}, "temperature=: 1e-09 is too small; give 0 for greedy"),
        ({"think": 1}, "think=: must be True or False, not 1"),
        ({"temp": 1}, "temp=: there is no such option; did you mean temperature=?"),
        ({"greedy": True, "temperature": 1.0}, "greedy=: contradicts temperature= 1; give one"),
        ({"stop": ""}, "stop=: the text is empty"),
        ({"stop": [b"x"]}, "stop=: must be texts and token ids, not b'x'"),
        ({"logit_bias": {"a": "much"}}, "logit_bias=: a bias is a number, not 'much'"),
        ({"logit_bias": {1.5: 1}}, "logit_bias=: a token is a text or an id, not 1.5"),
        ({"logit_bias": {"a": float("nan")}}, "logit_bias=: nan is out of range"),
    ],
)
def test_bad_settings_are_told_by_keyword_when_the_job_is_made(
    settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}"):
        Job.chat("a", **settings)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Job.chat(""),
        lambda: Job.chat(None),  # type: ignore[arg-type]
        lambda: Job.chat("caff\udce8"),
        lambda: Job.chat("a", system=5),  # type: ignore[arg-type]
        lambda: Job.prompt(b"a"),  # type: ignore[arg-type]
        lambda: Job.ids([]),
        lambda: Job.ids(["5"]),  # type: ignore[list-item]
        lambda: Job.messages([]),
        lambda: Job.messages([{"role": "user"}]),
        lambda: Job.messages(["hello"]),  # type: ignore[list-item]
    ],
)
def test_what_nothing_can_start_from_is_refused(make: Any) -> None:
    with pytest.raises(InputError, match=r"^the prompt: "):
        make()


def test_one_fault_is_told_in_the_names_of_flag_line_and_keyword(
    run_here: RunHere, tmp_path: Path
) -> None:
    reason = "-1 is out of range; give 0 to 10000000"
    with pytest.raises(InputError, match=f"^top_k=: {reason}$"):
        Job.chat("a", top_k=-1)
    assert run_here("tiny", "--chat", "a", "--top-k", "-1", family="qwen3").err == (
        f"error: --top-k: {reason}\n"
    )
    path = tmp_path / "batch"
    path.write_text('\n{"chat": "a", "top_k": -1}\n')
    record = json.loads(run_here("tiny", "--batch", path, "--quiet", family="qwen3").out)
    assert record["error"] == f'line 2: "top_k": {reason}'


@pytest.mark.parametrize(
    "bad", [3, object(), "{", {"type": object()}, [], [1], [""], re.compile("a", re.IGNORECASE)]
)
def test_what_is_no_constraint_is_an_error_at_once_or_at_the_answer(
    bad: Any, runner: Runner
) -> None:
    with pytest.raises((InputError, GrammarError)):
        runner.answer(Job.chat("a", bad))


def test_a_model_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    no_model = tmp_path / "x.gguf"
    no_model.write_bytes(b"no")
    for arguments, words in (
        ({"model": "no.gguf"}, "'no.gguf': no such file"),
        ({"model": no_model}, "x.gguf"),
        ({"model": "tiny"}, 'give family="gemma4"'),
        ({"model": "tiny", "family": "qwen4"}, "family=: 'qwen4' is not one of"),
        ({"model": "tiny", "family": "generic"}, "has no built-in model"),
        ({"model": "tiny", "family": "qwen3", "ctx": 0}, "ctx=: 0 is out of range"),
        ({"model": "tiny", "family": "qwen3", "cache": "f16"}, "cache=: there is no such option"),
        ({"model": "tiny", "family": "qwen3", "cache_type": "f17"}, "cache_type=: 'f17'"),
        ({"model": "tiny", "family": "qwen3", "draft_model": "no"}, "draft_model=: no such file"),
        ({"model": "tiny", "family": "qwen3", "threads": "2"}, "threads=: must be an integer"),
        ({"model": "tiny", "family": "qwen3", "cache_type": 8}, "cache_type=: must be text"),
        ({"model": "tiny", "family": "qwen3", "spec_ref": "no"}, "spec_ref=: can't read 'no'"),
    ):
        with pytest.raises(InputError, match=re.escape(words)):
            Runner.open(**arguments)


def test_drafts_from_python_change_no_token(runner: Runner, tmp_path: Path) -> None:
    job = Job.chat("Describe Rome.", CITY, seed=4)
    plain = runner.answer(job)
    reference = tmp_path / "notes.txt"
    reference.write_text('{"city":"Rome","capital":true}')
    with Runner.open(
        "tiny", family="qwen3", spec=True, spec_ref=[str(reference)], draft_model="tiny"
    ) as drafting:
        drafted = drafting.answer(job)
    assert gist(drafted) == gist(plain)
    assert drafted.record()["decode"]["gate"] is not None


# -- manners -------------------------------------------------------------------------------------


def test_a_closed_runner_says_so(llama_path: Path) -> None:
    runner = Runner.open(llama_path)
    job = Job.prompt("a", gen=5)
    text = runner.answer(job).text
    pieces = runner.stream(job)
    next(pieces)
    runner.close()
    runner.close()
    for use in (
        lambda: runner.answer(job),
        lambda: next(pieces),
        lambda: list(runner.answers([job])),
        runner.__enter__,
    ):
        with pytest.raises(RunnerError, match="is closed; open another"):
            use()
    with Runner.open(llama_path) as other:
        assert other.answer(job).text == text


def test_two_calls_at_once_are_refused_and_disturb_nothing(llama_path: Path) -> None:
    job = Job.prompt("a", gen=30)
    with Runner.open(llama_path) as runner:
        whole = runner.answer(job).text
        pieces = runner.stream(job)
        begin = next(pieces)
        caught: list[BaseException] = []

        def use() -> None:
            try:
                runner.answer(job)
            except RunnerError as error:
                caught.append(error)

        thread = threading.Thread(target=use)
        thread.start()
        thread.join()
        use()
        assert ["answering already" in str(error) for error in caught] == [True, True]
        assert begin + "".join(pieces) == whole
        thread = threading.Thread(target=lambda: caught.append(runner.answer(job).text))  # type: ignore[arg-type]
        thread.start()
        thread.join()
        assert caught[-1] == whole  # type: ignore[comparison-overlap]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system can't fork")
def test_a_runner_in_a_forked_process_says_so(llama_path: Path) -> None:
    code = (
        "import os, sys\n"
        "from fucina_cli import Job, Runner, RunnerError\n"
        "with Runner.open(sys.argv[1]) as runner:\n"
        "    pieces = runner.stream(Job.prompt('a', gen=9)); next(pieces)\n"
        "    if os.fork() == 0:\n"
        "        for use in (lambda: next(pieces), lambda: runner.answer(Job.prompt('a'))):\n"
        "            try: use()\n"
        "            except RunnerError as error: print(error, flush=True)\n"
        "        runner.close()\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
        "    print(len(''.join(pieces)) > 0)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(llama_path)], capture_output=True, text=True, check=True
    )
    told = "the Runner was opened in another process; open one after the fork"
    assert done.stdout.splitlines() == [told, told, "True"]


def test_importing_the_package_loads_nothing_native() -> None:
    code = (
        "import sys\n"
        "from fucina_cli import Answer, Choice, InputError, Job, JsonSchema, Lark, Regex, Runner\n"
        "Job.chat('a', {'type': 'object'}, temperature=0.0)\n"
        "print(*sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"llama_cpp", "llguidance", "numpy", "jinja2", "jsonschema", "typer"}


_QUIETLY = """
import json, os, signal, sys
os.fork = None
numbers = [n for n in signal.valid_signals() if n not in (signal.SIGKILL, signal.SIGSTOP)]
def handlers(): return [signal.getsignal(n) for n in numbers]
before = handlers()
set_handler = signal.signal
def refuse(*arguments): raise AssertionError(arguments)
signal.signal = signal.setitimer = refuse
from fucina_cli import Job, Runner
with Runner.open(sys.argv[1]) as runner:
    items = {"type": "string", "pattern": "^a$"}
    schema = {"type": "array", "items": items, "maxItems": 2, "uniqueItems": True}
    answer = runner.answer(Job.chat("a", schema, seed=1))
    for piece in runner.stream(Job.prompt("a", gen=3)):
        assert handlers() == before
assert handlers() == before and answer.valid is not None
"""


def test_nothing_is_printed_and_no_signal_or_process_touched(llama_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _QUIETLY, str(llama_path)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_time_limit_holds_in_any_thread_and_leaves_nothing_behind() -> None:
    ended: list[object] = []

    def work() -> None:
        try:
            with time_limit(0.05):
                until = time.monotonic() + 30
                while time.monotonic() < until:
                    pass
        except TimeLimit:
            ended.append("limit")
        with time_limit(0.05):
            ended.append("in time")
        time.sleep(0.2)
        ended.append("undisturbed")

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert ended == ["limit", "in time", "undisturbed"]
