"""Schemas of which no part may be left to the judge."""

from __future__ import annotations

from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.errors import Part


def check_strict(prepared: Prepared) -> Prepared:
    """`prepared` itself where it enforces all of its schema.

    Raises GrammarError that names the first keyword that it does not enforce, and where it is.
    """
    if not prepared.relaxed:
        return prepared
    first = prepared.relaxations[0]
    raise GrammarError(
        f"not all of the schema can be enforced while decoding: {first}; without ",
        Part("strict"),
        " that is left to the check of the finished answer",
    )
