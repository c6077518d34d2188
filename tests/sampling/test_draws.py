"""The counter-based draws: pure, distinct, uniform, and Philox as published."""

from __future__ import annotations

import random

import numpy as np
import pytest

from fucina_cli.sampling.draws import uniform

MASK = 2**64 - 1


@pytest.mark.parametrize(
    ("seed", "stream", "index"),
    [(0, 0, 0), (1, 2, 3), (MASK, MASK, 12345), (2**63, 0, MASK), (0, MASK, 2**40)],
)
def test_a_draw_is_the_documented_function_of_philox(seed: int, stream: int, index: int) -> None:
    # numpy's own implementation, which increments the counter before each block.
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([index, 0, 0, 0], dtype=np.uint64)
    word = int(np.random.Philox(key=key, counter=counter).random_raw())
    assert uniform(seed, stream, index) == (word >> 11) / 2**53


def test_fixed_values_are_pinned() -> None:
    assert [uniform(0, 0, i) for i in range(3)] == [
        0.011546754286331562,
        0.5023796042735054,
        0.25382274039248487,
    ]
    assert uniform(42, 0, 0) == 0.8201981478608876
    assert uniform(MASK, MASK, MASK) == 0.005915559114363478


def test_the_same_arguments_give_the_same_value_in_any_order() -> None:
    places = [(seed, stream, index) for seed in (0, 7) for stream in (0, 1) for index in range(50)]
    first = {place: uniform(*place) for place in places}
    random.Random(0).shuffle(places)
    assert {place: uniform(*place) for place in places} == first


def test_seed_stream_and_index_all_matter_and_are_not_interchangeable() -> None:
    places = [(s, t, i) for s in range(12) for t in range(12) for i in range(12)]
    assert len({uniform(*place) for place in places}) == len(places)


def test_draws_are_roughly_uniform_and_uncorrelated() -> None:
    draws = np.array([uniform(3, 1, i) for i in range(8000)])
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    counts = np.histogram(draws, bins=20, range=(0, 1))[0]
    assert ((counts - 400) ** 2 / 400).sum() < 45  # chi-squared, 19 degrees, p about 0.0007
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.04
    across = np.array([uniform(3, stream, 0) for stream in range(4000)])
    assert abs(across.mean() - 0.5) < 0.02


@pytest.mark.parametrize("bad", [-1, 2**64])
def test_arguments_out_of_range_are_refused_by_name(bad: int) -> None:
    for position, name in enumerate(("seed", "stream", "index")):
        arguments = [0, 0, 0]
        arguments[position] = bad
        with pytest.raises(ValueError, match=name):
            uniform(*arguments)
