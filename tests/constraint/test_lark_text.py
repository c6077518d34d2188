"""Lark is text for text: no tokens, no JSON, nothing that hides them; other notations are told."""

from __future__ import annotations

import pytest

from fucina_cli import Gbnf, GrammarError, Lark


@pytest.mark.parametrize(
    ("grammar", "words"),
    [
        ("", "the grammar is empty"),
        ('{"grammars":[{"json_schema":{}}]}', "this is JSON, not Lark"),
        ('\n  {"type":"object"}', "A JSON schema is given as json_schema="),
        ('root ::= "a"', "this is GBNF, the notation of llama.cpp; give it as gbnf="),
        ('# c\n  my-rule   ::= "a"', "this is GBNF"),
        ('start: "a" %json {"type":"object"}', "`%json`: JSON inside of Lark is not supported"),
        ('start: %json{"type":"object"}', "`%json`: JSON inside"),
        ('start: %lark { start: "a" }', "`%lark`: grammars inside of a grammar"),
        ("start: <|im_end|>", "names the token <|im_end|>"),
        ("start: <[1-3]>", "names the token <[1-3]>"),
        ("start: <[^1]>", "names the token <[^1]>"),
        ("start: <[*]>", "names the token <[*]>"),
        ('start: /a\n"/ <|im_end|> /"\nb/', "names the token <|im_end|>"),
        ('start: "a" // "\n  <|im_end|>', "names the token"),
        ('start: /["]/ <think> /["]/', "names the token <think>"),
        ('start: %regex {"substring_chars":"\\"/"} <think> "/"', "names the token <think>"),
        ("start: a\na[max_tokens=3]: /.*/", "`max_tokens`: what an answer may be"),
        ('start: a\na[temperature = 0.5]: "b"', "`temperature`: a rule has no temperature"),
        ('%llguidance {"allow_invalid_utf8":true}\nstart: "a"', "unknown option 'allow_inv"),
        ("%llguidance no\nstart: /a/", "`%llguidance`: expected a JSON object"),
        ("start: %regex 3", "`%regex`: expected a JSON object"),
    ],
)
def test_what_is_more_than_text_is_refused(grammar: str, words: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Lark(grammar)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "grammar",
    [
        'start: "<think>" /<b>/ "<" x ">"\nx: "%json" "{" // <a>\n# <b> %json\n',
        'start: /["]/ /["]/',
        '%llguidance {"no_forcing": true}\nstart: "a"',
        'start: %regex {"substring_chars":"<a> \\" /"} "b"',
        '%import common (INT)\n%ignore / /\nstart: INT "max_tokens=" "temperature"',
        "start: max_tokens\nmax_tokens: /a/",
        'start: "root ::= x"',
    ],
)
def test_text_that_looks_like_it_is_text(grammar: str) -> None:
    assert Lark(grammar).prepare().warnings == ()


def test_lark_given_as_gbnf_is_told() -> None:
    with pytest.raises(GrammarError, match="this is Lark, not GBNF; give it as lark="):
        Gbnf('start: "a" b\nb: /[0-9]+/')
