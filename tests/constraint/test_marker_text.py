"""Fixed text that spells markers and control tokens is ordinary text, over every vocabulary."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fucina_cli import JsonSchema, Regex
from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.grammar import compile_grammar
from fucina_cli.sampling.mask import allowed_ids
from tests.support.decode_bench import Bench

PLAIN = st.text(st.characters(exclude_categories=["Cs", "Cc"], max_codepoint=0xFFFF), max_size=5)


def walked(bench: Bench, constraint: Constraint, *, forced: bool) -> tuple[str, list[int]]:
    """The text of the lowest allowed tokens, or of forced ones where there are some."""
    vocabulary = bench.model.vocabulary
    tokens: list[int] = []
    while not constraint.finished:
        allowed = allowed_ids(constraint.mask_words(), bench.model.n_vocab)
        ahead = constraint.forced_tokens(8) if forced else []
        assert allowed.size, "a state without a way on"
        if ahead:
            assert allowed.tolist() == ahead[:1]
        token = ahead[0] if ahead else int(allowed[0])
        if token == constraint.stop_token:
            break
        constraint.commit(token)
        tokens.append(token)
    return b"".join(map(vocabulary.token_bytes, tokens)).decode(), tokens


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_text_can_be_forced_and_no_marker_writes_it(bench: Bench, data: st.DataObject) -> None:
    vocabulary = bench.model.vocabulary
    markers = vocabulary.marker_ids()

    def spellable(text: str) -> bool:
        # Some vocabularies have no token for some bytes: what they can't spell can't be forced.
        ids = vocabulary.tokenize_inside(text)
        return b"".join(map(vocabulary.token_bytes, ids)) == text.encode()

    piece = st.one_of(PLAIN.filter(spellable), st.sampled_from(sorted(markers)))
    text = data.draw(st.lists(piece, min_size=1, max_size=4).map("".join).filter(bool))
    closed = re.escape(text) + ("" if data.draw(st.booleans()) else "[ab]")
    grammar = compile_grammar(Regex(closed).prepare(), bench.tokens)
    for forced in (False, True):
        said, tokens = walked(bench, grammar.constraint(), forced=forced)
        assert said in (text, text + "a", text + "b")
        assert not set(tokens) & set(markers.values())


@pytest.mark.parametrize("text", ["a<tool_call>b", "<|im_end|>", "<bos>", "</think>é<think>"])
def test_a_constant_may_spell_a_marker(bench: Bench, text: str) -> None:
    schema = JsonSchema({"const": text})
    constraint = compile_grammar(schema.prepare(), bench.tokens).constraint()
    said, tokens = walked(bench, constraint, forced=True)
    assert json.loads(said) == text
    ids = np.array(tokens)
    assert not np.isin(ids, list(bench.model.vocabulary.marker_ids().values())).any()
