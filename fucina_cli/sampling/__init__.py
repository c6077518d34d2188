"""Choosing tokens: processors, the sampler, exact filters, counter-based draws."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fucina_cli.lazy import exports

if TYPE_CHECKING:
    from fucina_cli.sampling.config import SamplingConfig
    from fucina_cli.sampling.draws import uniform
    from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
    from fucina_cli.sampling.mask import allowed_ids, apply_mask_words, pack_mask
    from fucina_cli.sampling.processor import (
        DraftMasks,
        LogitBias,
        LogitProcessor,
        ProcessorChain,
        Structured,
    )
    from fucina_cli.sampling.sampler import Sampler

__all__ = [
    "AllTokensMasked",
    "DraftMasks",
    "LogitBias",
    "LogitProcessor",
    "NonFiniteLogits",
    "ProcessorChain",
    "Sampler",
    "SamplingConfig",
    "Structured",
    "allowed_ids",
    "apply_mask_words",
    "pack_mask",
    "uniform",
]

#: The options of the sampler are read without loading numpy.
__getattr__ = exports(
    __name__,
    {
        "AllTokensMasked": "errors",
        "DraftMasks": "processor",
        "LogitBias": "processor",
        "LogitProcessor": "processor",
        "NonFiniteLogits": "errors",
        "ProcessorChain": "processor",
        "Sampler": "sampler",
        "SamplingConfig": "config",
        "Structured": "processor",
        "allowed_ids": "mask",
        "apply_mask_words": "mask",
        "pack_mask": "mask",
        "uniform": "draws",
    },
)
