"""References inside one document."""

from __future__ import annotations

from typing import Any
from urllib.parse import unquote

from fucina_cli.constraint.schema.walk import Schema


def resolved(root: Schema, reference: str) -> Schema | None:
    """The schema that a reference by JSON pointer (RFC 6901) names, None for other references."""
    if not reference.startswith("#") or reference[1:2] not in ("", "/"):
        return None
    found: Any = root
    for part in unquote(reference[2:]).split("/") if reference[1:] else []:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, dict) and part in found:
            found = found[part]
        elif isinstance(found, list) and part.isdecimal() and int(part) < len(found):
            found = found[int(part)]
        else:
            return None
    return found if isinstance(found, (dict, bool)) else None
