"""Counter-based random draws: the i-th draw of a stream is a pure function of (seed, stream, i).

There is no generator state, so no decoding path can fall out of step with another: seed,
stream and the index of the token being chosen determine its draw.
"""

from __future__ import annotations

__all__ = ["LIMIT", "uniform"]

LIMIT = 2**64
"""Seeds, streams and indices are integers in [0, LIMIT)."""

_MASK = LIMIT - 1
# The constants of the paper: multipliers, and what the key grows by from round to round.
_ROUNDS = 10
_MULTIPLIERS = (0xD2E7470EE14C6C93, 0xCA5A826395121157)
_WEYL = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)


def uniform(seed: int, stream: int, index: int) -> float:
    """Draw number ``index`` of a stream, uniform in [0, 1), a multiple of 2**-53.

    The generator is Philox4x64-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
    easy as 1, 2, 3", SC 2011). The 128-bit key is (seed, stream), seed in the low word; the 256-bit
    counter is ``index + 1``, as numpy's Philox uses it when it is handed ``index``; both maps are
    injective. The first 64-bit output word ``r`` becomes the float ``(r >> 11) * 2**-53``: the top
    53 bits, exactly representable, never 1.0.

    Ten rounds on Python's integers take less time than constructing numpy's object.

    Raises:
        ValueError: an argument is not in [0, 2**64).
    """
    for name, value in (("seed", seed), ("stream", stream), ("index", index)):
        if not 0 <= value < LIMIT:
            raise ValueError(f"{name} must be between 0 and 2**64 - 1, got {value}")
    c0, c1, c2, c3 = (index + 1) & _MASK, (index + 1) >> 64, 0, 0
    k0, k1 = seed, stream
    for _ in range(_ROUNDS):
        left, right = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            (right >> 64) ^ c1 ^ k0,
            right & _MASK,
            (left >> 64) ^ c3 ^ k1,
            left & _MASK,
        )
        k0, k1 = (k0 + _WEYL[0]) & _MASK, (k1 + _WEYL[1]) & _MASK
    return (c0 >> 11) * 2.0**-53
