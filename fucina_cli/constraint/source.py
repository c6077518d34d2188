"""What the user asked an answer to be, before any engine has seen it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["json_schema", "regex", "lark", "choice"]


class GrammarError(Exception):
    """A schema, pattern, grammar or choice that can't be compiled; the text says why."""


@dataclass(frozen=True)
class Source:
    """A constraint as given: its kind and text; of choices the list, of a schema the value too."""

    kind: Kind
    text: str = ""
    choices: tuple[str, ...] = ()
    schema: Any = None


def json_schema(text: str) -> Source:
    """A JSON schema from its text.

    Raises GrammarError for text that is not JSON, is neither an object nor a boolean, or is
    `false`, which no answer satisfies.
    """
    try:
        schema = json.loads(text, parse_constant=_no_constant)
    except RecursionError:
        raise GrammarError("the schema is nested too deeply") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise GrammarError(f"not valid JSON: {error.msg} at {where}") from None
    except ValueError as error:
        raise GrammarError(f"not valid JSON: {error}") from None
    if schema is False:
        raise GrammarError("the schema `false` allows no answer at all")
    if schema is True:
        schema = {}
    if not isinstance(schema, dict):
        raise GrammarError(
            f"a JSON schema is an object, not {_json_name(schema)}; see https://json-schema.org"
        )
    return Source("json_schema", text=text, schema=schema)


def regex(pattern: str) -> Source:
    """A regular expression that the whole answer must match. Raises GrammarError when empty."""
    if not pattern:
        raise GrammarError("the pattern is empty; it would allow only an empty answer")
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise GrammarError("the pattern ends in a lone backslash; write \\\\ for one")
    if re.search(r"\(\?[a-wyzA-Z]*x", pattern):
        raise GrammarError("the flag (?x) is not supported; leave out white space and comments")
    return Source("regex", text=pattern)


#: What `<` can stand in without naming a token: strings, patterns, comments.
_LARK_LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"|/(?:\\.|[^/\\\n])+/|(?://|\#)[^\n]*')


def lark(text: str) -> Source:
    """A grammar in llguidance's Lark dialect.

    Raises GrammarError when empty, and for one that names tokens of the vocabulary: a control token
    can't be part of an answer, and what an answer may hold must not depend on its tokenization.
    """
    if not text.strip():
        raise GrammarError("the grammar is empty; it needs at least a rule `start: …`")
    token = re.search(r"<[^<>\s]+>", _LARK_LITERALS.sub("", text))
    if token:
        raise GrammarError(
            f"the grammar names the token {token.group()[:40]}; only text can be part of an answer"
        )
    return Source("lark", text=text)


def choice(answers: list[str]) -> Source:
    """A list of literal answers, duplicates dropped. Raises GrammarError for an empty answer."""
    unique = tuple(dict.fromkeys(answers))
    if not unique or any(not answer for answer in unique):
        raise GrammarError("an answer is empty; give each choice some text")
    return Source("choice", choices=unique)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _json_name(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    names = {list: "an array", str: "a string", int: "a number", float: "a number"}
    return names.get(type(value), "something else")
