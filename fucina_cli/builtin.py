"""Where the built-in models are. They are ordinary GGUF files, so other tools can use them too."""

from __future__ import annotations

from pathlib import Path

#: The name that stands for the built-in model in place of a path.
NAME = "tiny"


def builtin_path(family: str) -> Path | None:
    """The built-in model of the family of that name; None when it has none."""
    path = Path(__file__).parent / "tiny" / f"{family}.gguf"
    return path if path.is_file() else None
