"""What rewrites of applicators reason with: the whole schema, its draft, proofs about its parts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

from fucina_cli.constraint.schema import references
from fucina_cli.constraint.schema.check import validator_class
from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.emptiness import Emptiness
from fucina_cli.constraint.schema.facts import listed
from fucina_cli.constraint.schema.instances import Instances
from fucina_cli.constraint.schema.walk import Schema

_VALUES = 200  # listed values that are tried one by one
_PAIRS = 2016  # pairs of options that are told apart


class Ground:
    """The root of a gathered schema, as it was given.

    Attributes:
        root: the whole schema.
        draft: 3, 4, 6, 7, 2019 or 2020.
        instances: validates listed values.
    """

    def __init__(self, root: Schema) -> None:
        import jsonschema

        self.root = root
        self.draft = draft(root)
        self.instances = Instances(root)
        self._emptiness = Emptiness(root, self.instances)
        self._asserting = frozenset(validator_class(jsonschema, root).VALIDATORS)

    def asserts(self, keyword: str) -> bool:
        """Whether the draft knows `keyword` as one that can refuse a value."""
        return keyword in self._asserting

    def target(self, reference: str) -> Schema | None:
        """What a gathered reference leads to."""
        return references.target(reference, self.root)

    def impossible(self, schemas: Iterable[Schema]) -> bool:
        """Whether it is proven that no value satisfies all of `schemas`."""
        return self._emptiness.impossible(schemas)

    def exclusive(self, options: list[Schema], context: Iterable[Schema]) -> bool:
        """Whether it is proven that no value of `context` satisfies two of `options`."""
        around = list(context)
        if len(options) * (len(options) - 1) // 2 > _PAIRS:
            return False
        return all(self.impossible([*pair, *around]) for pair in combinations(options, 2))

    def values(self, context: list[dict[str, Any]]) -> list[Any] | None:
        """The values that `const` or `enum` of some fact admit and no fact refuses."""
        lists = [found for fact in context if (found := listed(fact)) is not None]
        shortest = min(lists, key=len, default=None)
        if shortest is None or len(shortest) > _VALUES:
            return None
        return [value for value in shortest if not self.instances.refused(value, context)]
