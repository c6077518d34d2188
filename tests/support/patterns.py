"""Random patterns and texts, and what the grammar engine makes of them."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass

from hypothesis import strategies as st
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

from fucina_cli.constraint.kind import Prepared

_CHARS = [
    *'abAkKsS09_-"\\/.&~[]^$ ', "\n", "\r", "\t", "\x00", "\x01", "\x0b", "\x1f", "\xa0", "é", "ß",
    "\u017f", "\u212a", "\u0660", "\u2028", "\ufeff", "😀", "\U0001d4b3",
]  # fmt: skip
_LITERALS = [*'abA0_"ksx /&~', "é", "ß", "😀"]

#: Texts of characters that JSON escapes, that classes tell apart, and that have odd cases.
texts = st.text(st.sampled_from(_CHARS), max_size=5)


class _Bytes:
    tokens = (*(bytes([byte]) for byte in range(256)), b"<end>")
    special_token_ids = (256,)
    bos_token_id = None
    eos_token_id = 256

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENIZER = LLTokenizer(TokenizerWrapper(_Bytes()))


@dataclass(frozen=True)
class Walker:
    """A grammar of the engine over the vocabulary of all bytes."""

    matcher: LLMatcher

    @classmethod
    def of(cls, prepared: Prepared) -> Walker:
        matcher = LLMatcher(_TOKENIZER, prepared.engine_text, log_level=0)
        assert not matcher.is_error(), matcher.get_error()
        return cls(matcher)

    def accepts(self, text: str) -> bool:
        """Whether the whole text is an answer."""
        copy = self.matcher.deep_copy()
        tokens = list(text.encode())
        return copy.try_consume_tokens(tokens) == len(tokens) and copy.is_accepting()


def written(text: str) -> str:
    """A JSON string in the spelling that the engine writes."""
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True)
class Syntax:
    """What a syntax adds to what all have.

    Attributes:
        escapes: of characters and classes.
        members: of classes, beside those escapes.
        groups: their opening signs.
        anchors: that may begin and end a pattern.
        looks: opening signs of look-arounds, and boundaries.
        operators: between parts of a class.
    """

    escapes: tuple[str, ...]
    members: tuple[str, ...]
    groups: tuple[str, ...]
    anchors: tuple[tuple[str, ...], tuple[str, ...]]
    looks: tuple[str, ...] = ()
    boundaries: tuple[str, ...] = ()
    operators: tuple[str, ...] = ()
    nested: bool = False

    def patterns(self) -> st.SearchStrategy[str]:
        """Random patterns of a few nodes; their size is up to the seed."""
        return st.integers(0, 2**32).map(lambda seed: _Writer(self, random.Random(seed)).pattern())


class _Writer:
    def __init__(self, syntax: Syntax, rng: random.Random) -> None:
        self._syntax, self._rng = syntax, rng
        self._names = 0

    def pattern(self) -> str:
        begin, end = self._syntax.anchors
        return self._some(0.5, begin) + self._choice(2) + self._some(0.5, end)

    def _some(self, chance: float, signs: tuple[str, ...]) -> str:
        return self._rng.choice(signs) if signs and self._rng.random() < chance else ""

    def _choice(self, depth: int) -> str:
        return "|".join(self._sequence(depth) for _ in range(self._rng.choice([1, 1, 1, 2, 3])))

    def _sequence(self, depth: int) -> str:
        return "".join(self._term(depth) for _ in range(self._rng.randint(depth == 2, 3)))

    def _term(self, depth: int) -> str:
        looks, chance = self._syntax.looks, self._rng.random()
        if looks and depth and chance < 0.1:
            return f"{self._rng.choice(looks)}{self._choice(0)})"
        if looks and chance < 0.2:
            return self._rng.choice(self._syntax.boundaries)
        signs = ("*", "+", "?", "{2}", "{1,3}", "{0,2}", "{2,}", "*?", "+?")
        return self._atom(depth) + self._some(0.4, signs)

    def _atom(self, depth: int) -> str:
        kinds: list[Callable[[], str]] = [
            lambda: self._rng.choice(_LITERALS),
            lambda: self._rng.choice(self._syntax.escapes),
            self._class,
            lambda: ".",
        ]
        if depth:
            kinds.append(lambda: f"{self._group()}{self._choice(depth - 1)})")
        return self._rng.choice(kinds)()

    def _group(self) -> str:
        self._names += 1
        return self._rng.choice(self._syntax.groups).replace("N", f"n{self._names}")

    def _class(self, depth: int = 1) -> str:
        parts = [self._members(depth)]
        while self._syntax.operators and self._rng.random() < 0.25:
            parts += [self._rng.choice(self._syntax.operators), self._members(depth)]
        return f"[{self._some(0.5, ('^',))}{''.join(parts)}]"

    def _members(self, depth: int) -> str:
        pool = (*_LITERALS[:10], *self._syntax.escapes, *self._syntax.members)
        found = [self._rng.choice(pool) for _ in range(self._rng.randint(1, 3))]
        if self._syntax.nested and depth and self._rng.random() < 0.3:
            found.append(self._class(depth - 1))
        return "".join(found)


_SHARED = (
    r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\n", r"\t", r"\\", r"\x41", r"\u0061", r"\p{L}",
    r"\P{Lu}", r"\-", r"\[",
)  # fmt: skip
_RANGES = ("a-z", "A-Z", "0-9", r"\x00-\x1f", "!-,", r"\x09-\x0d")
ECMA = Syntax(
    escapes=(*_SHARED, r"\u{1F600}", r"\ud83d\ude00", r"\cA", r"\0", r"\/", r"\_"),
    members=(*_RANGES, "[", "(", "^", "$", '"', r"\]", r"\b", r"\u{1F000}-\u{1FFFF}"),
    groups=("(", "(?:", "(?<N>"),
    anchors=(("^",), ("$",)),
)
ECMA_LOOKS = Syntax(
    escapes=ECMA.escapes,
    members=ECMA.members,
    groups=ECMA.groups,
    anchors=ECMA.anchors,
    looks=("(?=", "(?!", "(?<=", "(?<!"),
    boundaries=(r"\b", r"\B", "^", "$"),
)
RUST = Syntax(
    escapes=(*_SHARED, r"\x{1F600}", r"\U0001F600", r"\a", r"\&", r"\pN", r"\p{Greek}",
             r"\p{sc=Greek}"),
    members=(*_RANGES, "(", "$", "[:alpha:]", "[:^punct:]", "[:space:]", "[:word:]"),
    groups=("(", "(?:", "(?P<N>", "(?<N>", "(?i:", "(?s:", "(?-i:", "(?:(?i)", "(?U:"),
    anchors=(("^", r"\A", "(?i)"), ("$", r"\z")),
    operators=("&&", "--", "~~"),
    nested=True,
)  # fmt: skip
