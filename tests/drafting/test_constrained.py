"""Drafts from a grammar: forced tokens, boundaries, and another source's draft cut to size."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance import LLTokenizer
from llguidance._lib import LLMatcher
from llguidance._tokenizer import TokenizerWrapper
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.constrained import ConstrainedSource
from fucina_cli.drafting.source import CERTAIN, DraftSource, LearnsTopK
from fucina_cli.sampling.mask import pack_mask
from fucina_cli.sampling.processor import LogitBias, ProcessorChain
from tests.support.grammars import SOURCES

_STOP = 256
_MERGED = [
    b'{"', b'":', b'":"', b'","', b'"}', b'":""', b":true", b"title", b"cat", b"category",
    b"priority", b"normal", b"true", b"bug", b" report", b"esc", b"ate", b"false",
]  # fmt: skip


class _Words:
    """A vocabulary of all bytes, a stop token and some words; the longest match comes first."""

    eos_token_id = _STOP
    bos_token_id = None
    special_token_ids = (_STOP,)

    def __init__(self) -> None:
        self.tokens = [bytes([i]) for i in range(256)] + [b"<end>"] + _MERGED

    def __call__(self, data: bytes) -> list[int]:
        tokens = []
        while data:
            at = max(
                (i for i, t in enumerate(self.tokens) if i != _STOP and data.startswith(t)),
                key=lambda i: len(self.tokens[i]),
            )
            tokens.append(at)
            data = data[len(self.tokens[at]) :]
        return tokens


WORDS = _Words()
_ENGINE = LLTokenizer(TokenizerWrapper(WORDS), n_vocab=len(WORDS.tokens))
_ORDINARY: NDArray[np.uint32] = pack_mask(np.ones(len(WORDS.tokens), dtype=np.bool_))


def _constraint(name: str) -> Constraint:
    text = SOURCES[name].prepare().engine_text
    return Constraint(
        LLMatcher(_ENGINE, text), len(WORDS.tokens), _STOP, _ORDINARY, lambda _text: []
    )


def _ids(*pieces: str) -> list[int]:
    return [WORDS.tokens.index(piece.encode()) for piece in pieces]


def _tokenize(text: str) -> list[int]:
    return WORDS(text.encode())


def _source(
    structure: Constraint | ProcessorChain | _Fixed, inner: DraftSource | None = None
) -> ConstrainedSource:
    return ConstrainedSource(
        structure, inner, tokenize=_tokenize, token_bytes=lambda token: WORDS.tokens[token]
    )


class _Fixed:
    """A structure made of constants; tokens of 900 and more are illegal."""

    def __init__(self, forced: Sequence[int] = (), data: bytes = b"") -> None:
        self.forced, self.data = list(forced), data

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        raise AssertionError("a draft source has no business with logits")

    def commit(self, token: int) -> None:
        raise AssertionError("a draft source commits nothing")

    def reset(self) -> None:
        raise AssertionError("a draft source resets nothing")

    def fork(self) -> _Fixed:
        return self

    def mask_words(self) -> NDArray[np.uint32]:
        raise AssertionError("no mask is needed")

    def is_allowed(self, token: int) -> bool:
        return token < 900

    def forced_tokens(self, limit: int) -> list[int]:
        return self.forced[:limit]

    def forced_bytes(self) -> bytes:
        return self.data

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        return next((i for i, token in enumerate(tokens) if token >= 900), len(tokens))


class _Inner:
    """A source that suggests the same always and notes what it is told."""

    def __init__(self, draft: Sequence[int]) -> None:
        self.draft = list(draft)
        self.observed: list[list[int]] = []
        self.truncated: list[int] = []
        self.rows: list[tuple[int, Sequence[int]]] = []
        self.wants_topk = 8

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        return self.draft[:limit]

    def observe(self, committed: Sequence[int]) -> None:
        self.observed.append(list(committed))

    def truncate_pending(self, length: int) -> None:
        self.truncated.append(length)

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        self.rows.extend(rows)


# -- the engine's look-ahead ---------------------------------------------------------------------


def test_past_the_forced_tokens_the_engine_still_forces_bytes() -> None:
    constraint = _constraint("free string")
    assert constraint.forced_bytes() == b'{"title":"'
    assert constraint.forced_tokens(9) == _ids('{"', "title")
    for token in _ids('{"', "title"):
        constraint.commit(token)
    assert constraint.forced_tokens(9) == []
    assert constraint.forced_bytes() == b'":"'
    for token in _ids('":"'):
        constraint.commit(token)
    assert constraint.forced_bytes() == b""


@pytest.mark.parametrize("name", SOURCES)
def test_forced_bytes_change_nothing_and_are_what_every_continuation_begins_with(
    name: str,
) -> None:
    asked, silent = _constraint(name), _constraint(name)
    for step in range(60):
        ahead = asked.forced_bytes()
        assert asked.forced_bytes() == ahead
        assert np.array_equal(asked.mask_words(), silent.mask_words())
        assert asked.forced_tokens(50) == silent.forced_tokens(50)
        if asked.finished:
            assert ahead == b""
            return
        allowed = [t for t in range(len(WORDS.tokens)) if silent.is_allowed(t) and t != _STOP]
        for token in allowed:
            data = WORDS.tokens[token]
            assert ahead.startswith(data) or data.startswith(ahead)
        if not allowed:
            return
        token = allowed[(step * 31) % len(allowed)]
        asked.commit(token)
        silent.commit(token)


def test_a_chain_passes_forced_bytes_on_and_illegal_boundary_tokens_are_cut() -> None:
    size = len(WORDS.tokens)
    constraint = _constraint("free string")
    for token in _ids('{"', "title"):
        constraint.commit(token)
    chain = ProcessorChain([LogitBias({5: 1.0}, size), constraint], size)
    assert chain.forced_bytes() == b'":"'
    assert _source(chain).suggest([], 8) == _ids('":"')
    banned = ProcessorChain([LogitBias({_ids('":"')[0]: float("-inf")}, size), constraint], size)
    assert _source(banned).suggest([], 8) == []
    assert ProcessorChain([LogitBias({}, size)], size).forced_bytes() == b""


# -- the source ----------------------------------------------------------------------------------


def test_a_real_grammar_drafts_its_forced_tokens_and_the_boundary_after_them() -> None:
    constraint = _constraint("free string")
    source = _source(constraint)
    assert source.suggest([], 16) == _ids('{"', "title", '":"')
    assert source.outlook == CERTAIN
    source.observe(_ids('{"', "title", '":""'))
    assert source.counters == {"forced": (2, 2), "boundary": (1, 0)}
    assert source.suggest([], 2) == _ids('{"', "title")
    for token in _ids('{"', "title"):
        constraint.commit(token)
    assert source.suggest([], 16) == _ids('":"')
    assert source.outlook.kind == "boundary"
    source.observe(_ids('":"', "t"))
    assert source.counters == {"forced": (2, 2), "boundary": (2, 1)}


@pytest.mark.parametrize("name", SOURCES)
def test_along_a_random_answer_every_draft_is_legal_and_forced_ones_hold(name: str) -> None:
    constraint = _constraint(name)
    source = _source(constraint, Cascade())
    context: list[int] = []
    steps_forced = 0
    for step in range(80):
        draft = source.suggest(context, 8)
        assert len(draft) <= 8
        walk = constraint.fork()
        for token in draft:
            assert walk.is_allowed(token)
            walk.commit(token)
        if constraint.finished:
            break
        forced = constraint.forced_tokens(1)
        allowed = [t for t in range(len(WORDS.tokens)) if constraint.is_allowed(t)]
        token = forced[0] if forced else allowed[(step * 7) % len(allowed)]
        constraint.commit(token)
        if forced and draft:
            assert draft[0] == token
            steps_forced += source.outlook == CERTAIN  # else the inner source went beyond
        source.observe([token])
        if token == _STOP:
            break
        context.append(token)
    assert source.counters["forced"][1] == steps_forced
    if name == "triage":
        assert steps_forced > 3


def test_without_structure_of_bytes_the_inner_source_is_cut_at_its_first_illegal_token() -> None:
    inner = _Inner([7, 8, 900, 9])
    source = _source(_Fixed(), inner)
    assert source.suggest([1], 4) == [7, 8]
    assert inner.truncated == [2]
    source.truncate_pending(1)
    assert inner.truncated == [2, 1]
    source.observe([7])
    assert inner.observed == [[7]]
    assert source.counters == {"forced": (0, 0), "boundary": (0, 0)}


def test_a_draft_of_the_grammar_leaves_the_inner_source_without_a_pending_one() -> None:
    inner = _Inner([7, 8])
    source = _source(_Fixed(forced=[1, 2, 3]), inner)
    assert source.suggest([0], 2) == [1, 2]
    assert inner.truncated == [0]
    source.truncate_pending(1)
    assert inner.truncated == [0]
    source.observe([1, 2])
    assert inner.observed == [[1, 2]]
    assert source.counters["forced"] == (1, 1)
    source.observe([1])
    assert source.counters["forced"] == (1, 1)


def test_an_inner_draft_that_begins_with_the_boundary_and_goes_beyond_is_taken() -> None:
    inner = _Inner([*_ids('":"'), 97, 98, 900])
    source = _source(_Fixed(data=b'":"'), inner)
    assert source.suggest([0], 8) == [*_ids('":"'), 97, 98]
    assert inner.truncated == [3]
    source.observe([*_ids('":"'), 97, 99])
    assert source.counters["boundary"] == (0, 0)


def test_bytes_that_the_forced_tokens_do_not_spell_are_not_drafted() -> None:
    assert _source(_Fixed(forced=[65], data=b"xyz")).suggest([], 8) == [65]


def test_ids_that_do_not_spell_the_text_are_not_drafted() -> None:
    source = ConstrainedSource(
        _Fixed(data=b"ab"),
        tokenize=lambda text: _tokenize(" " + text),
        token_bytes=lambda token: WORDS.tokens[token],
    )
    assert source.suggest([], 8) == []


def test_a_text_that_ends_within_a_character_leaves_out_what_it_may_merge_into() -> None:
    assert _source(_Fixed(data=b"bu\xe6\x97")).suggest([], 8) == _ids("b")
    assert _source(_Fixed(data=b"bu")).suggest([], 8) == _ids("b", "u")
    assert _source(_Fixed(data=b"\x97bu")).suggest([], 8) == []


def test_a_very_long_forced_text_is_drafted_from_its_beginning() -> None:
    assert _source(_Fixed(data=b"x" * 100_000)).suggest([], 5) == _ids("x") * 5


def test_an_end_of_text_that_keeps_failing_is_left_out_and_others_are_not() -> None:
    structure = _Fixed(data=b'bug":')
    source = _source(structure)
    for _ in range(2):
        assert source.suggest([], 8) == _ids("bug", '":')
        source.observe(_ids("bug", '":"'))
    assert source.suggest([], 8) == _ids("bug")
    structure.data = b'bug"}'
    assert source.suggest([], 8) == _ids("bug", '"}')


def test_a_failure_before_the_end_or_a_cut_draft_says_nothing_of_the_end() -> None:
    source = _source(_Fixed(data=b'bug":'))
    for _ in range(5):
        source.suggest([], 8)
        source.observe(_ids("b"))
        source.suggest([], 1)
        source.observe(_ids("bug", "x"))
        source.suggest([], 8)
        source.truncate_pending(1)
        source.observe(_ids("bug", "x"))
        source.suggest([], 8)
        source.observe(_ids("bug"))  # the reply's budget ended there
    assert source.suggest([], 8) == _ids("bug", '":')


def test_what_the_inner_source_wants_of_the_rows_is_passed_on() -> None:
    inner = _Inner([])
    source = _source(_Fixed(), inner)
    assert isinstance(source, LearnsTopK)
    assert source.wants_topk == 8
    source.observe_topk([(1, [2])])
    assert inner.rows == [(1, [2])]
    assert _source(_Fixed()).wants_topk == 0
    _source(_Fixed()).observe_topk([(1, [2])])


@settings(max_examples=50)
@given(
    st.lists(st.sampled_from([97, 98, 901]), max_size=6),
    st.lists(st.sampled_from([97, 98]), max_size=3),
    st.binary(max_size=5),
    st.integers(0, 6),
)
def test_a_suggestion_is_within_limit_legal_and_the_same_for_the_same_calls(
    inner: list[int], forced: list[int], data: bytes, limit: int
) -> None:
    def run() -> list[int]:
        structure = _Fixed(forced, bytes(forced) + data)
        return _source(structure, _Inner(inner)).suggest([0], limit)

    draft = run()
    assert draft == run()
    assert len(draft) <= limit
    assert all(token < 900 for token in draft)
    assert draft[: len(forced)] == forced[: len(draft)] or not forced
