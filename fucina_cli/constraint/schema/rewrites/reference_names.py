"""References as URIs."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from fucina_cli.constraint.schema.walk import Schema, Scope

#: What the fragment of a URI can't hold (RFC 3986, section 3.5): `%` but before two digits of 16.
_NO_FRAGMENT = re.compile(r"[^A-Za-z0-9._~:/?@!$&'()*+,;=%-]|%(?![0-9A-Fa-f]{2})")


def rewrite(schema: dict[str, Any], _scope: Scope) -> Schema:
    """`$ref` to a place of the schema with the characters encoded that a URI can't hold.

    Names of definitions with spaces or brackets are common, and readers resolve them as written.
    """
    ref = schema.get("$ref")
    if not isinstance(ref, str) or not ref.startswith("#/"):
        return schema
    encoded = "#" + _NO_FRAGMENT.sub(lambda match: quote(match.group(), safe=""), ref[1:])
    return schema if encoded == ref else {**schema, "$ref": encoded}
