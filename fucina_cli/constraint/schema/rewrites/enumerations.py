"""`enum` and `const` beside other keywords: the listed values that the other keywords accept."""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.walk import Schema

_MOST = 1000  # values that are tried
_KEPT = frozenset(
    {"$schema", "$defs", "definitions", "title", "description", "default", "examples", "$comment"}
)


def rewrite(schema: dict[str, Any], ground: Ground) -> Schema:
    """`schema` as one `enum`, exactly; unchanged where the validator can't tell."""
    keyword = "const" if "const" in schema and ground.asserts("const") else "enum"
    values = [schema["const"]] if keyword == "const" else schema.get("enum")
    others = [key for key in schema if key != keyword and ground.asserts(key)]
    if not isinstance(values, list) or not others or len(values) > _MOST:
        return schema
    verdicts = [ground.instances.valid(value, schema) for value in values]
    if None in verdicts:
        return schema
    left = [value for value, valid in zip(values, verdicts, strict=True) if valid]
    kept = {key: value for key, value in schema.items() if key in _KEPT}
    return {**kept, "enum": left} if left else False
