"""The first k of a row in exact order, without sorting the row.

The order: descending value, ties by lower position. -inf never takes part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["top_order"]

# Blocks are the columns of a (rows, n / rows) reshape: the maximum over axis 0 of contiguous rows
# is elementwise, and many times faster than a maximum along axis 1.
# More rows make fewer, larger blocks: cheaper to search, but good for fewer k.
_BLOCK_ROWS = (64, 8, 2)
_BLOCKS_PER_K = 4


def top_order(values: NDArray[np.float32], k: int) -> NDArray[np.int64]:
    """Positions of the first ``k`` values above -inf, in order (fewer if there are fewer).

    k block maxima are k distinct elements, so the k-th largest of them is at most the k-th largest
    value: everything at or above it contains the answer, every tie included, and only that is
    sorted.

    Args:
        values: shape (n,), n < 2**31, float32 without NaN.
        k: at least 1.

    Returns:
        int64 positions, shape (min(k, number of values above -inf),).
    """
    floor = _floor(values, k)
    reaches = values >= floor if floor > -np.inf else values > -np.inf
    candidates = np.flatnonzero(reaches)
    return candidates[_descending(values[candidates])[:k]]


def _floor(values: NDArray[np.float32], k: int) -> float:
    """A value that at least k elements reach; -inf when no cheap one is known."""
    for rows in _BLOCK_ROWS:
        blocks = values.shape[0] // rows
        if k * _BLOCKS_PER_K <= blocks:
            maxima = values[: rows * blocks].reshape(rows, blocks).max(axis=0)
            return float(np.partition(maxima, blocks - k)[blocks - k])
    return -np.inf


def _descending(values: NDArray[np.float32]) -> NDArray[np.int64]:
    """Positions by descending value, ties ascending.

    Sorts one int64 key per element: the value's bits made monotone in the high half, the position
    in the low half. Keys are unique, so numpy's vectorised unstable sort is exact, and much
    faster than a stable argsort on a whole vocabulary.
    """
    bits = (values + np.float32(0.0)).view(np.int32)  # -0.0 + 0.0 is 0.0: the two zeros tie
    ascending = bits ^ ((bits >> 31) & np.int32(0x7FFFFFFF))
    keys: NDArray[np.int64] = (~ascending).astype(np.int64)
    keys <<= 32
    keys |= np.arange(values.shape[0], dtype=np.int64)
    keys.sort()
    keys &= 0xFFFFFFFF
    return keys
