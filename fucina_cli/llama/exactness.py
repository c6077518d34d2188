"""Whether a row's logits depend on the rows beside it, probed on this model and machine.

Plain, speculative and lockstep decoding give the same tokens only if a token's logits are bit for
bit the same alone and beside others. On a CPU llama.cpp can do that: flash attention with q8_0
keys and bf16 values (an f16 cache takes another path for single rows from 512 cells on), no
repacked and no tiled matrix kernels. Whether it does is not assumed here but probed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fucina_cli.llama import native
from fucina_cli.llama.context import Context, Row

#: Rows of the probing batches: repacked kernels start at 4 rows, tiled ones at 8.
_ROWS = 9
_SMALL = 4
_LOCKSTEP_SLOTS = 4  # that lockstep is probed with
#: Cache types whose single-row path splits the cells from 512 on, and cells filled to test that.
_SPLITTING = frozenset({"f32", "f16"})
_LONG = 520


@dataclass(frozen=True)
class Exactness:
    """The verdict of a probe: `exact`, and in one sentence why."""

    exact: bool
    reason: str


def probe(context: Context) -> Exactness:
    """Compare rows decoded one by one with the same rows in one batch, bitwise.

    Rows of several slots too, where the context has them. Empties the context. Costs two small
    batches and three single steps (two batches more for several slots), and a prefill of 520
    tokens with an f16 or f32 cache.
    """
    if not context.model.exact:
        return Exactness(False, "switched off: llama.cpp's own kernels, a row depends on its batch")
    if not native.exact_kernels():
        return Exactness(False, "this process loaded llama.cpp with its tiled kernels on")
    splits = _SPLITTING.intersection(context.cache_type)
    start = min(_LONG, max(0, context.n_ctx - _ROWS)) if splits else 0
    rows = min(_ROWS, context.n_ctx - start)
    if rows < 2:
        return Exactness(False, f"a context of {context.n_ctx} tokens is too short to probe")
    if not context.model.can_rewind:
        return Exactness(False, "a recurrent model: its state can't be rewound to compare")
    tokens = spread_ids(context.model.n_vocab, start + rows)
    span = [Row(tokens[i], i, 0, True) for i in range(start, start + rows)]
    context.clear_all()
    try:
        context.prefill(0, tokens[:start])
        context.decode(span)
        together = [context.logits(i).copy() for i in range(rows)]
        worst = 0.0
        for i in (rows - 1, rows // 2, 0):
            context.truncate(0, start + i)
            context.decode([span[i]])
            worst = max(worst, _difference(context.logits(0), together[i]))
        context.truncate(0, start)
        few = span[:_SMALL]
        context.decode(few)
        for i in range(len(few)):
            worst = max(worst, _difference(context.logits(i), together[i]))
        if context.n_slots > 1 and rows > _SMALL:
            worst = max(worst, _in_lockstep(context, span, start, together))
    finally:
        context.clear_all()
    if worst == 0.0:
        return Exactness(True, f"{rows} rows alone and in one batch are bitwise equal")
    kinds = "/".join(context.cache_type)
    return Exactness(
        False,
        f"rows differ by up to {worst:.2g} between one by one and one batch "
        f"({context.model.quantization} weights, {kinds} cache)",
    )


def _in_lockstep(
    context: Context, span: list[Row], start: int, alone: list[NDArray[np.float32]]
) -> float:
    """The same rows again, of several slots in one forward; the largest difference."""
    slots = range(min(context.n_slots, _LOCKSTEP_SLOTS))
    context.truncate(0, start)
    for slot in slots[1:]:
        context.copy(0, slot, start)
    worst = 0.0
    first = 0
    for count in (_SMALL, 1):  # a ragged beginning of several rows, and a step of one each
        part = range(first, min(first + count, len(span)))
        context.decode([span[i]._replace(slot=slot) for slot in slots for i in part])
        for row, i in enumerate(i for _ in slots for i in part):
            worst = max(worst, _difference(context.logits(row), alone[i]))
        first += count
    return worst


def _difference(a: NDArray[np.float32], b: NDArray[np.float32]) -> float:
    """Largest absolute difference of two rows; infinite where a NaN keeps them from comparing."""
    if np.array_equal(a, b):
        return 0.0
    worst = float(np.max(np.abs(a - b)))
    return worst if worst == worst else float("inf")


def spread_ids(n_vocab: int, count: int) -> list[int]:
    """Ids spread over the vocabulary (steps of a golden-ratio sequence), always the same."""
    return [int(n_vocab * ((0.5 + 0.6180339887498949 * i) % 1.0)) for i in range(count)]
