"""Whether a listed value satisfies schemas of one root: asked of the judge's validator."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from fucina_cli.constraint.schema.check import validator_class
from fucina_cli.constraint.schema.walk import Schema

#: Keywords that rewrites of applicators leave as they are. What is proven by these alone may stand
#: in for any other keyword, also for two that are rewritten because of each other.
_KEPT = frozenset(
    {
        "$ref", "allOf", "anyOf", "const", "enum", "exclusiveMaximum", "exclusiveMinimum",
        "format", "maxItems", "maxLength", "maxProperties", "maximum", "minItems", "minLength",
        "minProperties", "minimum", "multipleOf", "pattern", "properties", "required", "type",
    }
)  # fmt: skip


class Instances:
    """Validates values against parts of a root whose references are gathered."""

    def __init__(self, root: Schema) -> None:
        self._root = root

    def valid(self, value: Any, schema: Schema) -> bool | None:
        """Whether `value` satisfies `schema`; None where the validator can't tell."""
        return _asked(self._whole, value, schema)

    def refused(self, value: Any, schemas: Iterable[Schema]) -> bool:
        """Whether a keyword that no rewrite of applicators changes certainly refuses `value`."""
        return any(_asked(self._part, value, schema) is False for schema in schemas)

    @functools.cached_property
    def _whole(self) -> Any:
        return self._validator(self._kind)

    @functools.cached_property
    def _part(self) -> Any:
        return self._validator(_partial(self._kind))

    @functools.cached_property
    def _kind(self) -> Any:
        import jsonschema

        from fucina_cli.constraint.schema.judging import exact  # needs jsonschema

        return exact(validator_class(jsonschema, self._root))

    def _validator(self, kind: Any) -> Any:
        import referencing

        return kind(self._root, registry=referencing.Registry())


@functools.cache
def _partial(kind: Any) -> Any:
    """The validator class of the keywords that are kept; `extend` would keep all of them."""
    from jsonschema.validators import create

    return create(
        kind.META_SCHEMA,
        validators={name: check for name, check in kind.VALIDATORS.items() if name in _KEPT},
        type_checker=kind.TYPE_CHECKER,
        id_of=kind.ID_OF,
        applicable_validators=lambda schema: list(schema.items()),
    )


def _asked(validator: Any, value: Any, schema: Schema) -> bool | None:
    try:
        return bool(validator.evolve(schema=schema).is_valid(value))
    except Exception:  # a pattern that is none, a reference without a target
        return None
