"""A schema as a grammar of the engine, relaxed step by step until it compiles."""

from __future__ import annotations

import re
from typing import Any, cast

from llguidance._lib import LLMatcher

from fucina_cli.constraint.diagnostics import diagnosis
from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.schema import document, rewrites
from fucina_cli.constraint.schema.check import check_schema, known_dialect
from fucina_cli.constraint.schema.references import definition
from fucina_cli.constraint.schema.refusal import refusal, with_places
from fucina_cli.constraint.schema.rewrites import impossible
from fucina_cli.constraint.schema.source import NOWHERE, Source
from fucina_cli.constraint.schema.unknown import unknown_keywords
from fucina_cli.constraint.schema.walk import Note, Schema, Scope
from fucina_cli.constraint.trial import tried

_STRICT = {"coerce_one_of": False, "lenient": False}
_AFTERWARDS = "; the answer is validated afterwards"
#: What is relaxed, and the warning. Tried in order; the first that compiles is taken.
_RELAXATIONS: tuple[tuple[dict[str, bool], str], ...] = (
    ({}, ""),
    ({"coerce_one_of": True}, "`oneOf` is decoded as `anyOf`"),
    (
        {"coerce_one_of": True, "lenient": True},
        "keywords beyond the grammar engine are not enforced while decoding",
    ),
)


#: What the engine says of an impossible definition, and its place.
_IMPOSSIBLE = re.compile(r"nsatisfiable.*while processing json-schema:///(#\S+)\s*$", re.DOTALL)


def translated(schema: dict[str, Any], *, whitespace: bool, source: Source = NOWHERE) -> Prepared:
    """The grammar of `schema` for the engine.

    Nothing fails open: each relaxation is a warning, and the judge validates the answer. Raises
    GrammarError for what is not a schema of its draft and for what can't be compiled; messages name
    places by `source`.
    """
    check_schema(schema, source)
    written = schema
    schema, notes = known_dialect(schema)
    notes += [_told(note, source) for note in (*source.notes, *unknown_keywords(written))]
    scope = Scope(schema)
    try:
        simpler = rewrites.apply(schema, scope)
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    notes += [_told(note, source) for note in scope.notes]
    relaxations = [_named(note, source) for note in scope.notes if note.relaxed]
    layout = {"whitespace_flexible": whitespace, "item_separator": ",", "key_separator": ":"}
    first_failure = failure = ""
    for relaxed, warning in _RELAXATIONS:
        simpler, grammar, failed, messages = _compiled(simpler, {**layout, **_STRICT, **relaxed})
        if not failed:
            told = dict.fromkeys(diagnosis(message) for message in messages)
            details = [with_places(message, simpler, source) for message in told]
            if warning:
                reason = "; ".join(details) or first_failure
                details = [f"{warning}{_AFTERWARDS} ({reason})"]
                relaxations.append(f"{warning} ({reason})")
            return Prepared(grammar, (*notes, *details), tuple(relaxations))
        failure = diagnosis(failed)
        first_failure = first_failure or failure
        if "nsatisfiable" in failure:
            break  # no relaxation makes an impossible schema possible
    if "nsatisfiable" in failure and any(note.impossible for note in scope.notes):
        raise GrammarError(_unsatisfiable(scope, source))

    def fails(part: Schema) -> str | None:
        return diagnosis(_compiled(part, {**layout, **_STRICT, **relaxed})[2]) or None

    raise GrammarError(refusal(simpler, failure, fails, source))


def _compiled(simpler: Schema, options: dict[str, Any]) -> tuple[Schema, str, str, list[str]]:
    """A schema as the engine takes it, its grammar, the engine's error ("" for none), its warnings.

    The engine also refuses a schema of which only a definition is impossible: without that
    definition it is tried again.
    """
    while True:
        text = document.dumps(simpler)
        try:
            grammar = LLMatcher.grammar_from_json_schema(text, overrides=cast(Any, options))
        except (ValueError, RecursionError) as error:
            return simpler, "", str(error), []
        failed, messages = tried(grammar)
        found = _IMPOSSIBLE.search(failed)
        # Each round has one definition less.
        if found is None or (place := definition(found[1], simpler)) is None:
            return simpler, grammar, failed, messages
        simpler = impossible.refuted(simpler, *place)


def _unsatisfiable(scope: Scope, source: Source) -> str:
    """That no answer satisfies the schema, and why: the first reason that a rewrite found."""
    reason = next(note for note in scope.notes if note.impossible)
    return f"the schema is unsatisfiable: {_told(reason, source)}"


def _told(note: Note, source: Source) -> str:
    return _named(note, source) + (_AFTERWARDS if note.relaxed else "")


def _named(note: Note, source: Source) -> str:
    return f"{note.text} (at {source.place(note.pointer)})"
