"""What a grammar in Lark may not say, because an answer is text that only its own kind shapes."""

from __future__ import annotations

import json
import re

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.errors import Part
from fucina_cli.text import printable

#: The engine's own tokens, so that both see the same literals (llguidance, lark/lexer.rs).
_TOKEN = re.compile(
    r"""(?P<comment>(?:\#|//)[^\n]*)
    |(?P<string>"(?:\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}|[^"\\\x00-\x1f\x7f])*"i?)
    |(?P<pattern>/(?:\\.|[^/\\])+/[imslux]*)
    |(?P<token><[^<>\s]+>)
    |(?P<directive>%[a-z]+)
    |(?P<attribute>(?:max_tokens|temperature)[ \t]*=)
    |(?P<name>[!?_a-zA-Z][\w-]*)
    """,
    re.VERBOSE | re.ASCII,
)
_GBNF = re.compile(r"^[ \t]*[a-zA-Z0-9_-]+[ \t]*::=", re.MULTILINE)
_OPTIONS = ("allow_initial_skip", "no_forcing")
_TEXT_ONLY = "only text can be part of an answer"
_REFUSED = {
    "%json": ("JSON inside of Lark is not supported; give the schema alone, as ", "json_schema"),
    "%lark": ("grammars inside of a grammar are not supported; write its rules beside the others",),
}
_ATTRIBUTES = {
    "max_tokens": "what an answer may be must not depend on its tokens; bound it by `{m,n}`",
    "temperature": "a rule has no temperature of its own; set that of the whole answer",
}


def check_lark(text: str) -> None:
    """Raise GrammarError for what is no Lark, or names anything but text.

    Control tokens can't be part of an answer, and what an answer may be must not depend on its
    tokenization. JSON in a grammar would escape layout and validation, which belong to its kind.
    """
    if not text.strip():
        raise GrammarError("the grammar is empty; it needs at least a rule `start: …`")
    if _GBNF.search(text):
        raise GrammarError("this is GBNF, the notation of llama.cpp; give it as ", Part("gbnf"))
    if text.lstrip().startswith("{"):
        what = "this is JSON, not Lark; grammars in the engine's own JSON are not supported. "
        raise GrammarError(what, "A JSON schema is given as ", Part("json_schema"))
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            at += 1
            continue
        at = match.end()
        word = match.group()
        if match.lastgroup == "token":
            shown = printable(word[:40])
            raise GrammarError(f"the grammar names the token {shown}; {_TEXT_ONLY}")
        if match.lastgroup == "attribute":
            name = word.rstrip("= \t")
            raise GrammarError(f"`{name}`: {_ATTRIBUTES[name]}")
        if match.lastgroup == "directive":
            at = _after_directive(word, text, at)


def _after_directive(word: str, text: str, at: int) -> int:
    """The offset after a directive's JSON, if it has some."""
    if word in _REFUSED:
        message, *part = _REFUSED[word]
        raise GrammarError(f"`{word}`: {message}", *map(Part, part))
    if word not in ("%llguidance", "%regex"):
        return at
    begin = at + len(text[at:]) - len(text[at:].lstrip(" \t\r\n"))
    try:
        value, end = json.JSONDecoder().raw_decode(text, begin)
    except (ValueError, RecursionError):
        raise GrammarError(f"`{word}`: expected a JSON object after it") from None
    if not isinstance(value, dict):
        raise GrammarError(f"`{word}`: expected a JSON object after it")
    unknown = set(value).difference(_OPTIONS) if word == "%llguidance" else set()
    if unknown:
        raise GrammarError(
            f"`%llguidance`: unknown option {printable(min(unknown))!r}; "
            f"there are {' and '.join(_OPTIONS)}"
        )
    return end
