"""The synthetic corpus of the tiny models: every document is made here, from a seed."""
