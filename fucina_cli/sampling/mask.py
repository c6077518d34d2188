"""Allowed-token sets as packed words, and applying one to a row of logits.

A set over ``n_vocab`` token ids is ``ceil(n_vocab / 32)`` uint32 words; id ``i`` is bit ``i % 32``
of word ``i // 32``; 1 means allowed. Bits past ``n_vocab`` mean nothing and are ignored on reading
and zero on writing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["allowed_ids", "apply_mask_words", "is_allowed", "pack_mask", "word_count"]

WORD_BITS = 32

# For each byte of a mask its eight limits, shape (256, 8) float32: -inf where forbidden, NaN where
# allowed, which fmin takes for "no limit".
_BITS = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
_LIMITS = np.where(_BITS == 1, np.float32(np.nan), np.float32(-np.inf)).astype(np.float32)


def word_count(n_vocab: int) -> int:
    """Number of uint32 words that hold ``n_vocab`` bits."""
    return -(-n_vocab // WORD_BITS)


def pack_mask(allowed: NDArray[np.bool_]) -> NDArray[np.uint32]:
    """Pack a boolean vector of shape (n_vocab,), True meaning allowed, into uint32 words.

    Raises:
        ValueError: ``allowed`` is not one-dimensional.
    """
    if allowed.ndim != 1:
        raise ValueError(f"expected a vector of booleans, got shape {allowed.shape}")
    padded = np.zeros(word_count(allowed.shape[0]) * WORD_BITS, dtype=np.bool_)
    padded[: allowed.shape[0]] = allowed
    return np.packbits(padded, bitorder="little").view("<u4").astype(np.uint32, copy=False)


def is_allowed(words: NDArray[np.uint32], token: int) -> bool:
    """Whether the bit of ``token`` is 1; words of shape (any,), an id from 0 that they cover."""
    return bool(int(words[token >> 5]) >> (token & 31) & 1)


def allowed_ids(words: NDArray[np.uint32], n_vocab: int) -> NDArray[np.int64]:
    """The ids whose bit is 1, ascending, below ``n_vocab``, as int64.

    Raises:
        ValueError: ``words`` is not a one-dimensional uint32 array.
    """
    _check_words(words)
    # flatnonzero has a fast path for booleans, which 0/1 bytes can be viewed as.
    bits = np.unpackbits(_bytes(words), bitorder="little").view(np.bool_)
    return np.flatnonzero(bits[:n_vocab])  # bits past the vocabulary are padding


def apply_mask_words(logits: NDArray[np.float32], words: NDArray[np.uint32]) -> None:
    """Set every forbidden id of a row to -inf, in place; allowed logits keep their exact bits.

    Every byte of the mask is looked up as eight limits, and the row is its minimum with them: the
    same time whether a mask is nearly empty, nearly full or between. Setting single ids or blocks
    takes longer, as the processor mispredicts where they are.

    Args:
        logits: shape (n_vocab,), float32, C-contiguous, writable.
        words: shape (any,), uint32. Ids past the end of the words are forbidden; bits past the
            end of the row are ignored.

    Raises:
        ValueError: a wrong shape, dtype or layout.
    """
    if logits.ndim != 1 or logits.dtype != np.float32 or not logits.flags.c_contiguous:
        raise ValueError("logits must be one contiguous float32 row")
    _check_words(words)
    n_covered = min(logits.shape[0], words.shape[0] * WORD_BITS)
    logits[n_covered:] = -np.inf
    row = logits[:n_covered]
    bytes_of_mask = _bytes(words)[: -(-n_covered // 8)]
    limits = _LIMITS.take(bytes_of_mask, axis=0).reshape(-1)[:n_covered]
    np.fmin(row, limits, out=row)


def _check_words(words: NDArray[np.uint32]) -> None:
    if words.ndim != 1 or words.dtype != np.uint32:
        raise ValueError(f"mask words must be a uint32 vector, got {words.dtype} {words.shape}")


def _bytes(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The words as bytes, the lowest ids first."""
    return np.ascontiguousarray(words, dtype="<u4").view(np.uint8)
