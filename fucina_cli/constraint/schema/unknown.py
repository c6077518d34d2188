"""What a schema holds that its draft does not know, and what that was probably meant to be."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema.keywords import (
    ANNOTATIONS,
    DRAFT_2020,
    DRAFT_NAMES,
    ELSEWHERE,
    KEYWORDS,
    SUCCESSORS,
    TYPES,
    draft_of,
)
from fucina_cli.constraint.schema.walk import Note, Schema, escaped, subschemas

#: Share of equal letters from which an unknown keyword is taken for a misspelled one.
_SIMILAR = 0.82
_SHORTEST = 4
_LONGEST = 40
#: Warnings of their own; further ones are told together with the rest.
_MOST = 6
_LISTED = 5
#: Names that begin like those of keywords that constrain.
_LIKE_CONSTRAINTS = re.compile(
    r"(min|max|exclusive|unique|required?|allowed|forbidden|must|at(Least|Most)|length|depend)"
    r"([A-Z_-]|$)"
)
#: Keywords that hold schemas for references and constrain nothing by themselves.
_CONTAINERS = frozenset({"$defs", "definitions"})


@dataclass
class _Found:
    """Where an unknown keyword is: the first place and how many there are."""

    text: str
    pointer: str
    count: int = field(default=1)


def unknown_keywords(schema: Schema) -> list[Note]:
    """Notes about the keywords of `schema` that have no effect, though they may seem to.

    Misspelled keywords, those of other drafts and those of other notations are told one by one with
    the way out; others together in one note; known annotations and names that begin
    with `x-` or `_`, as those of vendors and disabled ones do, not at all. Raises
    GrammarError for an object without any keyword at its top, and RecursionError.
    """
    if not isinstance(schema, dict):
        return []
    notes = _check_top(schema)
    draft = draft_of(schema)
    told: dict[str, _Found] = {}
    rest: dict[str, _Found] = {}
    targets = _targets(schema)
    for pointer, part in subschemas(schema):
        if not isinstance(part, dict):
            continue
        for key, value in part.items():
            text = _ineffective(key, value, part, draft)
            if text is None or f"#{pointer}/{escaped(key)}" in targets:
                continue
            found = told if text or key in told else rest
            if key in found:
                found[key].count += 1
            else:
                found[key] = _Found(text, f"{pointer}/{escaped(key)}")
    listed = list(told.items())
    notes += [_note(key, found) for key, found in listed[:_MOST]]
    rest = {**dict(listed[_MOST:]), **rest}
    if rest:
        names = [f"`{key[:_LONGEST]}`" for key in rest]
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        text = f"JSON Schema has no such {'keywords' if len(names) > 1 else 'keyword'}, ignored: "
        text += ", ".join(names[:_LISTED]) + more
        notes.append(Note(text, next(iter(rest.values())).pointer, relaxed=False))
    return notes


def _targets(schema: Schema) -> set[str]:
    """What references refer to, and everything around it."""
    found: set[str] = set()
    for _pointer, part in subschemas(schema):
        ref = part.get("$ref") if isinstance(part, dict) else None
        if isinstance(ref, str) and ref.startswith("#/"):
            names = unquote(ref).split("/")
            found.update("/".join(names[:count]) for count in range(2, len(names) + 1))
    return found


def _note(key: str, found: _Found) -> Note:
    text = found.text
    if found.count > 1:
        name = f"`{key[:_LONGEST]}`"
        text = text.replace(name, f"{name} ({found.count} places)", 1)
    return Note(text, found.pointer, relaxed=False)


def _check_top(schema: dict[str, Any]) -> list[Note]:
    """A note where the top of a schema constrains nothing; `{}`, which says so, has none.

    Raises GrammarError for an object that is no schema: it would allow any answer.
    """
    effective = {key for key in schema if key in KEYWORDS and KEYWORDS[key].constrains}
    if not schema or effective - _CONTAINERS:
        return []
    if effective:
        container = next(key for key in schema if key in _CONTAINERS)
        names = list(schema[container]) if isinstance(schema[container], dict) else []
        way_out = f'; give "$ref": "#/{container}/{names[0][:_LONGEST]}" too' if names else ""
        text = f"`{container}` alone constrains nothing: any JSON is an answer{way_out}"
        return [Note(text, "", relaxed=False)]
    strange = [
        key
        for key in schema
        if key not in KEYWORDS and key not in ANNOTATIONS and not key.startswith(("x-", "_"))
    ]
    if not strange and any(key in KEYWORDS for key in schema):
        return [Note("the schema constrains nothing: any JSON is an answer", "", relaxed=False)]
    listed = strange or list(schema)
    names = [f'"{key[:_LONGEST]}"' for key in listed[:_LISTED]]
    are = "is no keyword of one" if len(names) == 1 else "are no keywords of one"
    raise GrammarError(f"not a JSON schema: {', '.join(names)} {are}; {_way_out_of(listed)}")


def _way_out_of(names: list[str]) -> str:
    if "components" in names or "openapi" in names or "swagger" in names:
        return 'of an OpenAPI document give one schema, with what it refers to under "$defs"'
    for name in names:
        meant = _meant(name)
        if meant:
            return f'did you mean "{meant}"?'
    first = names[0][:_LONGEST]
    return f'write {{"type": "object", "properties": {{"{first}": {{"type": "string"}}}}}}'


def _ineffective(key: str, value: Any, schema: dict[str, Any], draft: int) -> str | None:
    """What to tell of a keyword that the draft does not know; "" where no more than that.

    None for a keyword that it knows, and for what constrains nothing.
    """
    known = KEYWORDS.get(key)
    if known is not None:
        if not known.constrains or known.since <= draft <= known.until:
            return None
        return _of_other_draft(key, schema, draft)
    if key == "nullable":
        return _nullable(schema) if value is True else None
    if key in ANNOTATIONS or key.startswith(("x-", "_")):
        return None
    no_keyword = f"`{key[:_LONGEST]}` is no keyword of JSON Schema and is ignored"
    if key in ELSEWHERE:
        return f"{no_keyword}; {ELSEWHERE[key]}"
    meant = _meant(key)
    if meant is not None:
        return f'{no_keyword}; did you mean "{meant}"?'
    if _is_misplaced_property(value, schema):
        return f'{no_keyword}; a property goes under "properties"'
    return no_keyword if _LIKE_CONSTRAINTS.match(key) else ""


def _is_misplaced_property(value: Any, schema: dict[str, Any]) -> bool:
    """Whether the value of an unknown keyword is a schema, in one of an object without any."""
    is_schema = isinstance(value, dict) and value.get("type") in list(TYPES)
    return is_schema and "properties" not in schema and schema.get("type", "object") == "object"


def _of_other_draft(key: str, schema: dict[str, Any], draft: int) -> str | None:
    known, name = KEYWORDS[key], DRAFT_NAMES[draft]
    if key in _CONTAINERS or (
        key == "additionalItems" and not isinstance(schema.get("items"), list)
    ):
        return None  # it is where references point, or has no effect in any draft
    if draft < known.since:
        of = DRAFT_NAMES[known.since]
        return f"`{key}` is ignored, as `$schema` names {name}; name {of} for it"
    return f"`{key}` is ignored in {name}; write {SUCCESSORS[key]}"


def _nullable(schema: dict[str, Any]) -> str | None:
    """`nullable` is of OpenAPI 3.0: null is not allowed by it here."""
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind):
        return None
    if isinstance(kind, str):
        way_out = f'"type": ["{kind[:_LONGEST]}", "null"]'
        if "enum" in schema:
            way_out += ', and null in "enum"'
    elif isinstance(kind, list):
        way_out = '"null" in "type"'
    else:
        way_out = '{"anyOf": [{…}, {"type": "null"}]}'
    return f"`nullable` is OpenAPI's, and is ignored: null is not allowed; write {way_out}"


@functools.lru_cache(maxsize=1024)
def _meant(key: str) -> str | None:
    """The constraining keyword that an unknown one was probably meant to be."""
    short = key[:_LONGEST]
    same = _plain_names().get(_plain(short))
    if same is not None:
        return same
    if len(short) < _SHORTEST or short in ANNOTATIONS:
        return None
    similar = difflib.get_close_matches(short, _plain_names().values(), 1, _SIMILAR)
    return similar[0] if similar else None


@functools.cache
def _plain_names() -> Mapping[str, str]:
    """The constraining keywords of the newest draft by their letters alone."""
    return {
        _plain(key): key
        for key, known in KEYWORDS.items()
        if known.constrains and known.until == DRAFT_2020
    }


def _plain(key: str) -> str:
    return re.sub(r"[^a-z]", "", key.lower())
