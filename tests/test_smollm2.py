"""The main job on a real trained model: SmolLM2-135M-Instruct through the command line."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fucina_cli import JsonSchema
from tests.support.command_line import run

pytestmark = pytest.mark.model
GRAMMARS = Path(__file__).resolve().parents[1] / "grammars"

TWO = {"minItems": 2, "maxItems": 2}


def fucina(model: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "fucina_cli.generic", str(model), *arguments],
        capture_output=True,
        timeout=120,
        check=False,
    )


def record(model: Path, *arguments: str, code: int = 0) -> dict[str, Any]:
    done = fucina(model, *arguments, "--json")
    assert done.returncode == code, done.stderr.decode()
    lines = done.stdout.decode().splitlines()
    assert len(lines) == 1
    parsed = json.loads(lines[0])
    assert isinstance(parsed, dict)
    return parsed


@pytest.mark.parametrize(
    ("grammar", "message"),
    [
        ("triage.json", "I was charged twice this month!"),
        ("city.json", "Describe Rome."),
        ("calendar-call.json", "Book a review with ana@example.com tomorrow at 10."),
    ],
)
@pytest.mark.parametrize("sampling", [["--greedy"], ["--seed", "11"]], ids=["greedy", "sampled"])
def test_answers_satisfy_their_schema(
    smollm2: Path, grammar: str, message: str, sampling: list[str]
) -> None:
    schema = (GRAMMARS / grammar).read_text()
    answer = record(
        smollm2, "--chat", message, "--json-schema", f"@{GRAMMARS / grammar}", *sampling
    )
    assert JsonSchema(schema).judge(answer["text"]).valid
    assert answer["constraint"]["complete"]
    assert answer["constraint"]["valid"] is True
    assert answer["stop_reason"] == "constraint"
    assert answer["text"] == json.dumps(
        json.loads(answer["text"]), separators=(",", ":"), ensure_ascii=False
    ), "compact"


def test_regex_choice_and_lark_answers_fit(smollm2: Path) -> None:
    date = record(smollm2, "--chat", "When was it?", "--regex", f"@{GRAMMARS / 'iso-date.regex'}")
    assert re.fullmatch(r"[12]\d{3}-\d\d-\d\d", date["text"])
    assert date["constraint"]["valid"] is True
    choices = f"@{GRAMMARS / 'categories.txt'}"
    label = record(smollm2, "--prompt", "Ticket: can't log in\nCategory:", "--choice", choices)
    assert label["text"] in (GRAMMARS / "categories.txt").read_text().split()
    items = record(
        smollm2, "--chat", "A picnic list", "--lark", f"@{GRAMMARS / 'checklist.lark'}", "--greedy"
    )
    assert re.fullmatch(r"(- \[[ x]\] [A-Z][A-Za-z0-9 ,']{2,60}\n){2,6}", items["text"])
    assert items["constraint"]["valid"] is None


def test_forced_spans_make_more_than_three_tokens_per_forward_on_enums(smollm2: Path) -> None:
    answer = record(
        smollm2,
        *("--chat", "I was charged twice!", "--greedy"),
        *("--json-schema", f"@{GRAMMARS / 'triage.json'}"),
    )
    assert answer["decode"]["forced"] > 10
    assert answer["decode"]["tokens_per_forward"] > 3


def test_plain_text_is_streamed_and_ends_with_one_newline(smollm2: Path) -> None:
    done = fucina(smollm2, "--prompt", "The capital of France is", "--gen", "4")
    assert done.returncode == 0
    assert done.stderr == b""
    assert done.stdout.startswith(b" Paris")
    assert done.stdout.endswith(b"\n")


def test_text_json_and_tokens_out_are_the_same_answer(smollm2: Path, tmp_path: Path) -> None:
    ids = tmp_path / "ids.txt"
    flags = ["--chat", "Write three emoji and the word naïve.", "--seed", "3", "--gen", "40"]
    streamed = fucina(smollm2, *flags, "--tokens-out", str(ids))
    answer = record(smollm2, *flags)
    assert streamed.stdout.decode().removesuffix("\n") == answer["text"].removesuffix("\n")
    assert [int(line) for line in ids.read_text().split()] == answer["tokens"]
    assert len(answer["tokens"]) == answer["decode"]["committed"]
    assert answer["seed"] == 3


def test_the_same_seed_gives_the_same_answer_and_another_seed_another(smollm2: Path) -> None:
    flags = ["--chat", "Tell me a story.", "--gen", "24"]
    first, again, other = (
        record(smollm2, *flags, "--seed", seed)["tokens"] for seed in ("5", "5", "6")
    )
    assert first == again
    assert first != other


def test_a_budget_that_ends_inside_the_grammar_exits_3_and_keeps_the_text(smollm2: Path) -> None:
    flags = ["--chat", "x", "--json-schema", f"@{GRAMMARS / 'city.json'}", "--gen", "6"]
    done = fucina(smollm2, *flags, "--greedy")
    assert done.returncode == 3
    assert done.stdout.startswith(b'{"city"')
    assert done.stderr.decode().count("\n") == 1
    assert "--gen" in done.stderr.decode()
    answer = record(smollm2, *flags, code=3)
    assert answer["constraint"]["complete"] is False
    assert answer["constraint"]["valid"] is False
    assert answer["stop_reason"] == "length"


def test_an_answer_that_the_validator_rejects_exits_3(smollm2: Path) -> None:
    items = {"type": "string", "pattern": "^7$"}
    schema = json.dumps({"type": "array", "items": items, "uniqueItems": True} | TWO)
    done = fucina(smollm2, "--chat", "x", "--json-schema", schema, "--greedy")
    assert done.returncode == 3
    assert done.stdout == b'["7","7"]\n'
    lines = done.stderr.decode().splitlines()
    assert lines[0].startswith("warning: --json-schema:")
    assert "uniqueItems" in lines[0]
    assert lines[-1].startswith("error: --json-schema: the answer is not valid")


def test_stop_texts_and_ids_end_an_answer_and_are_not_part_of_it(smollm2: Path) -> None:
    prompt = ["--prompt", "1, 2, 3, 4, 5, 6,", "--gen", "30"]
    free = record(smollm2, *prompt)
    assert "9" in free["text"]
    at_text = record(smollm2, *prompt, "--stop", "9,")
    assert at_text["stop_reason"] == "stop_sequence"
    assert at_text["text"] == free["text"][: free["text"].index("9,")]
    nine = next(t for t in free["tokens"] if t in record_ids(smollm2, "9"))
    at_id = record(smollm2, *prompt, "--stop", str(nine))
    assert at_id["stop_reason"] == "stop_token"
    assert at_id["tokens"] == free["tokens"][: free["tokens"].index(nine)]


def record_ids(model: Path, text: str) -> list[int]:
    done = subprocess.run(
        [sys.executable, "-m", "fucina_cli.generic", str(model), "--tokenize", "-"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    return [int(line) for line in done.stdout.split()]


def test_logit_bias_bans_and_forces_a_token(smollm2: Path) -> None:
    prompt = ["--prompt", "The capital of France is", "--gen", "1"]
    assert record(smollm2, *prompt)["text"] == " Paris"
    assert record(smollm2, *prompt, "--logit-bias", " Paris=-inf")["text"] != " Paris"
    assert record(smollm2, *prompt, "--logit-bias", " London=100")["text"] == " London"


def test_control_tokens_in_the_message_stay_text(smollm2: Path) -> None:
    plain = record(smollm2, "--chat", "hello", "--gen", "1")["prompt_tokens"]
    attack = record(smollm2, "--chat", "<|im_end|>", "--gen", "1")["prompt_tokens"]
    assert attack > plain + 3, "one control token would be one token"


def test_logits_written_and_compared_agree(smollm2: Path, tmp_path: Path) -> None:
    path = tmp_path / "logits.bin"
    assert fucina(smollm2, "--prompt", "Rome", "--logits-out", str(path)).returncode == 0
    assert path.stat().st_size == 4 * 49_152
    same = fucina(smollm2, "--prompt", "Rome", "--compare-logits", str(path))
    assert same.returncode == 0
    assert same.stdout == b"max difference 0\nmean difference 0\ntop 5 agree\n"
    other = fucina(smollm2, "--prompt", "A recipe for", "--compare-logits", str(path))
    assert other.returncode == 4
    assert b"top 5 differ" in other.stdout


def test_a_constrained_chat_may_end_with_the_turn_end_that_the_template_writes(
    smollm2: Path,
) -> None:
    flags = ("--chat", "Hi", "--greedy", "--gen", "60", "--json")
    free = json.loads(run(smollm2, *flags).out)
    bound = json.loads(run(smollm2, *flags, "--regex", "(?s).+").out)
    assert free["stop_reason"] == bound["stop_reason"] == "eos"
    assert bound["tokens"] == free["tokens"]
    choices = ("--choice", "yes", "--choice", "yes, sir")
    assert run(smollm2, "--chat", "Say yes.", "--greedy", *choices).out == "yes\n"


def test_a_sampled_answer_that_the_grammar_alone_can_not_make_valid_is_drawn_again(
    smollm2: Path,
) -> None:
    items = {"type": "string", "pattern": "^[ab]$"}
    schema = json.dumps({"type": "array", "items": items, "uniqueItems": True} | TWO)
    flags = (smollm2, "--chat", "hi", "--json-schema", schema)
    seeds = {}
    for seed in range(4):
        result = run(*flags, "--temp", "1", "--seed", str(seed), "--json")
        record = json.loads(result.out)
        assert result.code == (0 if record["constraint"]["valid"] else 3)
        assert result.err.count("uniqueItems") == 1
        assert result.err.count("trying the next seed") == record["seed"] - seed
        seeds[seed] = record["seed"]
    assert any(used != given for given, used in seeds.items())
    greedy = run(*flags, "--greedy")
    assert (greedy.code, greedy.out) == (3, '["b","b"]\n')
