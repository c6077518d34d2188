"""Many answers on the command line: `--batch`, `--streams` and `--bench` on real forwards."""

from __future__ import annotations

import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from fucina_cli.answer import Answer
from fucina_cli.constraint import grammar, guard
from fucina_cli.engine import Engine
from fucina_cli.llama.context import Context, Row
from tests.support import ggufs
from tests.support.command_line import Result, RunHere, run, run_here
from tests.support.processes import Running, command, start

__all__ = ["run_here", "start"]  # fixtures

TRIAGE = {
    "type": "object",
    "properties": {"kind": {"enum": ["bug", "bill", "other"]}, "urgent": {"type": "boolean"}},
    "required": ["kind", "urgent"],
    "additionalProperties": False,
}
ABC = {"regex": "[abc]{3,9}"}
SYSTEM = "You are the desk of a small shop. " * 6


@pytest.fixture
def cli(run_here: RunHere) -> RunHere:
    """Run a command in this process on one thread: a tiny model gains nothing from more."""
    return lambda *arguments, **rest: run_here(*arguments, "--threads", "1", **rest)


def requests(count: int, seed: int = 1) -> list[dict[str, Any]]:
    """Requests of all kinds, with ids; the same for the same seed."""
    rng = random.Random(seed)
    constraints: list[dict[str, Any]] = [
        {},
        {"json_schema": TRIAGE},
        {"choices": ["yes", "yes and no", "no"]},
        ABC,
        {"lark": 'start: "a" start "b" | "ab"'},
        {"json_schema": {"type": "object", "properties": {"s": {"type": "string"}}}},
    ]
    made = []
    for number in range(count):
        text = " ".join(rng.choices(["one", "two", "three", "red"], k=rng.randint(1, 30)))
        start: dict[str, Any] = rng.choice(
            [{"prompt": text}, {"chat": text, "system": SYSTEM}, {"chat": text}]
        )
        sampling: dict[str, Any] = rng.choice(
            [{"temp": 0}, {"temp": 0.8, "top_k": 40, "repeat_penalty": 1.2}, {"temp": 1.0}]
        )
        made.append(
            {
                "id": f"r{number}",
                **start,
                **rng.choice(constraints),
                **sampling,
                "seed": rng.randint(0, 99),
                "gen": rng.randint(1, 24),
            }
        )
    return made


def write(path: Path, lines: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def records(text: str) -> dict[Any, dict[str, Any]]:
    """Records by id, each once."""
    found = [json.loads(line) for line in text.splitlines()]
    by_id = {record["id"]: record for record in found}
    assert len(by_id) == len(found)
    return by_id


def same(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """Whether two records are of the same answer."""
    return all(
        a[key] == b[key]
        for key in ("text", "thinking", "tokens", "stop_reason", "seed", "sampling")
    )


def alone(cli: RunHere, model: Path, request: dict[str, Any]) -> dict[str, Any]:
    """What the command answers to this request by flags."""
    flags: list[str] = ["--json", "--gen", str(request["gen"]), "--seed", str(request["seed"])]
    for key in ("prompt", "chat", "system", "regex", "lark"):
        if key in request:
            flags += [f"--{key}", request[key]]
    if "json_schema" in request:
        flags += ["--json-schema", json.dumps(request["json_schema"])]
    for answer in request.get("choices", []):
        flags += ["--choice", answer]
    for key in ("temp", "top_k", "repeat_penalty"):
        if key in request:
            flags += [f"--{key.replace('_', '-')}", str(request[key])]
    result = cli(model, *flags)
    assert result.code in (0, 3), result.err
    record = json.loads(result.out)
    assert isinstance(record, dict)
    return record


def test_records_of_company_tell_of_the_gate_and_of_the_draft_model(
    cli: RunHere, llama_path: Path
) -> None:
    flags = ("--spec", "--draft-model", llama_path, "--regex", "[ab]{12,20}", "--greedy", "--json")
    line = json.dumps({"id": "r", "prompt": "one two"}).encode()
    alone = json.loads(cli(llama_path, "--prompt", "one two", *flags).out)
    batch = json.loads(cli(llama_path, "--batch", "-", *flags, stdin=line).out)
    stream = json.loads(
        cli(llama_path, "--prompt", "one two", "--streams", "2", *flags).out.splitlines()[0]
    )
    for record in (alone, batch, stream):
        assert set(record["decode"]["gate"]) == set(alone["decode"]["gate"])
        assert isinstance(record["decode"]["sources"]["draft model"]["masked"], int)
    plain = json.loads(cli(llama_path, "--batch", "-", "--json", stdin=line).out)
    assert plain["decode"]["gate"] is None


@pytest.mark.parametrize("speed", [[], ["--spec"]])
def test_a_request_gets_the_tokens_that_it_gets_alone_for_any_order_and_number_of_streams(
    llama_path: Path, tmp_path: Path, cli: RunHere, speed: list[str]
) -> None:
    asked = requests(24, seed=len(speed))
    expected = {request["id"]: alone(cli, llama_path, request) for request in asked}
    for streams in (1, 3, 8):
        random.Random(streams).shuffle(asked)
        result = cli(
            llama_path, "--batch", write(tmp_path / "b", asked), "--streams", str(streams), *speed
        )
        got = records(result.out)
        assert got.keys() == expected.keys()
        for key, record in got.items():
            assert same(record, expected[key]), key
            assert record["exact"] is True
            ours, theirs = record["constraint"], expected[key]["constraint"]
            assert (ours is None) == (theirs is None)
            assert ours is None or ours["valid"] is theirs["valid"]
        unsatisfied = [
            r for r in expected.values() if r["constraint"] and not r["constraint"]["valid"]
        ]
        assert result.code == (3 if unsatisfied else 0)


def test_contexts_over_512_cells_grow_on_demand_and_change_nothing(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    asked = [
        {"id": n, "prompt": "one two three " * size, "temp": 0.9, "seed": n, "gen": 12}
        for n, size in enumerate([2, 60, 3, 130, 2, 100])
    ]
    result = cli(llama_path, "--batch", write(tmp_path / "b", asked), "--streams", "2")
    assert result.code == 0, result.err
    got = records(result.out)
    assert max(record["prompt_tokens"] for record in got.values()) > 512
    for request in asked:
        assert same(got[request["id"]], alone(cli, llama_path, request))


def test_a_bad_line_is_a_record_and_the_others_are_answered(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = tmp_path / "b"
    path.write_text(
        '{"id":"a","prompt":"one","gen":3}\n'
        '{"id":"b","promt":"one"}\n'
        "\n"
        "nonsense\n"
        '{"id":"c","prompt":"one","regex":"("}\n'
        '{"id":"d","prompt":"one","top_k":-2}\n'
        '{"id":"a","prompt":"two","gen":3}\n'
        '{"id":"e","prompt":"@' + str(path) + '","gen":3}\n'
    )
    result = cli(llama_path, "--batch", path, "--streams", "2", "--in-order", "--greedy")
    assert result.code == 2
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert [line["id"] for line in lines] == ["a", "b", 4, "c", "d", "a", "e"]
    assert ["error" in line for line in lines] == [False, True, True, True, True, True, False]
    assert lines[1]["error"] == 'line 2: unknown key "promt"; did you mean "prompt"?'
    assert lines[2]["error"].startswith("line 4: not valid JSON")
    assert lines[3]["error"].startswith('line 5: "regex": ')
    assert lines[4]["error"].startswith('line 6: "top_k": ')
    assert lines[5]["error"] == 'line 7: "id": line 1 has the same'
    spelled = alone(cli, llama_path, {"prompt": f"@@{path}", "gen": 3, "seed": 0, "temp": 0})
    assert lines[6]["tokens"] == spelled["tokens"]  # a text, not a file
    assert "5 errors" in result.err


def test_an_incomplete_answer_ends_with_3_and_an_error_with_2(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    cut = {"prompt": "a", "regex": "[abc]{40}", "gen": 3}
    result = cli(llama_path, "--batch", write(tmp_path / "b", [cut, {"prompt": "a", "gen": 2}]))
    assert result.code == 3
    assert records(result.out)[1]["constraint"]["complete"] is False
    result = cli(llama_path, "--batch", write(tmp_path / "b", [cut, {"prompt": 1}]))
    assert result.code == 2


def test_a_request_longer_than_the_context_is_an_error_record(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    asked = [{"prompt": "one two " * 200, "gen": 4}, {"prompt": "one two", "gen": 4}]
    result = cli(llama_path, "--batch", write(tmp_path / "b", asked), "--ctx", "100")
    assert result.code == 2
    got = records(result.out)
    assert "do not fit the context of 100 tokens" in got[1]["error"]
    assert len(got[2]["tokens"]) == 4


def test_one_request_that_can_not_be_sampled_leaves_the_others_alone(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    every = {str(token): "-inf" for token in range(400)}
    asked = [
        {"prompt": "one", "gen": 5, "temp": 0},
        {"prompt": "one", "gen": 5, "choices": ["b"], "logit_bias": {"b": "-inf"}},
        {"prompt": "one two", "gen": 5, "temp": 0, "json_schema": TRIAGE},
    ]
    assert every
    result = cli(llama_path, "--batch", write(tmp_path / "b", asked), "--streams", "3")
    got = records(result.out)
    assert got[2]["error"].startswith('line 2: "logit_bias": leaves no token to choose from')
    assert got[2]["line"] == 2
    for number, request in ((1, asked[0]), (3, asked[2])):
        assert same(got[number], alone(cli, llama_path, {**request, "seed": 0}))


def test_equal_schemas_compile_once_and_streams_never_again(
    llama_path: Path, tmp_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[object] = []
    compile_grammar = grammar.compile_grammar

    def counted(*arguments: Any) -> Any:
        compiled.append(arguments)
        return compile_grammar(*arguments)

    monkeypatch.setattr(grammar, "compile_grammar", counted)
    asked = [
        {"prompt": f"one {n}", "gen": 30, "json_schema": TRIAGE if n % 2 else {"type": "boolean"}}
        for n in range(20)
    ]
    result = cli(llama_path, "--batch", write(tmp_path / "b", asked), "--streams", "4")
    assert len(records(result.out)) == 20
    assert len(compiled) == 2
    compiled.clear()
    cli(llama_path, "--prompt", "a", "--streams", "8", "--json-schema", json.dumps(TRIAGE))
    assert len(compiled) == 1


def test_records_in_order_are_those_of_the_lines(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    asked = [{"prompt": "one", "gen": gen} for gen in (40, 1, 3, 20, 1, 1, 30, 2)]
    path = write(tmp_path / "b", asked)
    result = cli(llama_path, "--batch", path, "--streams", "3", "--in-order", "--greedy")
    assert [json.loads(line)["id"] for line in result.out.splitlines()] == list(range(1, 9))
    free = cli(llama_path, "--batch", path, "--streams", "3", "--greedy")
    assert json.loads(free.out.splitlines()[0])["id"] != 1


@pytest.mark.parametrize("to_file", [False, True])
def test_interrupted_in_order_nothing_is_lost_on_stdout_and_a_file_stays_in_order(
    llama_path: Path,
    tmp_path: Path,
    cli: RunHere,
    monkeypatch: pytest.MonkeyPatch,
    to_file: bool,
) -> None:
    endless = {"gen": 4000, "logit_bias": {"1": "-inf", "2": "-inf"}}
    asked = [{"prompt": "one", "gen": 1}, {"prompt": "one", **endless}]
    path = write(tmp_path / "b", asked + 3 * [{"prompt": "one", "gen": 2}])
    answered = 0

    def advance(self: Engine) -> list[Answer]:
        nonlocal answered
        if answered == 4:
            raise KeyboardInterrupt
        done = real(self)
        answered += len(done)
        return done

    real = Engine.advance
    monkeypatch.setattr(Engine, "advance", advance)
    flags = ["--batch", path, "--streams", "2", "--in-order", "--greedy", "--ctx", "8192"]
    out = tmp_path / "out"
    result = cli(llama_path, *flags, *(["--out", out] if to_file else []))
    assert result.code == 130
    written = out.read_text() if to_file else result.out
    got = [json.loads(line)["id"] for line in written.splitlines()]
    assert got == ([1] if to_file else [1, 3, 4, 5])


def test_resumed_in_order_what_failed_or_was_missing_comes_into_its_place(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path, out = tmp_path / "b", tmp_path / "out"
    asked = [json.dumps({"id": n, "prompt": "one", "gen": 2}) for n in (9, 8, 7, 6)]
    lines = [asked[0], "nonsense", asked[1], '{"prompt":"two","gen":1}', *asked[2:], '{"id":9}']
    path.write_text("".join(f"{line}\n" for line in lines))
    flags = [llama_path, "--batch", path, "--streams", "2", "--in-order", "--greedy", "--out", out]
    assert cli(*flags).code == 2
    whole = [json.loads(line) for line in out.read_text().splitlines()]
    names = [(record["id"], record.get("line"), "error" in record) for record in whole]
    assert names == [(9, None, False), (2, 2, True), (8, None, False), (4, 4, False),
                     (7, None, False), (6, None, False), (9, 7, True)]  # fmt: skip
    for kept in (range(7), (0, 1, 2, 5, 6), (6, 5, 3, 2)):
        out.write_text("".join(json.dumps(whole[number]) + "\n" for number in kept))
        assert cli(*flags, "--resume").code == 2
        again = [json.loads(line) for line in out.read_text().splitlines()]
        for before, after in zip(whole, again, strict=True):
            assert before.keys() == after.keys()
            for key in ("id", "line", "text", "error", "tokens"):
                assert before.get(key) == after.get(key)


def test_a_resumed_run_that_is_interrupted_moves_no_record_of_a_line_that_it_has_not_seen(
    llama_path: Path, tmp_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [{"id": n, "prompt": "one", "gen": 1} for n in range(200)]
    path, out = write(tmp_path / "b", asked), tmp_path / "out"
    flags = [llama_path, "--batch", path, "--in-order", "--greedy", "--out", out]
    assert cli(*flags).code == 0
    whole = out.read_text().splitlines(keepends=True)
    out.write_text("".join(whole[:3] + whole[150:]))

    def advance(self: Engine) -> list[Answer]:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Engine, "advance", advance)
        assert cli(*flags, "--resume").code == 130
    assert out.read_text() == "".join(whole[:3] + whole[150:])
    assert cli(*flags, "--resume").code == 0
    assert [json.loads(line)["id"] for line in out.read_text().splitlines()] == list(range(200))


def test_the_number_of_a_line_is_not_taken_for_the_id_of_another(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path, out = tmp_path / "b", tmp_path / "out"
    lines = ['{"id":3,"prompt":"a","gen":1}', '{"prompt":"b","gen":2}', '{"prompt":"c","gen":3}',
             '{"id":2,"prompt":"d","gen":4}']  # fmt: skip
    path.write_text("".join(f"{line}\n" for line in lines))
    flags = [llama_path, "--batch", path, "--in-order", "--greedy", "--out", out]
    assert cli(*flags).code == 0
    whole = out.read_bytes().splitlines(keepends=True)
    found = [json.loads(line) for line in whole]
    assert [(r["id"], r.get("line"), len(r["tokens"])) for r in found] == [
        (3, None, 1), (2, 2, 2), (3, 3, 3), (2, None, 4)]  # fmt: skip
    out.write_bytes(b"".join(whole[:2]))
    resumed = cli(*flags, "--resume")
    assert "2 done before" in resumed.err
    assert [len(json.loads(r)["tokens"]) for r in out.read_bytes().splitlines()] == [1, 2, 3, 4]


def test_a_warning_about_the_constraint_of_a_line_names_the_line(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    items = {"type": "string", "pattern": "^a$"}
    unique = {"type": "array", "items": items, "maxItems": 2, "uniqueItems": True}
    path = write(tmp_path / "b", [{"prompt": "a"}, {"prompt": "a", "json_schema": unique}])
    result = cli(llama_path, "--batch", path, "--greedy", "--gen", "20")
    assert 'warning: line 2: "json_schema": `uniqueItems` is not enforced' in result.err
    path = write(tmp_path / "b", [{"prompt": "a"}])
    flags = ["--json-schema", json.dumps(unique), "--greedy", "--gen", "20"]
    told = cli(llama_path, "--batch", path, *flags).err
    assert "warning: --json-schema: `uniqueItems` is not enforced" in told


def test_another_draw_names_its_line_and_is_not_made_where_a_stop_cut_the_answer(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    items = {"type": "string", "pattern": "^a$"}
    twice = {"type": "array", "items": items, "minItems": 2, "maxItems": 2}
    request = {"prompt": "a", "json_schema": {**twice, "uniqueItems": True}, "temp": 1, "gen": 20}
    path = write(tmp_path / "b", [{"prompt": "a", "gen": 1}, {**request, "seed": 3}])
    result = cli(llama_path, "--batch", path)
    notes = [line for line in result.err.splitlines() if "trying the next seed" in line]
    assert [line.split(" is not valid")[0] for line in notes] == [
        f"note: line 2: the answer of seed {seed}" for seed in (3, 4, 5)
    ]
    assert result.code == 3
    cut = cli(llama_path, "--batch", write(tmp_path / "b", [{**request, "stop": "]"}]))
    assert "trying the next seed" not in cut.err
    (record,) = records(cut.out).values()
    assert record["constraint"]["errors"] == ["the answer ended inside the grammar (stop sequence)"]


def test_an_answer_that_could_not_be_checked_is_counted_and_its_pattern_not_tried_again(
    llama_path: Path, tmp_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "JUDGE_SECONDS", 0.3)
    # A matcher of back-references tries 2^40 ways to find the b; the bias keeps the model from it.
    pattern = {"type": "string", "pattern": r"^(?:(x)|(?:a|a)*b|a{40}c\1)$"}
    bias = {"b": "-inf", "c": 100}
    slow = {"json_schema": pattern, "logit_bias": bias, "prompt": "a", "gen": 60}
    result = cli(llama_path, "--batch", write(tmp_path / "b", 3 * [slow]), "--greedy")
    assert result.code == 0
    assert "3 answers, 3 not checked by the validator" in result.err
    errors = [json.loads(line)["constraint"]["errors"] for line in result.out.splitlines()]
    assert "did not finish" in errors[0][0]
    assert ["on an earlier answer" in found[0] for found in errors] == [False, True, True]


@pytest.mark.parametrize("streams", [[], ["--streams", "2"]])
def test_what_is_wrong_with_drafts_stops_a_batch_before_its_first_answer(
    llama_path: Path, spm_path: Path, tmp_path: Path, cli: RunHere, streams: list[str]
) -> None:
    path = write(tmp_path / "b", 3 * [{"prompt": "one", "gen": 2}])
    flags = [llama_path, "--batch", path, *streams]
    cli(*flags, "--draft-model", spm_path).refused("--draft-model", str(spm_path), "vocabular")
    cli(*flags, "--draft-model", tmp_path / "none.gguf").refused("--draft-model", "no such file")
    cli(*flags, "--spec-ref", tmp_path / "none.txt").refused("--spec-ref", "none.txt")


def test_a_line_on_stderr_sums_up_the_drafts_of_a_batch_and_of_streams(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    asked: list[dict[str, Any]] = [
        {"prompt": "one two " * 9, "gen": 30},
        {"prompt": "one", "json_schema": TRIAGE},
    ]
    path = write(tmp_path / "b", asked)
    for flags in (
        ["--batch", path, "--gen", "60"],
        ["--prompt", "one", "--json-schema", json.dumps(TRIAGE), "--json"],
    ):
        flags = [llama_path, *flags, "--streams", "2", "--greedy", "--spec"]
        result = cli(*flags)
        answers = [json.loads(line) for line in result.out.splitlines()]
        (told,) = [line for line in result.err.splitlines() if "accepted/drafted" in line]
        found = re.match(r"note: (\d+) forwards, ([\d.]+) tokens per forward; (\d+) forced;", told)
        assert found is not None, told
        counts = [answer["decode"] for answer in answers]
        committed = sum(count["committed"] for count in counts)
        assert int(found[3]) == sum(count["forced"] for count in counts)
        assert int(found[1]) <= sum(count["forwards"] for count in counts)
        assert float(found[2]) == pytest.approx(committed / int(found[1]), abs=0.006)
        assert cli(*flags, "--quiet").err == ""


def test_an_output_file_is_never_overwritten_and_resuming_does_only_what_is_missing(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    asked = requests(9)
    path, out = write(tmp_path / "b", asked), tmp_path / "out"
    whole = cli(llama_path, "--batch", path, "--out", out)
    assert whole.out == ""
    lines = out.read_bytes().splitlines(keepends=True)
    assert len(lines) == 9
    cli(llama_path, "--batch", path, "--out", out).refused("--out", "--resume")
    cli(llama_path, "--batch", path, "--out", path).refused("--out", "--batch")
    out.write_bytes(b"".join(lines[:4]) + lines[4][:25])
    resumed = cli(llama_path, "--batch", path, "--out", out, "--resume", "--streams", "2")
    assert resumed.code == whole.code
    assert "4 done before" in resumed.err
    again = out.read_bytes()
    assert again.startswith(b"".join(lines[:4]))
    before, after = records(b"".join(lines).decode()), records(again.decode())
    assert before.keys() == after.keys()
    assert all(same(after[key], before[key]) for key in before)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_killed_again_and_again_and_resumed_nothing_is_lost_or_doubled(
    llama_path: Path, tmp_path: Path, start: Callable[..., Running]
) -> None:
    asked = [
        {
            "id": n,
            "prompt": "one two",
            "gen": 40,
            "temp": 1.0,
            "seed": n,
            "logit_bias": {"2": "-inf"},
        }
        for n in range(60)
    ]
    path, out = write(tmp_path / "b", asked), tmp_path / "out"
    base = (llama_path, "--batch", path, "--streams", "4", "--threads", "1", "--out", out)
    for number, least in enumerate((3, 20, 35)):
        running = start(*base, *(["--resume"] if number else []))
        until = time.monotonic() + 60
        while not out.exists() or out.read_bytes().count(b"\n") < least:
            assert time.monotonic() < until
            time.sleep(0.005)
        if number == 1:
            running.send(signal.SIGINT)
            assert running.end()[0] == 130
        else:
            running.send(signal.SIGKILL)
            running.end()
    got = out.read_bytes()
    assert got.count(b"\n") < 60
    result = run(*base, "--resume")
    assert result.code == 0, result.err
    assert records(out.read_text()).keys() == set(range(60))
    fresh = run(*base[:-1], tmp_path / "fresh")
    assert fresh.code == 0
    expected = records((tmp_path / "fresh").read_text())
    for key, record in records(out.read_text()).items():
        assert same(record, expected[key])


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_pipe_is_answered_line_by_line_while_it_stays_open(llama_path: Path) -> None:
    process = subprocess.Popen(
        command(llama_path, "--batch", "-", "--streams", "4", "--gen", "3", "--quiet"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    for number in range(3):
        process.stdin.write(b'{"prompt":"one"}\n')
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["id"] == number + 1
    process.stdin.close()
    assert process.wait(60) == 0


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of Unix")
def test_a_reader_that_has_seen_enough_ends_the_batch_quietly(
    llama_path: Path, tmp_path: Path
) -> None:
    path = write(tmp_path / "b", [{"prompt": "one", "gen": 30}] * 40)
    process = subprocess.Popen(
        command(llama_path, "--batch", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    json.loads(process.stdout.readline())
    process.stdout.close()
    assert process.wait(60) == 0
    assert process.stderr.read() == b""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
def test_many_lines_take_no_more_memory_than_few(llama_path: Path, tmp_path: Path) -> None:
    # Not getrusage: its peak begins with that of the process that started this one.
    code = (
        "import re,sys\n"
        "from fucina_cli.cli.main import execute\n"
        "from fucina_cli.families.generic import GENERIC\n"
        "code = execute(GENERIC, sys.argv[1:])\n"
        "status = open('/proc/self/status').read()\n"
        "print(re.search(r'VmHWM:\\s*(\\d+) kB', status)[1], code, file=sys.stderr)\n"
    )
    peaks = []
    for count in (50, 2000):
        # The texts alone are 10 MB.
        lines = [{"prompt": "one", "gen": 1, "stop": ["x" * 5000]}] * count
        path = str(write(tmp_path / "b", lines))
        flags = [str(llama_path), "--threads=1", "--quiet", "--streams=8", "--batch", path]
        done = subprocess.run(
            [sys.executable, "-c", code, *flags], capture_output=True, timeout=120, check=True
        )
        assert done.stdout.count(b"\n") == count
        peak, exit_code = map(int, done.stderr.split())
        assert exit_code == 0
        peaks.append(peak)
    assert peaks[1] - peaks[0] < 4 << 10


# -- flags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--batch", "nowhere.jsonl"], ("--batch", "nowhere.jsonl")),
        (["--batch", ""], ("--batch", "empty")),
        (["--batch", "b", "--chat", "x"], ("--batch", "--chat")),
        (["--batch", "b", "--info"], ("--batch", "--info")),
        (["--batch", "b", "--bench", "2"], ("--batch", "--bench")),
        (["--batch", "b", "--resume"], ("--resume", "--out")),
        (["--batch", "b", "--tokens-out", "x"], ("--tokens-out", "--batch")),
        (["--batch", "b", "--gen", "0"], ("--batch", "--gen 0")),
        (["--batch", "-", "--system", "-"], ("--batch", "standard input")),
        (["--batch", ".", "--system", "x"], ("--batch", "irectory")),
        (["--chat", "x", "--out", "y"], ("--out", "--batch")),
        (["--chat", "x", "--in-order"], ("--in-order", "--batch")),
        (["--streams", "2"], ("--streams", "prompt")),
        (["--streams", "0", "--prompt", "x"], ("--streams", "0")),
        (["--streams", "65", "--prompt", "x"], ("--streams", "65")),
        (["--streams", "2", "--info"], ("--streams", "--info")),
        (["--streams", "2", "--prompt", "x", "--tokens-out", "y"], ("--tokens-out", "--streams")),
        (["--bench", "0"], ("--bench", "0")),
        (["--bench", "1", "--gen", "5000"], ("--gen", "5000", "context")),
        (["--bench", "1", "--ctx", "100", "--gen", "100"], ("--gen", "100", "context")),
        (["--bench", "1", "--spec-bench"], ("--bench", "--spec-bench")),
    ],
)
def test_flags_that_can_not_be_are_refused_in_one_line(
    llama_path: Path,
    tmp_path: Path,
    cli: RunHere,
    monkeypatch: pytest.MonkeyPatch,
    flags: list[str],
    words: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "b").write_text('{"prompt":"one"}\n')
    cli(llama_path, *flags, stdin=b"").refused(*words)


# -- streams -------------------------------------------------------------------------------------


@pytest.mark.parametrize("constraint", [[], ["--json-schema", json.dumps(TRIAGE)]])
def test_streams_give_in_order_what_each_seed_gives_alone(
    llama_path: Path, cli: RunHere, constraint: list[str]
) -> None:
    base = [llama_path, "--chat", "one two", "--temp", "0.9", "--gen", "30", *constraint]
    singles = [cli(*base, "--seed", str(seed)) for seed in range(7, 12)]
    together = cli(*base, "--seed", "7", "--streams", "5")
    assert together.out == "".join(single.out for single in singles)
    assert "seeds 7 to 11" in together.err
    lines = [
        json.loads(line)
        for line in cli(*base, "--seed", "7", "--streams", "5", "--json").out.splitlines()
    ]
    assert [line["stream"] for line in lines] == list(range(5))
    assert [line["seed"] for line in lines] == list(range(7, 12))
    assert [line["text"] for line in lines] == [single.out.removesuffix("\n") for single in singles]
    assert together.code == max(single.code for single in singles)


def test_greedy_streams_are_all_the_same_and_it_is_said(llama_path: Path, cli: RunHere) -> None:
    base = [llama_path, "--prompt", "one two", "--gen", "9"]
    single = cli(*base)
    result = cli(*base, "--streams", "3")
    assert result.out == 3 * single.out
    assert "all the same" in result.err
    assert cli(*base, "--streams", "3", "--quiet").err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of Unix")
def test_interrupted_streams_show_what_they_have_in_order(
    llama_path: Path, start: Callable[..., Running]
) -> None:
    ids = ggufs.llama_vocabulary().ids
    banned = [f"--logit-bias={ids[t]}=-inf" for t in ("<|im_end|>", "<|endoftext|>")]
    flags = ("--seed=5", "--temp=1", "--json", "--streams=3", "--gen=100000", "--ctx=100000")
    running = start(llama_path, "1,2", "--threads=1", *flags, *banned)
    running.wait_for(b"answers, of seeds", stream=2)
    time.sleep(0.3)
    running.interrupt()
    code, out, _ = running.end()
    assert code == 130
    found = [json.loads(line) for line in out.splitlines()]
    assert [record["stream"] for record in found] == [0, 1, 2]
    assert {record["stop_reason"] for record in found} == {"interrupted"}
    assert all(len(record["tokens"]) == record["decode"]["committed"] for record in found)


def test_token_ids_start_streams_too(llama_path: Path, cli: RunHere) -> None:
    result = cli(llama_path, "5,6,7", "--streams", "2", "--gen", "4", "--json")
    lines = [json.loads(line) for line in result.out.splitlines()]
    assert len(lines) == 2
    assert lines[0]["prompt_tokens"] == 3
    assert lines[0]["tokens"] == lines[1]["tokens"]


# -- bench ---------------------------------------------------------------------------------------


def bench(result: Result) -> dict[str, Any]:
    assert result.code == 0, result.err
    parsed = json.loads(result.out)
    assert isinstance(parsed, dict)
    return parsed


def test_a_bench_without_prompt_counts_tokens_as_llama_bench_does(
    llama_path: Path, cli: RunHere
) -> None:
    found = bench(cli(llama_path, "--bench", "2", "--gen", "16", "--json"))
    assert found["tests"].keys() == {"pp512", "tg16"}
    assert found["tests"]["tg16"]["tokens"] == found["tests"]["tg16"]["forwards"] == 16
    for test in found["tests"].values():
        assert len(test["all"]) == 2
        assert test["min"] <= test["median"] <= test["max"]
    shown = cli(llama_path, "--bench", "1", "--gen", "16")
    assert "pp512" in shown.out
    assert "tg16" in shown.out


def test_a_constrained_bench_decodes_the_answer_that_a_run_gives(
    llama_path: Path, cli: RunHere
) -> None:
    flags = ["--prompt", "one", "--json-schema", json.dumps(TRIAGE), "--json"]
    single = json.loads(cli(llama_path, *flags).out)
    found = bench(cli(llama_path, *flags, "--bench", "2", "--spec"))
    committed = len(single["tokens"])
    assert found["decode"]["committed"] == committed
    assert found["decode"]["stop_reason"] == "constraint"
    assert f"tg{committed - 1}" in found["tests"]
    assert found["constraint"] == "json_schema"


@pytest.mark.parametrize("speed", [[], ["--spec"]])
@pytest.mark.parametrize("constraint", [[], ["--json-schema", json.dumps(TRIAGE)]])
def test_lockstep_and_sequential_arms_agree_token_for_token(
    llama_path: Path, cli: RunHere, constraint: list[str], speed: list[str]
) -> None:
    found = bench(
        cli(
            *(llama_path, "--bench", "2", "--streams", "4", "--prompt", "one two", "--gen", "20"),
            *("--temp", "0.9", "--seed", "3", "--json", *constraint, *speed),
        )
    )
    assert found["equal"] is True
    assert found["difference"] is None
    lockstep, sequential = found["arms"]["lockstep"], found["arms"]["sequential"]
    assert [s["tokens"] for s in lockstep["streams"]] == [
        s["tokens"] for s in sequential["streams"]
    ]
    assert lockstep["tokens"] == sequential["tokens"]
    if not constraint:
        assert lockstep["tokens"] == 80
        assert len({tuple(s["tokens"]) for s in lockstep["streams"]}) == 4
    if not speed and not constraint:
        assert (lockstep["forwards"], lockstep["rows_per_forward"]) == (20, 4.0)
        assert (sequential["forwards"], sequential["rows_per_forward"]) == (80, 1.0)


def test_a_difference_between_the_arms_ends_with_4_and_is_shown_with_its_logits(
    llama_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The logits of one row in a forward of several streams are really other ones here."""
    decode, logits = Context.decode, Context.logits
    rows: list[Row] = []

    def seen(self: Context, batch: Sequence[Row]) -> None:
        rows[:] = batch
        decode(self, batch)

    def disturbed(self: Context, row: int) -> Any:
        found = logits(self, row)
        if self.n_slots > 1 and rows[row].slot == 1 and rows[row].position == 9:
            found[77] += 100.0
        return found

    monkeypatch.setattr(Context, "decode", seen)
    monkeypatch.setattr(Context, "logits", disturbed)
    flags = [
        "--bench",
        "1",
        "--streams",
        "3",
        "--prompt",
        "one two",
        "--gen",
        "20",
        "--temp",
        "0.9",
    ]
    result = cli(llama_path, *flags, "--json")
    assert result.code == 4
    found = json.loads(result.out)
    assert found["equal"] is False
    difference = found["difference"]
    assert difference["stream"] == 1
    assert difference["tokens"][0] == 77
    assert difference["noise"] == pytest.approx(100.0)
    (ours, _), (theirs, _) = difference["logits"]
    assert ours - theirs == pytest.approx(100.0)
    assert "stream 1 differs" in result.err
    assert difference["within_noise"] is None  # a draw may fall on any side of any noise
    assert "--greedy tells more" in result.err


def test_an_interrupted_bench_ends_with_130(
    llama_path: Path, start: Callable[..., Running]
) -> None:
    running = start(llama_path, "--bench", "10000", "--gen", "64", "--verbose")
    running.wait_for(b"llama_context: constructing", stream=2)
    time.sleep(0.5)
    running.interrupt()
    code, out, _ = running.end()
    assert (code, out) == (130, "")
    assert os.path.exists(llama_path)
