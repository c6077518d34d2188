"""`if`, `then` and `else` as a choice (core 2020-12, 10.2.2): the condition and what follows from
it, or its complement and what follows from that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.negation import negated
from fucina_cli.constraint.schema.walk import Schema

KEYWORDS = ("if", "then", "else")


@dataclass(frozen=True)
class Choice:
    """Attributes:
    holds: the condition.
    fails: its complement; True where it can't be written, which only widens.
    exact: whether `fails` is the complement.
    """

    holds: Schema
    fails: Schema
    exact: bool


def choice(schema: dict[str, Any], context: list[Schema], ground: Ground) -> Choice | None:
    """The choice beside `context`; None where the keywords say nothing."""
    if "if" not in schema or not ground.asserts("if"):
        return None
    if all(schema.get(key, True) in (True, {}) for key in ("then", "else")):
        return None
    other = negated(schema["if"], context, ground)
    return Choice(schema["if"], True if other is None else other, other is not None)
