"""Sound rewrites of a schema before the engine sees it.

Each is one file with a function `rewrite(schema, scope)`, pure but for `scope.note`: the schema
that it returns accepts the same documents, or more of them where it notes a relaxation, and never
fewer unless a note that is not a relaxation says so.
"""

from __future__ import annotations

from fucina_cli.constraint.schema.rewrites import counts, formats, numbers, patterns
from fucina_cli.constraint.schema.walk import Rewrite, Schema, Scope, rewritten

#: In the order in which they run.
REWRITES: tuple[Rewrite, ...] = (
    counts.rewrite,
    numbers.rewrite,
    formats.rewrite,
    formats.relax,  # after others: it widens
    patterns.rewrite,  # last: what is written before is ECMA-262, what is written here the engine's
)


def apply(schema: Schema, scope: Scope) -> Schema:
    """`schema` after all rewrites. Raises GrammarError and RecursionError."""
    for rewrite in REWRITES:
        scope.root, scope.pointer = schema, ""
        schema = rewritten(schema, rewrite, scope)
    return schema
