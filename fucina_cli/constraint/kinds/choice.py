"""A list of literal answers."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.options import Option


@dataclass(frozen=True)
class Choice:
    """Answers to choose from, duplicates dropped.

    Raises GrammarError for an empty list, an empty answer, and what is not a list of strings.
    """

    answers: Sequence[str]

    kind = "choice"

    def __post_init__(self) -> None:
        if isinstance(self.answers, str) or not all(isinstance(a, str) for a in self.answers):
            raise GrammarError("choices are a list of strings")
        unique = tuple(dict.fromkeys(self.answers))
        if not unique or any(not answer for answer in unique):
            raise GrammarError("an answer is empty; give each choice some text")
        object.__setattr__(self, "answers", unique)

    @property
    def identity(self) -> Hashable:
        """Kind and answers."""
        return self.kind, tuple(self.answers)

    def prepare(self) -> Prepared:
        """An alternative of literals for the engine. Raises GrammarError."""
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.trial import checked

        pattern = "|".join(_literal(answer) for answer in self.answers)
        return checked(LLMatcher.grammar_from_regex(pattern))

    def judge(self, text: str) -> Verdict:
        """Whether the text is one of the answers."""
        ok = text in self.answers
        return Verdict(ok, () if ok else ("not one of the choices",))

    def value(self, text: str) -> str:
        """The text itself."""
        return text


def _literal(text: str) -> str:
    r"""A pattern for exactly `text`: all but plain letters and digits escaped as \x{…}."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):X}}}" for c in text)


KIND = Kind(
    Option(
        "choice",
        "The answer is one of these (repeatable; of a file each line is one).",
        "TEXT|@FILE",
        repeatable=True,
        key="choices",
        rank=40,
    ),
    spec=Choice,
    read=Choice,
    takes=lambda value: isinstance(value, list | tuple | set | frozenset),
)
