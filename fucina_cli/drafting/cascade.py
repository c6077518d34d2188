"""Drafts from whatever has the longest match: the conversation, documents, or else bigrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fucina_cli.drafting.automaton import Cursor, Reference, SuffixAutomaton
from fucina_cli.drafting.recycling import WIDTH, RecyclingMatrix
from fucina_cli.drafting.source import Counters, Outlook
from fucina_cli.llama.prefix import common_prefix

#: Names of all sources that are no document.
OWN_NAMES = frozenset({"history", "recycling", "forced", "boundary", "draft model"})
_SHORTEST_MATCH = 2
_TOKENS_PER_MATCHED = 2  # of a draft
_SEAM = 8  # tokens compared to see whether a context goes on where the last one ended
#: By the match's length, from the longest: prior probabilities of the first token and of each next
#: one. The gate counts matches in the prompt and in the reply apart: a model that quotes well may
#: repeat itself badly, and the other way round.
_PRIORS = ((16, 0.9, 0.95), (8, 0.8, 0.92), (4, 0.75, 0.85), (_SHORTEST_MATCH, 0.4, 0.75))
_RECYCLED = Outlook("recycling", 0.3, 0.4)


def _outlooks(place: str) -> list[tuple[int, Outlook]]:
    return [(n, Outlook(f"{place} {n}+", first, then)) for n, first, then in _PRIORS]


_PROMPT, _REPLY, _REFERENCE = map(_outlooks, ("prompt", "reply", "reference"))


class Cascade:
    """A DraftSource: the longest match of any automaton, recycled bigrams where none is long.

    The conversation's own automaton is called "history"; of matches equally long it is taken
    first, then references in their order. A draft has two tokens for each one matched. How often
    drafts hold changes none of this: whether they are verified is for the gate to decide.
    """

    def __init__(self, references: Mapping[str, Reference] | None = None) -> None:
        """Draft from `references` too; their names are those of the counters.

        Raises ValueError when a name is one of the cascade's own.
        """
        self._references = dict(references or {})
        taken = OWN_NAMES & self._references.keys()
        if taken:
            raise ValueError(f"a reference can't be called {min(taken)!r}")
        self._restart()
        self._recycling = RecyclingMatrix()
        names = ("history", *self._references, "recycling")
        self._counts = dict.fromkeys(names, (0, 0))
        self._pending: list[int] = []
        self._pending_name = ""
        self.outlook = _RECYCLED

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens per source."""
        return dict(self._counts)

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context`."""
        self._follow(context)
        name, match = max(self._matches.items(), key=lambda item: item[1].match_length)
        longest = match.match_length
        if longest >= _SHORTEST_MATCH:
            draft = match.draft(min(limit, _TOKENS_PER_MATCHED * longest))
            self._pending_name = name
            self.outlook = next(o for n, o in self._place(match) if longest >= n)
        else:
            draft = self._recycling.draft(limit)
            self._pending_name, self.outlook = "recycling", _RECYCLED
        self._pending = draft
        return list(draft)

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft."""
        if self._pending:
            held = common_prefix(self._pending, committed)
            drafted, accepted = self._counts[self._pending_name]
            self._counts[self._pending_name] = (drafted + len(self._pending), accepted + held)
            self._pending = []

    def truncate_pending(self, length: int) -> None:
        """Count only the first `length` tokens of the pending draft."""
        self._pending = self._pending[:length]

    @property
    def wants_topk(self) -> int:
        """Successors kept per token."""
        return WIDTH

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """Learn what rows of logits rate best after tokens that were rejected."""
        self._recycling.observe_topk(rows)

    def _place(self, match: SuffixAutomaton | Cursor) -> list[tuple[int, Outlook]]:
        """Outlooks of the text that a match lies in."""
        if match is not self._history:
            return _REFERENCE
        return _PROMPT if match.match_end < self._prompt else _REPLY

    def _follow(self, context: Sequence[int]) -> None:
        """Bring automaton, cursors and matrix to the end of `context`."""
        text = self._history.text
        seen = len(text)
        start = max(0, seen - _SEAM)
        if list(context[start:seen]) != text[start:]:
            self._restart()
            seen = 0
        new = context[seen:]
        if not seen:
            self._prompt = len(new)
        for match in self._matches.values():
            match.extend(new)
        self._recycling.extend(new)

    def _restart(self) -> None:
        self._history = SuffixAutomaton()
        self._prompt = 0  # tokens that came before the first suggestion
        self._matches: dict[str, SuffixAutomaton | Cursor] = {"history": self._history} | {
            name: reference.cursor() for name, reference in self._references.items()
        }
