"""The keywords that this project judges itself, over those of the package jsonschema.

Each file holds some of them in a table `KEYWORDS`: a function takes jsonschema's validator, the
keyword's value, the instance and the schema around, and yields one text per fault, or the faults
of the schemas inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import attrs
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from fucina_cli.constraint.schema.judging import equality, formats, numbers, patterns

Keyword = Callable[[Any, Any, Any, dict[str, Any]], Iterator[Any]]

KEYWORDS: dict[str, Keyword] = {
    **numbers.KEYWORDS,
    **equality.KEYWORDS,
    **formats.KEYWORDS,
    **patterns.KEYWORDS,
}


@functools.cache
def exact(validator: Any, *, of_schemas: bool = False) -> Any:
    """A validator class of jsonschema with those keywords of its draft replaced by ours.

    `of_schemas`: for instances that are schemas themselves. 1.0 is then an integer in drafts 3
    and 4 too, and no format is asserted: a pattern is read where it is used.
    """
    known = validator.VALIDATORS
    ours = {name: _reported(check) for name, check in KEYWORDS.items() if name in known}
    if of_schemas:
        ours["format"] = _unchecked
    types = numbers.types(validator.TYPE_CHECKER, by_value=of_schemas)
    ours_alone = extend(validator, validators=ours, type_checker=types)
    evolve = ours_alone.evolve

    def evolved(self: Any, **changes: Any) -> Any:
        made = evolve(self, **changes)
        if type(made) is ours_alone:
            return made
        # The subschema names a draft: jsonschema then takes the class that is registered for it.
        standard: Any = type(made)
        kind = exact(standard, of_schemas=of_schemas)
        fields = [field for field in attrs.fields(standard) if field.init]
        return kind(**{field.alias: getattr(made, field.name) for field in fields})

    ours_alone.evolve = evolved
    return ours_alone


def _unchecked(*_: Any) -> Iterator[Any]:
    yield from ()


def _reported(check: Keyword) -> Any:
    def keyword(validator: Any, value: Any, instance: Any, schema: dict[str, Any]) -> Iterator[Any]:
        for fault in check(validator, value, instance, schema):
            yield ValidationError(fault) if isinstance(fault, str) else fault

    return keyword
