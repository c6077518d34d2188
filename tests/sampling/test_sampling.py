"""Choosing tokens: filters against a full-sort reference, masks, processors, the sampler."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from fucina_cli.errors import InputError
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.draws import uniform
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.sampling.filters import choose, keep
from fucina_cli.sampling.mask import allowed_ids, apply_mask_words, is_allowed, pack_mask
from fucina_cli.sampling.penalties import Penalties
from fucina_cli.sampling.processor import LogitBias, LogitProcessor, ProcessorChain, Structured
from fucina_cli.sampling.running import draw, prefix_length
from fucina_cli.sampling.sampler import Sampler
from fucina_cli.sampling.topk import top_order

Row = NDArray[np.float32]
INF = math.inf
VOCAB = 151_936
LAST_DRAW = 1 - 2.0**-53

# Summed in order of size, these weights come out below 1 - 2**-53 of their sum in order of id.
NEVER_REACHED = np.array(
    [0.52234513, -3.0268056, -0.6616849, -3.8160963, -0.6971602, -3.3913584, 1.7185783],
    dtype=np.float32,
)


def unchecked(**settings: float) -> SamplingConfig:
    """A config with settings beyond their ranges too: the filters are exact there all the same."""
    config = SamplingConfig()
    for name, value in settings.items():
        object.__setattr__(config, name, value)
    return config


# --- the reference: one full sort, plain Python sums ----------------------------------------


def reference_order(row: Row) -> list[int]:
    return sorted((i for i in range(len(row)) if row[i] > -INF), key=lambda i: (-row[i], i))


def reference_keep(
    row: Row, temperature: float, top_k: int, top_p: float, min_p: float
) -> dict[int, float]:
    """Kept ids, ascending, with their weights."""
    order = reference_order(row)
    with np.errstate(all="ignore"):
        weights = np.exp((row.astype(np.float64) - float(row[order[0]])) / temperature)
    if top_k:
        order = order[:top_k]
    if top_p < 1:
        total = 0.0
        for i in sorted(order):
            total += float(weights[i])
        reached = 0.0
        for count, i in enumerate(order, start=1):
            reached += float(weights[i])
            if reached >= top_p * total:
                order = order[:count]
                break
    return {i: float(weights[i]) for i in sorted(order) if weights[i] >= min_p}


def reference_draw(weights: dict[int, float], u: float) -> int:
    total = 0.0
    for weight in weights.values():
        total += weight
    reached = 0.0
    for i, weight in weights.items():
        reached += weight
        if reached > u * total:
            return i
    return max(i for i, weight in weights.items() if weight > 0)


# --- strategies -----------------------------------------------------------------------------


def big_row(n: int, seed: int, levels: int, hole_share: float) -> Row:
    """Random logits; few levels give many ties, holes are -inf; one logit is always finite."""
    rng = np.random.default_rng(seed)
    row: Row = rng.normal(0, 3, n).astype(np.float32)
    if levels:
        row = np.round(row * np.float32(levels / 12)) * np.float32(12 / levels)
    row[rng.random(n) < hole_share] = -INF
    row[rng.integers(n)] = rng.normal(0, 3)
    return row


@st.composite
def small_rows(draw_from: st.DrawFn) -> Row:
    logits = st.one_of(
        st.sampled_from([-INF, -2.0, -0.0, 0.0, 0.5, 1.0, 1.0, 30.0]),
        st.floats(-60, 60, width=32),
        st.floats(-(2.0**100), 2.0**100, width=32),
    )
    row = np.array(draw_from(st.lists(logits, min_size=1, max_size=200)), dtype=np.float32)
    if not (row > -INF).any():
        row[draw_from(st.integers(0, len(row) - 1))] = 1.0
    return row


# Drawn from a list, because integers drawn from a range are mostly small ones.
big_sizes = st.sampled_from([201, 255, 511, 777, 1023, 2049, 3001, 4097, 6007, 9001])
rows = st.one_of(
    small_rows(),
    st.builds(
        big_row,
        st.one_of(st.integers(1, 200), big_sizes),
        st.integers(0, 10**6),
        st.sampled_from([0, 1, 3, 12, 100]),
        st.sampled_from([0.0, 0.03, 0.5, 0.97, 1.0]),
    ),
)
temperatures = st.one_of(st.sampled_from([0.7, 1.0]), st.floats(0.05, 20), st.floats(1e-6, 1e6))
positive_top_ks = st.one_of(st.integers(1, 40), st.sampled_from([64, 199, 500, 1000, 5000]))
top_ks = st.one_of(st.just(0), positive_top_ks)
shares = st.one_of(
    st.sampled_from([0.0, 0.1, 0.25, 0.3, 0.5, 0.8, 0.95, 0.999, 1 - 2.0**-53, 1.0]),
    st.floats(0, 1),
)
uniforms = st.one_of(st.sampled_from([0.0, 0.5, LAST_DRAW]), st.floats(0, LAST_DRAW))


# --- filters --------------------------------------------------------------------------------


@settings(max_examples=600, deadline=None)
@given(rows, temperatures, top_ks, shares, shares, uniforms)
@example(np.zeros(10, np.float32), 1.0, 0, 0.3, 0.0, 0.3)
@example(np.array([0.0, -0.0, 0.0], np.float32), 1.0, 2, 1.0, 0.0, LAST_DRAW)
@example(np.array([0.0, -1e-40], np.float32), 1.0, 0, 1.0, 1.0, LAST_DRAW)
@example(np.array([-3.4e38, -3.402823e38, -INF], np.float32), 1.0, 0, 1.0, 0.5, LAST_DRAW)
@example(NEVER_REACHED, 1.0, 0, LAST_DRAW, 0.0, LAST_DRAW)
@example(np.array([3e38, -3e38], np.float32), 1e-6, 0, 1.0, 0.5, LAST_DRAW)
@example(np.array([3e38, -3e38], np.float32), 1e6, 0, 1.0, 1e-300, LAST_DRAW)
def test_filters_and_draw_equal_the_full_sort_reference(
    row: Row, temperature: float, top_k: int, top_p: float, min_p: float, u: float
) -> None:
    before = row.copy()
    expected = reference_keep(row, temperature, top_k, top_p, min_p)
    config = unchecked(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    ids, weights = keep(row, config)
    assert ids.tolist() == list(expected)
    assert weights.tolist() == list(expected.values())
    assert choose(row, u, config) == reference_draw(expected, u)
    assert np.array_equal(row, before)


@pytest.mark.parametrize("levels", [0, 12])
@pytest.mark.parametrize("hole_share", [0.0, 0.03, 0.9999])
@pytest.mark.parametrize(
    ("temperature", "top_k", "top_p", "min_p"),
    [
        (0.7, 20, 0.8, 0.0),
        (1.0, 0, 0.95, 0.0),
        (5.0, 0, 0.999, 0.0),
        (1.0, 0, 1.0, 0.05),
        (1.0, 3000, 0.9, 0.01),
        (1.0, 0, 1.0, 0.0),
    ],
)
def test_filters_and_draw_are_exact_on_a_full_vocabulary(
    levels: int, hole_share: float, temperature: float, top_k: int, top_p: float, min_p: float
) -> None:
    row = big_row(VOCAB, 5, levels, hole_share)
    expected = reference_keep(row, temperature, top_k, top_p, min_p)
    config = unchecked(temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p)
    assert keep(row, config)[0].tolist() == list(expected)
    for u in (0.0, 0.1, 0.6180339887, 0.999999, LAST_DRAW):
        assert choose(row, u, config) == reference_draw(expected, u)


@settings(max_examples=200, deadline=None)
@given(rows, positive_top_ks)
def test_top_order_equals_the_full_sort_with_ties_by_lower_id(row: Row, k: int) -> None:
    assert top_order(row, k).tolist() == reference_order(row)[:k]


def test_top_p_over_equal_probabilities_keeps_the_exact_count() -> None:
    row = np.zeros(10, dtype=np.float32)
    for tenths in range(1, 11):
        ids, _ = keep(row, SamplingConfig(temperature=1.0, top_p=tenths / 10))
        assert ids.tolist() == list(range(tenths))


@settings(max_examples=100, deadline=None)
@given(
    small_rows(),
    st.sampled_from([0, 1, 50, 3000, 6000]),
    st.integers(0, 10**6),
    temperatures,
    uniforms,
)
def test_forbidden_tokens_in_between_change_no_draw_among_the_others(
    row: Row, holes: int, seed: int, temperature: float, u: float
) -> None:
    # The same candidates, spread over a row of any length: another path inside, the same choice.
    wide = np.full(len(row) + holes, -INF, dtype=np.float32)
    places = np.sort(np.random.default_rng(seed).choice(len(wide), len(row), replace=False))
    wide[places] = row
    narrow = choose(row, u, unchecked(temperature=temperature, top_p=0.9))
    assert choose(wide, u, unchecked(temperature=temperature, top_p=0.9)) == places[narrow]


@settings(max_examples=100, deadline=None)
@given(
    st.sampled_from([1, 300, 4096, 4097, 5000, 12_000]),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 1e-12, 1.0, 40.0]),
    st.data(),
)
def test_block_sums_never_change_a_running_sum_lookup(
    n: int, seed: int, spread: float, data: st.DataObject
) -> None:
    rng = np.random.default_rng(seed)
    weights = np.exp(-spread * rng.random(n)) * (rng.random(n) < 0.9)
    weights[rng.integers(n)] = 1.0
    running = np.cumsum(weights)
    total = float(running[-1])
    # Adversarial draws sit exactly on, or one ulp beside, a step of the sequential sum.
    places = st.one_of(st.integers(0, n - 1), st.sampled_from(range(min(n, 256) - 1, n, 256)))
    edge = float(running[data.draw(places)]) / total
    for u in (edge, float(np.nextafter(edge, 0)), float(np.nextafter(edge, 1)), rng.random()):
        u = min(u, LAST_DRAW)
        assert draw(weights, u) == np.searchsorted(running, u * total, side="right")
        order = np.sort(weights)[::-1]
        reached = np.flatnonzero(np.cumsum(order) >= u * total)
        assert prefix_length(order, weights, u) == (reached[0] + 1 if len(reached) else None)


def test_a_draw_near_one_takes_the_last_candidate_that_has_a_probability() -> None:
    row = np.array([0.0, 0.0, -2000.0, -INF], dtype=np.float32)  # exp(-2000) is 0.0
    assert choose(row, LAST_DRAW, unchecked(temperature=1.0)) == 1
    assert choose(row, 0.0, unchecked(temperature=1.0)) == 0
    assert choose(row[::-1].copy(), 0.0, unchecked(temperature=1.0)) == 2


# --- masks ----------------------------------------------------------------------------------

masks = st.builds(
    lambda n, seed, share: np.random.default_rng(seed).random(n) < share,
    st.one_of(st.integers(1, 200), big_sizes),
    st.integers(0, 10**6),
    st.sampled_from([0.0, 0.003, 0.02, 0.1, 0.5, 0.9, 0.98, 0.997, 1.0]),
)


@settings(max_examples=300, deadline=None)
@given(masks, st.booleans())
def test_applying_a_mask_forbids_exactly_the_ids_whose_bit_is_zero(
    allowed: NDArray[np.bool_], stray_bits: bool
) -> None:
    n = len(allowed)
    row = np.random.default_rng(n).normal(0, 3, n).astype(np.float32)
    row[:: max(1, n // 5)] = [np.nan, -0.0, 0.0, 3e38, -INF, INF][n % 6]
    expected = np.where(allowed, row, np.float32(-INF))
    words = pack_mask(allowed)
    assert allowed_ids(words, n).tolist() == np.flatnonzero(allowed).tolist()
    assert [is_allowed(words, i) for i in range(n)] == allowed.tolist()
    if stray_bits:  # an engine may leave bits past the vocabulary set, or whole words
        if n % 32:
            words[-1] |= np.uint32(2**32 - (1 << n % 32))
        words = np.append(words, np.uint32(0xFFFFFFFF))
        assert allowed_ids(words, n).tolist() == np.flatnonzero(allowed).tolist()
    given_words = words.copy()
    apply_mask_words(row, words)
    # Bitwise: allowed logits are untouched, even NaN and -0.0.
    assert np.array_equal(row.view(np.uint32), expected.view(np.uint32))
    assert np.array_equal(words, given_words)


@pytest.mark.parametrize("share", [0.00003, 0.3, 0.97, 1.0])
def test_a_mask_over_a_full_vocabulary_is_exact(share: float) -> None:
    rng = np.random.default_rng(1)
    allowed = rng.random(VOCAB) < share
    row = rng.normal(0, 3, VOCAB).astype(np.float32)
    expected = np.where(allowed, row, np.float32(-INF))
    apply_mask_words(row, pack_mask(allowed))
    assert np.array_equal(row, expected)


@pytest.mark.parametrize("n_words", [0, 1, 2])
def test_ids_past_the_end_of_the_words_are_forbidden(n_words: int) -> None:
    row = np.zeros(100, dtype=np.float32)
    apply_mask_words(row, np.full(n_words, 0xFFFFFFFF, dtype=np.uint32))
    assert np.flatnonzero(row == 0).tolist() == list(range(32 * n_words))


def test_packed_masks_follow_the_documented_bit_order() -> None:
    allowed = np.zeros(70, dtype=np.bool_)
    allowed[[0, 33, 69]] = True
    assert pack_mask(allowed).tolist() == [1, 2, 32]
    assert pack_mask(allowed).dtype == np.uint32


def test_masks_of_another_type_are_refused() -> None:
    row = np.zeros(64, dtype=np.float32)
    with pytest.raises(ValueError, match="uint32"):
        apply_mask_words(row, np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="float32"):
        apply_mask_words(row.astype(np.float64), np.zeros(2, np.uint32))
    with pytest.raises(ValueError, match="contiguous"):
        apply_mask_words(row[::2], np.zeros(1, dtype=np.uint32))
    with pytest.raises(ValueError, match="vector"):
        pack_mask(np.zeros((2, 2), dtype=np.bool_))


# --- processors for the tests ---------------------------------------------------------------


class Script:
    """A toy grammar: step i allows the i-th set of ids, past the end everything."""

    def __init__(self, steps: Sequence[set[int]], n_vocab: int) -> None:
        self.steps = list(steps)
        self.n_vocab = n_vocab
        self.log: list[int] = []
        self.resets = 0

    def _allowed(self, ahead: int = 0) -> set[int]:
        step = len(self.log) + ahead
        return self.steps[step] if step < len(self.steps) else set(range(self.n_vocab))

    def process(self, logits: Row, history: Sequence[int]) -> None:
        apply_mask_words(logits, self.mask_words())

    def commit(self, token: int) -> None:
        self.log.append(token)

    def reset(self) -> None:
        self.log.clear()
        self.resets += 1

    def fork(self) -> Script:
        return copy.deepcopy(self)

    def forced_tokens(self, limit: int) -> list[int]:
        forced: list[int] = []
        while len(forced) < limit and len(allowed := self._allowed(len(forced))) == 1:
            forced.extend(allowed)
        return forced

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        for i, token in enumerate(tokens):
            if token not in self._allowed(i):
                return i
        return len(tokens)

    def mask_words(self) -> NDArray[np.uint32]:
        allowed = np.zeros(self.n_vocab, dtype=np.bool_)
        allowed[list(self._allowed())] = True
        return pack_mask(allowed)

    def is_allowed(self, token: int) -> bool:
        return token in self._allowed()


class Opaque:
    """A processor without structure: forbids one id."""

    def __init__(self, forbidden: int) -> None:
        self.forbidden = forbidden
        self.log: list[int] = []

    def process(self, logits: Row, history: Sequence[int]) -> None:
        logits[self.forbidden] = -INF

    def commit(self, token: int) -> None:
        self.log.append(token)

    def reset(self) -> None:
        self.log.clear()

    def fork(self) -> Opaque:
        return copy.deepcopy(self)


GREEDY = SamplingConfig(temperature=0.0)
SAMPLED = SamplingConfig(temperature=0.8, top_k=5, top_p=0.9, min_p=0.01, seed=11)
BOTH_PATHS = pytest.mark.parametrize("config", [GREEDY, SAMPLED], ids=["greedy", "sampled"])


def normal_row(seed: int, n: int = 64) -> Row:
    row: Row = np.random.default_rng(seed).normal(0, 3, n).astype(np.float32)
    return row


# --- the sampler ----------------------------------------------------------------------------


@BOTH_PATHS
def test_the_mask_holds_on_every_path(config: SamplingConfig) -> None:
    steps = [set(np.random.default_rng(i).choice(64, 3, replace=False).tolist()) for i in range(30)]
    sampler = Sampler(config, processor=Script(steps, 64))
    for i, allowed in enumerate(steps):
        assert sampler.next(normal_row(i), []) in allowed


@BOTH_PATHS
def test_every_selected_token_is_committed_exactly_once(config: SamplingConfig) -> None:
    script = Script([], 64)
    sampler = Sampler(config, processor=script)
    chosen = [sampler.next(normal_row(i), []) for i in range(20)]
    assert script.log == chosen
    assert sampler.committed == 20


@BOTH_PATHS
def test_a_mask_that_leaves_nothing_fails_and_commits_nothing(config: SamplingConfig) -> None:
    script = Script([set()], 64)
    sampler = Sampler(config, processor=script)
    with pytest.raises(AllTokensMasked):
        sampler.next(normal_row(0), [])
    assert script.log == []
    assert sampler.committed == 0


@BOTH_PATHS
@pytest.mark.parametrize("broken", [np.nan, INF])
@pytest.mark.parametrize("n", [1, 7, 5000])
def test_broken_logits_are_reported_wherever_they_are(
    config: SamplingConfig, broken: float, n: int
) -> None:
    for place in {0, n // 2, n - 1}:
        row = normal_row(1, n)
        row[place] = broken
        with pytest.raises(NonFiniteLogits):
            Sampler(config).next(row, [])


@BOTH_PATHS
def test_broken_logits_under_the_mask_do_not_matter(config: SamplingConfig) -> None:
    row = normal_row(1)
    row[5] = np.nan
    row[6] = INF
    assert Sampler(config, processor=Script([{9}], 64)).next(row, []) == 9
    row[5] = np.nan
    ban = LogitBias({5: -INF, 6: -INF}, 64)
    assert Sampler(config, processor=ban).next(row, []) not in (5, 6)


def test_greedy_is_the_argmax_of_the_masked_row_not_a_mask_of_the_argmax() -> None:
    # Argmax first and mask after leaves all zeros, and then the lowest allowed id, here 1.
    row = np.array([9.0, 1.0, 3.0, 2.0], dtype=np.float32)
    assert Sampler(GREEDY, processor=Script([{1, 2, 3}], 4)).next(row, []) == 2


def test_filters_see_only_allowed_tokens_even_outside_the_unmasked_top_k() -> None:
    row = np.arange(64, dtype=np.float32)
    config = SamplingConfig(temperature=1.0, top_k=2, top_p=0.5)
    assert Sampler(config, processor=Script([{3, 7}], 64)).next(row, []) == 7


def test_greedy_ties_go_to_the_lowest_id() -> None:
    row = np.array([0.0, 2.0, 2.0, -0.0], dtype=np.float32)
    assert Sampler(GREEDY).next(row, []) == 1
    assert Sampler(GREEDY).next(np.array([-0.0, 0.0], dtype=np.float32), []) == 0


def test_the_sampler_is_process_then_penalties_then_filters_then_draw_i() -> None:
    config = dataclasses.replace(SAMPLED, repeat_penalty=1.3, presence_penalty=0.5)
    sampler = Sampler(config, processor=LogitBias({3: 2.5, 4: -INF}, 64), stream=9)
    history = [1, 3, 3, 60]
    for i in range(25):
        row = normal_row(i)
        expected_row = row.copy()
        expected_row[3] += np.float32(2.5)
        expected_row[4] = -INF
        for token in set(history):
            logit = expected_row[token]
            logit = logit / np.float32(1.3) if logit > 0 else logit * np.float32(1.3)
            expected_row[token] = logit - np.float32(0.5)
        kept = reference_keep(expected_row, 0.8, 5, 0.9, 0.01)
        expected = reference_draw(kept, uniform(11, 9, i))
        assert sampler.next(row, history) == expected
        history.append(expected)


def test_draw_i_belongs_to_token_i_however_the_tokens_before_were_chosen() -> None:
    straight = Sampler(SAMPLED)
    detour = Sampler(SAMPLED, processor=Script([{0}, {1}, {2, 3}], 64))
    for i in range(3):
        straight.next(normal_row(i), [])
        detour.next(normal_row(100 + i), [])
    after = [normal_row(200 + i) for i in range(20)]
    assert [straight.next(row.copy(), []) for row in after] == [
        detour.next(row.copy(), [5] * i) for i, row in enumerate(after)
    ]


def test_forcing_a_token_is_what_sampling_it_from_any_row_would_be() -> None:
    forced, sampled = (Sampler(SAMPLED, processor=Script([{7}], 64)) for _ in range(2))
    forced.force(7)
    assert sampled.next(normal_row(0), []) == 7
    after = [normal_row(i) for i in range(1, 10)]
    assert [forced.next(row.copy(), [7]) for row in after] == [
        sampled.next(row.copy(), [7]) for row in after
    ]
    assert forced.committed == 10
    assert isinstance(forced.processor, Script)
    assert len(forced.processor.log) == 10
    Sampler(GREEDY).force(7)


def test_streams_and_seeds_draw_differently() -> None:
    def tokens(seed: int, stream: int) -> list[int]:
        sampler = Sampler(SamplingConfig(temperature=2.0, seed=seed), stream=stream)
        return [sampler.next(normal_row(i), []) for i in range(12)]

    assert len({tuple(tokens(seed, stream)) for seed in range(3) for stream in range(3)}) == 9
    assert tokens(1, 2) == tokens(1, 2)


def test_reset_rearms_the_processor_and_keeps_the_draw_counter() -> None:
    script = Script([{1}, {2}], 64)
    sampler = Sampler(SAMPLED, processor=script)
    assert [sampler.next(normal_row(i), []) for i in range(2)] == [1, 2]
    sampler.reset()
    assert script.resets == 1
    assert sampler.committed == 2
    assert [sampler.next(normal_row(i), []) for i in range(2)] == [1, 2]
    Sampler(GREEDY).reset()


def test_a_fork_is_an_independent_twin() -> None:
    script = Script([{1}, {2, 3}, {4, 5}], 64)
    sampler = Sampler(SAMPLED, processor=script)
    sampler.next(normal_row(0), [])
    twin = sampler.fork()
    assert twin.processor is not sampler.processor
    ours = [sampler.next(normal_row(i), []) for i in (1, 2, 3)]
    assert twin.committed == 1
    assert [twin.next(normal_row(i), []) for i in (1, 2, 3)] == ours
    assert script.log == [1, *ours]


def test_a_fork_onto_another_stream_starts_at_draw_zero() -> None:
    sampler = Sampler(SAMPLED, stream=1)
    sampler.next(normal_row(0), [])
    other, fresh = sampler.fork(stream=2), Sampler(SAMPLED, stream=2)
    assert (other.stream, other.committed) == (2, 0)
    assert [other.next(normal_row(i), []) for i in range(9)] == [
        fresh.next(normal_row(i), []) for i in range(9)
    ]
    assert sampler.fork(stream=1).committed == 1
    assert other.config is sampler.config


@BOTH_PATHS
def test_read_only_and_strided_rows_are_left_alone(config: SamplingConfig) -> None:
    config = dataclasses.replace(config, repeat_penalty=1.5)
    row = normal_row(4)
    expected = Sampler(config, processor=Script([{8, 9}], 64)).next(row.copy(), [8])
    frozen = row.copy()
    frozen.flags.writeable = False
    strided = np.repeat(row, 2)[::2]
    for given_row in (frozen, strided):
        assert Sampler(config, processor=Script([{8, 9}], 64)).next(given_row, [8]) == expected
        assert np.array_equal(given_row, row)


def test_a_row_of_another_shape_or_type_is_refused() -> None:
    rows_: list[Any] = [np.zeros(0, np.float32), np.zeros((1, 4), np.float32), np.zeros(4)]
    for bad in rows_:
        with pytest.raises(ValueError, match="float32 vector"):
            Sampler(GREEDY).next(bad, [])


# --- penalties ------------------------------------------------------------------------------


def test_penalties_follow_the_formula() -> None:
    row = np.array([2.0, -2.0, 0.0, 5.0, -INF], dtype=np.float32)
    penalties = Penalties(repeat=2.0, frequency=0.5, presence=0.25, last_n=-1)
    penalties.apply(row, [0, 1, 1, 2, 4])
    assert row.tolist() == [1.0 - 0.75, -4.0 - 1.25, -0.75, 5.0, -INF]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.integers(0, 7), max_size=30),
    st.lists(st.lists(st.integers(0, 7), max_size=4), max_size=8),
    st.sampled_from([-1, 0, 1, 2, 5, 64]),
    st.floats(0.5, 2, width=32),
    st.floats(-1, 1, width=32),
    st.floats(-1, 1, width=32),
)
def test_penalties_count_the_last_n_tokens_only_as_the_history_grows_or_is_cut(
    history: list[int],
    changes: list[list[int]],
    last_n: int,
    repeat: float,
    frequency: float,
    presence: float,
) -> None:
    penalties = Penalties(repeat=repeat, frequency=frequency, presence=presence, last_n=last_n)
    for added in [[], *changes]:
        # An empty addition stands for a history that was cut back.
        history = history + added if added else history[: len(history) // 2]
        row = normal_row(len(history), 8)
        row[3] = -INF
        expected = row.copy()
        window = history if last_n < 0 else history[max(0, len(history) - last_n) :]
        for token, count in Counter(window).items():
            logit = expected[token]
            factor = np.float32(repeat)
            logit = logit / factor if logit > 0 else logit * factor
            loss = np.float32(count) * np.float32(frequency) + np.float32(presence)
            expected[token] = logit - loss
        penalties.apply(row, history)
        assert np.array_equal(row, expected)
        assert row[3] == -INF


def test_penalties_accept_any_sequence_and_refuse_ids_outside_the_row() -> None:
    rows_ = [np.ones(8, dtype=np.float32) for _ in range(3)]
    for row, history in zip(rows_, ([1, 2, 2], (1, 2, 2), np.array([1, 2, 2])), strict=True):
        Penalties(repeat=2.0).apply(row, history)  # type: ignore[arg-type]
        assert np.array_equal(row, rows_[0])
    for bad in (-1, 8):
        with pytest.raises(ValueError, match="vocabulary"):
            Penalties(repeat=2.0).apply(np.ones(8, dtype=np.float32), [bad])


@BOTH_PATHS
def test_a_forbidden_token_survives_negative_penalties(config: SamplingConfig) -> None:
    # Penalties that reward repetition must not bring a masked token back.
    config = dataclasses.replace(
        config, repeat_penalty=0.01, frequency_penalty=-100.0, presence_penalty=-100.0
    )
    sampler = Sampler(config, processor=Script([{1, 2}] * 10, 64))
    for i in range(10):
        assert sampler.next(normal_row(i), [7] * 20) in {1, 2}


def test_the_penalty_window_decides_the_token() -> None:
    row = np.array([1.0, 0.9, 0.0], dtype=np.float32)
    history = [0, 2, 2, 2]

    def chosen(last_n: int) -> int:
        config = SamplingConfig(presence_penalty=0.5, repeat_last_n=last_n)
        return Sampler(config).next(row.copy(), history)

    assert {last_n: chosen(last_n) for last_n in (0, 1, 3, 4, 64, -1)} == {
        **dict.fromkeys((0, 1, 3), 0),  # id 0 is outside of the window
        **dict.fromkeys((4, 64, -1), 1),
    }


# --- bias and chains ------------------------------------------------------------------------


def test_bias_adds_bans_and_forces_at_every_step() -> None:
    row = np.array([1.0, 2.0, 3.0, -INF], dtype=np.float32)
    bias = LogitBias({0: 1.5, 2: -INF, 3: 100.0}, 4)
    bias.process(row, [])
    assert row.tolist() == [2.5, 2.0, -INF, -INF]
    sampler = Sampler(GREEDY, processor=LogitBias({3: 100.0}, 4))
    assert [sampler.next(np.zeros(4, np.float32), []) for _ in range(3)] == [3, 3, 3]


@pytest.mark.parametrize(
    "biases", [{-1: 0.0}, {4: 0.0}, {0: math.nan}, {0: INF}, {0: 1e39}, {0: -1e39}]
)
def test_impossible_biases_are_refused(biases: dict[int, float]) -> None:
    with pytest.raises(ValueError, match="bias for token"):
        LogitBias(biases, 4)


def test_the_structure_of_a_bias_list_is_its_bans() -> None:
    bias = LogitBias({0: 50.0, 5: -INF, 69: -INF}, 70)
    assert isinstance(bias, Structured)
    assert allowed_ids(bias.mask_words(), 70).tolist() == [i for i in range(70) if i not in (5, 69)]
    assert len(bias.mask_words()) == 3
    assert bias.forced_tokens(9) == []
    assert bias.valid_prefix_len([0, 1, 5, 2]) == 2
    assert bias.valid_prefix_len([0, 1]) == 2
    assert not bias.is_allowed(5)
    assert bias.is_allowed(0)
    assert not bias.is_allowed(70)
    with pytest.raises(ValueError, match="read-only"):
        bias.mask_words()[0] = 0
    assert bias.fork() is not bias


@BOTH_PATHS
def test_a_bias_and_a_grammar_compose_in_either_order(config: SamplingConfig) -> None:
    for flip in (False, True):
        members: list[LogitProcessor] = [
            LogitBias({2: 100.0, 3: 90.0, 1: -INF}, 64),
            Script([{1, 3, 4}], 64),
        ]
        chain = ProcessorChain(members[::-1] if flip else members, 64)
        # 2 is favoured but not in the grammar; 3 is the best of the rest.
        assert Sampler(config, processor=chain).next(normal_row(0), []) == 3


@BOTH_PATHS
def test_a_banned_token_that_the_grammar_forces_is_an_error_not_an_escape(
    config: SamplingConfig,
) -> None:
    chain = ProcessorChain([LogitBias({7: -INF}, 64), Script([{6}, {7}, {8}], 64)], 64)
    assert chain.forced_tokens(10) == [6]
    sampler = Sampler(config, processor=chain)
    assert sampler.next(normal_row(0), []) == 6
    assert chain.forced_tokens(10) == []
    assert not chain.mask_words().any()
    with pytest.raises(AllTokensMasked):
        sampler.next(normal_row(0), [6])


def test_a_finite_bias_never_changes_a_forced_token() -> None:
    script = Script([{6}, {7}, {8, 9}], 64)
    chain = ProcessorChain([script, LogitBias({7: -1e30, 1: 1e30}, 64)], 64)
    assert chain.forced_tokens(10) == [6, 7]
    assert chain.forced_tokens(1) == [6]
    sampler = Sampler(SAMPLED, processor=chain)
    assert [sampler.next(normal_row(i), []) for i in range(2)] == [6, 7]


def test_look_aheads_of_a_chain_are_what_all_members_agree_on() -> None:
    first = Script([{1, 2, 3}, {4}, {5}], 40)
    second = Script([{2, 3, 9}, {4, 6}], 40)
    chain = ProcessorChain([first, Opaque(30), second, LogitBias({3: -INF}, 40)], 40)
    assert isinstance(chain, Structured)
    assert allowed_ids(chain.mask_words(), 40).tolist() == [2]
    assert chain.is_allowed(2)
    assert not any(chain.is_allowed(token) for token in (1, 3, 9, -1, 40))
    assert chain.valid_prefix_len([2, 4, 5, 0]) == 4
    assert chain.valid_prefix_len([2, 6, 5]) == 1
    chain.commit(2)
    assert chain.forced_tokens(10) == [], "the opaque member might mask what another forces"
    askable = ProcessorChain([m for m in chain.members if isinstance(m, Structured)], 40)
    assert askable.forced_tokens(10) == [4, 5]


def test_a_chain_without_structured_members_forbids_and_forces_nothing() -> None:
    chain = ProcessorChain([Opaque(3)], 70)
    assert allowed_ids(chain.mask_words(), 70).tolist() == list(range(70))
    assert len(chain.mask_words()) == 3
    assert chain.forced_tokens(5) == []
    assert chain.valid_prefix_len([1, 3]) == 2
    assert chain.is_allowed(3)
    assert not isinstance(Opaque(3), Structured)


def test_look_aheads_change_nothing() -> None:
    script = Script([{1}, {2}], 64)
    chain = ProcessorChain([LogitBias({9: -INF}, 64), script], 64)
    before = chain.mask_words()
    for _ in range(2):
        assert chain.forced_tokens(9) == [1, 2]
        assert chain.valid_prefix_len([1, 2, 9]) == 2
        assert chain.is_allowed(1)
    chain.mask_words()[:] = 0  # the caller's own copy
    assert np.array_equal(chain.mask_words(), before)
    assert script.log == []


def test_a_chain_commits_resets_and_forks_every_member() -> None:
    opaque, script = Opaque(1), Script([{4}], 64)
    chain = ProcessorChain([opaque, script], 64)
    chain.commit(4)
    twin = chain.fork()
    twin.commit(5)
    assert opaque.log == script.log == [4]
    assert all(mine is not theirs for mine, theirs in zip(chain.members, twin.members, strict=True))
    chain.reset()
    assert opaque.log == script.log == []
    assert isinstance(twin.members[1], Script)
    assert twin.members[1].log == [4, 5]


def test_a_chain_refuses_a_repeated_member_and_masks_of_another_width() -> None:
    script = Script([], 64)
    with pytest.raises(ValueError, match="only once"):
        ProcessorChain([script, script], 64)
    with pytest.raises(ValueError, match="words"):
        ProcessorChain([script], 100).mask_words()


# --- settings -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("field", "value", "accepted"),
    [
        ("temperature", -0.1, "give 0 to 100"),
        ("temperature", 1e-9, "give 0 for greedy"),
        ("temperature", math.nan, "give 0 to 100"),
        ("temperature", INF, "give 0 to 100"),
        ("temperature", "1", "must be a number"),
        ("top_k", -1, "give 0 to 10000000"),
        ("top_k", 1.5, "must be an integer (tokens)"),
        ("top_k", True, "must be an integer (tokens)"),
        ("top_p", 1.01, "give 0 to 1"),
        ("top_p", math.nan, "give 0 to 1"),
        ("min_p", -0.01, "give 0 to 1"),
        ("repeat_penalty", 0.0, "give 0.01 to 100"),
        ("repeat_last_n", -2, "give -1 to 10000000"),
        ("frequency_penalty", INF, "give -100 to 100"),
        ("presence_penalty", -101.0, "give -100 to 100"),
        ("seed", -1, "give 0 to 2^64-1"),
        ("seed", 2**64, "give 0 to 2^64-1"),
    ],
)
def test_settings_out_of_range_are_refused_by_name_with_the_accepted_range(
    field: str, value: object, accepted: str
) -> None:
    with pytest.raises(InputError, match=f"^{field}=: .*{re.escape(accepted)}"):
        SamplingConfig(**{field: value})  # type: ignore[arg-type]


def test_settings_go_into_the_json_record() -> None:
    record = SamplingConfig(temperature=1, top_k=20, seed=2**64 - 1).as_dict()
    assert SamplingConfig(**json.loads(json.dumps(record))).as_dict() == record
    assert record["top_k"] == 20
    assert SamplingConfig().greedy
    assert not SAMPLED.greedy
    with pytest.raises(ValueError, match="stream"):
        Sampler(GREEDY, stream=-1)
