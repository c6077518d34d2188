"""What other tools accept and these commands do not: each refusal names the way out."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fucina_cli.cli import hints
from fucina_cli.cli.batch import foreign
from fucina_cli.cli.batch.lines import keys
from fucina_cli.cli.choosing import flags
from tests.support import ggufs
from tests.support.command_line import RunHere, run_here
from tests.support.processes import PATIENCE, command, environment

__all__ = ["run_here"]  # a fixture

KNOWN = {name for each in flags() for name in (each.flag, each.short, each.negative) if name}


@pytest.fixture
def cli(run_here: RunHere) -> RunHere:
    """Run a command in this process on one thread: a tiny model gains nothing from more."""
    return lambda *arguments, **rest: run_here(*arguments, "--threads", "1", **rest)


# -- flags ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("--temperature", "--temp"),
        ("--temprature=1", "--temp"),
        ("--max-tokens", "--gen"),
        ("--max_tokens", "--gen"),
        ("--n-predict", "--gen"),
        ("--top_k", "--top-k"),
        ("--top_p=0.9", "--top-p"),
        ("--json_schema", "--json-schema"),
        ("--jsonschema", "--json-schema"),
        ("--json-shema", "--json-schema"),
        ("--response-format", "--json-schema"),
        ("--grammar-file", "--lark"),
        ("--repetition_penalty", "--repeat-penalty"),
        ("--ctx-size", "--ctx"),
        ("--n-gpu-layers", "--gpu-layers"),
        ("--system-prompt", "--system"),
        ("--file", "--prompt @FILE"),
        ("--chta", "--chat"),
        ("--SEED", "--seed"),
        ("--outpt", "--out"),
        ("-p", "--prompt"),
        ("-c", "--ctx"),
        ("-temp", "--temp"),
        ("-ngl", "--gpu-layers"),
    ],
)
def test_an_unknown_flag_is_told_with_the_one_that_was_meant(
    written: str, meant: str, run_here: RunHere
) -> None:
    message = run_here("m.gguf", "--chat", "hi", written, "3").refused()
    assert f"did you mean {meant}?" in message or "--gbnf" in message


def test_the_model_has_no_flag(run_here: RunHere) -> None:
    for name in ("-m", "--model", "--hf-repo"):
        run_here(name, "m.gguf", "--chat", "hi").refused("the model comes first")


def test_a_flag_that_is_like_none_is_refused_without_a_guess(run_here: RunHere) -> None:
    assert "did you mean" not in run_here("m.gguf", "--zzzz").refused("--zzzz")


def test_every_flag_of_elsewhere_leads_to_one_that_exists() -> None:
    for name, ours in hints.FLAGS.items():
        assert f"--{name}" not in KNOWN
        assert ours == ("MODEL",) or any(each.split()[0] in KNOWN for each in ours), name


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--chat", "a", "--chat", "b"], ["--chat"]),
        (["--gen=1", "-n", "2", "--temp", "0", "--temp=1"], ["--gen", "--temp"]),
        (["--stop", "a", "--stop", "b", "--quiet", "--quiet", "--exact", "--no-exact"], []),
        (["--chat", "--gen", "--gen", "3"], []),
        (["--stop", "--gen", "--gen", "3"], []),
        (["--gen", "3", "--", "--gen"], []),
    ],
    ids=str,
)
def test_a_flag_that_is_given_twice_is_told(arguments: list[str], told: list[str]) -> None:
    assert hints.repeated(arguments, flags()) == told


def test_of_a_flag_that_is_given_twice_the_last_counts(llama_path: Path, cli: RunHere) -> None:
    result = cli(llama_path, "--prompt", "a", "--choice", "b", "--gen", "9", "--gen", "8")
    assert (result.code, result.out) == (0, "b\n")
    assert result.err == "warning: --gen: given more than once; the last one counts\n"


# -- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--seed", "-1"], "--seed: -1 is out of range; give 0 to 2^64-1, or leave it out"),
        (["--gen", "-1"], "or leave it out for 2048"),
        (["--ctx", "0"], "or leave it out"),
        (["--threads", "-1"], "or leave it out for all cores"),
    ],
)
def test_numbers_that_mean_something_elsewhere_have_a_way_out(
    arguments: list[str], words: str, run_here: RunHere
) -> None:
    run_here("m.gguf", "--chat", "hi", *arguments).refused(words)


@pytest.mark.parametrize("text", ["Tell me about Lyon.", "hello", "prompt.txt", "1,2,x", "日本"])
def test_a_text_in_the_place_of_ids_is_told_its_flag(text: str, run_here: RunHere) -> None:
    run_here("tiny", text, family="qwen3").refused("TOKEN_IDS", "--chat or --prompt")


def test_a_text_without_quotes_is_told_to_have_them(run_here: RunHere) -> None:
    run_here("tiny", "Tell", "me", "more").refused("put quotes around a text")


# -- files ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--json-schema", "--lark"])
@pytest.mark.parametrize("name", ["schema.json", "grammar.lark", "no/such/file.json", "x.yaml"])
def test_a_path_in_the_place_of_a_schema_or_grammar_is_told_its_at_sign(
    flag: str,
    name: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    run_here: RunHere,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "schema.json").write_text('{"type": "string"}')
    words = f"{flag}: '{name}' is a path; give @{name} to read it"
    run_here("tiny", "--chat", "hi", flag, name, family="qwen3").refused(words)


@pytest.mark.parametrize(
    "flag", ["--chat", "--prompt", "--regex", "--choice", "--system", "--stop"]
)
def test_a_text_that_is_the_path_of_a_file_is_taken_with_a_warning(
    flag: str, llama_path: Path, tmp_path: Path, cli: RunHere
) -> None:
    path = str(tmp_path / "a.txt")
    Path(path).write_text("b")
    others = ["--chat", "hi"] if flag not in ("--chat", "--prompt") else []
    arguments = [llama_path, *others, flag, path, "--gen", "1"]
    warning = f"warning: {flag}: '{path}' is a file, and is taken as the text itself; give @{path} "
    assert cli(*arguments).err.count(warning) == 1
    assert warning not in cli(*arguments, "--quiet").err
    assert warning not in cli(llama_path, *others, flag, f"@{path}", "--gen", "1").err


@pytest.mark.parametrize("text", ["hi", "no.txt", "a.b c", "", "x" * 10_000, "a\nb", "\0."])
def test_other_texts_are_no_paths(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "hi").write_text("a file whose name is like a text")
    assert not hints.is_file(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{city:string}", "put single quotes around the whole"),
        ("{'type':'string'}", "double quotes"),
        ('{"city":"string"}', '"city" is no keyword'),
        ('{"$schema":7}', "`$schema` takes text"),
    ],
)
def test_a_schema_that_is_none_is_refused_in_one_line(
    text: str, words: str, run_here: RunHere
) -> None:
    run_here("tiny", "--chat", "hi", "--json-schema", text, family="qwen3").refused(words)


def test_places_in_a_file_are_its_lines(tmp_path: Path, run_here: RunHere) -> None:
    path = tmp_path / "s.json"
    path.write_text('{\n  "type": "object",\n  "properties": {"a": {"type": "strng"}}\n}\n')
    result = run_here("tiny", "--chat", "hi", "--json-schema", f"@{path}", family="qwen3")
    result.refused(f"--json-schema ('{path}')", '"string"', "(at /properties/a/type, line 3)")


def test_a_wrapper_is_unwrapped_and_said_so(llama_path: Path, cli: RunHere) -> None:
    wrapper = '{"name": "x", "strict": true, "schema": {"const": "a"}}'
    result = cli(llama_path, "--chat", "hi", "--json-schema", wrapper)
    assert (result.code, result.out) == (0, '"a"\n')
    assert result.err == (
        "warning: --json-schema: the schema is taken out of its wrapper (at /schema)\n"
    )


# -- models --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Qwen/Qwen3-0.6B-GGUF", "hf download Qwen/Qwen3-0.6B-GGUF"),
        ("hf.co/unsloth/Qwen3-GGUF:Q4_K_M", "unsloth/Qwen3-GGUF --include '*Q4_K_M*'"),
        ("https://huggingface.co/a/b/resolve/main/x.gguf", "nothing is downloaded"),
        ("https://huggingface.co/Qwen/Qwen3-0.6B", "hf download Qwen/Qwen3-0.6B"),
        ("qwen3:0.6b", "Ollama"),
        ("Tell me a joke", "--chat or --prompt"),
        ("Tiny", "named tiny"),
        ("tiny.gguf", "named tiny"),
        ("~/m.gguf", "the whole path"),
        ("qwen3-0.6b-q80.gguf", "did you mean 'qwen3-0.6b-q8_0.gguf'?"),
        ("models/none.gguf", "check the path"),
    ],
)
def test_the_name_of_no_file_is_told_with_what_was_meant(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run_here: RunHere
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qwen3-0.6b-q8_0.gguf").write_text("")
    run_here(name, "--chat", "hi").refused(f"'{name}': no such file; ", words)


REFUSES = (
    "{% if messages[0].role == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{{ messages[-1].content }}"
)


def test_a_template_that_refuses_a_system_text_is_told_so(tmp_path: Path, cli: RunHere) -> None:
    path = ggufs.build_llama(tmp_path / "l.gguf", template=REFUSES)
    words = ("System role not supported", "put it at the beginning of the message")
    cli(path, "--chat", "hi", "--system", "be brief").refused("--system: ", *words)
    assert cli(path, "--chat", "hi", "--gen", "1").code == 0
    messages = [{"role": "system", "content": "s"}, {"role": "user", "content": "hi"}]
    lines = [{"chat": "hi", "system": "be brief"}, {"messages": messages}]
    batch = tmp_path / "b.jsonl"
    batch.write_text("".join(json.dumps(line) + "\n" for line in lines))
    errors = [json.loads(line)["error"] for line in cli(path, "--batch", batch).out.splitlines()]
    assert ['"system"' in errors[0], '"messages"' in errors[1]] == [True, True]
    assert all(words[1] in error for error in errors)


def test_a_template_that_leaves_a_system_text_out_is_told_once(
    tmp_path: Path, cli: RunHere
) -> None:
    path = ggufs.build_llama(tmp_path / "l.gguf", template="{{ messages[-1].content }}")
    said = cli(path, "--chat", "hi", "--system", "be brief", "--gen", "1", "--streams", "2").err
    assert said.count("--system: the model's chat template leaves it out") == 1
    assert "--system" not in cli(path, "--chat", "hi", "--gen", "1").err


# -- nothing is ignored --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [["--logit-bias", "5=3"], ["--temp", "1"], ["--seed", "3"], ["--greedy"], ["--stop", "a"]],
    ids=lambda settings: settings[0],
)
@pytest.mark.parametrize("mode", [["5,6", "--gen", "0"], ["5,6"], ["--info"]], ids=str)
def test_settings_of_answers_are_refused_where_none_is_written(
    settings: list[str], mode: list[str], run_here: RunHere
) -> None:
    run_here("m.gguf", *mode, *settings).refused(f"{settings[0]}: has no effect")


def test_thinking_is_told_to_have_no_effect_where_there_is_none(
    llama_path: Path, cli: RunHere
) -> None:
    said = "warning: --think: has no effect: "
    assert said + "the model has no markers" in cli(llama_path, "--chat=a", "--think", "-n1").err
    assert said + "only chats" in cli(llama_path, "--prompt=a", "--think", "-n1").err
    assert said not in cli("tiny", "--chat=a", "--think", "-n1", family="qwen3").err
    assert said not in cli(llama_path, "--chat=a", "--no-think", "-n1").err


# -- batches -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"chat": "a", "max_tokens": 5}, '"gen"'),
        ({"chat": "a", "custom_id": "x"}, '"id"'),
        ({"custom_id": "x", "body": {"messages": []}}, "jq -c '{id: .custom_id} + .body"),
        ({"chat": "a", "response_format": {}}, '"json_schema"'),
        ({"chat": "a", "model": "gpt"}, "the model is the one of the command"),
        ({"chat": "a", "temperature": 1}, '"temp"'),
        ({"chat": "a", "seed": -1}, "or leave it out for a random one"),
    ],
)
def test_keys_of_requests_to_apis_are_told_the_way_out(
    line: dict[str, Any], words: str, llama_path: Path, cli: RunHere
) -> None:
    result = cli(llama_path, "--batch", "-", stdin=json.dumps(line).encode())
    assert result.code == 2
    assert words in json.loads(result.out)["error"]


def test_no_key_of_an_api_is_one_of_lines() -> None:
    assert not set(foreign.KEYS) & set(keys())
    for way_out in foreign.KEYS.values():
        for name in ("gen", "id", "temp", "json_schema", "choices", "regex", "chat", "system"):
            assert f'"{name}"' not in way_out or name in keys()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[\n{"chat": "a"},\n{"chat": "b"}\n]\n', "jq -c '.[]' FILE"),
        ('[{"chat": "a"},\n{"chat": "b"}]\n', "jq -c '.[]' FILE"),
        ('\ufeff[\r\n{"chat": "a"}\r\n]', "jq -c '.[]' FILE"),
        ('{\n"chat": "a"\n}\n', "jq -c '.' FILE"),
    ],
)
def test_json_over_several_lines_is_no_batch(
    text: str, words: str, tmp_path: Path, run_here: RunHere
) -> None:
    path = tmp_path / "b.json"
    path.write_text(text)
    run_here("m.gguf", "--batch", path).refused("--batch: ", words)


def test_an_array_on_one_line_fails_alone(llama_path: Path, cli: RunHere) -> None:
    lines = b'[{"chat": "a"}]\n{"chat": "b", "gen": 1}\n'
    first, second = map(json.loads, cli(llama_path, "--batch", "-", stdin=lines).out.splitlines())
    assert "give each of its elements a line" in first["error"]
    assert second["line" if "line" in second else "id"] == 2


# -- the locale ----------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [["--regex", "é日"], ["--choice", "é日"]], ids=str)
def test_arguments_and_names_of_files_are_utf8_under_a_c_locale(
    flags: list[str], llama_path: Path, tmp_path: Path
) -> None:
    prompt = tmp_path / "né日.txt"
    prompt.write_text("a", encoding="utf-8")
    done = subprocess.run(
        command(llama_path, "--prompt", f"@{prompt}", *flags),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment(LC_ALL="C", PYTHONUTF8="0"),
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == "é日\n".encode()
