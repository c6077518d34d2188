"""JSON that satisfies a schema."""

from __future__ import annotations

import json
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.reading import read
from fucina_cli.constraint.schema.source import NOWHERE, Source
from fucina_cli.options import Option
from fucina_cli.text import one_line


@dataclass(frozen=True)
class JsonSchema:
    """A JSON schema: an object, its text, a boolean, or a class that has `model_json_schema`.

    Args:
        schema: as above; of a class (a pydantic model) the answer's value is an instance.
        whitespace: let the model put white space between JSON tokens; else the JSON is compact.
        strict: raise for a schema that the grammar can't enforce as a whole; else what is left is
            a warning, and only checked in the finished answer.
        model: that class, taken from `schema`.
        source: where the schema was written, taken from `schema`.

    A schema inside the wrapper of an API is taken out of it. Raises GrammarError for text that is
    not JSON, for what is neither an object nor a boolean, and for `false`, which no answer
    satisfies.
    """

    schema: Any
    whitespace: bool = False
    strict: bool = False
    model: Any = field(default=None, repr=False, compare=False)
    source: Source = field(default=NOWHERE, repr=False, compare=False)

    kind = "json_schema"

    def __post_init__(self) -> None:
        schema, text = self.schema, ""
        if hasattr(schema, "model_json_schema"):
            object.__setattr__(self, "model", schema)
            schema = schema.model_json_schema()
        elif isinstance(schema, str):
            text, schema = schema, document.parse_schema(schema)
        given = bool(text)
        if self.source is NOWHERE:
            schema, source = read(schema, text)
            object.__setattr__(self, "source", source)
        if schema is False:
            raise GrammarError("the schema `false` allows no answer at all")
        if schema is True:
            schema = {}
        if not isinstance(schema, dict):
            raise GrammarError(
                f"a JSON schema is an object, not {_json_name(schema)}; see https://json-schema.org"
            )
        try:
            object.__setattr__(
                self, "schema", schema if given else document.loads(document.given(schema))
            )
            self.identity  # noqa: B018 (computed here, to fail here)
        except (TypeError, ValueError, RecursionError) as error:
            raise GrammarError(f"not JSON: {one_line(str(error))}") from None

    @cached_property
    def identity(self) -> Hashable:
        """Kind, text, settings, and what messages say of places.

        Keys are not sorted: answers have their properties in the order of the schema.
        """
        settings = self.whitespace, self.strict
        return self.kind, document.dumps(self.schema), settings, self.source.identity

    def prepare(self) -> Prepared:
        """The schema for the engine, relaxed where it must be and may. Raises GrammarError."""
        from fucina_cli.constraint.schema.strictness import check_strict
        from fucina_cli.constraint.schema.translation import translated

        made = translated(self.schema, whitespace=self.whitespace, source=self.source)
        return check_strict(made) if self.strict else made

    def judge(self, text: str) -> Verdict:
        """By the standard, exact about numbers, formats included. Raises TimeLimit."""
        from fucina_cli.constraint.schema.judge import judge

        return judge(self.schema, text)

    def value(self, text: str) -> Any:
        """The parsed JSON, or an instance of the class that the schema was taken from.

        Integers of more than 4,300 digits are Decimals.
        """
        if self.model is not None:
            return self.model.model_validate_json(text)
        return json.loads(text, parse_int=document.integer)


def _read(given: Any) -> JsonSchema:
    """A schema in a line of a batch is read like its text, with the same errors."""
    return JsonSchema(given if isinstance(given, str) else document.given(given))


def _warm_up() -> None:
    from fucina_cli.constraint.schema import judge, translation  # noqa: F401
    from fucina_cli.constraint.schema.check import jsonschema_alone

    with jsonschema_alone():
        pass


def _json_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {list: "an array", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "something else")


KIND = Kind(
    Option("json_schema", "The answer is JSON of this schema.", "JSON|@FILE", rank=10),
    spec=JsonSchema,
    read=_read,
    takes=lambda value: isinstance(value, dict | bool) or hasattr(value, "model_json_schema"),
    takes_paths=False,
    takes_json=True,
    warm_up=_warm_up,
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
        Option(
            "strict",
            "Refuse a schema of which the grammar can't enforce everything.",
            type=bool,
            default=False,
            rank=91,
            needs=("json_schema", "only a schema may be enforced in part"),
        ),
    ),
)
