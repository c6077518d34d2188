"""The keywords that this project judges itself, over those of the package jsonschema.

Each file holds some of them in a table `KEYWORDS`: a function takes jsonschema's validator, the
keyword's value, the instance and the schema around, and yields one text per fault, or the faults
of the schemas inside.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

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
def exact(validator: Any) -> Any:
    """A validator class of jsonschema with those keywords of its draft replaced by ours."""
    known = validator.VALIDATORS
    ours = {name: _reported(check) for name, check in KEYWORDS.items() if name in known}
    return extend(validator, validators=ours, type_checker=numbers.types(validator.TYPE_CHECKER))


def _reported(check: Keyword) -> Any:
    def keyword(validator: Any, value: Any, instance: Any, schema: dict[str, Any]) -> Iterator[Any]:
        for fault in check(validator, value, instance, schema):
            yield ValidationError(fault) if isinstance(fault, str) else fault

    return keyword
