"""What one sampled token costs in ``Sampler.next``, on one row, in microseconds.

    python -m fucina_cli.bench.sampler_cost [--vocab N] [--rounds R] [--json]

All cases are measured in turn, round after round (A B B A), so that a slow moment of the machine
falls on all of them; medians are reported. The row is shaped like a model's: a few dozen likely
tokens over a long tail; ``flat`` is the tail alone, the worst case of top-p.

A masked case includes applying the mask from given words; what a grammar takes to compute the
words is not included. Every step has another mask of its kind, or the processor's branch predictor
would learn the mask by heart. Restoring the row between calls is not timed, and leaves it in the
cache. ``plain numpy`` is the obvious implementation, for comparison: unpack all bits, mask with
``where``, then ``argmax``, or ``argpartition`` and a softmax over the k best.
"""

from __future__ import annotations

import argparse
import itertools
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fucina_cli.bench import harness
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import whole
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.draws import uniform
from fucina_cli.sampling.mask import apply_mask_words, pack_mask
from fucina_cli.sampling.sampler import Sampler

Row = NDArray[np.float32]

_GREEDY = SamplingConfig()
_QWEN = SamplingConfig(temperature=0.7, top_k=20, top_p=0.8)
_TARGETS = {_GREEDY: 150.0, _QWEN: 400.0}
_MASKS = 32
_WARM_UP = 3
_LEAST_VOCAB = 1000
_HISTORY = [int(token) for token in np.random.default_rng(3).integers(0, _LEAST_VOCAB, 2000)]


@dataclass
class _Case:
    """One thing to time: called with a copy of the row, which it may spoil."""

    name: str
    row: Row
    run: Callable[[Row], object]
    target: float | None = None


class _GivenMasks:
    """A grammar whose masks are known: one after the other, round and round."""

    def __init__(self, masks: Sequence[NDArray[np.uint32]]) -> None:
        self._masks = masks
        self._step = 0

    def process(self, logits: Row, history: Sequence[int]) -> None:
        apply_mask_words(logits, self._masks[self._step % len(self._masks)])

    def commit(self, token: int) -> None:
        self._step += 1

    def reset(self) -> None:
        self._step = 0

    def fork(self) -> _GivenMasks:
        return _GivenMasks(self._masks)


def structural_mask(n_vocab: int, seed: int) -> NDArray[np.bool_]:
    """Five allowed ids, as between the strings of a JSON object."""
    allowed = np.zeros(n_vocab, dtype=np.bool_)
    allowed[np.random.default_rng(seed).choice(n_vocab, 5, replace=False)] = True
    return allowed


def free_string_mask(n_vocab: int, seed: int) -> NDArray[np.bool_]:
    """About 97% allowed, as in a free string; the others are spread over 35% of the words."""
    rng = np.random.default_rng(seed)
    touched = np.repeat(rng.random(n_vocab // 32 + 1) < 0.35, 32)[:n_vocab]
    return ~(touched & (rng.random(n_vocab) < 0.03 / 0.35))


def half_mask(n_vocab: int, seed: int) -> NDArray[np.bool_]:
    """Half of the ids allowed, anywhere: the hardest to predict."""
    return np.random.default_rng(seed).random(n_vocab) < 0.5


def model_row(n_vocab: int) -> Row:
    """Logits of which a few dozen stand out, as those of a language model do."""
    rng = np.random.default_rng(0)
    row: Row = rng.normal(0, 2, n_vocab).astype(np.float32)
    row[rng.choice(n_vocab, 40, replace=False)] = np.linspace(16, 8, 40)
    return row


def _plain_numpy(row: Row, words: NDArray[np.uint32], config: SamplingConfig) -> int:
    bits = np.unpackbits(words.view(np.uint8), bitorder="little", count=row.shape[0])
    masked = np.where(bits.view(np.bool_), row, np.float32(-np.inf))
    if config.greedy:
        return int(masked.argmax())
    best = np.argpartition(masked, -config.top_k)[-config.top_k :]
    best = best[np.argsort(-masked[best])]
    weights = np.exp(
        (masked[best].astype(np.float64) - float(masked[best[0]])) / config.temperature
    )
    weights /= weights.sum()
    kept = int(np.searchsorted(np.cumsum(weights), config.top_p)) + 1
    running = np.cumsum(weights[:kept])
    place = np.searchsorted(running, uniform(0, 0, 0) * running[-1], side="right")
    return int(best[place])


def _cases(n_vocab: int) -> list[_Case]:
    row = model_row(n_vocab)
    flat: Row = np.random.default_rng(5).normal(0, 3, n_vocab).astype(np.float32)
    masks = {
        state: [pack_mask(make(n_vocab, seed)) for seed in range(_MASKS)]
        for state, make in (
            ("structural", structural_mask),
            ("free string", free_string_mask),
            ("half allowed", half_mask),
        )
    }
    cases: list[_Case] = []
    for config, label in ((_GREEDY, "greedy"), (_QWEN, "T 0.7, k 20, p 0.8")):
        cases.append(_Case(f"{label} | no mask", row, _sampled(config)))
        for state, words in masks.items():
            target = None if state == "half allowed" else _TARGETS[config]
            cases.append(_Case(f"{label} | {state}", row, _sampled(config, words), target))
            plain = _plain(config, words)
            cases.append(_Case(f"{label} | {state} | plain numpy", row, plain))
    whole = SamplingConfig(temperature=1.0)
    nucleus = SamplingConfig(temperature=1.0, top_p=0.95)
    everything = SamplingConfig(repeat_penalty=1.1, repeat_last_n=-1)
    return [
        *cases,
        _Case("T 1 | no mask", row, _sampled(whole)),
        _Case("T 1 | structural", row, _sampled(whole, masks["structural"])),
        _Case("T 1 | free string", row, _sampled(whole, masks["free string"])),
        _Case("T 1, min-p 0.05", row, _sampled(SamplingConfig(temperature=1.0, min_p=0.05))),
        _Case("T 1, p 0.95", row, _sampled(nucleus)),
        _Case("T 1, p 0.95 | flat", flat, _sampled(nucleus)),
        _Case("greedy, penalties, last 64", row, _sampled(SamplingConfig(repeat_penalty=1.1))),
        _Case("greedy, penalties, all of 2000", row, _sampled(everything)),
        _Case("one draw", row, lambda row: uniform(0, 0, 1)),
    ]


def _sampled(
    config: SamplingConfig, masks: Sequence[NDArray[np.uint32]] | None = None
) -> Callable[[Row], object]:
    sampler = Sampler(config, processor=None if masks is None else _GivenMasks(masks))
    return lambda row: sampler.next(row, _HISTORY)


def _plain(config: SamplingConfig, masks: Sequence[NDArray[np.uint32]]) -> Callable[[Row], object]:
    turns = itertools.cycle(masks)
    return lambda row: _plain_numpy(row, next(turns), config)


def main() -> None:
    """Measure and print."""
    parser = harness.parser(__doc__, rounds=300, model=False)
    parser.add_argument("--vocab", type=whole(_LEAST_VOCAB), default=151_936, metavar="N")
    harness.run(parser, _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    cases = {case.name: case for case in _cases(options.vocab)}
    row: Row = np.empty(options.vocab, dtype=np.float32)

    def timed(case: _Case) -> Callable[[], float]:
        def microseconds() -> float:
            row[:] = case.row
            begin = time.perf_counter_ns()
            case.run(row)
            return (time.perf_counter_ns() - begin) / 1000

        return microseconds

    arms = {name: timed(case) for name, case in cases.items()}
    times = harness.in_turn(arms, options.rounds, warm_up=_WARM_UP)
    results = [
        {
            "case": name,
            "median_us": round(statistics.median(each), 1),
            "p90_us": round(sorted(each)[len(each) * 9 // 10], 1),
            "target_us": cases[name].target,
        }
        for name, each in times.items()
    ]
    return harness.Report(
        {"vocab": options.vocab, "rounds": options.rounds, "cases": results},
        f"Sampler.next, {options.vocab:,} logits, {options.rounds} rounds",
        "case|median µs:.1f|p90 µs:.1f|target µs:.0f",
        [tuple(result.values()) for result in results],
    )


if __name__ == "__main__":
    program.end(main)
