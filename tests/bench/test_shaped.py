"""Models of random weights in a given shape: llama.cpp runs them, whatever their vocabulary."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from fucina_cli.conversation import Request, generate

from fucina_cli.bench import shaped
from fucina_cli.builtin import builtin_path
from fucina_cli.constraint import grammar, source
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.llama.model import Model
from fucina_cli.prompts import stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

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
    context = Context(model, n_ctx=256)
    stop = stop_token(model, family_of(model.architecture), chat=False)
    tokens = grammar.build_tokens(model.vocabulary, stop)
    compiled = grammar.compile_grammar(grammar.prepare(source.json_schema(SCHEMA)), tokens)
    request = Request(SamplingConfig(), 20, constraint=compiled.constraint())
    answer = generate(context, text_prompt(model, text), request)
    assert json.loads(answer.text) in ("billing", "bug", "how_to")
    free = generate(context, text_prompt(model, text), Request(SamplingConfig(), 20))
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
