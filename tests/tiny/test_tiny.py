"""The built-in models: found by name, made as they claim, right in every logit, and good enough."""

from __future__ import annotations

import itertools
import json
import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import gguf
import numpy as np
import pytest

from fucina_cli.bench.tiny import quality
from fucina_cli.builtin import builtin_path
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.model import Model
from fucina_cli.prompts import template
from fucina_cli.tiny.corpus import city_documents, ticket_drafts, ticket_held_out, ticket_labels
from fucina_cli.tiny.corpus.document import Chat, Text
from fucina_cli.tiny.corpus.mixture import documents
from fucina_cli.tiny.recipe.formats import FORMATS
from tests.support.command_line import Result, RunHere, run
from tests.support.command_line import run_here as run_here
from tests.support.reference import Reference

FAMILIES = ("qwen3", "gemma4")
TRIAGE = (
    '{"type":"object","properties":{"category":{"enum":["billing","bug","how_to"]},'
    '"priority":{"enum":["low","normal","high","urgent"]}},"required":["category","priority"],'
    '"additionalProperties":false}'
)
SPECIALS = {
    "qwen3": {
        "<|endoftext|>": gguf.TokenType.CONTROL,
        "<|im_start|>": gguf.TokenType.CONTROL,
        "<|im_end|>": gguf.TokenType.CONTROL,
        "<think>": gguf.TokenType.USER_DEFINED,
        "</think>": gguf.TokenType.USER_DEFINED,
        "<tool_call>": gguf.TokenType.USER_DEFINED,
        "</tool_call>": gguf.TokenType.USER_DEFINED,
    },
    "gemma4": {
        "<bos>": gguf.TokenType.CONTROL,
        "<eos>": gguf.TokenType.CONTROL,
        "<|turn>": gguf.TokenType.CONTROL,
        "<turn|>": gguf.TokenType.CONTROL,
        "<|think|>": gguf.TokenType.CONTROL,
        "<|channel>": gguf.TokenType.USER_DEFINED,
        "<channel|>": gguf.TokenType.USER_DEFINED,
    },
}


def path_of(family: str) -> Path:
    path = builtin_path(family)
    assert path is not None
    return path


# -- by name ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_tiny_answers_a_chat_under_a_schema(run_here: RunHere, family: str) -> None:
    done = run_here(
        *("tiny", "--chat", "Triage: I was charged twice. This blocks my work."),
        *("--json-schema", TRIAGE, "--greedy"),
        family=family,
    )
    assert done.code == 0, done.err
    answer = json.loads(done.out)
    assert answer["category"] == "billing"
    assert done.out == json.dumps(answer, separators=(",", ":")) + "\n"


@pytest.mark.parametrize("family", FAMILIES)
def test_info_shows_where_the_built_in_file_lies(run_here: RunHere, family: str) -> None:
    done = run_here("tiny", "--info", "--json", family=family)
    described = json.loads(done.out)
    assert Path(described["file"]) == path_of(family).resolve()
    assert described["family"] == family
    assert described["exact"] is True
    by_path = run_here(path_of(family), "--info", "--json", family=family)
    assert json.loads(by_path.out) == described


def test_the_generic_command_names_the_commands_that_have_a_built_in_model(
    run_here: RunHere,
) -> None:
    done = run_here("tiny", "--chat", "Hello")
    done.refused("'tiny'", "fucina-qwen3 tiny", "fucina-gemma4 tiny", "./tiny")


def test_a_file_called_tiny_is_reached_by_its_path(tmp_path: Path) -> None:
    shutil.copy(path_of("gemma4"), tmp_path / "tiny")
    wrong = run("./tiny", "--info", family="qwen3", cwd=tmp_path)
    wrong.refused("'./tiny'", "fucina-gemma4")
    right = run("tiny", "--info", "--json", family="qwen3", cwd=tmp_path)
    assert json.loads(right.out)["architecture"] == "qwen3"


def test_tiny_can_draft_for_itself(run_here: RunHere) -> None:
    flags = ("tiny", "--chat", "Tell me about Lyon.", "--greedy", "--no-think", "--json")
    alone = json.loads(run_here(*flags, family="qwen3").out)
    drafted = json.loads(run_here(*flags, "--draft-model", "tiny", family="qwen3").out)
    assert drafted["tokens"] == alone["tokens"]
    # How much is drafted is the gate's to say, by the clock; that there is a drafter shows.
    assert "draft model" in drafted["decode"]["sources"]
    assert "draft model" not in alone["decode"]["sources"]


@pytest.mark.parametrize("family", FAMILIES)
def test_it_thinks_when_asked_to_and_its_thoughts_are_no_answer(
    run_here: RunHere, family: str
) -> None:
    def ask(flag: str) -> Result:
        question = ("tiny", "--chat", "Tell me about Vienna.", "--greedy", "--json")
        return run_here(*question, flag, family=family)

    thought, plain = json.loads(ask("--think").out), json.loads(ask("--no-think").out)
    assert thought["stop_reason"] == plain["stop_reason"] == "eos"
    assert len(thought["tokens"]) > len(plain["tokens"])
    assert "Vienna" in thought["text"]
    assert "think" not in thought["text"]
    assert "channel" not in thought["text"]


# -- the files -------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_the_file_is_what_it_says(family: str) -> None:
    path = path_of(family)
    assert path.stat().st_size <= 8_000_000
    reader = gguf.GGUFReader(path)
    fields = {name: field.contents() for name, field in reader.fields.items()}
    assert fields["general.architecture"] == family
    assert fields["general.file_type"] == gguf.LlamaFileType.MOSTLY_Q8_0
    assert fields["tokenizer.ggml.model"] == {"qwen3": "gpt2", "gemma4": "gemma4"}[family]
    assert "enable_thinking" in fields["tokenizer.chat_template"]
    tokens, types = fields["tokenizer.ggml.tokens"], fields["tokenizer.ggml.token_type"]
    assert 4096 <= len(tokens) == len(set(tokens)) == len(types) <= 8192
    for text, kind in SPECIALS[family].items():
        assert types[tokens.index(text)] == kind, text
    kinds = Counter(tensor.tensor_type.name for tensor in reader.tensors if len(tensor.shape) == 2)
    assert set(kinds) == {"Q8_0"}
    names = {tensor.name for tensor in reader.tensors}
    assert "output.weight" not in names  # tied ends
    assert "blk.0.attn_q_norm.weight" in names
    assert fields[f"{family}.attention.head_count"] == 8
    kv = fields[f"{family}.attention.head_count_kv"]
    assert all(n < 8 for n in ([kv] if isinstance(kv, int) else kv))  # grouped queries
    if family == "gemma4":
        slides = fields["gemma4.attention.sliding_window_pattern"]
        assert any(slides)
        assert not all(slides)
        assert fields["gemma4.final_logit_softcapping"] == 30.0
        assert "rope_freqs.weight" in names


@pytest.mark.parametrize("family", FAMILIES)
def test_every_logit_is_that_of_the_reference_within_quantization_error(family: str) -> None:
    path = path_of(family)
    model = Model(path)
    texts = [user_text(d) for d in itertools.islice(documents(99), 40)]
    tokens = model.vocabulary.tokenize("\n".join(texts))[:300]
    assert len(tokens) == 300  # past the sliding window of 128
    # float32 in the cache, so that the only rounding left is that of 8-bit activations.
    context = Context(model, n_ctx=512, cache_type=("f32", "f32"), max_logits_rows=300)
    context.decode([Row(token, at, 0, True) for at, token in enumerate(tokens)])
    ours = np.array([context.logits(row) for row in range(len(tokens))])
    expected = Reference(path).logits(tokens)
    error = np.abs(ours - expected)
    spread = expected.std()
    assert error.mean() < 0.02 * spread
    assert error.max() < 0.25 * spread
    assert (ours.argmax(1) == expected.argmax(1)).mean() > 0.97


def user_text(document: Chat | Text) -> str:
    return document.user + " " + document.reply if isinstance(document, Chat) else document.prompt


# -- what they can ---------------------------------------------------------------------------------


@pytest.mark.model
@pytest.mark.parametrize("family", FAMILIES)
def test_unseen_prompts_get_fluent_sentences_and_sound_json(family: str) -> None:
    made = quality(path_of(family))
    assert made.prompts == 40
    assert made.fluent >= 0.9 * made.prompts, made.bad
    assert made.named >= 0.9 * made.prompts, made.bad  # the answer is about the city
    assert made.parsed >= 0.6 * made.prompts, made.bad
    assert made.satisfied == made.prompts, made.bad


@pytest.mark.model
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", [1, 2])
def test_sampled_answers_satisfy_unseen_schemas(run_here: RunHere, family: str, seed: int) -> None:
    schemas: list[dict[str, dict[str, object]]] = [
        {"title": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}}},
        {"when": {"type": "string", "format": "date"}, "who": {"type": "string"}},
        {"total": {"type": "number"}, "paid": {"type": "boolean"}, "note": {"type": "string"}},
    ]
    for properties in schemas:
        schema = json.dumps(
            {
                "type": "object",
                "properties": properties,
                "required": list(properties),
                "additionalProperties": False,
            }
        )
        done = run_here(
            *("tiny", "--chat", "Ana Ruiz pays 30 euros for lunch on 5 March 2027."),
            *("--json-schema", schema, "--seed", str(seed)),
            family=family,
        )
        assert done.code == 0, (done.out, done.err)
        assert JsonSchema(schema).judge(done.out.rstrip("\n")).valid


# -- the corpus ------------------------------------------------------------------------------------


def test_the_held_out_tickets_are_48_and_training_never_shows_them() -> None:
    assert len(ticket_held_out.HELD_OUT) == 48
    assert {t.category for t in ticket_held_out.HELD_OUT} == set(ticket_labels.CATEGORIES)
    assert {t.priority for t in ticket_held_out.HELD_OUT} == set(ticket_labels.PRIORITIES)
    assert len(ticket_labels.CATEGORIES) == 6
    assert len(ticket_labels.PRIORITIES) == 4
    rng = random.Random(7)
    shown = "\n".join(ticket_drafts.ticket(rng).text for _ in range(20_000)).lower()
    for issue in ticket_held_out.HELD_OUT_ISSUES:
        assert issue.lower() not in shown
    for held_out in ticket_held_out.HELD_OUT:
        assert any(issue in held_out.text for issue in ticket_held_out.HELD_OUT_ISSUES)


def test_the_held_out_city_prompts_are_not_in_the_corpus() -> None:
    rng = random.Random(7)
    drawn = (city_documents.sample(rng) for _ in range(30_000))
    shown = {d.user.lower().strip(" .!?") for d in drawn if isinstance(d, Chat)}
    held_out = [*city_documents.held_out_prompts(), *city_documents.held_out_json_prompts()]
    assert len(held_out) == 80
    assert not [p for p in held_out if p.lower().strip(" .!?") in shown]


def test_a_seed_gives_the_same_corpus_again() -> None:
    first, again, other = (list(itertools.islice(documents(s), 300)) for s in (3, 3, 4))
    assert first == again
    assert first != other


def test_the_corpus_does_not_depend_on_the_order_of_hashes() -> None:
    program = (
        "import itertools; from fucina_cli.tiny.corpus.mixture import documents;"
        "print(list(itertools.islice(documents(0), 20000)))"
    )
    first, other = (
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    )
    assert first
    assert first == other


def test_json_replies_of_the_corpus_are_compact() -> None:
    replies = [d.reply for d in itertools.islice(documents(5), 5000) if isinstance(d, Chat)]
    objects = [reply for reply in replies if reply.startswith(("{", "["))]
    assert len(objects) > 1000
    for reply in objects:
        assert reply == json.dumps(json.loads(reply), separators=(",", ":"), ensure_ascii=False), (
            reply
        )


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("thinks", [True, False])
def test_training_sees_the_prompt_that_a_chat_is_given(family: str, thinks: bool) -> None:
    form = FORMATS[family]
    markers = [text for text, _ in form.specials]
    chats = [d for d in itertools.islice(documents(8), 120) if isinstance(d, Chat)]
    assert any(chat.system for chat in chats)
    assert any(chat.earlier for chat in chats)
    for chat in chats:
        messages = [{"role": "system", "content": chat.system}] if chat.system else []
        for user, reply in chat.earlier:
            messages += [
                {"role": "user", "content": user},
                {"role": "assistant", "content": reply},
            ]
        messages.append({"role": "user", "content": chat.user})
        rendered = template.render(
            form.template, messages, markers=markers, thinking=thinks, bos=form.bos
        )
        assert form.written(chat, thinks)[0] == rendered.text
