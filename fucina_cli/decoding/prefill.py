"""Logits after a prompt, without decoding on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fucina_cli.llama.context import Context


def last_logits(context: Context, tokens: Sequence[int]) -> NDArray[np.float32]:
    """A copy of the logits that follow `tokens`, float32 [n_vocab]; empties the first slot."""
    context.clear(0)
    logits: NDArray[np.float32] = context.logits(context.prefill(0, tokens, logits=True)).copy()
    return logits
