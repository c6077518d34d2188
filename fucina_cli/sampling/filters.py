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

import numpy as np
from numpy.typing import NDArray

from fucina_cli.sampling.errors import require_selectable
from fucina_cli.sampling.running import draw, prefix_length
from fucina_cli.sampling.topk import top_order

__all__ = ["choose", "keep"]

_NUCLEUS_SIZES = (256, 2048, 16_384)

# exp takes a slow path for each -inf, picking the others out costs a little for every candidate.
_MANY = 0.9

_FLOAT32_MIN = float(np.finfo(np.float32).min)


def choose(
    row: NDArray[np.float32],
    u: float,
    *,
    temperature: float,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
) -> int:
    """Filter a row and draw one token id from what is kept; the row is not changed.

    Args:
        row: shape (n_vocab,), float32; forbidden tokens are -inf.
        u: the draw, in [0, 1).
        temperature: at least 1e-6 (0, greedy, is the sampler's business).
        top_k: 0 is off.
        top_p: in [0, 1]; 1 is off, 0 keeps one candidate.
        min_p: in [0, 1]; 0 is off.

    Raises:
        AllTokensMasked: every logit is -inf.
        NonFiniteLogits: the largest logit is NaN or +inf.
    """
    ids, weights = _kept(row, temperature, top_k, top_p, min_p)
    position = draw(weights, u)
    return position if ids is None else int(ids[position])


def keep(
    row: NDArray[np.float32],
    *,
    temperature: float,
    top_k: int = 0,
    top_p: float = 1.0,
    min_p: float = 0.0,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The candidates that pass all filters: ascending int64 ids and their float64 weights.

    Arguments and errors as for ``choose``. At least the largest candidate is kept, with weight
    1.0; a kept weight can be 0.0 by underflow, and is then never drawn.
    """
    ids, weights = _kept(row, temperature, top_k, top_p, min_p)
    if ids is None:
        ids = np.flatnonzero(row > -np.inf)
        weights = weights[ids]
    return ids, weights


def _kept(
    row: NDArray[np.float32], temperature: float, top_k: int, top_p: float, min_p: float
) -> tuple[NDArray[np.int64] | None, NDArray[np.float64]]:
    """As ``keep``; ids of None stand for the whole row, with zero weights for -inf."""
    top = float(row.max())
    require_selectable(top)
    if 0 < top_k < row.shape[0]:
        ids: NDArray[np.int64] | None = np.sort(top_order(row, top_k))
    elif top_p >= 1.0 and min_p > 0.0:
        # Only top-p needs the weight of candidates that min-p is going to drop.
        ids = np.flatnonzero(row >= _min_p_floor(top, temperature, min_p))
    else:
        ids = _if_few(row > -np.inf)
    values = row if ids is None else row[ids]
    weights = _weights(values, top, temperature)
    if top_p < 1.0:
        ids, weights = _take(_nucleus(values, weights, top_p), ids, weights)
    if min_p > 0.0:
        ids, weights = _take(np.flatnonzero(weights >= min_p), ids, weights)
    return ids, weights


def _if_few(candidates: NDArray[np.bool_]) -> NDArray[np.int64] | None:
    """The positions, unless there are so many that going on with the whole row is cheaper."""
    if np.count_nonzero(candidates) > candidates.shape[0] * _MANY:
        return None
    return np.flatnonzero(candidates)


def _take(
    positions: NDArray[np.int64], ids: NDArray[np.int64] | None, weights: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    return positions if ids is None else ids[positions], weights[positions]


def _weights(values: NDArray[np.float32], top: float, temperature: float) -> NDArray[np.float64]:
    exponents = values.astype(np.float64)
    exponents -= top
    exponents /= temperature
    return np.exp(exponents, out=exponents)


def _nucleus(
    values: NDArray[np.float32], weights: NDArray[np.float64], top_p: float
) -> NDArray[np.int64]:
    """Positions that top-p keeps, ascending.

    A growing prefix of the order is sorted until it is certain to reach far enough: a prefix of a
    left-to-right sum does not depend on what follows it.
    """
    n = values.shape[0]
    for size in (*(size for size in _NUCLEUS_SIZES if size < n), n):
        order = top_order(values, size)
        count = prefix_length(weights[order], weights, top_p)
        if count is not None:
            return np.sort(order[:count])
    return np.sort(order)  # rounding left even the whole just below top_p


def _min_p_floor(top: float, temperature: float, min_p: float) -> float:
    """A finite float32 logit at or below every candidate whose weight can reach ``min_p`` > 0.

    Lower by far more than the rounding of ``_weights``, whose exact comparison decides.
    """
    floor = top + temperature * (math.log(min_p) - 1e-9) - 1e-9 * abs(top)
    return float(np.nextafter(np.float32(max(floor, _FLOAT32_MIN)), np.float32(_FLOAT32_MIN)))
