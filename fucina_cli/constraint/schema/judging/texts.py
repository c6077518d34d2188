"""JSON values as a part of a message."""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema import document

_SHOWN = 60


def shown(value: Any) -> str:
    """JSON text of a value, shortened."""
    text = document.dumps(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
