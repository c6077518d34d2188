"""Which draft of JSON Schema a document is written in."""

from __future__ import annotations

from typing import Any

#: A part of `$schema` that names a draft, and the draft's number.
_NAMES = (
    ("draft-03", 3),
    ("draft-04", 4),
    ("draft-06", 6),
    ("draft-07", 7),
    ("2019-09", 2019),
)


def draft(root: Any) -> int:
    """The draft of a whole schema: 3, 4, 6, 7, 2019 or 2020, which is also the default."""
    named = root.get("$schema") if isinstance(root, dict) else None
    if isinstance(named, str):
        for part, number in _NAMES:
            if part in named:
                return number
    return 2020
