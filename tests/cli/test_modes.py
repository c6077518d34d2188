"""The modes of the command line, each from its arguments to its output and exit code."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer.main

from fucina_cli import loading
from fucina_cli.cli import choosing
from fucina_cli.cli.command import build
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.families.generic import GENERIC
from fucina_cli.families.registry import families
from fucina_cli.llama.model import Model
from fucina_cli.tiny.ggufs import Tensor
from tests.support import ggufs
from tests.support.command_line import Result, RunHere, run, run_here

__all__ = ["run_here"]  # a fixture

PROMPT = "The user asks a question and the model answers"


@pytest.fixture
def cli(run_here: RunHere) -> RunHere:
    """Run a command in this process on one thread: a tiny model gains nothing from more."""
    return lambda *arguments, **rest: run_here(*arguments, "--threads", "1", **rest)


def ids(text: str) -> list[int]:
    """The ids that a mode printed, one per line."""
    lines = text.splitlines()
    assert text == "".join(f"{line}\n" for line in lines)
    return [int(line) for line in lines]


def record(result: Result, code: int = 0) -> dict[str, Any]:
    """The one JSON object on the one line of stdout."""
    assert result.code == code, result.err
    assert result.out.endswith("\n")
    assert result.out.count("\n") == 1
    parsed = json.loads(result.out)
    assert isinstance(parsed, dict)
    return parsed


# -- help ----------------------------------------------------------------------------------------

PANELS = {
    "Modes": [
        "--chat",
        "--prompt",
        "--batch",
        "--info",
        "--tokenize",
        "--logits-out",
        "--compare-logits",
        "--spec-bench",
        "--verify-batch",
    ],
    "Constraint": [
        "--json-schema",
        "--lark",
        "--gbnf",
        "--regex",
        "--choice",
        "--json-whitespace",
        "--strict",
    ],
    "Generation": ["--gen", "--stop", "--system", "--think"],
    "Sampling": [
        "--temp",
        "--top-k",
        "--top-p",
        "--min-p",
        "--repeat-penalty",
        "--repeat-last-n",
        "--freq-penalty",
        "--presence-penalty",
        "--seed",
        "--greedy",
        "--logit-bias",
    ],
    "Speed": [
        "--spec",
        "--spec-ref",
        "--draft-model",
        "--forced-spans",
        "--streams",
        "--bench",
    ],
    "Runtime": [
        "--ctx",
        "--threads",
        "--gpu-layers",
        "--cache-type",
        "--compile-timeout",
        "--exact",
    ],
    "Output": [
        "--json",
        "--tokens-out",
        "--out",
        "--resume",
        "--in-order",
        "--quiet",
        "--verbose",
        "--version",
    ],
}


def test_every_flag_of_the_help_stands_in_its_group() -> None:
    command = typer.main.get_command(build(GENERIC, lambda _line: 0))
    grouped: dict[str, list[str]] = {}
    for parameter in command.params:
        panel = getattr(parameter, "rich_help_panel", None)
        flags = [name for name in parameter.opts if name.startswith("--")]
        if flags and not set(flags) & {"--help", "--install-completion", "--show-completion"}:
            grouped.setdefault(str(panel).split(" (")[0], []).append(flags[0])
    assert grouped == PANELS


@pytest.mark.parametrize("family", ["generic", "qwen3", "gemma4"])
def test_help_shows_every_flag(family: str) -> None:
    result = run("--help", family=family)
    assert (result.code, result.err) == (0, "")
    for flags in PANELS.values():
        assert all(flag in result.out for flag in flags)


_MODULES_LOADED_BY = """
import sys
from fucina_cli.cli.main import execute
from fucina_cli.families.generic import GENERIC
execute(GENERIC, sys.argv[1:])
print("\\n", *sys.modules)
"""


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["x.gguf", "--chat", "a", "--temp", "nan"]]
)
def test_help_and_refusals_of_flags_load_nothing_heavy(arguments: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", _MODULES_LOADED_BY, *arguments],
        capture_output=True,
        check=True,
        text=True,
    )
    loaded = done.stdout.splitlines()[-1].split()
    assert "fucina_cli.cli.command" in loaded
    heavy = {"llama_cpp", "numpy", "llguidance", "jinja2", "jsonschema", "gguf"}
    assert not {name.split(".")[0] for name in loaded} & heavy


def test_version_is_one_line() -> None:
    result = run("--version")
    assert (result.code, result.err) == (0, "")
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*\n", result.out)


# -- families ------------------------------------------------------------------------------------


def test_each_command_refuses_the_files_of_another_and_names_the_right_one(
    qwen3_path: Path, gemma4_path: Path, llama_path: Path, cli: RunHere
) -> None:
    files = {"fucina-qwen3": qwen3_path, "fucina-gemma4": gemma4_path, "fucina-run": llama_path}
    modules = {"fucina-qwen3": "qwen3", "fucina-gemma4": "gemma4", "fucina-run": "generic"}
    for family in families():
        for right, path in files.items():
            if right != family.command:
                cli(path, "--chat", "a", family=modules[family.command]).refused(
                    str(path), f"use {right} for this file"
                )


# -- token ids, prompts, chats -------------------------------------------------------------------


def test_with_no_mode_ids_get_one_forward_and_its_top_five(llama_path: Path, cli: RunHere) -> None:
    top = record(cli(llama_path, "5,6,7", "--json"))["top"]
    assert len(top) == 5
    assert all(set(entry) == {"token", "text", "logit", "probability"} for entry in top)
    logits = [entry["logit"] for entry in top]
    assert logits == sorted(logits, reverse=True)
    assert 0 < sum(entry["probability"] for entry in top) < 1
    result = cli(llama_path, "5,6,7")
    assert result.code == 0
    for entry in top:
        assert re.search(rf"│ +{entry['token']} │ {re.escape(repr(entry['text']))} ", result.out)
        assert f"{entry['logit']:.4f}" in result.out


def test_gen_0_asks_for_the_top_five_of_any_prompt(llama_path: Path, cli: RunHere) -> None:
    by_ids = record(cli(llama_path, "5,6,7", "--json"))
    assert record(cli(llama_path, "5,6,7", "--gen", "0", "--json")) == by_ids
    for flag in ("--prompt", "--chat"):
        assert len(record(cli(llama_path, flag, PROMPT, "--gen", "0", "--json"))["top"]) == 5


def test_the_likeliest_token_is_the_one_that_greedy_decoding_writes(
    llama_path: Path, cli: RunHere
) -> None:
    best = record(cli(llama_path, "5,6,7", "--json"))["top"][0]["token"]
    assert record(cli(llama_path, "5,6,7", "-n", "1", "--json"))["tokens"] == [best]


def test_a_prompt_and_its_ids_give_the_same_answer(llama_path: Path, cli: RunHere) -> None:
    by_text = record(cli(llama_path, "--prompt", PROMPT, "--gen", "12", "--json"))
    tokens = ggufs_ids(llama_path, PROMPT)
    by_ids = record(cli(llama_path, ",".join(map(str, tokens)), "--gen=12", "--json"))
    assert by_text["tokens"] == by_ids["tokens"]
    assert len(by_text["tokens"]) == 12
    assert by_text["prompt_tokens"] == len(tokens)
    assert by_text["stop_reason"] == "length"


def ggufs_ids(path: Path, text: str) -> list[int]:
    model = Model(path, vocab_only=True)
    try:
        return model.vocabulary.tokenize(text)
    finally:
        model.close()


def test_the_answer_is_all_that_stands_on_stdout(llama_path: Path) -> None:
    answer = record(run(llama_path, "--prompt", PROMPT, "--gen", "12", "--threads", "1", "--json"))
    plain = run(llama_path, "--prompt", PROMPT, "--gen", "12", "--threads", "1")
    assert (plain.code, plain.err) == (0, "")
    assert plain.out == answer["text"] + "\n"


def test_a_prompt_comes_from_a_file_or_standard_input_all_the_same(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = tmp_path / "prompt.txt"
    path.write_text(PROMPT + "\n", encoding="utf-8")
    base = [llama_path, "--gen", "4", "--json"]
    tokens = record(cli(*base, "--prompt", PROMPT))["tokens"]
    for given in (["--prompt", f"@{path}"], [f"--prompt=@{path}"], ["--prompt", "-"]):
        again = cli(*base, *given, stdin=PROMPT.encode() + b"\n")
        assert record(again)["tokens"] == tokens


def test_a_text_that_begins_with_an_at_sign_is_written_with_two(
    llama_path: Path, cli: RunHere
) -> None:
    result = cli(llama_path, "--prompt", "@@home", "--gen", "1", "--json")
    assert record(result)["prompt_tokens"] == len(ggufs_ids(llama_path, "@home"))


def test_a_chat_goes_through_the_template_and_a_prompt_does_not(
    llama_path: Path, cli: RunHere
) -> None:
    base = [llama_path, "--gen", "1", "--json", "--greedy"]
    raw = record(cli(*base, "--prompt", "hi"))["prompt_tokens"]
    chat = record(cli(*base, "--chat", "hi"))["prompt_tokens"]
    system = record(cli(*base, "--chat", "hi", "--system", "s"))["prompt_tokens"]
    assert raw < chat < system


@pytest.mark.parametrize(
    ("flags", "sampling"),
    [
        (["--chat", "hi"], (0.6, 20, 0.95)),
        (["--chat", "hi", "--think"], (0.6, 20, 0.95)),
        (["--chat", "hi", "--no-think"], (0.7, 20, 0.8)),
        (["--chat", "hi", "--choice", "a"], (0.7, 20, 0.8)),
        (["--prompt", "hi"], (0.0, 0, 1.0)),
        (["--chat", "hi", "--temp", "0.1", "--top-k=3", "--top-p", "0.5"], (0.1, 3, 0.5)),
        (["--chat", "hi", "--greedy"], (0.0, 20, 0.95)),
    ],
)
def test_sampling_is_the_familys_in_a_chat_greedy_elsewhere_and_flags_override(
    flags: list[str],
    sampling: tuple[float, int, float],
    qwen3_path: Path,
    cli: RunHere,
) -> None:
    result = cli(qwen3_path, *flags, "--gen", "1", "--json", "--quiet", family="qwen3")
    parsed = json.loads(result.out)["sampling"]
    assert (parsed["temperature"], parsed["top_k"], parsed["top_p"]) == sampling


def test_the_same_seed_gives_the_same_answer_and_the_record_tells_an_unknown_one(
    llama_path: Path, cli: RunHere
) -> None:
    base = [llama_path, "--chat", "hi", "--gen", "12", "--json"]
    first = record(cli(*base))
    again = record(cli(*base, "--seed", str(first["seed"])))
    assert again["tokens"] == first["tokens"]
    assert record(cli(*base, "--seed", "7"))["seed"] == 7


# -- limits --------------------------------------------------------------------------------------


def test_token_ids_outside_the_vocabulary_say_how_large_it_is(
    llama_path: Path, cli: RunHere
) -> None:
    size = len(ggufs.llama_vocabulary())
    cli(llama_path, f"1,{size}").refused("TOKEN_IDS", str(size), "out of range")
    cli(llama_path, "1,x").refused("TOKEN_IDS", "'x' is not a token id")
    cli(llama_path, "1,-2").refused("TOKEN_IDS", "'-2' is not a token id")
    cli(llama_path, "").refused("TOKEN_IDS", "'' is not a token id")
    result = cli(llama_path, "1", "--gen", "1", "--stop", str(size))
    result.refused("--stop", str(size), "out of range")
    result = cli(llama_path, "1", "--gen", "1", "--logit-bias", f"{size}=1")
    result.refused("--logit-bias", str(size), "out of range")


def test_a_prompt_longer_than_the_context_is_refused_with_both_sizes(
    llama_path: Path, cli: RunHere
) -> None:
    long = "a " * 3000
    count = len(ggufs_ids(llama_path, long))
    for flag in ("--prompt", "--chat"):
        result = cli(llama_path, flag, long)
        result.refused(flag, "2048 tokens", "shorten it")
    assert f"{count} tokens" in cli(llama_path, "--prompt", long).err
    result = cli(llama_path, "1,2,3,4,5,6", "--ctx", "5", "--gen", "3")
    result.refused("TOKEN_IDS", "6 tokens", "5 tokens", "raise --ctx (the model has 2048)")
    cli(llama_path, "1,2,3,4,5", "--ctx", "5", "--gen", "3").refused("TOKEN_IDS")


def test_a_full_context_ends_the_answer(llama_path: Path, cli: RunHere) -> None:
    result = cli(llama_path, "1,2,3", "--ctx", "8", "--gen", "100", "--json")
    parsed = record(result)
    assert parsed["stop_reason"] == "length"
    assert len(parsed["tokens"]) == 5


def test_the_longest_prompt_that_fits_still_gets_its_top_five(
    llama_path: Path, cli: RunHere
) -> None:
    assert len(record(cli(llama_path, "1,2,3", "--ctx", "3", "--json"))["top"]) == 5


def test_a_context_beyond_the_models_own_is_allowed_with_a_warning(
    llama_path: Path, cli: RunHere
) -> None:
    result = cli(llama_path, "1,2", "--gen", "1", "--ctx", "4096")
    assert result.code == 0
    assert result.err.startswith("warning: --ctx: 4096")
    assert cli(llama_path, "1,2", "--gen", "1", "--ctx", "4096", "--quiet").err == ""


# -- stops ---------------------------------------------------------------------------------------


def test_a_stop_id_ends_the_answer_and_is_no_part_of_it(llama_path: Path, cli: RunHere) -> None:
    base = [llama_path, "--prompt", PROMPT, "--gen", "12", "--json"]
    tokens = record(cli(*base))["tokens"]
    stop = tokens[6]
    stopped = record(cli(*base, "--stop", str(stop)))
    assert stopped["tokens"] == tokens[: tokens.index(stop)]
    assert stopped["stop_reason"] == "stop_token"


def test_a_stop_text_ends_the_answer_before_it(llama_path: Path, cli: RunHere) -> None:
    base = [llama_path, "--prompt", PROMPT, "--gen", "12", "--json"]
    text = record(cli(*base))["text"]
    stop = text[4:7]
    for flags in (["--stop", stop], ["--stop", "no such text", f"--stop={stop}"]):
        stopped = record(cli(*base, *flags))
        assert stopped["text"] == text[: text.index(stop)]
        assert stopped["stop_reason"] == "stop_sequence"
    plain = cli(*base[:-1], "--stop", stop)
    assert plain.out == text[: text.index(stop)] + "\n"


@pytest.mark.parametrize(
    ("answers", "stop", "text", "complete"),
    [
        (["in the harbour"], "our", "in the harb", False),
        (["in the harbour"], "r", "in the ha", False),
        (["ab", "abcd"], "cd", "ab", True),
        (["abc"], "abc", "", False),
    ],
)
@pytest.mark.parametrize("spans", [[], ["--no-forced-spans"]])
def test_an_answer_that_a_stop_cut_is_complete_only_if_what_is_left_of_it_is(
    llama_path: Path,
    cli: RunHere,
    answers: list[str],
    stop: str,
    text: str,
    complete: bool,
    spans: list[str],
) -> None:
    choices = [flag for answer in answers for flag in ("--choice", answer)]
    bias = ["--logit-bias", "c=50"] if len(answers) > 1 else []  # not the end of the turn
    flags = [*choices, *bias, "--stop", stop, *spans]
    result = cli(llama_path, "--prompt", PROMPT, *flags, "--json", "--greedy")
    parsed = record(result, 0 if complete else 3)
    assert (parsed["text"], parsed["stop_reason"]) == (text, "stop_sequence")
    assert parsed["constraint"]["complete"] is complete
    assert parsed["constraint"]["valid"] is complete
    if not complete:
        assert "the turn ended early, by stop sequence (--stop)" in result.err


# -- records and files ---------------------------------------------------------------------------

RECORD = {
    "text",
    "tokens",
    "stop_reason",
    "prompt_tokens",
    "seed",
    "sampling",
    "timing",
    "constraint",
    "decode",
    "exact",
}
TIMING = {"load_s", "compile_s", "prefill_s", "decode_s", "first_token_s", "tokens_per_s"}
CONSTRAINT = {"kind", "complete", "valid", "errors", "mask_us_p50", "mask_us_p99"}
DECODE = {
    "forwards",
    "committed",
    "forced",
    "drafted",
    "accepted",
    "tokens_per_forward",
    "sources",
    "gate",
}


@pytest.mark.parametrize(
    ("flags", "kind"),
    [
        ([], None),
        (["--regex", "[ab]{3}"], "regex"),
        (["--choice", "yes", "--choice", "no"], "choice"),
        (["--json-schema", '{"type":"boolean"}'], "json_schema"),
        (["--lark", 'start: "a" "b"'], "lark"),
    ],
)
def test_every_record_has_every_key(
    flags: list[str], kind: str | None, llama_path: Path, cli: RunHere
) -> None:
    parsed = record(cli(llama_path, "--chat", "hi", "--gen", "12", "--json", *flags))
    assert set(parsed) >= RECORD
    assert set(parsed["timing"]) >= TIMING
    assert set(parsed["decode"]) >= DECODE
    assert isinstance(parsed["exact"], bool)
    assert set(parsed["sampling"]) >= {"temperature", "top_k", "top_p", "min_p", "repeat_penalty"}
    if kind is None:
        assert parsed["constraint"] is None
        assert parsed["timing"]["compile_s"] is None
    else:
        assert set(parsed["constraint"]) >= CONSTRAINT
        assert parsed["constraint"]["kind"] == kind
        assert parsed["constraint"]["complete"] is True
        assert parsed["constraint"]["valid"] in (True, None)
        assert parsed["stop_reason"] == "constraint"
    assert parsed["decode"]["committed"] == len(parsed["tokens"])


def test_a_record_of_an_incomplete_answer_says_so_and_the_command_exits_3(
    llama_path: Path, cli: RunHere
) -> None:
    flags = ["--gen", "3", "--regex", "[ab]{50}"]
    result = cli(llama_path, "--prompt", "hi", *flags, "--json")
    constraint = record(result, code=3)["constraint"]
    assert (constraint["complete"], constraint["valid"]) == (False, False)
    assert result.err.startswith("error: --regex: the answer is not complete")
    assert "--gen" in result.err
    plain = cli(llama_path, "--prompt", "hi", *flags)
    assert plain.code == 3
    assert re.fullmatch("[ab]{3,50}\n", plain.out)


@pytest.mark.parametrize("flags", [[], ["--no-think"]])
def test_a_constrained_answer_is_no_thought_although_the_template_opens_one(
    flags: list[str], tmp_path: Path, cli: RunHere
) -> None:
    path = ggufs.build_qwen3(
        tmp_path / "q.gguf",
        template="<|im_start|>user\n{{ messages[-1].content }}<|im_end|>\n<think>\n",
    )
    parsed = record(cli(path, "--chat", "hi", "--choice", "yes", "--json", *flags, family="qwen3"))
    assert (parsed["text"], parsed["thinking"]) == ("yes", None)
    assert parsed["constraint"]["valid"] is True


def test_with_thoughts_asked_for_the_constraint_waits_for_their_end(
    tmp_path: Path, cli: RunHere
) -> None:
    closes = ggufs.QWEN3_SPECIALS["</think>"]
    path = ggufs.build_qwen3(
        tmp_path / "q.gguf",
        template="<|im_start|>user\n{{ messages[-1].content }}<|im_end|>\n<think>\n",
    )
    flags = ["--think", "--regex", "\\n\\nyes", "--logit-bias", f"{closes}=1000"]
    parsed = record(cli(path, "--chat", "hi", "--json", *flags, family="qwen3"))
    assert (parsed["text"], parsed["tokens"][0]) == ("\n\nyes", closes)
    assert parsed["constraint"]["valid"] is True


def test_tokens_out_holds_the_ids_of_the_answer(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = tmp_path / "ids"
    path.write_text("old\n" * 99)
    base = [llama_path, "--prompt", PROMPT, "--gen", "5", "--tokens-out", path]
    parsed = record(cli(*base, "--json"))
    assert ids(path.read_text()) == parsed["tokens"]
    assert cli(*base).code == 0
    assert ids(path.read_text()) == parsed["tokens"]


@pytest.mark.parametrize("flag", ["--tokens-out", "--logits-out"])
def test_files_that_can_not_be_written_are_refused(
    flag: str, llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    for path in (tmp_path, tmp_path / "no" / "file", Path("/proc/nothing")):
        gen = [] if flag == "--logits-out" else ["--gen", "1"]
        cli(llama_path, "1,2", *gen, flag, path).refused(flag, str(path))


# -- looking -------------------------------------------------------------------------------------


def test_tokenize_prints_one_id_per_line_and_loads_no_weights(
    llama_path: Path, tmp_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text.txt"
    text = "The user\r\nasks <|im_end|> 日本\n\n"
    path.write_bytes(text.encode())
    without_weights: list[bool] = []

    def spy(*arguments: Any, vocab_only: bool = False, **rest: Any) -> Model:
        without_weights.append(vocab_only)
        return Model(*arguments, vocab_only=vocab_only, **rest)

    monkeypatch.setattr(loading, "Model", spy)
    expected = ggufs_ids(llama_path, text)
    result = cli(llama_path, "--tokenize", path)
    assert (result.code, result.err) == (0, "")
    assert ids(result.out) == expected
    assert without_weights == [True]
    assert record(cli(llama_path, "--tokenize", path, "--json"))["tokens"] == expected
    result = cli(llama_path, "--tokenize", "-", stdin=text.encode())
    assert ids(result.out) == expected


def test_tokenize_adds_bos_as_a_raw_prompt_does(
    gemma4_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = tmp_path / "text.txt"
    path.write_text("")
    result = cli(gemma4_path, "--tokenize", path, family="gemma4")
    assert ids(result.out) == [ggufs.gemma4_vocabulary().ids["<bos>"]]


@pytest.mark.parametrize(
    ("name", "words"), [("missing", "No such file"), ("", "can't read"), (".", "Is a directory")]
)
def test_tokenize_of_no_file_is_refused(
    name: str, words: str, llama_path: Path, cli: RunHere
) -> None:
    cli(llama_path, "--tokenize", name).refused("--tokenize", words)
    cli(llama_path, f"--tokenize={name}").refused("--tokenize", words)


def test_info_describes_the_file(llama_path: Path, cli: RunHere) -> None:
    parsed = record(cli(llama_path, "--info", "--json"))
    assert parsed["file"] == str(llama_path)
    assert parsed["architecture"] == "llama"
    assert parsed["family"] == "generic"
    assert parsed["vocabulary"] == len(ggufs.llama_vocabulary())
    assert parsed["context"] == 2048
    assert parsed["quantization"] == "Q8_0"
    assert parsed["template"] is True
    assert parsed["stop_token"]["text"] == "<|im_end|>"
    assert parsed["sampling"] == {"temperature": 0.8, "top_k": 40, "top_p": 0.95, "min_p": 0.0}
    assert isinstance(parsed["exact"], bool)
    result = cli(llama_path, "--info")
    assert (result.code, result.err) == (0, "")
    for word in ("llama", "generic", "Q8_0", "2,048 tokens", "<|im_end|>", "exact"):
        assert word in result.out


def test_info_prints_nothing_that_a_terminal_would_obey(tmp_path: Path, cli: RunHere) -> None:
    path = ggufs.build_llama(
        tmp_path / "l.gguf", overrides={"general.name": "[bold]evil\x1b[2J\x1b]0;x\x07\nname"}
    )
    out = cli(path, "--info").out
    assert "[bold]evil" in out
    assert not set(out) & {"\x1b", "\x07"}


# -- logits --------------------------------------------------------------------------------------


@pytest.fixture
def written(llama_path: Path, tmp_path: Path, cli: RunHere) -> Path:
    path = tmp_path / "logits.bin"
    result = cli(llama_path, "5,6,7", "--logits-out", path)
    assert (result.code, result.out, result.err) == (0, "", "")
    return path


def test_logits_are_little_endian_float32_of_the_last_position(
    written: Path, llama_path: Path, cli: RunHere
) -> None:
    row = np.frombuffer(written.read_bytes(), "<f4")
    assert row.shape == (len(ggufs.llama_vocabulary()),)
    top = record(cli(llama_path, "5,6,7", "--json"))["top"]
    assert [entry["token"] for entry in top] == list(np.argsort(-row)[:5])
    assert [entry["logit"] for entry in top] == pytest.approx(np.sort(row)[::-1][:5].tolist())


def test_equal_logits_compare_as_equal(written: Path, llama_path: Path, cli: RunHere) -> None:
    result = cli(llama_path, "5,6,7", "--compare-logits", written)
    assert (result.code, result.err) == (0, "")
    assert result.out == "max difference 0\nmean difference 0\ntop 5 agree\n"


def test_small_differences_are_measured_and_large_ones_exit_4(
    written: Path, llama_path: Path, cli: RunHere
) -> None:
    row = np.frombuffer(written.read_bytes(), "<f4").copy()
    order = np.argsort(-row)
    row[order[100]] -= 0.5
    written.write_bytes(row.tobytes())
    base = [llama_path, "5,6,7", "--compare-logits", written]
    parsed = record(cli(*base, "--json"))
    assert parsed["max_difference"] == pytest.approx(0.5, rel=1e-5)
    assert parsed["mean_difference"] == pytest.approx(0.5 / row.size, rel=1e-5)
    assert parsed["top5_agree"] is True
    row[order[0]] = -100
    written.write_bytes(row.tobytes())
    result = cli(*base)
    assert result.code == 4
    assert "top 5 differ" in result.out
    assert record(cli(*base, "--json"), code=4)["top5_agree"] is False


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "not a file of float32"),
        (b"abc", "not a file of float32"),
        (bytes(8), "holds 2 logits and this model has"),
        (b"\xff" * 8, "no logits"),
        (np.array([1, np.inf], "<f4").tobytes(), "no logits"),
        (np.array([-np.inf] * 2, "<f4").tobytes(), "no logits"),
    ],
)
def test_files_that_hold_no_logits_of_this_model_are_refused(
    data: bytes, words: str, llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = tmp_path / "other.bin"
    path.write_bytes(data)
    cli(llama_path, "1", "--compare-logits", path).refused("--compare-logits", words)


def test_a_file_of_logits_that_can_not_be_read_is_refused(
    llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    for path in (tmp_path, tmp_path / "missing"):
        cli(llama_path, "1", "--compare-logits", path).refused("--compare-logits", str(path))


def test_a_model_of_broken_weights_is_refused_and_has_no_top_five(
    tmp_path: Path, cli: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _with_broken_norm(tmp_path / "nan.gguf", monkeypatch)
    for flags in ([], ["--json"], ["--logits-out", str(tmp_path / "x")], ["--gen", "2"]):
        cli(path, "1,2", *flags).refused(str(path), "damaged")


def _with_broken_norm(path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A llama whose last norm is NaN throughout."""
    write: Callable[..., Path] = ggufs.write_gguf

    def spoil(target: Path, metadata: Any, tensors: dict[str, Tensor], **rest: Any) -> Path:
        norm = tensors["output_norm.weight"]
        nan = np.full(norm.shape, np.nan, "<f4").tobytes()
        return write(
            target, metadata, {**tensors, "output_norm.weight": norm._replace(data=nan)}, **rest
        )

    monkeypatch.setattr(ggufs, "write_gguf", spoil)
    return ggufs.build_llama(path)


def test_options_are_the_flags_of_the_command() -> None:
    """What the app passes on: one field per flag, and nothing lost on the way."""
    seen: list[CommandLine] = []

    def keep(line: CommandLine) -> int:
        seen.append(line)
        return 0

    command = typer.main.get_command(build(GENERIC, keep))
    command.main(
        ["m", "--chat=a", "-n", "3", "--stop", "x", "--stop=y", "--no-think", "--no-exact"],
        standalone_mode=False,
    )
    (line,) = seen
    assert (line.model, line["chat"], line["gen"]) == ("m", "a", 3)
    assert line["stop"] == ["x", "y"]
    assert (line["think"], line["exact"], line.json) == (False, False, False)
    assert {each.name for each in choosing.flags()} <= set(line.values) | {"token_ids"}
