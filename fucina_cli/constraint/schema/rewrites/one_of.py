"""`oneOf` as `anyOf`, exactly: where its options exclude each other, or are made to."""

from __future__ import annotations

from dataclasses import dataclass

from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.negation import MOST, negated
from fucina_cli.constraint.schema.walk import Schema


@dataclass(frozen=True)
class Option:
    """One option of a `oneOf`.

    Attributes:
        schema: the option as given.
        index: its place.
        without: what must hold beside it, so that no other option holds.
        exact: whether `without` says so in full.
    """

    schema: Schema
    index: int
    without: tuple[Schema, ...] = ()
    exact: bool = True


def options(given: list[Schema], context: list[Schema], ground: Ground) -> list[Option]:
    """The options beside `context`, each with what keeps the others out; impossible ones left out.

    An option that can't hold together with this one needs nothing beside it; of the others the
    complement is taken, where it can be written.
    """
    possible = [
        (index, part) for index, part in enumerate(given) if not ground.impossible([part, *context])
    ]
    if len(possible) < 2 or ground.exclusive([part for _, part in possible], context):
        return [Option(part, index) for index, part in possible]
    if len(possible) > MOST:
        return [Option(part, index, exact=False) for index, part in possible]
    found = []
    for index, part in possible:
        others = [
            negated(other, [part, *context], ground)
            for place, other in possible
            if place != index and not ground.impossible([part, other, *context])
        ]
        kept = tuple(other for other in others if other is not None and other is not True)
        if False not in kept:
            found.append(Option(part, index, kept, exact=None not in others))
    return found
