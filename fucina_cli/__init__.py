"""Fucina CLI: GGUF language models whose answers fit a schema, faster than without one."""
