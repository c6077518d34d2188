"""Counter-based random draws: the i-th draw of a stream is a pure function of (seed, stream, i).

There is no generator state, so no decoding path can fall out of step with another: whoever knows
which token of which stream is being chosen knows its draw.
"""

from __future__ import annotations

import numpy as np

__all__ = ["LIMIT", "uniform"]

LIMIT = 2**64
"""Seeds, streams and indices are integers in [0, LIMIT)."""


def uniform(seed: int, stream: int, index: int) -> float:
    """Draw number ``index`` of a stream, uniform in [0, 1), a multiple of 2**-53.

    The generator is Philox4x64-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
    easy as 1, 2, 3", SC 2011), as numpy ships it. The 128-bit key is (seed, stream), seed in the
    low word; the 256-bit counter handed to numpy is ``index``; both maps are injective. numpy
    increments the counter before each block, so the block used is the one for counter
    ``index + 1``. Its first 64-bit output word ``r`` becomes the float ``(r >> 11) * 2**-53``: the
    top 53 bits, exactly representable, never 1.0.

    Measured cost: 6 microseconds in a loop, 12 to 45 between other work that displaces it from
    the processor's caches (AMD EPYC, numpy 2.4, CPython 3.11), nearly all of it constructing the
    numpy object.

    Raises:
        ValueError: an argument is not in [0, 2**64).
    """
    for name, value in (("seed", seed), ("stream", stream), ("index", index)):
        if not 0 <= value < LIMIT:
            raise ValueError(f"{name} must be between 0 and 2**64 - 1, got {value}")
    key = np.array([seed, stream], dtype=np.uint64)
    counter = np.array([index, 0, 0, 0], dtype=np.uint64)
    raw = int(np.random.Philox(key=key, counter=counter).random_raw())
    return (raw >> 11) * 2.0**-53
