"""What can go wrong with a model file or a context."""

from __future__ import annotations


class ModelError(Exception):
    """The file is not a model that this tool can run; the text says what and the way out."""


class ContextFull(Exception):
    """The KV cache has no room for the rows asked for."""
