"""Allowed-token sets as packed words, and applying one to a row of logits.

A set over ``n_vocab`` token ids is ``ceil(n_vocab / 32)`` uint32 words; id ``i`` is bit ``i % 32``
of word ``i // 32``; 1 means allowed. Bits past ``n_vocab`` mean nothing and are ignored on reading
and zero on writing.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["allowed_ids", "apply_mask_words", "pack_mask", "word_count"]

WORD_BITS = 32

# Measured on 151,936 ids, with a new mask at every step so that no branch predictor can learn it.
# Up to one used word in 16, filling the row and putting the allowed logits back is cheapest. Up to
# two words in five that forbid anything, gathering just those blocks beats passing over the row.
_SPARSE = 1 / 16
_FEW_TOUCHED = 2 / 5

_ALL_ONES = np.uint32(0xFFFFFFFF)
_NEG_INF_BITS = np.uint32(0xFF800000)


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


def allowed_ids(words: NDArray[np.uint32], n_vocab: int) -> NDArray[np.int64]:
    """The ids whose bit is 1, ascending, below ``n_vocab``, as int64.

    Raises:
        ValueError: ``words`` is not a one-dimensional uint32 array.
    """
    _check_words(words)
    ids = _set_bits(words)
    # Bits past the vocabulary are padding; ids ascend, so they can only sit at the end.
    if ids.shape[0] and ids[-1] >= n_vocab:
        ids = ids[: int(np.searchsorted(ids, n_vocab))]
    return ids


def apply_mask_words(logits: NDArray[np.float32], words: NDArray[np.uint32]) -> None:
    """Set every forbidden id of a row to -inf, in place; allowed logits keep their exact bits.

    Grammar masks are nearly empty (structure) or nearly full (free strings). Of a nearly empty one
    the few allowed logits are saved, the row filled, and they are put back. Otherwise the bit
    pattern of -inf is written without a branch per id, into the blocks of 32 whose word is not all
    ones or, when those are many, into the whole row: scattering single ids costs twice as much, as
    the processor mispredicts where they are.

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
    words = words[: word_count(n_covered)]
    if np.count_nonzero(words) <= words.shape[0] * _SPARSE:
        ids = allowed_ids(words, n_covered)
        values = row[ids]
        row.fill(-np.inf)
        row[ids] = values
        return
    pattern = row.view(np.uint32)
    n_whole = n_covered // WORD_BITS  # a last, partly used word is not a block of 32
    touched = np.flatnonzero(words[:n_whole] != _ALL_ONES)
    if touched.shape[0] > words.shape[0] * _FEW_TOUCHED:
        _forbid(pattern, words)
        return
    blocks = pattern[: n_whole * WORD_BITS].reshape(n_whole, WORD_BITS)
    some = blocks[touched]
    _forbid(some.reshape(-1), words[touched])
    blocks[touched] = some
    _forbid(pattern[n_whole * WORD_BITS :], words[n_whole:])


def _check_words(words: NDArray[np.uint32]) -> None:
    if words.ndim != 1 or words.dtype != np.uint32:
        raise ValueError(f"mask words must be a uint32 vector, got {words.dtype} {words.shape}")


def _unpack(words: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """The bits of the words, lowest first, as one 0/1 byte each."""
    little_endian = np.ascontiguousarray(words, dtype="<u4")
    return np.unpackbits(little_endian.view(np.uint8), bitorder="little")


def _set_bits(words: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Positions of all 1 bits, ascending; only words with any are unpacked."""
    used = np.flatnonzero(words != 0)
    # flatnonzero has a fast path for booleans, which 0/1 bytes can be viewed as.
    bits = np.flatnonzero(_unpack(words[used]).view(np.bool_))
    return used[bits // WORD_BITS] * WORD_BITS + bits % WORD_BITS


def _forbid(pattern: NDArray[np.uint32], words: NDArray[np.uint32]) -> None:
    """Make -inf of every float bit pattern whose bit in ``words`` is 0, in place."""
    if pattern.shape[0] == 0:
        return
    keep = _unpack(words)[: pattern.shape[0]].astype(np.uint32)
    np.negative(keep, out=keep)  # 1 -> all ones, 0 -> 0
    forbid = ~keep
    pattern |= forbid  # forbidden: all ones ...
    keep |= _NEG_INF_BITS
    pattern &= keep  # ... of which the bits of -inf remain
