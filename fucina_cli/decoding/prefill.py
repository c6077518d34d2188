"""Logits after a prompt, without decoding on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fucina_cli.llama.context import Context, Row


def last_logits(context: Context, tokens: Sequence[int]) -> NDArray[np.float32]:
    """A copy of the logits that follow `tokens`, float32 [n_vocab]; empties the first stream."""
    context.clear(0)
    last = len(tokens) - 1
    for start in range(0, len(tokens), context.batch_rows):
        end = min(len(tokens), start + context.batch_rows)
        context.decode([Row(tokens[i], i, 0, i == last) for i in range(start, end)])
    row = last - (last // context.batch_rows) * context.batch_rows
    logits: NDArray[np.float32] = context.logits(row).copy()
    return logits
