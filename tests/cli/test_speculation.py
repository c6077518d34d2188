"""Speculation on the command line: the same record, what it reports, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import ggufs
from tests.support.command_line import Result, RunHere, run_here

__all__ = ["run_here"]  # a fixture

PROMPT = "one two three one two three one two three one two"
SCHEMA = '{"type":"array","items":{"enum":["one","two"]},"minItems":3,"maxItems":3}'


@pytest.fixture
def cli(run_here: RunHere) -> RunHere:
    """Run a command in this process on one thread: a tiny model gains nothing from more."""
    return lambda *arguments, **rest: run_here(*arguments, "--threads", "1", **rest)


def record(result: Result, code: int = 0) -> dict[str, Any]:
    assert result.code == code, result.err
    parsed = json.loads(result.out)
    assert isinstance(parsed, dict)
    return parsed


@pytest.mark.parametrize("constraint", [[], ["--json-schema", SCHEMA]])
@pytest.mark.parametrize("sampling", [["--greedy"], ["--temp", "0.9", "--seed", "5"]])
def test_every_speed_flag_gives_the_same_answer(
    llama_path: Path, tmp_path: Path, cli: RunHere, constraint: list[str], sampling: list[str]
) -> None:
    reference = tmp_path / "reference.txt"
    reference.write_text('["one","two","one"] ' * 4)
    base = [llama_path, "--prompt", PROMPT, "--gen", "30", "--json", *constraint, *sampling]
    plain = record(cli(*base, *(["--no-forced-spans"] if constraint else [])))
    assert (plain["decode"]["drafted"], plain["decode"]["sources"]) == (0, {})
    assert plain["decode"]["gate"] is None
    for speed in (
        [],
        ["--spec"],
        ["--spec-ref", reference],
        ["--draft-model", llama_path],
        ["--spec", "--draft-model", llama_path],
    ):
        other = record(cli(*base, *speed))
        for key in ("text", "tokens", "stop_reason", "seed", "constraint"):
            if key == "constraint" and constraint:
                assert other[key]["valid"] is plain[key]["valid"] is True
            else:
                assert other[key] == plain[key], (key, speed)
        sources = other["decode"]["sources"]
        for count in ("drafted", "accepted"):
            assert sum(s[count] for s in sources.values()) == other["decode"][count]
        assert (other["decode"]["gate"] is not None) == bool(speed)
        if "--draft-model" in speed:
            assert set(sources["draft model"]) == {"drafted", "accepted", "masked"}
        if "--spec-ref" in speed:
            assert str(reference) in sources


def test_a_line_on_stderr_sums_up_unless_quiet(llama_path: Path, cli: RunHere) -> None:
    base = [llama_path, "--prompt", PROMPT, "--gen", "20", "--spec"]
    loud, quiet = cli(*base), cli(*base, "--quiet")
    assert loud.out == quiet.out
    assert quiet.err == ""
    assert loud.err.startswith("note: ")
    assert loud.err.count("\n") == 1
    for word in ("forwards", "tokens per forward", "forced", "accepted/drafted", "gate on"):
        assert word in loud.err


def test_a_draft_model_must_have_the_same_vocabulary(
    llama_path: Path, spm_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    base = [llama_path, "--prompt", PROMPT, "--gen", "4"]
    cli(*base, "--draft-model", spm_path).refused("--draft-model", str(spm_path), "vocabular")
    cli(*base, "--draft-model", tmp_path / "none.gguf").refused("--draft-model", "no such file")
    smaller = ggufs.build_llama(tmp_path / "small.gguf", seed=9)
    assert cli(*base, "--draft-model", smaller).out == cli(*base).out


def test_references_must_be_readable_text(llama_path: Path, tmp_path: Path, cli: RunHere) -> None:
    base = [llama_path, "--prompt", PROMPT, "--gen", "4"]
    cli(*base, "--spec-ref", tmp_path / "none.txt").refused("--spec-ref", "none.txt")
    binary = tmp_path / "b"
    binary.write_bytes(b"\xff\xfe\x00")
    cli(*base, "--spec-ref", binary).refused("--spec-ref", "UTF-8")
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    assert cli(*base, "--spec-ref", empty, "--quiet").out == cli(*base).out


@pytest.mark.parametrize("mode", [["--info"], ["--gen", "0"], ["--logits-out", "x"], ["5,6,7"]])
def test_looking_modes_refuse_to_be_sped_up(
    llama_path: Path, cli: RunHere, mode: list[str]
) -> None:
    prompt = [] if mode in (["--info"], ["5,6,7"]) else ["--prompt", "hi"]
    cli(llama_path, *prompt, *mode, "--spec").refused("--spec", "speeds nothing up")


def test_without_a_constraint_no_forced_spans_changes_nothing(
    llama_path: Path, cli: RunHere
) -> None:
    base = [llama_path, "--prompt", "hi", "--gen", "9"]
    assert cli(*base, "--no-forced-spans") == cli(*base)


@pytest.mark.parametrize("flags", [[], ["--spec"], ["--no-forced-spans"]])
def test_a_stop_text_inside_a_forced_span_is_in_no_count(
    llama_path: Path, cli: RunHere, flags: list[str]
) -> None:
    base = [llama_path, "--prompt", "hi", "--choice", "in the harbour", "--json", *flags]
    whole, cut = record(cli(*base)), record(cli(*base, "--stop", "harb"), 3)
    assert cut["text"] == "in the "
    for parsed in (whole, cut):
        decode = parsed["decode"]
        assert decode["committed"] == len(parsed["tokens"])
        assert 0 <= decode["forced"] <= decode["committed"]


@pytest.mark.parametrize("name", ["history", "recycling", "forced", "boundary", "draft model"])
def test_a_reference_can_not_take_the_name_of_a_source(
    llama_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cli: RunHere, name: str
) -> None:
    (tmp_path / name).write_text(PROMPT)
    monkeypatch.chdir(tmp_path)
    base = [llama_path, "--prompt", PROMPT, "--gen", "9", "--json"]
    cli(*base, "--spec-ref", name).refused("--spec-ref", f"'./{name}'")
    parsed = record(cli(*base, "--spec-ref", f"./{name}"))
    assert f"./{name}" in parsed["decode"]["sources"]


def test_a_grammar_near_the_engines_limits_decodes_the_same_with_a_draft_model(
    llama_path: Path, cli: RunHere
) -> None:
    hard = "|".join(f"(.*{c}.{{{n}}}[{d}])" for c, n, d in HARD)
    flags = ["--lark", f"start: A\nA: /({hard}){{3}}/", "--greedy", "--gen", "400", "--json"]
    flags += [f"--logit-bias={token}=6" for token in "ab(x,"] + ["--logit-bias=<|im_end|>=-8"]
    base = [llama_path, "--prompt", "abab(aab", *flags]
    plain, drafted = cli(*base, "--no-forced-spans"), cli(*base, "--draft-model", llama_path)
    assert plain.code == drafted.code
    assert json.loads(plain.out)["tokens"] == json.loads(drafted.out)["tokens"]


#: Alternatives that each remember where they began, so that a lexer needs very many states.
HARD = [("a", 50, "b"), ("b", 60, "a"), ("x", 70, "c"), ("[a-m]", 80, "n-z"), ("[ao(]", 90, "^a")]
