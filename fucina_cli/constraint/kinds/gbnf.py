"""A grammar in the notation of llama.cpp."""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.errors import Part
from fucina_cli.options import Option

if TYPE_CHECKING:
    from fucina_cli.constraint.gbnf.reading import Grammar

_LARK = re.compile(r"^[!?]?[a-z_][\w-]*(\.\d+)?[ \t]*:", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class Gbnf:
    """A grammar whose start rule is `root`.

    Raises GrammarError, with line and column, for one that can't be read.
    """

    grammar: str

    kind = "gbnf"

    def __post_init__(self) -> None:
        if not isinstance(self.grammar, str):
            raise GrammarError(f"a grammar is a string, not {type(self.grammar).__name__}")
        if not self.grammar.strip():
            raise GrammarError("the grammar is empty; it needs at least a rule `root ::= …`")
        if "::=" not in self.grammar and _LARK.search(self.grammar):
            raise GrammarError("this is Lark, not GBNF; give it as ", Part("lark"))
        self._read  # noqa: B018 (read here, to fail here)

    @cached_property
    def _read(self) -> Grammar:
        from fucina_cli.constraint.gbnf.reading import read

        return read(self.grammar)

    @property
    def identity(self) -> Hashable:
        """Kind and text."""
        return self.kind, self.grammar

    def prepare(self) -> Prepared:
        """The grammar for the engine. Raises GrammarError."""
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.gbnf.translation import translated
        from fucina_cli.constraint.trial import checked

        made = checked(LLMatcher.grammar_from_lark(translated(self._read)))
        return Prepared(made.engine_text, (*self._read.warnings, *made.warnings))

    def judge(self, text: str) -> Verdict:
        """Whether the text is a sentence of the grammar, by Earley's algorithm.

        None for a grammar that is too large for it.
        """
        from fucina_cli.constraint.gbnf.matcher import TooLarge, matches

        try:
            ok = matches(self._read.rules, text)
        except TooLarge:
            return Verdict(None, ("the grammar is too large to be matched",))
        return Verdict(ok, () if ok else ("the answer is no sentence of the grammar",))

    def value(self, text: str) -> str:
        """The text itself."""
        return text


KIND = Kind(
    Option(
        "gbnf",
        "The answer is a sentence of this grammar of llama.cpp.",
        "GRAMMAR|@FILE",
        rank=25,
    ),
    spec=Gbnf,
    read=Gbnf,
    takes=lambda _value: False,
)
