"""The conformance benchmark: what it reads, how it walks, and that nothing takes it down."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fucina_cli.bench import cases, conformance, literal, workers
from fucina_cli.bench.walks import Walker
from fucina_cli.builtin import builtin_path
from fucina_cli.cli.process import program
from fucina_cli.constraint import grammar
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.llama.model import Model

Run = Callable[..., dict[str, Any]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Run:
    """The record of a run with some arguments."""

    def run(*arguments: str | Path) -> dict[str, Any]:
        argv = ["conformance", *map(str, arguments), "--json", "--processes", "1"]
        monkeypatch.setattr("sys.argv", argv)
        with pytest.raises(SystemExit) as ended:
            program.end(conformance.main)
        out, err = capfd.readouterr()
        assert ended.value.code == 0, err
        record: dict[str, Any] = json.loads(out)
        return record

    return run


# -- reading ---------------------------------------------------------------------------------


@given(st.text(), st.decimals(allow_nan=False, allow_infinity=False), st.integers())
def test_what_is_read_and_written_again_says_the_same(
    text: str, number: object, integer: int
) -> None:
    written = f"[{json.dumps(text)},{number},{{{json.dumps(text)}:{integer}}},true,null]"
    again = literal.dumps(literal.loads(written))
    assert json.loads(again, parse_float=str) == json.loads(written, parse_float=str)
    assert f",{number},{{" in again
    again.encode("utf-8")


def test_a_jsonl_file_has_schemas_or_objects_with_one_in_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl"
    path.write_text('{"id":"a","schema":{"maximum":1.50}}\n\n{"type":"string"}\nnonsense\n')
    found = [(case.name, case.schema) for case in cases.read(path)]
    assert found[0] == ("a", '{"maximum":1.50}')
    assert found[1:] == [("line 3", '{"type":"string"}'), ("line 4", "nonsense")]


def test_a_folder_named_like_a_draft_says_how_its_schemas_are_read(tmp_path: Path) -> None:
    tests = [{"description": "one", "data": 1, "valid": True}]
    group = json.dumps([{"description": "g", "schema": {"type": "integer"}, "tests": tests}])
    for name in ("draft7", "draft7/optional", "draft7/optional/format", "draft3", "other"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "file.json").write_text(group)
    (tmp_path / "plain.json").write_text('{"type":"null"}')
    found = {case.group: case for case in cases.read(tmp_path)}
    assert set(found) == {"draft7", "draft7 optional", "draft7 format", "schemas"}
    assert "draft-07" in json.loads(found["draft7"].schema)["$schema"]
    assert [instance.valid for instance in found["draft7"].instances] == [True]


def test_documents_come_in_the_order_of_the_schema_first_and_then_in_others() -> None:
    schema: Any = {"$defs": {"a": {"properties": {"y": {}, "x": {}}}}}
    data = literal.loads('{"x":{"x":1.0,"y":2},"y":1}')
    first, *others = cases.texts(data, schema)
    assert first == '{"y":1,"x":{"y":2,"x":1}}'
    assert '{"x":{"x":1.0,"y":2},"y":1}' in others
    assert len({first, *others}) == 8  # two orders of each object, two ways to write 1.0


def test_a_path_without_schemas_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        monkeypatch.setattr("sys.argv", ["conformance", str(path)])
        with pytest.raises(SystemExit) as ended:
            program.end(conformance.main)
        out, err = capfd.readouterr()
        assert (ended.value.code, out, err.count("\n")) == (2, "", 1)
        assert str(path) in err


# -- walking ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "schema",
    [
        {},
        {"type": "object"},
        {"type": "array", "items": {"type": "string"}, "minItems": 3},
        {"$ref": "#/$defs/n", "$defs": {"n": {"properties": {"n": {"$ref": "#/$defs/n"}}}}},
    ],
)
def test_walks_end_whatever_is_open_and_are_documents_of_the_schema(schema: Any) -> None:
    path = builtin_path("qwen3")
    assert path is not None
    vocabulary = Model(path, vocab_only=True).vocabulary
    spec, tokens = JsonSchema(schema), grammar.build_tokens(vocabulary, vocabulary.eos or 0)
    compiled, walker = grammar.compile_grammar(spec.prepare(), tokens), Walker(vocabulary, 200)
    walks = [walker.walk(compiled.constraint(), seed) for seed in range(20)]
    ended = [walk.text.decode() for walk in walks if walk.ended]
    assert len(ended) >= 18
    assert all(spec.judge(text).valid for text in ended)
    assert len(set(ended)) > 10, "they differ"


# -- processes -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Doing:
    """Work by name, to see what comes of it."""

    def __call__(self) -> workers.Work:
        def do(task: Any, say: workers.Say) -> Any:
            say("begun")
            if task == "hang":
                time.sleep(60)
            if task == "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            if task == "raise":
                raise ValueError("no good")
            return task

        return do


def test_work_that_hangs_crashes_or_raises_costs_its_own_task_only() -> None:
    tasks = ["a", "crash", "raise", "b", "hang", "c"]
    results = dict(workers.each(tasks, Doing(), count=1, seconds=3))
    assert [results[name] for name in "abc"] == list("abc")
    assert results["crash"] == workers.Lost("it crashed (SIGSEGV)", "begun")
    assert results["raise"] == workers.Lost("it raised ValueError: no good", "begun")
    assert results["hang"] == workers.Lost("it took more than 3 s", "begun")


# -- the whole -------------------------------------------------------------------------------


def test_schemas_walks_documents_and_findings_are_counted(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "draft7"
    folder.mkdir()
    tests = [
        {"description": "in", "data": {"b": 1, "a": 2}, "valid": True},
        {"description": "out", "data": {"b": 1}, "valid": False},
        {"description": "told wrongly", "data": {"b": "", "a": 2}, "valid": True},
    ]
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    schema = {"type": "object", "properties": properties, "required": ["a"]}
    groups = [
        {"description": "object", "schema": schema, "tests": tests},
        {"description": "none", "schema": False, "tests": []},
    ]
    (folder / "file.json").write_text(json.dumps(groups))
    file = tmp_path / "found.jsonl"
    record = run(tmp_path, "--walks", "3", "--length", "60", "--failures", file)
    found = record["groups"]["draft7"]
    assert (found["schemas"], found["given"], found["refused"]) == (2, 1, 1)
    assert found["walks"]["all"] == 3
    assert found["walks"]["given"]["invalid"] == 0
    expected = {"valid": 2, "valid_refused": 1, "invalid": 1, "invalid_let_through": 0}
    assert found["documents"]["given"] == expected
    assert found["judge"] == {"documents": 3, "wrong": 1, "unjudged": 0}
    whats = [json.loads(line)["what"] for line in file.read_text().splitlines()]
    assert sorted(whats) == ["judged wrongly", "refused", "valid refused"]
    assert [each["what"] for each in record["findings"]] == whats
