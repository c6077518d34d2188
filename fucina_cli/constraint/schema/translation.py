"""A schema as a grammar of the engine, relaxed step by step until it compiles."""

from __future__ import annotations

from typing import Any, cast

from llguidance._lib import LLMatcher

from fucina_cli.constraint.diagnostics import diagnosis
from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.schema import document, rewrites
from fucina_cli.constraint.schema.check import check_schema, known_dialect
from fucina_cli.constraint.schema.walk import Note, Scope
from fucina_cli.constraint.trial import tried

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


def translated(schema: dict[str, Any], *, whitespace: bool) -> Prepared:
    """The grammar of `schema` for the engine.

    Nothing fails open: each relaxation is a warning, and the judge validates the answer. Raises
    GrammarError for what is not a schema of its draft and for what can't be compiled.
    """
    check_schema(schema)
    schema, notes = known_dialect(schema)
    if schema.get("not") in ({}, True):
        raise GrammarError("the schema is unsatisfiable: `not` forbids every value")
    scope = Scope(schema)
    try:
        text = document.dumps(rewrites.apply(schema, scope))
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    notes += [_told(note) for note in scope.notes]
    weakened = any(note.relaxed for note in scope.notes)
    layout = {"whitespace_flexible": whitespace, "item_separator": ",", "key_separator": ":"}
    first_failure = failure = ""
    for relaxed, warning in _RELAXATIONS:
        overrides = cast(Any, {**layout, **_STRICT, **relaxed})
        try:
            grammar = LLMatcher.grammar_from_json_schema(text, overrides=overrides)
        except (ValueError, RecursionError) as error:
            raise GrammarError(diagnosis(str(error))) from None
        failed, messages = tried(grammar)
        if not failed:
            details = list(dict.fromkeys(diagnosis(m) for m in messages))
            if warning:
                details = [f"{warning} ({'; '.join(details) or first_failure})"]
            return Prepared(grammar, (*notes, *details), relaxed=weakened or bool(warning))
        failure = diagnosis(failed)
        first_failure = first_failure or failure
        if "nsatisfiable" in failure:
            break  # no relaxation makes an impossible schema possible
    if "nsatisfiable" in failure and (reasons := [n for n in scope.notes if n.impossible]):
        failure = f"the schema is unsatisfiable: {_told(reasons[0])}"
    raise GrammarError(failure)


def _told(note: Note) -> str:
    after = "; the answer is validated afterwards" if note.relaxed else ""
    return f"{note.text} (at {note.pointer or 'the top'}){after}"
