"""An independent judge of finished answers: jsonschema, re and membership, never the engine."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fucina_cli.constraint.source import GrammarError, Source
from fucina_cli.limits import TimeLimit, time_limit

_SECONDS = 10.0
_SHOWN_ERRORS = 5
_TOO_SLOW = f"the validator did not finish within {_SECONDS:.0f} s"


@dataclass(frozen=True)
class Verdict:
    """`valid` is None where no independent validator can tell; `errors` says why not valid."""

    valid: bool | None
    errors: tuple[str, ...] = ()


def check_schema(schema: Any) -> None:
    """Raise GrammarError when `schema` is not a JSON schema of its own draft."""
    with _jsonschema(schema) as jsonschema:
        kind = _validator_class(jsonschema, schema)
        try:
            with time_limit(_SECONDS):
                # Without formats: Python's `re` does not know every pattern that is a valid one.
                kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
        except jsonschema.SchemaError as error:
            where = "/".join(str(part) for part in error.path)
            raise GrammarError(
                f"not a JSON schema: {_short(error.message)}" + (f" (at {where})" if where else "")
            ) from None
        except (RecursionError, TimeLimit):
            raise GrammarError("the schema is nested too deeply to be checked") from None


class Judge:
    """Judges finished answers of one constraint.

    A Lark grammar has no second implementation to ask: its verdict is None. So is that of a
    pattern which Python's `re` does not understand, or reads otherwise ([[:alpha:]], [a&&b]).
    A validator that once took too long is not asked again: it would hold up whoever decodes beside.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._too_slow = False

    def judge(self, text: str) -> Verdict:
        """The verdict on an answer."""
        if self._too_slow:
            return Verdict(None, (f"not checked: {_TOO_SLOW} on an earlier answer",))
        try:
            with time_limit(_SECONDS):
                return _validate(self._source, text)
        except TimeLimit:
            self._too_slow = True
            return Verdict(None, (_TOO_SLOW,))


def validate(source: Source, text: str) -> Verdict:
    """Judge a single answer; see Judge."""
    return Judge(source).judge(text)


def _validate(source: Source, text: str) -> Verdict:
    if source.kind == "json_schema":
        return _validate_json(source.schema, text)
    if source.kind == "choice":
        ok = text in source.choices
        return Verdict(ok, () if ok else ("not one of the choices",))
    if source.kind == "regex":
        return _validate_regex(source.text, text)
    return Verdict(None)


def _validate_json(schema: Any, text: str) -> Verdict:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as failure:
        return Verdict(False, (f"not JSON: {_short(str(failure))}",))
    with _jsonschema(schema) as jsonschema:
        kind = _validator_class(jsonschema, schema)
        import referencing

        # An explicit registry: jsonschema would otherwise fetch remote references.
        validator = kind(
            schema, format_checker=kind.FORMAT_CHECKER, registry=referencing.Registry()
        )
        try:
            errors: list[str] = []
            for error in validator.iter_errors(value):
                where = "/".join(str(part) for part in error.absolute_path)
                errors.append(f"{where or 'answer'}: {_short(error.message)}")
                if len(errors) == _SHOWN_ERRORS:
                    break
        except TimeLimit:
            raise
        except Exception as failure:  # a pattern re can't read, a reference without a target, …
            return Verdict(None, (f"the validator failed: {_short(str(failure))}",))
    return Verdict(not errors, tuple(errors))


def _validate_regex(pattern: str, text: str) -> Verdict:
    try:
        with warnings.catch_warnings():
            # re warns where it takes for characters what others take for a set operation.
            warnings.simplefilter("error", FutureWarning)
            compiled = re.compile(pattern)
    except (FutureWarning, re.error, RecursionError, OverflowError) as error:
        return Verdict(None, (f"Python's re can't read the pattern: {_short(str(error))}",))
    if compiled.fullmatch(text):
        return Verdict(True)
    return Verdict(False, ("the answer does not match the pattern",))


def _validator_class(jsonschema: Any, schema: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)


@contextlib.contextmanager
def _jsonschema(schema: Any) -> Iterator[Any]:
    """jsonschema, imported when needed, without its IRI grammar where the schema has no use for it.

    Building that grammar is 0.7 s of a 0.8 s import, and only the formats `iri` and
    `iri-reference` use it.
    """
    slow = "rfc3987_syntax"
    skip = "jsonschema" not in sys.modules and '"iri' not in json.dumps(schema)
    if skip:
        sys.modules[slow] = None  # type: ignore[assignment]
    try:
        import jsonschema
    finally:
        if skip:
            del sys.modules[slow]
    yield jsonschema


def _short(message: str) -> str:
    text = " ".join(message.split())
    return text if len(text) <= 200 else text[:197] + "…"
