"""A smaller model as a draft source: what it proposes, and that it changes nothing."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from gguf import TokenType
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.drafting.constrained import ConstrainedSource
from fucina_cli.drafting.draft_model import DraftModelSource, check_draft_model
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.gated import Gated
from fucina_cli.drafting.source import Counting, Forecasting, Outlook
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.llama.model import Model
from fucina_cli.llama.vocabulary import check_same_vocabulary
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.mask import allowed_ids, apply_mask_words, pack_mask
from fucina_cli.sampling.processor import (
    DraftMasks,
    LogitBias,
    LogitProcessor,
    ProcessorChain,
    Structured,
)
from tests.support import ggufs
from tests.support.decode_bench import GREEDY, SAMPLED, Bench
from tests.support.grammars import SOURCES

_PADDING = 600
_OTHER_WEIGHTS = 5


def _vocabulary(
    *, padding: int = 0, replace: Sequence[tuple[str, str]] = (), control: Sequence[str] = ()
) -> ggufs.Vocabulary:
    """The small llama's vocabulary, with tokens renamed, made control tokens, padding added."""
    base = ggufs.llama_vocabulary()
    names = dict(replace)
    tokens = tuple(names.get(token, token) for token in base.tokens)
    types = tuple(
        TokenType.CONTROL if t in control else k for t, k in zip(tokens, base.types, strict=True)
    )
    return ggufs.Vocabulary(
        tokens + tuple(f"[PAD{i}]" for i in range(padding)),
        types + (TokenType.UNUSED,) * padding,
        base.merges,
    )


@pytest.fixture(scope="module")
def small(models: Path) -> Model:
    """The draft model: the same vocabulary, one layer, other weights."""
    return Model(ggufs.build_llama(models / "small.gguf", n_layer=1, seed=_OTHER_WEIGHTS))


@pytest.fixture(scope="module")
def padded(models: Path) -> Model:
    """A draft model whose vocabulary goes on with padding."""
    vocabulary = _vocabulary(padding=_PADDING)
    return Model(ggufs.build_llama(models / "padded.gguf", n_layer=1, vocabulary=vocabulary))


@pytest.fixture(scope="module")
def naive(small: Model) -> Naive:
    return Naive(small)


@pytest.fixture
def context(small: Model) -> Iterator[Context]:
    """A context of the draft model, with chunks so small that texts take several."""
    context = Context(small, n_ctx=300, threads=1)
    context.batch_rows = 7
    yield context
    context.close()


class Naive:
    """What the source must propose, computed from nothing for every token."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.context = Context(model, n_ctx=300, threads=1)

    def row(self, tokens: Sequence[int]) -> NDArray[np.float32]:
        self.context.clear_all()
        last = len(tokens) - 1
        self.context.decode([Row(token, i, 0, i == last) for i, token in enumerate(tokens)])
        row: NDArray[np.float32] = self.context.logits(last).copy()
        return row

    def draft(
        self,
        tokens: Sequence[int],
        limit: int,
        constraint: Constraint | None = None,
        width: int | None = None,
    ) -> list[int]:
        walk = constraint.fork() if constraint else None
        draft: list[int] = []
        while len(draft) < limit:
            row = self.row([*tokens, *draft])[:width]
            if walk:
                apply_mask_words(row, walk.mask_words())
            token = int(row.argmax())
            if row[token] == -np.inf or self.model.vocabulary.is_end(token):
                break
            if walk:
                walk.commit(token)
            draft.append(token)
        return draft


class Sets:
    """Masks given one after the other, each as the tokens that it forbids."""

    def __init__(self, n_vocab: int, *forbidden: Sequence[int]) -> None:
        self.words = []
        for tokens in forbidden:
            allowed = np.ones(n_vocab, dtype=np.bool_)
            allowed[list(tokens)] = False
            self.words.append(pack_mask(allowed))
        self.at = 0

    def draft_begin(self) -> None:
        self.at = 0

    def draft_mask_words(self) -> NDArray[np.uint32]:
        return self.words[self.at]

    def draft_advance(self, token: int) -> bool:
        self.at += 1
        return True


def _text(seed: int, length: int = 20) -> list[int]:
    rng = random.Random(seed)
    return [rng.randrange(600) for _ in range(length)]


# -- proposals -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SOURCES)
def test_under_a_grammar_proposals_are_those_of_a_fresh_start_and_legal_after_any_history(
    llama: Bench, naive: Naive, context: Context, name: str
) -> None:
    rng = random.Random(name)
    constraint = llama.grammar(name).constraint()
    source = DraftModelSource(context, constraint, n_vocab=llama.model.n_vocab)
    text = llama.prompt("Ticket: ")
    proposed = 0
    for turn in range(30):
        limit = rng.randrange(1, 6)
        before, forced = constraint.mask_words().copy(), constraint.forced_tokens(9)
        draft = source.suggest(text, limit)
        assert draft == naive.draft(text, limit, constraint)
        assert constraint.valid_prefix_len(draft) == len(draft) <= limit
        # Purity: neither what was computed before nor a new computation differs.
        assert np.array_equal(constraint.mask_words(), before)
        assert np.array_equal(constraint.fork().mask_words(), before)
        assert constraint.forced_tokens(9) == forced
        assert source.suggest(text, limit) == draft
        proposed += len(draft)
        kept = draft[: rng.randrange(len(draft) + 1)]
        for token in kept:
            constraint.commit(token)
        if not constraint.finished:  # a correction, or the token after a full acceptance
            ids = allowed_ids(constraint.mask_words(), llama.model.n_vocab).tolist()
            kept.append(rng.choice([t for t in ids if t != llama.stop] or ids))
            constraint.commit(kept[-1])
        while rng.random() < 0.7 and not constraint.finished:  # and a jump
            span = constraint.forced_tokens(20)
            for token in span:
                constraint.commit(token)
            kept += span
            if not span:
                break
        source.observe(kept)
        text = text + kept
        if constraint.finished or llama.stop in kept or len(text) > 250:
            constraint.reset()  # a new turn: the text goes on or starts afresh
            text = _text(turn) if turn % 2 else [t for t in text[:200] if t != llama.stop]
    assert proposed > 20
    assert source.counters["draft model"][0] == proposed
    assert 0 < source.counters["draft model"][1] < proposed


@pytest.mark.parametrize("seed", range(4))
def test_without_a_grammar_proposals_are_those_of_a_fresh_start_after_any_history(
    naive: Naive, context: Context, seed: int
) -> None:
    rng = random.Random(seed)
    source = DraftModelSource(context)
    text = _text(seed)
    for _ in range(30):
        limit = rng.randrange(1, 5)
        draft = source.suggest(text, limit)
        assert draft == naive.draft(text, limit)
        kind = rng.randrange(6)
        if kind == 0:  # shrinks
            text = text[: rng.randrange(1, len(text) + 1)]
        elif kind == 1:  # another text that begins the same
            text = text[: rng.randrange(len(text))] + _text(rng.randrange(99), 5)
        elif kind == 2:  # a longer jump than one chunk
            text = text + _text(rng.randrange(99), 17)
        elif kind == 3 and draft:  # all accepted, and nothing else
            text = text + draft
        else:
            text = text + draft[: rng.randrange(len(draft) + 1)] + [rng.randrange(600)]
        text = text[-200:] if len(text) > 220 else text


def test_nothing_is_proposed_for_no_limit_or_no_text(context: Context) -> None:
    source = DraftModelSource(context)
    assert source.suggest([], 4) == []
    assert source.suggest([5, 6], 0) == []
    assert source.suggest((5, 6), 1) == source.suggest([5, 6], 1) != []


def test_only_what_is_new_is_decoded(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    source = DraftModelSource(context)
    text = _text(1)
    decoded: list[int] = []
    forward = context.decode

    def decode(rows: Sequence[Row]) -> None:
        decoded.append(len(rows))
        forward(rows)

    monkeypatch.setattr(context, "decode", decode)
    draft = source.suggest(text, 4)
    assert decoded == [7, 7, 6, 1, 1, 1]
    decoded.clear()
    source.suggest([*text, *draft, 9], 2)  # the last proposal was not decoded yet
    assert decoded == [2, 1]
    decoded.clear()
    source.suggest([*text, draft[0], 9], 1)
    assert decoded == [1]


def test_tokens_that_the_grammar_forces_take_no_forward(
    llama: Bench, naive: Naive, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    constraint = llama.grammar("triage").constraint()
    forced = constraint.forced_tokens(99)
    source = DraftModelSource(context, constraint)
    text, decoded, forward = _text(5, 7), [], context.decode

    def decode(rows: Sequence[Row]) -> None:
        decoded.append([row.token for row in rows])
        forward(rows)

    monkeypatch.setattr(context, "decode", decode)
    assert source.suggest(text, len(forced)) == forced
    assert decoded == []
    draft = source.suggest(text, len(forced) + 2)
    assert draft == naive.draft(text, len(forced) + 2, constraint)
    new = [*text, *forced]
    assert decoded[:-1] == [new[i : i + 7] for i in range(0, len(new), 7)]
    assert decoded[-1] == [draft[len(forced)]]
    source.observe(draft)
    assert source.masked <= 2


def test_the_chain_ends_at_stop_tokens(llama: Bench, naive: Naive, context: Context) -> None:
    text = next(_text(s) for s in range(99) if len(set(naive.draft(_text(s), 4))) == 4)
    whole = naive.draft(text, 4)
    source = DraftModelSource(context, is_end=lambda token: token == whole[2])
    assert source.suggest(text, 4) == whole[:2]
    everything = set(range(llama.model.n_vocab))
    only_stop = Sets(llama.model.n_vocab, (), sorted(everything - {llama.stop}))
    assert DraftModelSource(context, only_stop).suggest(text, 4) == whole[:1]
    nothing = Sets(llama.model.n_vocab, (), sorted(everything))
    assert DraftModelSource(context, nothing).suggest(text, 4) == whole[:1]


def test_a_grammar_that_gives_up_or_disagrees_ends_the_chain(
    llama: Bench, naive: Naive, context: Context
) -> None:
    class Fails(Sets):
        def draft_mask_words(self) -> NDArray[np.uint32]:
            if self.at == 2:
                raise ConstraintError("too complex")
            return super().draft_mask_words()

    class Disagrees(Sets):
        def draft_advance(self, token: int) -> bool:
            return super().draft_advance(token) and self.at < 2

    text, free, n = _text(3), [()] * 4, llama.model.n_vocab
    whole = naive.draft(text, 4)
    assert len(whole) == 4
    assert DraftModelSource(context, Fails(n, *free)).suggest(text, 4) == whole[:2]
    assert DraftModelSource(context, Disagrees(n, *free)).suggest(text, 4) == whole[:1]


def test_proposals_that_the_mask_changed_are_counted_as_far_as_they_were_verified(
    naive: Naive, context: Context
) -> None:
    text, n = _text(4), naive.model.n_vocab
    first = int(naive.row(text).argmax())
    row = naive.row(text)
    row[first] = -np.inf
    second_best = int(row.argmax())
    then = naive.draft([*text, second_best], 1)
    other = int(naive.row([*text, second_best, *then]).argmax())
    source = DraftModelSource(context, Sets(n, [first], [], [other]))
    draft = source.suggest(text, 3)
    assert draft[:2] == [second_best, *then]
    assert draft[2] != other
    assert source.masked == 0  # nothing is counted before it is settled
    source.observe(draft)
    assert (source.masked, source.counters) == (2, {"draft model": (3, 3)})
    source.suggest(text, 3)
    source.truncate_pending(2)
    source.observe([draft[0], 1])
    assert (source.masked, source.counters) == (3, {"draft model": (5, 4)})
    source.suggest(text, 3)
    source.truncate_pending(0)
    source.observe(draft)
    source.observe([1, 2])
    assert (source.masked, source.counters) == (3, {"draft model": (5, 4)})


# -- limits and failures -------------------------------------------------------------------------


def test_a_context_that_is_full_ends_the_chain_and_then_drafts_nothing(
    small: Model, naive: Naive
) -> None:
    context = Context(small, n_ctx=40, threads=1)
    source = DraftModelSource(context)
    text = _text(6, 60)
    for length in (38, 39, 40, 41, 60, 36):
        draft = source.suggest(text[:length], 4)
        assert len(draft) <= max(0, 41 - length)
        assert draft == naive.draft(text[:length], min(4, max(0, 41 - length)))
    context.close()


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("error", [ContextFull, ModelError, KeyboardInterrupt])
def test_the_cache_is_right_again_after_any_failure(
    naive: Naive,
    context: Context,
    error: type[BaseException],
    after: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text, forward = _text(7), context.decode
    whole = naive.draft(text, 4)
    for failing in range(1, 7):
        source = DraftModelSource(context)
        source.suggest(_text(8, 10), 2)
        calls = 0

        def decode(rows: Sequence[Row], failing: int = failing) -> None:
            nonlocal calls
            calls += 1
            if calls != failing or after:
                forward(rows)
            if calls == failing:
                raise error("boom")

        monkeypatch.setattr(context, "decode", decode)
        if error is ContextFull:
            assert source.suggest(text, 4) == whole[: max(0, failing - 3)]
        else:
            with pytest.raises(error):
                source.suggest(text, 4)
        monkeypatch.setattr(context, "decode", forward)
        other = [*text[:15], 3, 4]
        assert source.suggest(other, 3) == naive.draft(other, 3)
        assert source.suggest(text, 4) == whole


def test_the_gate_is_asked_before_anything_is_decoded(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Answers(Gate):
        asked: list[tuple[int, Outlook]]
        answer = 0

        def budget(
            self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
        ) -> int:
            self.asked.append((limit, outlook))
            return min(limit, self.answer)

    gate = Answers()
    gate.asked = []
    source = DraftModelSource(context, gate=gate)
    assert isinstance(source, Forecasting)
    assert isinstance(source, Counting)
    assert source.outlook.kind == "draft model"
    forward = context.decode
    monkeypatch.setattr(context, "decode", None)
    assert source.suggest(_text(1), 8) == []
    monkeypatch.setattr(context, "decode", forward)
    gate.answer = 2
    assert source.suggest(_text(1), 8) == DraftModelSource(context).suggest(_text(1), 2)
    assert gate.asked == [(8, source.outlook)] * 2


def test_ids_that_the_other_vocabulary_lacks_are_never_proposed_or_decoded(
    llama: Bench, small: Model, padded: Model, context: Context
) -> None:
    check_draft_model(llama.model, padded)
    check_draft_model(padded, small)
    size = llama.model.n_vocab
    wide, narrow = Context(padded, n_ctx=300, threads=1), Naive(padded)
    proposals: set[int] = set()
    free = DraftModelSource(wide)
    for seed in range(8):
        proposals.update(free.suggest(_text(seed), 4))
    assert max(proposals) >= size  # there is something to prevent
    source = DraftModelSource(wide, n_vocab=size)
    for seed in range(8):
        draft = source.suggest(_text(seed), 4)
        assert draft == narrow.draft(_text(seed), 4, width=size)
        assert all(token < size for token in draft)
    wide.close()
    follower = DraftModelSource(context, n_vocab=padded.n_vocab)
    expected = follower.suggest(_text(1), 3)
    assert follower.suggest([*_text(1), size + 1], 3) == []
    assert follower.suggest([*_text(1), size + 1, 4], 3) == []
    assert follower.suggest(_text(1), 3) == expected


# -- which models can draft ----------------------------------------------------------------------


def test_the_same_vocabulary_passes_and_padding_may_follow(
    llama: Bench, small: Model, padded: Model
) -> None:
    check_draft_model(llama.model, small)
    check_draft_model(llama.model, llama.model)
    check_same_vocabulary(llama.model.vocabulary, padded.vocabulary)
    check_same_vocabulary(padded.vocabulary, llama.model.vocabulary)


def test_what_differs_between_vocabularies_is_named(
    llama: Bench, tmp_path: Path, spm_path: Path
) -> None:
    def load(vocabulary: ggufs.Vocabulary) -> Model:
        path = ggufs.build_llama(tmp_path / "other.gguf", n_layer=1, vocabulary=vocabulary)
        return Model(path, vocab_only=True)

    base = ggufs.llama_vocabulary()
    renamed = load(_vocabulary(replace=[("<|im_start|>", "<|begin\x1b|>")]))
    at = base.ids["<|im_start|>"]
    wanted = (
        rf"another vocabulary: token {at} is the control token '<\|begin\ufffd\|>' "
        r"where the model has the control token '<\|im_start\|>'; use a smaller model"
    )
    with pytest.raises(ModelError, match=wanted):
        check_draft_model(llama.model, renamed)

    a, b = base.tokens[64], base.tokens[65]
    swapped = load(_vocabulary(replace=[(a, b), (b, a)]))
    with pytest.raises(ModelError, match=rf"token 64 is '{b}' where the model has '{a}'"):
        check_draft_model(llama.model, swapped)

    marker = load(_vocabulary(control=[a]))
    with pytest.raises(ModelError, match=rf"the control token '{a}' where the model has '{a}'"):
        check_draft_model(llama.model, marker)

    longer = load(
        ggufs.Vocabulary((*base.tokens, "extra"), (*base.types, TokenType.NORMAL), base.merges)
    )
    n = len(base)
    with pytest.raises(
        ModelError, match=f"{n + 1} tokens against {n}, and only the draft model has token {n}, "
    ):
        check_draft_model(llama.model, longer)
    with pytest.raises(
        ModelError, match=f"{n} tokens against {n + 1}, and only the model has token {n}, 'extra'"
    ):
        check_draft_model(longer, llama.model)
    with pytest.raises(ModelError, match=rf"\d+ tokens against {n}, and token 0 is"):
        check_draft_model(llama.model, Model(spm_path, vocab_only=True))


def test_a_recurrent_model_can_not_draft(
    llama: Bench, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Model, "can_rewind", False)
    for build in (
        lambda: check_draft_model(llama.model, context.model),
        lambda: DraftModelSource(context),
    ):
        with pytest.raises(ModelError, match=r"recurrent model \(llama\) can't draft"):
            build()


# -- speculative states of processors ------------------------------------------------------------


def _thinking(llama: Bench, *, inside: bool) -> AfterThinking:
    opens, closes = (llama.model.vocabulary.marker_id(t) for t in ("<|im_start|>", "<|endoftext|>"))
    assert opens is not None
    assert closes is not None
    return AfterThinking(
        llama.grammar("triage").constraint(),
        opens=opens,
        closes=closes,
        inside=inside,
        forbidden=[llama.stop],
        n_vocab=llama.model.n_vocab,
    )


def _chain(llama: Bench, *members: LogitProcessor) -> ProcessorChain:
    n = llama.model.n_vocab
    bans = {token: float("-inf") for token in llama.prompt("[ 3") if token < 600}
    return ProcessorChain([LogitBias(bans, n), *members], n)


def _grammar(name: str) -> Callable[[Bench], Structured]:
    return lambda bench: bench.grammar(name).constraint()


HOOKS: dict[str, Callable[[Bench], Structured]] = {
    **{name: _grammar(name) for name in SOURCES},
    "thinking": lambda b: _thinking(b, inside=False),
    "inside thoughts": lambda b: _thinking(b, inside=True),
    "chain": lambda b: _chain(b, b.grammar("recursive lark").constraint()),
    "chain of thinking": lambda b: _chain(b, _thinking(b, inside=False)),
    "chain of a chain": lambda b: _chain(b, _chain(b, b.grammar("triage").constraint())),
    "two grammars": lambda b: _chain(
        b, b.grammar("recursive lark").constraint(), b.grammar("recursive lark").constraint()
    ),
    "only bans": lambda b: _chain(b),
}


@pytest.mark.parametrize("name", HOOKS)
def test_the_speculative_state_moves_as_the_committed_one_would(llama: Bench, name: str) -> None:
    rng, n = random.Random(name), llama.model.n_vocab
    hook = HOOKS[name](llama)
    assert isinstance(hook, DraftMasks)
    for _ in range(12):
        committed = hook.mask_words().copy()
        hook.draft_begin()
        walk = hook.fork()
        for _ in range(8):
            words = hook.draft_mask_words()
            assert np.array_equal(words, walk.mask_words())
            ids = [t for t in allowed_ids(words, n).tolist() if t != llama.stop]
            if not ids:
                assert not hook.draft_advance(llama.stop)
                break
            marker = [t for t in ids if t >= n - 3 and rng.random() < 0.5]  # leaves the thoughts
            token = rng.choice(marker or ids)
            assert hook.draft_advance(token)
            walk.commit(token)
        else:
            forbidden = sorted(set(range(n)) - set(allowed_ids(hook.draft_mask_words(), n)))
            assert not forbidden or not hook.draft_advance(rng.choice(forbidden))
        assert np.array_equal(hook.mask_words(), committed)
        ids = allowed_ids(committed, n).tolist()
        token = rng.choice([t for t in ids if t != llama.stop] or ids)
        hook.commit(token)
        if token == llama.stop:
            break
    hook.draft_begin()
    assert not hook.draft_advance(n)
    assert not hook.draft_advance(-1)


@pytest.mark.parametrize("name", SOURCES)
def test_a_constraint_that_drafts_goes_on_as_one_that_never_did(llama: Bench, name: str) -> None:
    rng, n = random.Random(name), llama.model.n_vocab
    drafting, plain = (llama.grammar(name).constraint() for _ in range(2))
    reused = 0
    for _ in range(40):
        if rng.random() < 0.8:
            drafting.draft_begin()
        draft: list[int] = []
        try:
            for _ in range(rng.randrange(5)):
                words = drafting.draft_mask_words()
                ids = [t for t in allowed_ids(words, n).tolist() if t != llama.stop]
                if not ids or (rng.random() < 0.3 and not drafting.draft_advance(llama.stop)):
                    break
                token = rng.choice(ids)
                assert drafting.draft_advance(token)
                draft.append(token)
        except ConstraintError:  # no state to draft from since the last commit left it
            assert not draft
        for i in range(rng.randrange(6)):
            ids = allowed_ids(plain.mask_words(), n).tolist()
            agrees = i < len(draft) and rng.random() < 0.8 and draft[i] in ids
            computed = len(drafting.mask_seconds)
            assert np.array_equal(drafting.mask_words(), plain.mask_words())
            reused += computed == len(drafting.mask_seconds)
            assert drafting.forced_tokens(9) == plain.forced_tokens(9)
            token = draft[i] if agrees else rng.choice(ids)
            drafting.commit(token)
            plain.commit(token)
            if token == llama.stop:
                drafting.reset()
                plain.reset()
                break
    assert reused > 10


def test_masks_of_accepted_drafts_are_not_computed_again(llama: Bench, naive: Naive) -> None:
    constraint = llama.grammar("free string").constraint()
    for token in constraint.forced_tokens(99):
        constraint.commit(token)
    source = DraftModelSource(Context(naive.model, n_ctx=300, threads=1), constraint)
    draft = source.suggest(_text(2), 4)
    assert len(draft) == 4
    computed = len(constraint.mask_seconds)
    assert computed == 4
    for token in draft:
        constraint.mask_words()
        constraint.commit(token)
    assert len(constraint.mask_seconds) == computed


def test_a_complete_answer_allows_the_stop_token_and_ends_the_chain(llama: Bench) -> None:
    n = llama.model.n_vocab
    for hook in (
        llama.grammar("triage").constraint(),
        _chain(llama, llama.grammar("triage").constraint()),
    ):
        text = '{"category":"bug","priority":"low","escalate":true}'
        for token in llama.prompt(text):
            hook.commit(token)
        hook.draft_begin()
        assert allowed_ids(hook.draft_mask_words(), n).tolist() == [llama.stop]
        assert not hook.draft_advance(llama.stop)


def test_a_chain_moves_all_members_also_where_one_disagrees(llama: Bench) -> None:
    n = llama.model.n_vocab
    a, b = Sets(n, (), ()), llama.grammar("triage").constraint()
    members: list[LogitProcessor] = [b, LogitBias({}, n)]
    chain = ProcessorChain([*members, _Drafting(a)], n)
    chain.draft_begin()
    assert not chain.draft_advance(5)
    assert a.at == 1


class _Drafting(LogitBias):
    """A bias list with the speculative state of another object."""

    def __init__(self, masks: DraftMasks) -> None:
        super().__init__({}, 1)
        self.draft_begin = masks.draft_begin
        self.draft_mask_words = masks.draft_mask_words
        self.draft_advance = masks.draft_advance


def test_a_speculative_state_that_was_never_begun_is_an_error(llama: Bench) -> None:
    hook = _thinking(llama, inside=True)
    hook.draft_begin()
    hook.reset()
    for fresh in (hook, hook.fork(), llama.grammar("deep").constraint()):
        with pytest.raises(ConstraintError, match="draft_begin"):
            fresh.draft_mask_words()
        with pytest.raises(ConstraintError, match="draft_begin"):
            fresh.draft_advance(1)


# -- through the decode core ---------------------------------------------------------------------


@pytest.mark.parametrize("config", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
@pytest.mark.parametrize("name", ["none", *SOURCES])
def test_a_draft_model_changes_no_token(
    llama: Bench, small: Model, name: str, config: SamplingConfig
) -> None:
    def processor() -> Constraint | None:
        return None if name == "none" else llama.grammar(name).constraint()

    plain = llama.stream(config, processor(), forced_spans=False)
    llama.run(plain)
    for model, wrapped in ((small, False), (small, True), (llama.model, False)):
        context = Context(model, n_ctx=300, threads=1)
        constraint = processor()
        source = DraftModelSource(context, constraint, n_vocab=llama.model.n_vocab)
        stream = llama.stream(config, constraint, drafts=Gated(source))
        if wrapped and constraint:
            wrapper = ConstrainedSource(
                constraint,
                source,
                tokenize=llama.model.vocabulary.tokenize,
                token_bytes=llama.model.vocabulary.token_bytes,
            )
            stream.drafts = Gated(wrapper)
        llama.run(stream)
        assert stream.reply_tokens == plain.reply_tokens
        assert stream.finished == plain.finished
        assert stream.sampler.committed == plain.sampler.committed
        drafted, accepted = source.counters["draft model"]
        if not wrapped:
            assert (drafted, accepted) == (stream.counts.drafted, stream.counts.accepted)
        if model is llama.model and config is GREEDY:
            # Its own draft model: all holds but what follows the end.
            assert drafted - accepted <= 16
            assert stream.counts.forwards <= 2 + len(plain.reply_tokens) // 4
        context.close()
