"""A grammar in llguidance's dialect of Lark."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.constraint.larktext import check_lark
from fucina_cli.options import Option


@dataclass(frozen=True)
class Lark:
    """A grammar whose start rule is `start`.

    Raises GrammarError for one that is empty or not a string, and for one that says more than which
    texts are answers: names of tokens, limits of tokens, JSON schemas, the engine's own JSON.
    """

    grammar: str

    kind = "lark"

    def __post_init__(self) -> None:
        if not isinstance(self.grammar, str):
            raise GrammarError(f"a grammar is a string, not {type(self.grammar).__name__}")
        check_lark(self.grammar)

    @property
    def identity(self) -> Hashable:
        """Kind and text."""
        return self.kind, self.grammar

    def prepare(self) -> Prepared:
        """The grammar for the engine. Raises GrammarError."""
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.trial import checked

        return checked(LLMatcher.grammar_from_lark(self.grammar))

    def judge(self, text: str) -> Verdict:
        """None: there is no second implementation."""
        return Verdict(None)

    def value(self, text: str) -> str:
        """The text itself."""
        return text


KIND = Kind(
    Option("lark", "The answer is a sentence of this grammar.", "GRAMMAR|@FILE", rank=20),
    spec=Lark,
    read=Lark,
    takes=lambda _value: False,
    takes_paths=False,
)
