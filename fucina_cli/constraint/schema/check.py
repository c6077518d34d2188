"""Whether a schema is one of its own draft."""

from __future__ import annotations

import contextlib
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.text import one_line

#: `$schema` of every published draft, without scheme and a final `#`, which vary.
_DIALECTS = frozenset(
    f"json-schema.org/{name}"
    for name in (
        *(f"draft-0{n}/schema" for n in (3, 4, 6, 7)),
        *(f"draft/{year}/schema" for year in ("2019-09", "2020-12")),
    )
)


def check_schema(schema: Any) -> None:
    """Raise GrammarError when `schema` is not a JSON schema of its own draft."""
    with jsonschema_alone() as jsonschema:
        kind = validator_class(jsonschema, schema)
        try:
            # Without formats: Python's `re` does not support every valid pattern.
            kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
        except jsonschema.SchemaError as error:
            where = "/".join(str(part) for part in error.path)
            place = f" (at {where})" if where else ""
            raise GrammarError(f"not a JSON schema: {one_line(error.message)}{place}") from None
        except RecursionError:
            raise GrammarError("the schema is nested too deeply to be checked") from None


def known_dialect(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`schema` without a `$schema` that the engine does not know, and a warning about it."""
    named = schema.get("$schema")
    if not isinstance(named, str) or re.sub(r"^https?://|#$", "", named) in _DIALECTS:
        return schema, []
    rest = {key: value for key, value in schema.items() if key != "$schema"}
    return rest, [f"unknown $schema '{named[:80]}'; the schema is read as draft 2020-12"]


def validator_class(jsonschema: Any, schema: Any) -> Any:
    """The validator class of the schema's draft, 2020-12 by default."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)


@contextlib.contextmanager
def jsonschema_alone() -> Iterator[Any]:
    """jsonschema, imported when needed, without the IRI grammar of its own checks of formats.

    That grammar is slow to build, and formats are checked elsewhere.
    """
    slow = "rfc3987_syntax"
    skip = "jsonschema" not in sys.modules and slow not in sys.modules
    if skip:
        sys.modules[slow] = None  # type: ignore[assignment]
    try:
        import jsonschema
    finally:
        if skip:
            del sys.modules[slow]
    yield jsonschema
