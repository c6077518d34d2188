"""What of a schema its grammar leaves to the judge, for those who want none of that."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.schema.walk import Schema, Scope, rewritten
from fucina_cli.errors import Part

_SHOWN = 3
_KEYWORD = re.compile(r"[\"`](\$?[a-zA-Z]+)[\"`]")
_POINTER = re.compile(r"\bat (the top|/)")


def check_strict(prepared: Prepared, schema: Schema) -> Prepared:
    """`prepared` itself where it enforces all of `schema`.

    Raises GrammarError that names the first keyword that it does not enforce, and where it is.
    """
    if not prepared.relaxed:
        return prepared
    told = prepared.relaxations[0]
    if not _POINTER.search(told):
        pointers = _places(schema, _KEYWORD.findall(told))
        told += f" (at {', '.join(pointers[:_SHOWN])})" if pointers else ""
    raise GrammarError(
        f"not all of the schema can be enforced while decoding: {told}; without ",
        Part("strict"),
        " that is left to the check of the finished answer",
    )


def _places(schema: Schema, keywords: Sequence[str]) -> list[str]:
    """JSON pointers of some keywords, in the order of the schema from inside out."""
    found: list[str] = []

    def look(part: dict[str, Any], scope: Scope) -> Schema:
        found.extend(f"{scope.pointer}/{key}" for key in part if key in keywords)
        return part

    rewritten(schema, look, Scope(schema))
    return found
