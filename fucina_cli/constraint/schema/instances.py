"""Whether a listed value satisfies schemas of one root: asked of the judge's validator."""

from __future__ import annotations

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
        import jsonschema
        import referencing

        kind = validator_class(jsonschema, root)
        checker, registry = kind.FORMAT_CHECKER, referencing.Registry()
        self._whole = kind(root, format_checker=checker, registry=registry)
        kept = {name: check for name, check in kind.VALIDATORS.items() if name in _KEPT}
        # A class of its own, not `extend`: that keeps the keywords of the class.
        part = jsonschema.validators.create(
            kind.META_SCHEMA,
            validators=kept,
            type_checker=kind.TYPE_CHECKER,
            format_checker=checker,
            id_of=kind.ID_OF,
            applicable_validators=lambda schema: list(schema.items()),
        )
        self._part = part(root, format_checker=checker, registry=registry)

    def valid(self, value: Any, schema: Schema) -> bool | None:
        """Whether `value` satisfies `schema`; None where the validator can't tell."""
        return _asked(self._whole, value, schema)

    def refused(self, value: Any, schemas: Iterable[Schema]) -> bool:
        """Whether a keyword that no rewrite of applicators changes certainly refuses `value`."""
        return any(_asked(self._part, value, schema) is False for schema in schemas)


def _asked(validator: Any, value: Any, schema: Schema) -> bool | None:
    try:
        return bool(validator.evolve(schema=schema).is_valid(value))
    except Exception:  # a pattern re can't read, numbers beyond floats
        return None
