"""Inverse lookups in the running sum of non-negative weights.

The running sum is *defined* as the left-to-right float64 sum. Weights of zero do not change it, so
leaving out candidates of weight zero changes no answer, and no answer depends on which internal
path found the candidates. On a whole vocabulary the sequential sum is slow (one addition waits for
the other), so long vectors first try sums in blocks; where the difference
between the two summation orders could matter, the sequential sum decides.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["draw", "prefix_length"]

_LONG = 4096
_BLOCK = 256


def draw(weights: NDArray[np.float64], u: float) -> int:
    """Inverse-CDF draw: the first position whose running sum exceeds ``u`` times the total.

    A weight of zero is never drawn: it does not raise the sum. There always is such a position:
    u is at most 1 - 2**-53, and a float64 times that rounds to less than itself.

    Args:
        weights: shape (n,), float64, non-negative, finite, at least one positive.
        u: in [0, 1 - 2**-53], all float64 numbers below 1.
    """
    if weights.shape[0] > _LONG:
        certain = _draw_in_blocks(weights, u)
        if certain is not None:
            return certain
    running = np.cumsum(weights)
    return int(np.searchsorted(running, u * float(running[-1]), side="right"))


def prefix_length(
    prefix: NDArray[np.float64], weights: NDArray[np.float64], share: float
) -> int | None:
    """Number of leading ``prefix`` weights whose running sum first reaches a share of a total.

    Args:
        prefix: shape (m,), some of the weights, in the order in which they are to be taken.
        weights: shape (n,), all weights; the total is their left-to-right sum.
        share: in [0, 1].

    Returns:
        The smallest count whose sum is at least ``share * total`` (at least 1), or None when all
        of ``prefix`` together does not reach it.
    """
    running = np.cumsum(prefix)
    if weights.shape[0] > _LONG:
        total = float(weights.sum())
        slack = _slack(total, weights.shape[0])
        # The product is rounded monotonically, so the true threshold lies between these two.
        low = np.searchsorted(running, share * (total - slack), side="left")
        high = np.searchsorted(running, share * (total + slack), side="left")
    else:
        low, high = np.intp(0), np.intp(1)
    if low != high:
        total = float(np.cumsum(weights)[-1])
        low = np.searchsorted(running, share * total, side="left")
    return int(low) + 1 if low < prefix.shape[0] else None


def _slack(total: float, n: int) -> float:
    """More than two float64 sums of the same n non-negative weights can differ by.

    Each is off by at most about ``n * 2**-53`` of the exact sum, whatever the order of additions
    (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2); this allows
    four times what two of them need.
    """
    return total * n * 2.0**-50


def _draw_in_blocks(weights: NDArray[np.float64], u: float) -> int | None:
    """The answer of ``draw`` if block sums leave no doubt about it, else None."""
    blocks = np.cumsum(np.add.reduceat(weights, np.arange(0, weights.shape[0], _BLOCK)))
    total = float(blocks[-1])
    target = u * total
    slack = _slack(total, weights.shape[0])
    block = int(np.searchsorted(blocks, target, side="right"))
    before = float(blocks[block - 1]) if block else 0.0
    inside = np.cumsum(weights[block * _BLOCK : (block + 1) * _BLOCK]) + before
    offset = int(np.searchsorted(inside, target, side="right"))
    if offset == inside.shape[0]:
        return None
    below = float(inside[offset - 1]) if offset else before
    # Both the running sums and the target may be off by a slack.
    if below + 2 * slack > target or float(inside[offset]) - 2 * slack <= target:
        return None
    return block * _BLOCK + offset
