"""References within a gathered schema: every `$ref` is `#` or leads to a definition of the root."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, unquote

from fucina_cli.constraint.schema.walk import Schema, escaped

#: What a URI fragment may hold unquoted (RFC 3986, 3.5).
_FRAGMENT = "/?:@-._~!$&'()*+,;="
DEFINITIONS = ("$defs", "definitions")


def to_definition(keyword: str, name: str) -> str:
    """The reference to a definition of the root."""
    return "#" + quote(f"/{keyword}/{escaped(name)}", safe=_FRAGMENT)


def definition(reference: str, root: Schema) -> tuple[str, str] | None:
    """The keyword and the name of the definition that a reference leads to, if it does."""
    parts = unquote(reference).split("/", 2)
    if len(parts) != 3 or parts[0] != "#" or parts[1] not in DEFINITIONS:
        return None
    name = parts[2].replace("~1", "/").replace("~0", "~")
    named: Any = root.get(parts[1]) if isinstance(root, dict) else None
    return (parts[1], name) if isinstance(named, dict) and name in named else None


def target(reference: str, root: Schema) -> Schema | None:
    """The schema that a gathered reference leads to; None where it is no such reference."""
    if reference == "#":
        return root
    place = definition(reference, root)
    return None if place is None else root[place[0]][place[1]]
