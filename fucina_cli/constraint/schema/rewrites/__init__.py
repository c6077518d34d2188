"""Sound rewrites of a schema before the engine sees it.

Each is one file with a function `rewrite(schema, scope)`, pure but for `scope.note`: the schema
that it returns accepts the same documents, or more of them where it notes a relaxation, and never
fewer unless a note that is not a relaxation says so.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.rewrites import (
    all_of,
    applicators,
    contains,
    counts,
    formats,
    impossible,
    numbers,
    open_objects,
    pattern_properties,
    patterns,
    property_counts,
    property_names,
    reference_names,
    references,
    trivial,
    unique_items,
)
from fucina_cli.constraint.schema.walk import Rewrite, Schema, Scope, rewritten

#: In the order in which they run.
REWRITES: tuple[Rewrite, ...] = (
    reference_names.rewrite,
    trivial.rewrite,
    counts.rewrite,
    references.rewrite,
    applicators.rewrite,
    all_of.rewrite,
    property_names.rewrite,
    pattern_properties.rewrite,
    contains.rewrite,
    unique_items.rewrite,
    property_counts.rewrite,
    open_objects.rewrite,
    numbers.rewrite,
    impossible.rewrite,
    formats.rewrite,
    formats.relax,  # after others: it widens
    patterns.rewrite,  # last: what is written before is ECMA-262, what is written here the engine's
)


def apply(schema: Schema, scope: Scope) -> dict[str, Any]:
    """`schema` after all rewrites, as an object. Raises GrammarError and RecursionError."""
    for rewrite in REWRITES:
        if not isinstance(schema, dict):
            break
        scope.root, scope.pointer = schema, ""
        schema = rewritten(schema, rewrite, scope)
    if isinstance(schema, dict):
        return schema
    return {} if schema else {"enum": []}
