"""Keys that an object of a JSON text has more than once.

RFC 8259 leaves open what such an object means, and readers differ; I-JSON (RFC 7493, section 2.3)
forbids them.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fucina_cli.constraint.schema.walk import escaped


class _Object(list[tuple[str, Any]]):
    """An object as read: all its members, in order."""


def repeated_keys(text: str) -> Iterator[tuple[str, str]]:
    """Pairs of an object's JSON pointer and a key that it has again; keys count as unescaped.

    Members below a repeated key are looked at too. Raises what `json.loads` raises.
    """
    repeated = False

    def read(members: list[tuple[str, Any]]) -> Any:
        nonlocal repeated
        repeated = repeated or len(dict(members)) < len(members)
        return _Object(members)

    # Numbers are of no interest, and Python refuses to read very long ones.
    value = json.loads(text, object_pairs_hook=read, parse_int=str, parse_float=str)
    if repeated:
        yield from _repeated(value, "")


def _repeated(value: Any, pointer: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, _Object):
        seen: dict[str, bool] = {}
        for key, member in value:
            if seen.get(key) is False:
                yield pointer, key
            seen[key] = key in seen
            yield from _repeated(member, f"{pointer}/{escaped(key)}")
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _repeated(item, f"{pointer}/{index}")
