"""Choosing tokens: the processors, the sampler, exact filters, counter-based draws."""
