"""Choosing tokens: the processor seam, the sampler, exact filters, counter-based draws."""
