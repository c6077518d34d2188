"""Thinking first, then an answer under the constraint."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from fucina_cli import Choice
from fucina_cli.constraint import grammar
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.llama.model import Model
from fucina_cli.sampling.mask import allowed_ids
from fucina_cli.sampling.processor import Structured

THINK, CLOSE, STOP, PAD_END = 151_667, 151_668, 151_645, 151_643


@pytest.fixture(scope="module")
def tokens(qwen3_path: Path) -> tuple[Model, grammar.Tokens]:
    model = Model(qwen3_path, vocab_only=True)
    return model, grammar.build_tokens(model.vocabulary, STOP)


def deferred(tokens: tuple[Model, grammar.Tokens], *, inside: bool) -> AfterThinking:
    prepared = Choice(["yes", "no"]).prepare()
    return AfterThinking(
        grammar.compile_grammar(prepared, tokens[1]).constraint(),
        opens=THINK,
        closes=CLOSE,
        inside=inside,
        forbidden=[STOP, PAD_END],
        n_vocab=tokens[0].n_vocab,
    )


def test_the_block_is_opened_by_force_and_left_only_through_its_marker(
    tokens: tuple[Model, grammar.Tokens],
) -> None:
    model = tokens[0]
    hook = deferred(tokens, inside=False)
    assert isinstance(hook, Structured)
    assert hook.forced_tokens(5) == [THINK]
    assert allowed_ids(hook.mask_words(), model.n_vocab).tolist() == [THINK]
    assert hook.valid_prefix_len([THINK]) == 1
    assert hook.valid_prefix_len([CLOSE]) == 0
    hook.commit(THINK)
    assert hook.forced_tokens(5) == []
    assert not any(hook.is_allowed(t) for t in (STOP, PAD_END, THINK))
    thought, yes = model.vocabulary.tokenize("hmm"), model.vocabulary.tokenize("yes")
    assert hook.valid_prefix_len([*thought, CLOSE, *yes]) == len(thought) + 1 + len(yes)
    assert hook.valid_prefix_len([*thought, CLOSE, *thought]) == len(thought) + 1
    assert hook.valid_prefix_len([*thought, STOP]) == len(thought)
    row = np.zeros(model.n_vocab, dtype=np.float32)
    hook.process(row, [])
    assert row[STOP] == -np.inf
    assert row[thought[0]] == 0
    for token in [*thought, CLOSE]:
        hook.commit(token)
    assert not hook.is_allowed(thought[0])
    assert hook.is_allowed(yes[0])
    hook.commit(yes[0])
    assert hook.constraint.complete
    assert hook.forced_tokens(5) == [STOP]


def test_forks_are_independent_and_reset_starts_over(
    tokens: tuple[Model, grammar.Tokens],
) -> None:
    hook = deferred(tokens, inside=True)
    assert hook.forced_tokens(5) == [], "the prompt has opened the block already"
    twin = hook.fork()
    hook.commit(CLOSE)
    hook.commit(tokens[0].vocabulary.tokenize("no")[0])
    assert hook.constraint.complete
    assert not twin.constraint.complete
    assert twin.is_allowed(CLOSE)
    hook.reset()
    assert hook.is_allowed(CLOSE)
    assert not hook.constraint.complete


@pytest.mark.parametrize("flags", [["--think"], ["--no-think"], []])
def test_the_command_line_answers_under_the_constraint_with_or_without_thoughts(
    qwen3_path: Path, flags: list[str]
) -> None:
    # A bias closes the random model's thoughts; under the constraint it has no effect.
    done = subprocess.run(
        [
            *(sys.executable, "-m", "fucina_cli.qwen3", str(qwen3_path)),
            *("--chat", "Is water wet?", "--choice", "yes", "--choice", "no"),
            *("--logit-bias", f"{CLOSE}=1000", "--gen", "8", "--json", *flags),
        ],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["text"] in ("yes", "no")
    assert record["constraint"]["valid"]
    thinks = flags == ["--think"]
    assert (THINK in record["tokens"]) == (CLOSE in record["tokens"]) == thinks
    assert record["sampling"]["temperature"] == (0.6 if thinks else 0.7)
