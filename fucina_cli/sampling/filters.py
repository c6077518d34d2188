"""Temperature, top-k, top-p, min-p and the draw, exact over the whole row.

Definition. Candidates are the tokens above -inf, ordered by descending logit, ties by lower id.
The weight of a candidate is ``exp((logit - largest logit) / temperature)`` in float64: its
probability up to the normaliser, 1.0 for the largest.

1. top-k keeps the first k candidates (0: all).
2. top-p keeps the smallest prefix of what top-k kept whose summed weight reaches ``top_p`` times
   the total weight top-k kept, at least one (nucleus sampling: Holtzman et al., "The Curious Case
   of Neural Text Degeneration", ICLR 2020).
3. min-p keeps the candidates of weight at least ``min_p``, which is ``min_p`` times the largest
   probability (Nguyen et al., "Turning Up the Heat: Min-p Sampling", 2024).
4. The draw is the inverse CDF at u over the kept candidates in ascending id order.

All sums are left-to-right in float64: in order for the prefix, by ascending id for the totals.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.errors import require_selectable
from fucina_cli.sampling.running import draw, prefix_length
from fucina_cli.sampling.topk import top_order

__all__ = ["choose", "keep"]

_NUCLEUS_SIZES = (256, 2048, 16_384)

# exp takes a slow path for each -inf, picking the others out costs a little for every candidate.
_MANY = 0.9

_FLOAT32_MIN = float(np.finfo(np.float32).min)


def choose(row: NDArray[np.float32], u: float, config: SamplingConfig) -> int:
    """Filter a row and draw one token id from what is kept; the row is not changed.

    Args:
        row: shape (n_vocab,), float32; forbidden tokens are -inf.
        u: the draw, in [0, 1).
        config: its temperature is above 0 (greedy is the sampler's business).

    Raises:
        AllTokensMasked: every logit is -inf.
        NonFiniteLogits: the largest logit is NaN or +inf.
    """
    ids, weights = _kept(row, config)
    position = draw(weights, u)
    return position if ids is None else int(ids[position])


def keep(
    row: NDArray[np.float32], config: SamplingConfig
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The candidates that pass all filters: ascending int64 ids and their float64 weights.

    Arguments and errors as for ``choose``. At least the largest candidate is kept, with weight
    1.0; a kept weight can be 0.0 by underflow, and is then never drawn.
    """
    ids, weights = _kept(row, config)
    if ids is None:
        ids = np.flatnonzero(row > -np.inf)
        weights = weights[ids]
    return ids, weights


def _kept(
    row: NDArray[np.float32], config: SamplingConfig
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64]]:
    """As ``keep``; ids of None stand for the whole row, with zero weights for -inf."""
    top = float(row.max())
    require_selectable(top)
    ids = _candidates(row, top, config)
    values = row if ids is None else row[ids]
    weights = _weights(values, top, config.temperature)
    for passes in FILTERS:
        positions = passes(values, weights, config)
        if positions is not None:
            ids = positions if ids is None else ids[positions]
            values, weights = values[positions], weights[positions]
    return ids, weights


def _candidates(
    row: NDArray[np.float32], top: float, config: SamplingConfig
) -> NDArray[np.int64] | None:
    """Ids that are looked at, ascending: those of top-k; None for the whole row."""
    if 0 < config.top_k < row.shape[0]:
        return np.sort(top_order(row, config.top_k))
    if config.top_p >= 1.0 and config.min_p > 0.0:
        # Only top-p needs the weight of candidates that min-p is going to drop.
        return np.flatnonzero(row >= _min_p_floor(top, config.temperature, config.min_p))
    return _if_few(row > -np.inf)


def _if_few(candidates: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """The positions, unless there are so many that going on with the whole row is cheaper."""
    if np.count_nonzero(candidates) > candidates.shape[0] * _MANY:
        return None
    return np.flatnonzero(candidates)


def _weights(values: NDArray[np.float32], top: float, temperature: float) -> NDArray[np.float64]:
    exponents = values.astype(np.float64)
    exponents -= top
    exponents /= temperature
    return np.exp(exponents, out=exponents)


def _nucleus(
    values: NDArray[np.float32], weights: NDArray[np.float64], config: SamplingConfig
) -> NDArray[np.int64] | None:
    """top-p.

    A growing prefix of the order is sorted until it is certain to reach far enough: a prefix of a
    left-to-right sum does not depend on what follows it.
    """
    if config.top_p >= 1.0:
        return None
    n = values.shape[0]
    for size in (*(size for size in _NUCLEUS_SIZES if size < n), n):
        order = top_order(values, size)
        count = prefix_length(weights[order], weights, config.top_p)
        if count is not None:
            return np.sort(order[:count])
    return np.sort(order)  # rounding left even the whole just below top_p


def _likely_enough(
    values: NDArray[np.float32], weights: NDArray[np.float64], config: SamplingConfig
) -> NDArray[np.int64] | None:
    """min-p."""
    return np.flatnonzero(weights >= config.min_p) if config.min_p > 0.0 else None


#: Filters after top-k, in order. Each gets the logits and weights of the candidates that are left,
#: both of one length and by ascending id, and the settings; it gives the ascending positions that
#: it keeps, at least that of the largest weight, or None for all.
FILTERS: tuple[
    Callable[[NDArray[np.float32], NDArray[np.float64], SamplingConfig], NDArray[np.int64] | None],
    ...,
] = (_nucleus, _likely_enough)


def _min_p_floor(top: float, temperature: float, min_p: float) -> float:
    """A finite float32 logit at or below every candidate whose weight can reach ``min_p`` > 0.

    Lower by far more than the rounding of ``_weights``, whose exact comparison decides.
    """
    floor = top + temperature * (math.log(min_p) - 1e-9) - 1e-9 * abs(top)
    return float(np.nextafter(np.float32(max(floor, _FLOAT32_MIN)), np.float32(_FLOAT32_MIN)))
