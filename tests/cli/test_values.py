"""Values of flags: text from files and standard input, numbers, token lists, contradictions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fucina_cli.cli import values
from fucina_cli.cli.choosing import choose, flags
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.cli.values import TextReader
from fucina_cli.errors import InputError
from fucina_cli.loading import cache_types
from fucina_cli.options import Option
from fucina_cli.runtime import Runtime
from tests.support.command_line import RunHere, run, run_here
from tests.support.options import MODEL, command_line

__all__ = ["run_here"]  # a fixture

# -- text ----------------------------------------------------------------------------------------


def test_text_is_itself_unless_it_begins_with_an_at_sign() -> None:
    reader = TextReader()
    for text in ("", "a", " - ", "--", "a@b", "però 🎉", "line\n", "\n"):
        assert reader.text("--chat", text) == text
    assert reader.stdin_flag is None


@pytest.mark.parametrize(
    ("written", "meant"), [("@@", "@"), ("@@file", "@file"), ("@@@x", "@@x"), ("@@-", "@-")]
)
def test_two_at_signs_stand_for_one(written: str, meant: str) -> None:
    assert TextReader().text("--chat", written) == meant
    assert not TextReader().is_file(written)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a", "a"),
        (b"a\n", "a"),
        (b"a\r\n", "a"),
        (b"a\n\n", "a\n"),
        (b" a \n", " a "),
        (b"\na\r\nb\n", "\na\r\nb"),
        (b"", ""),
        (b"\n", ""),
        (b"@x", "@x"),
        (b"-", "-"),
        ("\ufeffè".encode(), "è"),
        (b"a\0b", "a\0b"),
    ],
)
def test_a_file_and_standard_input_give_their_text_less_one_final_newline(
    data: bytes, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "text"
    path.write_bytes(data)
    assert TextReader().text("--chat", f"@{path}") == text
    with path.open(encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        assert TextReader().text("--chat", "-") == text


def test_a_file_to_tokenize_keeps_its_final_newline(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"a\r\nb\n")
    assert TextReader().file("--tokenize", str(path)) == "a\r\nb\n"


def test_standard_input_is_read_for_one_flag_only(run_here: RunHere) -> None:
    result = run_here(MODEL, "--chat", "-", "--system", "-", stdin=b"hi")
    result.refused("--system", "standard input was already read for --chat")


def test_a_closed_standard_input_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(FlagError, match="--chat: there is no standard input"):
        TextReader().text("--chat", "-")


@pytest.mark.parametrize(
    "flag", ["--chat", "--prompt", "--system", "--json-schema", "--lark", "--regex", "--choice"]
)
def test_text_that_can_not_be_read_names_flag_and_file(
    flag: str, tmp_path: Path, run_here: RunHere
) -> None:
    base = [MODEL] if flag in ("--chat", "--prompt") else [MODEL, "--chat", "hi"]
    bad = tmp_path / "latin1.txt"
    bad.write_bytes("però".encode("latin-1"))
    for value, *words in (
        ("@no-such-file", "no-such-file", "No such file"),
        (f"@{tmp_path}", str(tmp_path), "Is a directory"),
        (f"@{bad}", "latin1.txt", "not valid UTF-8 (byte 3)"),
        ("@", "names no file"),
    ):
        run_here(*base, flag, value).refused(f"{flag}: ", *words)
        run_here(*base, f"{flag}={value}").refused(f"{flag}: ", *words)
    run_here(*base, flag, "-", stdin=b"\xff").refused(f"{flag}: ", "standard input", "UTF-8")


def test_an_endless_file_is_not_read_to_its_end(run_here: RunHere) -> None:
    run_here(MODEL, "--chat", "@/dev/zero").refused("--chat", "larger than 64 MiB")
    run_here(MODEL, "--tokenize", "/dev/zero").refused("--tokenize", "larger than 64 MiB")


def test_a_value_that_is_no_utf8_is_refused(run_here: RunHere) -> None:
    run_here(MODEL, "--chat", "caff\udce8").refused("--chat", "not valid UTF-8")


@pytest.mark.parametrize("flag", ["--chat", "--prompt", "--stop"])
@pytest.mark.parametrize("value", ["", "@/dev/null", "-"])
def test_empty_texts_are_refused(flag: str, value: str, run_here: RunHere) -> None:
    base = [MODEL, "--chat", "hi"] if flag == "--stop" else [MODEL]
    run_here(*base, flag, value, stdin=b"\n").refused(f"{flag}: the text is empty")


# -- numbers -------------------------------------------------------------------------------------

WHOLE = [
    "--gen",
    "-n",
    "--top-k",
    "--repeat-last-n",
    "--seed",
    "--ctx",
    "--threads",
    "--gpu-layers",
]
REAL = ["--temp", "--top-p", "--min-p", "--repeat-penalty", "--freq-penalty", "--presence-penalty"]
NEVER = ["abc", "", " ", "nan", "inf", "-inf", "1e400", "-1e400", "0x10", "1,5", "1/2", "--5", "½"]


@pytest.mark.parametrize("flag", WHOLE + REAL)
def test_numeric_flags_refuse_whatever_is_no_number_of_their_range(
    flag: str, run_here: RunHere
) -> None:
    named = "--gen" if flag == "-n" else flag
    absurd = ["-1000", "1e30"] if flag in REAL else ["-2", "1.5", "9" * 30, "-" + "9" * 400]
    for value in [*NEVER, *absurd, "9" * 5000]:
        run_here(MODEL, "--chat", "hi", flag, value).refused(named)
        if flag.startswith("--"):
            run_here(MODEL, "--chat", "hi", f"{flag}={value}").refused(named)


RANGES = [each for each in flags() if each.within is not None]


@pytest.mark.parametrize("chosen", RANGES, ids=lambda chosen: chosen.flag)
def test_a_range_includes_its_ends_and_nothing_beyond(chosen: Option) -> None:
    assert chosen.within is not None
    low, high = chosen.within
    for value in (None, low, high):
        chosen.check(value)
    real = chosen.type is float
    step = 1e-9 if real else 1
    beyond = [low - step, high + step * 1000, 10**400]
    for value in [*beyond, float("nan")] if real else beyond:
        with pytest.raises(InputError, match=f"^{chosen.name}=: .* out of range; give "):
            chosen.check(value)


def test_numbers_at_the_ends_of_their_ranges_are_accepted() -> None:
    low = {"gen": 1, "top_k": 0, "top_p": 0.0, "min_p": 0.0, "repeat_last_n": -1, "ctx": 1}
    other = {"temperature": 0.0, "seed": 0, "threads": 1, "gpu_layers": -1, "repeat_penalty": 0.01}
    choose(command_line(chat="a", **low, **other))
    high = {"seed": 2**64 - 1, "top_p": 1.0, "min_p": 1.0, "temperature": 100.0}
    choose(command_line(chat="a", **high, frequency_penalty=-100.0))
    for seed in (-1, 2**64):
        with pytest.raises(InputError, match=r"seed=: .* out of range; give 0 to 2\^64-1"):
            choose(command_line(chat="a", seed=seed))


def test_a_temperature_too_small_to_divide_by_is_refused() -> None:
    choose(command_line(chat="a", temperature=1e-6))
    line = command_line(chat="a", temperature=1e-7)
    with pytest.raises(InputError) as refusal:
        choose(line)
    assert refusal.value.describe(line.names) == "--temp: 1e-07 is too small; give 0 for greedy"


# -- contradictions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--chat", "a", "--regex", "a", "--choice", "b"], ["--regex and --choice"]),
        (["--chat", "a", "--json-schema", "{}", "--lark", "x"], ["--json-schema and --lark"]),
        (["--chat", "a", "--prompt", "b"], ["--chat and --prompt"]),
        (["1,2", "--prompt", "b"], ["--prompt and TOKEN_IDS"]),
        (["--info", "--tokenize", "x"], ["--info and --tokenize"]),
        (["1", "--logits-out", "a", "--compare-logits", "b"], ["--logits-out and --compare"]),
        (["--info", "--chat", "a"], ["--info and --chat"]),
        (["--tokenize", "x", "--prompt", "a"], ["--tokenize and --prompt"]),
        (["--logits-out", "x"], ["--logits-out", "needs a prompt"]),
        (["--compare-logits", "x"], ["--compare-logits", "needs a prompt"]),
        (["--info", "--regex", "a"], ["--regex: constrains nothing", "--info"]),
        (["1", "--logits-out", "x", "--choice", "a"], ["--choice: constrains nothing"]),
        (["--chat", "a", "--gen", "0", "--lark", "x"], ["--lark: constrains nothing", "--gen 0"]),
        (["--chat", "a", "--json-whitespace"], ["--json-whitespace", "needs --json-schema"]),
        (["--prompt", "a", "--system", "b"], ["--system", "needs --chat"]),
        (["--chat", "a", "--greedy", "--temp", "0.5"], ["--greedy", "--temp 0.5"]),
        (["--chat", "a", "--quiet", "--verbose"], ["--quiet", "--verbose"]),
        ([], ["MODEL", "nothing to do"]),
        (["--chat"], ["--chat", "requires an argument"]),
        (["--nonsense"], ["--nonsense"]),
        (["1", "2"], ["2"]),
        (["--info=yes"], ["--info"]),
    ],
)
def test_contradictions_are_refused_in_one_line(
    arguments: list[str], words: list[str], run_here: RunHere
) -> None:
    run_here(MODEL, *arguments).refused(*words)


def test_flags_that_agree_are_accepted() -> None:
    for given in (
        {"chat": "x", "greedy": True, "temperature": 0.0},
        {"choice": ["a", "b"], "chat": "x", "system": "", "think": False},
        {"prompt": "x", "logits_out": "y"},
        {"json_schema": "{}", "whitespace": True, "token_ids": "1"},
    ):
        choose(command_line(**given))


def test_the_model_is_asked_for_by_name() -> None:
    run().refused("MODEL", "missing")


# -- token lists ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "ids"),
    [("0", [0]), ("1,2,3", [1, 2, 3]), (" 7 , 8 ", [7, 8]), ("007", [7]), ("99", [99])],
)
def test_token_ids_are_decimal_numbers_with_commas(text: str, ids: list[int]) -> None:
    assert values.token_ids(text) == ids


@pytest.mark.parametrize(
    "text",
    ["", " ", ",", "1,", ",1", "1,,2", "a", "1 2", "+1", "-1", "1.0", "0x1", "1;2", "\u0661", "²"],
)
def test_anything_else_is_no_token_id(text: str) -> None:
    with pytest.raises(InputError, match=r"^the prompt: .* is not a token id"):
        values.token_ids(text)


@pytest.mark.parametrize("text", ["100", "1,101,2", "9" * 30, "9" * 5000])
def test_token_ids_beyond_the_vocabulary_are_out_of_range(
    text: str, llama_path: Path, run_here: RunHere
) -> None:
    text = text.replace("10", "9999999")
    line = run_here(llama_path, text, "--gen", "1").refused(
        "TOKEN_IDS", "out of range; the vocabulary"
    )
    assert len(line) < 120


@pytest.mark.parametrize(
    ("text", "parsed"),
    [
        ("5=1.5", (5, 1.5)),
        ("5=-inf", (5, -float("inf"))),
        (" yes=-2", (" yes", -2.0)),
        ("==1", ("=", 1.0)),
        ("a=b=1", ("a=b", 1.0)),
        ("5=0", (5, 0.0)),
    ],
)
def test_a_bias_is_a_token_and_a_number(text: str, parsed: tuple[str | int, float]) -> None:
    assert values.bias(text) == parsed


@pytest.mark.parametrize("text", ["", "5", "=1", "5=", "5=x", "5=nan", "5=inf", "5=1e7", "5=-1e9"])
def test_anything_else_is_no_bias(text: str) -> None:
    with pytest.raises(InputError, match=r"^logit_bias=: "):
        values.bias(text)


@pytest.mark.parametrize(
    ("text", "pair"),
    [("f16", ("f16", "f16")), ("q8_0,f16", ("q8_0", "f16")), (" f16 , q8_0 ", ("f16", "q8_0"))],
)
def test_a_cache_type_is_one_name_or_two(text: str, pair: tuple[str, str]) -> None:
    assert cache_types(Runtime(cache_type=text)) == pair


@pytest.mark.parametrize("text", ["", "x", "f16,", ",f16", "f16,f16,f16", "F16", "f16 q8_0"])
def test_anything_else_is_no_cache_type(text: str) -> None:
    with pytest.raises(InputError, match=r"^cache_type=: .* of: bf16, f16, f32"):
        cache_types(Runtime(cache_type=text))
