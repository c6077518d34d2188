"""Models of random weights in a given shape: llama.cpp runs them, whatever their vocabulary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fucina_cli.bench import shaped
from fucina_cli.builtin import builtin_path
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.job import Job
from fucina_cli.llama.model import Model
from fucina_cli.prompts import text_prompt
from fucina_cli.runner import Runner
from tests.support import ggufs

SMALL = {
    name: replace(shape, layers=2, width=64, hidden=96, heads=4, heads_kv=2, head=32, vocab=9000)
    for name, shape in shaped.SHAPES.items()
}
SCHEMA = '{"enum": ["billing", "bug", "how_to"]}'


def tokens_of() -> Path:
    path = builtin_path("qwen3")
    assert path is not None
    return path


@pytest.mark.parametrize("name", sorted(SMALL))
def test_a_shaped_model_has_its_sizes_and_the_tokens_of_another_and_answers(
    name: str, tmp_path: Path
) -> None:
    out = tmp_path / "shaped.gguf"
    shaped.build(SMALL[name], tokens_of(), out)
    model, other = Model(out), Model(tokens_of())
    assert (model.architecture, model.n_vocab) == (SMALL[name].architecture, 9000)
    text = 'Category as JSON: {"category":"billing"}'
    assert text_prompt(model, text).tokens == text_prompt(other, text).tokens
    with Runner.open(out) as runner:
        answer = runner.answer(Job.prompt(text, JsonSchema(SCHEMA), gen=20))
        assert json.loads(answer.text) in ("billing", "bug", "how_to")
        free = runner.answer(Job.prompt(text, gen=20))
        assert len(set(free.tokens)) > 1  # it does not just repeat what it is given


def test_the_same_shape_gives_the_same_bytes(tmp_path: Path) -> None:
    shape = SMALL["qwen3-0.6b"]
    made = [tmp_path / "a.gguf", tmp_path / "b.gguf"]
    for out in made:
        shaped.build(shape, tokens_of(), out)
    assert made[0].read_bytes() == made[1].read_bytes()


def test_a_vocabulary_that_is_too_large_or_of_another_kind_is_refused(
    spm_path: Path, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="5,120 tokens, more than 5,000"):
        shaped.build(replace(SMALL["gemma3-270m"], vocab=5000), tokens_of(), tmp_path / "a.gguf")
    for other in (spm_path, builtin_path("gemma4")):
        assert other is not None
        with pytest.raises(ValueError, match="byte-level BPE"):
            shaped.build(SMALL["gemma3-270m"], other, tmp_path / "a.gguf")
    for name, drop in (("types", "*.token_type"), ("merges", "*.merges")):
        lacking = ggufs.build_llama(tmp_path / f"no {name}.gguf", drop=[drop])
        with pytest.raises(ValueError, match="not whole"):
            shaped.build(SMALL["gemma3-270m"], lacking, tmp_path / "a.gguf")
    few = ggufs.build_llama(tmp_path / "few.gguf")
    with pytest.raises(ValueError, match="too small"):
        shaped.build(replace(SMALL["gemma3-270m"], vocab=152_000), few, tmp_path / "a.gguf")
