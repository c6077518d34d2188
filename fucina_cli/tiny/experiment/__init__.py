"""The constrained-decoding experiment with the built-in models; see `__main__`."""
