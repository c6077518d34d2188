"""GBNF: what is read, what is refused and where; engine and judge accept the same texts."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from llguidance._lib import LLMatcher

from fucina_cli import Gbnf, GrammarError
from fucina_cli.constraint import trial
from fucina_cli.constraint.gbnf.notation import EMPTY, Alt, Chars, Expr, Ref, Repeat, Seq
from fucina_cli.constraint.gbnf.reading import read
from fucina_cli.constraint.gbnf.translation import translated


class Engine:
    """The engine over the vocabulary of all bytes: whether a text is an answer.

    None where the engine gives up: some random grammars are too ambiguous for it.
    """

    def __init__(self, grammar: str) -> None:
        text = LLMatcher.grammar_from_lark(translated(read(grammar)))
        self._matcher = LLMatcher(trial._bytes(), text, log_level=0, limits=trial.LIMITS)
        assert not self._matcher.is_error(), self._matcher.get_error()

    def accepts(self, text: str) -> bool | None:
        matcher = self._matcher.deep_copy()
        for byte in text.encode():
            allowed = matcher.validate_tokens([byte]) == 1 and matcher.consume_token(byte)
            if matcher.is_error():
                assert "max is" in matcher.get_error()
                return None
            if not allowed:
                return False
        return bool(matcher.is_accepting())


def accepts(grammar: str, text: str) -> bool:
    """By the engine and by the judge, which have to agree."""
    judged = Gbnf(grammar).judge(text).valid
    assert judged is Engine(grammar).accepts(text), (grammar, text, judged)
    return judged is True


# -- the notation ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("grammar", "good", "bad"),
    [
        ('root ::= "a" | "b" "c"', ["a", "bc"], ["", "ab", "b", "ac", "abc"]),
        ('root ::= "a"* "b"+ "c"?', ["b", "aabbc"], ["", "a", "ac", "bcc"]),
        ("root ::= [a-c]{2} [x]{1,} [^x-z]{0,2}", ["abx", "cbxxab"], ["ax", "abxabc", "abxabz"]),
        ('root ::= "ab"{2,3}', ["abab", "ababab"], ["ab", "abb", "abababab"]),
        (
            'root ::= "\\x41\\u00e9\\U0001F600\\t\\n\\r\\\\\\"\\[\\]\\-"',
            ['Aé😀\t\n\r\\"[]-'],
            ["A"],
        ),
        (r"root ::= [\]\-\\\x41-\x43é-]", ["]", "-", "\\", "B", "é"], ["x", "D", "", "]]"]),
        ("root ::= [-a] [a-]", ["-a", "a-"], ["b-"]),
        ("root ::= . .", ["a\n", "é😀"], ["a", "abc"]),
        ('root ::= ("a" | )\n  "b"\n', None, None),
        ('root ::= (\n "a" # here\n |\n "b"\n) "c" |\n "d"', ["ac", "bc", "d"], ["c", "ad"]),
        ('root::=my-rule_2\n\n# so\nmy-rule_2 ::=\n  "a"', ["a"], ["b"]),
        ('root ::= x | "(" root ")"\nx ::= [0-9]', ["1", "((2))"], ["((2)", "()", ""]),
        ('root ::= root "+" n | n\nn ::= [0-9]+', ["1", "12+3+4"], ["+1", "1+", ""]),
        ('root ::= "a" root | ""', ["", "aaa"], ["b"]),
        ('root ::= a "!"\na ::= b | "x"\nb ::= a "y"', ["x!", "xyy!"], ["y!", "x"]),
        ('root ::= ("a"?)* ("b"*)? ""', ["", "aab"], ["ba"]),
        ('root ::= "a" | "a" "b" root2\nroot2 ::= root', ["a", "aba"], ["ab"]),
        ("root ::= [a-z]+ [a-f] [a-z]* tail\ntail ::= [x] tail | [y]", ["zaxy", "bay"], ["zzy"]),
        ('root ::= "a"{0} "b"', ["b"], ["ab"]),
        ('root ::= "a"+?', ["", "aa"], ["b"]),
    ],
)
def test_texts_are_sentences_or_not_for_engine_and_judge(
    grammar: str, good: list[str] | None, bad: list[str] | None
) -> None:
    if good is None or bad is None:
        with pytest.raises(GrammarError, match="line 2 column 3"):
            read(grammar)
        return
    assert all(accepts(grammar, text) for text in good)
    assert not any(accepts(grammar, text) for text in bad)


@pytest.mark.parametrize(
    ("grammar", "words"),
    [
        ("", "the grammar is empty"),
        ("start ::= [a]", "no rule `root`"),
        ('root ::= "a" item', "line 1 column 14: there is no rule `item`"),
        ('root ::= "a', "line 1 column 10: the text that"),
        ("\nroot ::= [ab", "line 2 column 10: the set that"),
        ('root ::= ("a"\n"b"', "line 2 column 4: expected `)` for the `(` of line 1 column 10"),
        ("root ::= [z-a]", "line 1 column 11: the range goes backwards"),
        ("root ::= []", "line 1 column 10: the set is empty"),
        (r'root ::= "\q"', r"line 1 column 11: unknown escape \q"),
        (r'root ::= "\u00e"', "line 1 column 11: expected 4 hexadecimal digits"),
        (r'root ::= "\ud800"', "line 1 column 11: U+D800 is no character"),
        (r'root ::= "\U00110000"', "line 1 column 11: \\U00110000 is beyond"),
        ("root ::= *", "line 1 column 10: `*` follows nothing"),
        ('root ::= "a"{3,2}', "line 1 column 13: at most 2 times, but at least 3"),
        ('root ::= "a"{,2}', "line 1 column 14: expected a number"),
        ('root ::= "a"{1;2}', "line 1 column 13: expected `{m}`"),
        ('root ::= "a"{99999999}', "line 1 column 14: no more than"),
        ('root ::= <think> "a"', "line 1 column 10: names the token <think>; only text"),
        ("root ::= !<[1000]>", "line 1 column 10: names the token !<[1000]>; only text"),
        ('root = "a"', "line 1 column 6: expected `::=`"),
        ('root ::= "a"\n | "b"', "line 2 column 2: expected a rule"),
        ('root ::= "a" ]', "line 1 column 14: expected the end of the rule `root`, not ']'"),
        ("root ::= " + "(" * 200, "more than 100 parentheses"),
        ('root ::= "a" root', "no answer ends"),
        ('root ::= x | y\nx ::= "a" y\ny ::= x "b"', "no answer ends"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(grammar: str, words: str) -> None:
    with pytest.raises(GrammarError) as caught:
        Gbnf(grammar).prepare()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_of_two_rules_of_one_name_the_last_one_holds_and_that_is_told() -> None:
    grammar = Gbnf('root ::= x\nx ::= "a"\n\nx ::= "b"')
    assert grammar.judge("b").valid
    assert grammar.prepare().warnings == ("the rule `x` of line 2 is replaced by that of line 4",)


def test_options_that_never_end_are_left_out() -> None:
    engine = Engine('root ::= "a" | "b" more\nmore ::= "c" more')
    assert engine.accepts("a")
    assert not engine.accepts("bc")
    assert "\\x{63}" not in translated(read('root ::= "a" | "b" more\nmore ::= "c" more'))


# -- terminals -------------------------------------------------------------------------------


def test_a_regular_grammar_becomes_one_terminal() -> None:
    text = translated(read('root ::= ws item (","  ws item)*\nitem ::= [a-z]+\nws ::= [ ] ws | ""'))
    assert text.startswith("start: T0\n")
    assert text.count("start") == 1


def test_strings_of_a_recursive_grammar_stay_whole() -> None:
    text = translated(
        read(
            """
            root ::= value
            value ::= "[" ws (value ("," ws value)*)? "]" ws | string
            string ::= "\\"" ([^"\\\\] | "\\\\" ["\\\\/bfnrt])* "\\"" ws
            ws ::= [ \\t\\n]*
            """
        )
    )
    assert any(
        line.startswith("T") and "/*" not in line and ")*" in line for line in text.split("\n")
    )


# -- any grammar -----------------------------------------------------------------------------

_NAMES = ("root", "x", "y", "z")
_SETS = ("[a]", "[ab]", "[^a]", "[^ab]", "[b-c]", "[aé]", ".", '"a"', '"b"', '"ab"', '"abc"', '""')


def grammars(draw: random.Random) -> str:
    """A random grammar over the letters a, b, c and é."""
    names = _NAMES[: draw.randint(1, len(_NAMES))]
    size = draw.randint(1, 3)

    def atom(depth: int) -> str:
        kind = draw.random()
        if kind < 0.5 or depth == 0:
            return draw.choice(_SETS)
        return draw.choice(names) if kind < 0.75 else f"({options(depth - 1)})"

    def part(depth: int) -> str:
        times = ["", "", "", "*", "+", "?", "{2}", "{1,2}", "{2,}", "{0,3}"]
        return atom(depth) + draw.choice(times)

    def options(depth: int) -> str:
        return " | ".join(
            " ".join(part(depth) for _ in range(draw.randint(1, size)))
            for _ in range(draw.randint(1, size))
        )

    return "\n".join(f"{name} ::= {options(2)}" for name in names)


class Unending(Exception):
    """A sentence got too long."""


def sentence(rules: dict[str, Expr], draw: random.Random) -> str:
    """A random sentence of a grammar. Raises Unending."""
    calls = 0

    def of(expr: Expr) -> Iterator[str]:
        nonlocal calls
        calls += 1
        if calls > 150:
            raise Unending
        if isinstance(expr, Chars):
            fitting = [c for c in "abcé" if any(a <= ord(c) <= b for a, b in expr.intervals)]
            yield draw.choice(fitting) if fitting else chr(expr.intervals[0][0])
        elif isinstance(expr, Ref):
            yield from of(rules[expr.name])
        elif isinstance(expr, Seq):
            for part in expr.parts:
                yield from of(part)
        elif isinstance(expr, Alt):
            yield from of(draw.choice(expr.options))
        else:
            assert isinstance(expr, Repeat)
            most = expr.least + 2 if expr.most is None else expr.most
            for _ in range(draw.randint(expr.least, most)):
                yield from of(expr.part)

    return "".join(of(rules["root"]))


def compiled(grammar: str) -> Engine | None:
    """The engine; None for a grammar without a finite sentence."""
    try:
        return Engine(grammar)
    except GrammarError as error:
        if "no answer ends" not in str(error):
            raise
        return None


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_engine_and_judge_accept_the_same_texts_of_any_grammar(seed: int) -> None:
    draw = random.Random(seed)
    grammar = grammars(draw)
    rules = read(grammar).rules
    engine = compiled(grammar)
    if engine is None:
        return
    spec = Gbnf(grammar)
    texts = {"".join(draw.choices("abcé", k=draw.randint(0, 5))) for _ in range(12)}
    for _ in range(8):
        try:
            text = sentence(rules, draw)
        except Unending:
            continue
        assert spec.judge(text).valid, (grammar, text)
        texts.add(text)
        if text:
            at = draw.randrange(len(text))
            texts.add(text[:at] + draw.choice(["", "a", "b"]) + text[at + 1 :])
    for text in texts:
        assert engine.accepts(text) in (None, spec.judge(text).valid), (grammar, text)


def test_a_grammar_too_large_to_be_judged_is_not_judged() -> None:
    assert Gbnf('root ::= ("a"{0,1000}){0,1000}').judge("a").valid is None


def test_the_empty_expression_is_the_sequence_of_nothing() -> None:
    assert read('root ::= ""').rules["root"] == EMPTY
