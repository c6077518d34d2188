"""Choosing tokens: the processor seam, the sampler, exact filters, counter-based draws."""

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
