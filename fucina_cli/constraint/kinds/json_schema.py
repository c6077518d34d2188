"""JSON that satisfies a schema."""

from __future__ import annotations

import contextlib
import json
import re
import sys
import warnings
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.limits import TimeLimit, time_limit
from fucina_cli.options import Option
from fucina_cli.text import one_line

_CHECK_SECONDS = 10.0
_SHOWN_ERRORS = 5
_STRICT = {"coerce_one_of": False, "lenient": False}
#: What is relaxed, and the warning. Tried in order; the first that compiles is taken.
_RELAXATIONS: tuple[tuple[dict[str, bool], str], ...] = (
    ({}, ""),
    ({"coerce_one_of": True}, "`oneOf` is decoded as `anyOf`; the answer is validated afterwards"),
    (
        {"coerce_one_of": True, "lenient": True},
        "keywords beyond the grammar engine are not enforced while decoding; "
        "the answer is validated afterwards",
    ),
)
#: `$schema` of every published draft, without scheme and a final `#`, which vary.
_DIALECTS = frozenset(
    f"json-schema.org/{name}"
    for name in (
        *(f"draft-0{n}/schema" for n in (3, 4, 6, 7)),
        *(f"draft/{year}/schema" for year in ("2019-09", "2020-12")),
    )
)


@dataclass(frozen=True)
class JsonSchema:
    """A JSON schema: an object, its text, a boolean, or a class that has `model_json_schema`.

    Args:
        schema: as above; of a class (a pydantic model) the answer's value is an instance.
        whitespace: let the model put white space between JSON tokens; else the JSON is compact.
        model: that class, taken from `schema`.

    Raises GrammarError for text that is not JSON, for what is neither an object nor a boolean, and
    for `false`, which no answer satisfies.
    """

    schema: Any
    whitespace: bool = False
    model: Any = field(default=None, repr=False, compare=False)

    kind = "json_schema"

    def __post_init__(self) -> None:
        schema = self.schema
        if hasattr(schema, "model_json_schema"):
            object.__setattr__(self, "model", schema)
            schema = schema.model_json_schema()
        elif isinstance(schema, str):
            schema = _parsed(schema)
        if schema is False:
            raise GrammarError("the schema `false` allows no answer at all")
        if schema is True:
            schema = {}
        if not isinstance(schema, dict):
            raise GrammarError(
                f"a JSON schema is an object, not {_json_name(schema)}; see https://json-schema.org"
            )
        object.__setattr__(self, "schema", schema)
        try:
            self.identity  # noqa: B018 (computed here, to fail here)
        except (TypeError, ValueError, RecursionError) as error:
            raise GrammarError(f"not JSON: {one_line(str(error))}") from None

    @cached_property
    def identity(self) -> Hashable:
        """Kind, text and layout.

        Keys are not sorted: answers have their properties in the order of the schema.
        """
        return self.kind, json.dumps(self.schema), self.whitespace

    def prepare(self) -> Prepared:
        """The schema for the engine, relaxed step by step until it compiles.

        Nothing fails open: each step is a warning, and the judge validates the answer. Raises
        GrammarError for what is not a schema of its draft and for what can't be compiled.
        """
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.diagnostics import diagnosis

        check_schema(self.schema)
        layout = {
            "whitespace_flexible": self.whitespace,
            "item_separator": ",",
            "key_separator": ":",
        }
        schema, notes = _known_dialect(self.schema)
        if schema.get("not") in ({}, True):
            raise GrammarError("the schema is unsatisfiable: `not` forbids every value")
        first_failure = failure = ""
        for relaxed, warning in _RELAXATIONS:
            overrides = cast(Any, {**layout, **_STRICT, **relaxed})
            try:
                text = LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=overrides)
            except (ValueError, RecursionError) as error:
                raise GrammarError(diagnosis(str(error))) from None
            failed, messages = LLMatcher.validate_grammar_with_warnings(text)
            if not failed:
                details = list(dict.fromkeys(diagnosis(m) for m in messages))
                if warning:
                    details = [f"{warning} ({'; '.join(details) or first_failure})"]
                return Prepared(text, (*notes, *details), relaxed=bool(warning))
            failure = diagnosis(messages[0])
            first_failure = first_failure or failure
            if "nsatisfiable" in failure:
                break  # no relaxation makes an impossible schema possible
        raise GrammarError(failure)

    def judge(self, text: str) -> Verdict:
        """By the package jsonschema, formats included. Raises TimeLimit."""
        try:
            value = json.loads(text)
        except (ValueError, RecursionError) as failure:
            return Verdict(False, (f"not JSON: {one_line(str(failure))}",))
        with _jsonschema(self.schema) as jsonschema:
            kind = _validator_class(jsonschema, self.schema)
            import referencing

            # An explicit registry: jsonschema would otherwise fetch remote references.
            validator = kind(
                self.schema, format_checker=kind.FORMAT_CHECKER, registry=referencing.Registry()
            )
            try:
                errors: list[str] = []
                for error in validator.iter_errors(value):
                    where = "/".join(str(part) for part in error.absolute_path)
                    errors.append(f"{where or 'answer'}: {one_line(error.message)}")
                    if len(errors) == _SHOWN_ERRORS:
                        break
            except TimeLimit:
                raise
            except Exception as failure:  # a pattern re can't read, a reference without a target
                return Verdict(None, (f"the validator failed: {one_line(str(failure))}",))
        return Verdict(not errors, tuple(errors))

    def value(self, text: str) -> Any:
        """The parsed JSON, or an instance of the class that the schema was taken from."""
        return json.loads(text) if self.model is None else self.model.model_validate_json(text)


def _read(given: Any) -> JsonSchema:
    """A schema in a line of a batch is read like its text, with the same errors."""
    return JsonSchema(given if isinstance(given, str) else json.dumps(given))


def _parsed(text: str) -> Any:
    try:
        return json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise GrammarError(f"not valid JSON: {error.msg} at {where}") from None
    except ValueError as error:
        raise GrammarError(f"not valid JSON: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _json_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {list: "an array", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "something else")


def _known_dialect(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`schema` without a `$schema` that the engine does not know, and a warning about it."""
    named = schema.get("$schema")
    if not isinstance(named, str) or re.sub(r"^https?://|#$", "", named) in _DIALECTS:
        return schema, []
    rest = {key: value for key, value in schema.items() if key != "$schema"}
    return rest, [f"unknown $schema '{named[:80]}'; the schema is read as draft 2020-12"]


def check_schema(schema: Any) -> None:
    """Raise GrammarError when `schema` is not a JSON schema of its own draft."""
    with _jsonschema(schema) as jsonschema:
        kind = _validator_class(jsonschema, schema)
        try:
            with time_limit(_CHECK_SECONDS):
                # Without formats: Python's `re` does not support every valid pattern.
                kind.check_schema(schema, format_checker=jsonschema.FormatChecker(formats=()))
        except jsonschema.SchemaError as error:
            where = "/".join(str(part) for part in error.path)
            place = f" (at {where})" if where else ""
            raise GrammarError(f"not a JSON schema: {one_line(error.message)}{place}") from None
        except (RecursionError, TimeLimit):
            raise GrammarError("the schema is nested too deeply to be checked") from None


def _validator_class(jsonschema: Any, schema: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)


@contextlib.contextmanager
def _jsonschema(schema: Any) -> Iterator[Any]:
    """jsonschema, imported when needed, without its IRI grammar where the schema does not use it.

    That grammar is slow to build, and only the formats `iri` and `iri-reference` use it.
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


KIND = Kind(
    Option("json_schema", "The answer is JSON of this schema.", "JSON|@FILE", rank=10),
    spec=JsonSchema,
    read=_read,
    takes=lambda value: isinstance(value, dict | bool) or hasattr(value, "model_json_schema"),
    takes_json=True,
    settings=(
        Option(
            "whitespace",
            "Let the model put white space into JSON instead of writing it compact.",
            type=bool,
            default=False,
            flag="--json-whitespace",
            rank=90,
            needs=("json_schema", "only JSON has such a layout"),
        ),
    ),
)
