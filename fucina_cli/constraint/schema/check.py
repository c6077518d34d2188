"""Whether a schema is one of its own draft."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema.explain import explained, shown
from fucina_cli.constraint.schema.keywords import dialect
from fucina_cli.constraint.schema.source import NOWHERE, Source

#: Packages that jsonschema imports where they are installed.
_OF_FORMATS = {
    "fqdn", "idna", "isoduration", "jsonpointer", "rfc3339_validator", "rfc3986_validator",
    "rfc3987", "rfc3987_syntax", "uri_template", "webcolors",
}  # fmt: skip


def check_schema(schema: Any, source: Source = NOWHERE) -> None:
    """Raise GrammarError, which names the place, when `schema` is none of its own draft."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    if named is not None and not isinstance(named, str):
        raise GrammarError(
            "not a JSON schema: `$schema` takes text, such as "
            f'"https://json-schema.org/draft/2020-12/schema", not {shown(named)} '
            f"(at {source.place('/$schema')})"
        )
    _check_text(schema)
    with jsonschema_alone() as jsonschema:
        from fucina_cli.constraint.schema.judging import exact

        try:
            kind = exact(validator_class(jsonschema, schema), of_schemas=True)
            kind(kind.META_SCHEMA).validate(schema)
        except jsonschema.ValidationError as error:
            pointer, text = explained(list(error.absolute_path), error.message, schema)
            raise GrammarError(f"not a JSON schema: {text} (at {source.place(pointer)})") from None
        except ValueError as error:  # of `$schema` as a URI
            place = source.place("/$schema")
            raise GrammarError(
                f"not a JSON schema: `$schema` {shown(named)}: {error} (at {place})"
            ) from None
        except RecursionError:
            raise GrammarError("the schema is nested too deeply to be checked") from None


def _check_text(schema: Any) -> None:
    r"""Raise GrammarError for half of a surrogate pair (\ud800), which is no text."""
    try:
        json.dumps(schema, ensure_ascii=False, default=str).encode()
    except UnicodeEncodeError:
        raise GrammarError("the schema has half of a surrogate pair, which is no text") from None
    except RecursionError:
        raise GrammarError("the schema is nested too deeply to be checked") from None


def known_dialect(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`schema` without a `$schema` that the engine does not know, and a warning about it."""
    named = schema.get("$schema")
    if named is None or dialect(named) is not None:
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
    """jsonschema, imported when needed, without what its own checks of formats may import.

    Those packages, where they are installed, take longer to import than all the rest, and formats
    are checked elsewhere.
    """
    skipped: set[str] = set() if "jsonschema" in sys.modules else _OF_FORMATS - sys.modules.keys()
    sys.modules.update(dict.fromkeys(skipped))  # type: ignore[arg-type]
    try:
        import jsonschema
    finally:
        for name in skipped:
            del sys.modules[name]
    yield jsonschema
