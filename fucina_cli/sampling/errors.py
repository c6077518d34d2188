"""What can go wrong when a token is chosen."""

from __future__ import annotations

import math

__all__ = ["AllTokensMasked", "NonFiniteLogits", "require_selectable"]


class AllTokensMasked(RuntimeError):
    """Nothing is selectable: every logit of the row is -inf after the processors ran."""


class NonFiniteLogits(RuntimeError):
    """The row's maximum is NaN or +inf: the model (or a processor) is broken."""


def require_selectable(top: float) -> None:
    """Check the maximum of a row, the one value that tells whether a token can be chosen.

    NaN propagates through ``max`` and ``argmax``, so this single comparison covers the whole row.

    Raises:
        AllTokensMasked: ``top`` is -inf.
        NonFiniteLogits: ``top`` is NaN or +inf.
    """
    if math.isfinite(top):
        return
    if top == -math.inf:
        raise AllTokensMasked("no token can be selected: every logit is -inf after masking")
    raise NonFiniteLogits(f"the largest logit is {top}: the logits are broken")
