"""`not` and `propertyNames` that forbid everything or nothing."""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.keywords import DRAFT_7, KEYWORDS, draft_of
from fucina_cli.constraint.schema.walk import Schema, Scope


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`false` for a `not` that forbids every value; without a `not` that forbids none.

    Of `propertyNames` the type is left out, as every name is a string, and all of it where nothing
    else is left. Both sides of each step accept the same documents. Nothing is changed beside a
    `$ref` of a draft that ignores what stands there.
    """
    if "$ref" in schema and draft_of(scope.root) <= DRAFT_7:
        return schema
    if "not" in schema:
        if _allows_all(schema["not"]):
            return False
        if schema["not"] is False:
            schema = {key: value for key, value in schema.items() if key != "not"}
    names = schema.get("propertyNames")
    if isinstance(names, dict) and names.get("type") is not None and _is_text(names["type"]):
        names = {key: value for key, value in names.items() if key != "type"}
        schema = {**schema, "propertyNames": names}
    if "propertyNames" in schema and _allows_all(names):
        schema = {key: value for key, value in schema.items() if key != "propertyNames"}
    return schema


def _allows_all(schema: Schema) -> bool:
    if isinstance(schema, dict):
        return not any(key in KEYWORDS and KEYWORDS[key].constrains for key in schema)
    return schema is True


def _is_text(kind: object) -> bool:
    return kind == "string" or (isinstance(kind, list) and "string" in kind)
