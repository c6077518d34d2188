"""Drafts from whatever has the longest match: the conversation, documents, or else bigrams."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fucina_cli.drafting.automaton import Cursor, Reference, SuffixAutomaton
from fucina_cli.drafting.recycling import WIDTH, RecyclingMatrix
from fucina_cli.drafting.source import Counters, Outlook
from fucina_cli.drafting.window import Window
from fucina_cli.llama.prefix import common_prefix

#: Names of all sources that are no document.
OWN_NAMES = frozenset({"history", "recycling", "forced", "boundary", "draft model"})
_SHORTEST_MATCH = 2
_TOKENS_PER_MATCHED = 2  # how far a match is trusted
_SEAM = 8  # tokens compared to see whether a context goes on where the last one ended
#: By the match's length, from the longest: probabilities of the first token and of each next one.
#: Near what SmolLM2 135M gave over stories, lists, copied text and extracted JSON, greedy.
#: Whoever counts how drafts hold counts matches in the prompt and in the reply apart: a model that
#: quotes well may repeat itself badly, and the other way round.
_TRUST = ((16, 0.9, 0.95), (8, 0.8, 0.92), (4, 0.75, 0.85), (_SHORTEST_MATCH, 0.4, 0.75))
_RECYCLED = Outlook("recycling", 0.3, 0.4)


class _Matcher:
    """A source that matches: its automaton or cursor, and its window."""

    match: SuffixAutomaton | Cursor

    def __init__(self, name: str) -> None:
        self.name, self.window = name, Window()


def _outlooks(place: str) -> list[tuple[int, Outlook]]:
    return [(n, Outlook(f"{place} {n}+", first, then)) for n, first, then in _TRUST]


_PROMPT, _REPLY, _REFERENCE = map(_outlooks, ("prompt", "reply", "reference"))


class Cascade:
    """A DraftSource: the longest match of any automaton, recycled bigrams where none is long.

    The conversation's own automaton is called "history"; of matches equally long it is taken
    first, then references in their order. A draft has two tokens for each one matched. Sources
    that fail are muted one by one (see Window).

    A step costs about 7 microseconds, and 2 for each reference.
    """

    def __init__(self, references: Mapping[str, Reference] | None = None) -> None:
        """Draft from `references` too; their names are those of the counters.

        Raises ValueError when a name is one of the cascade's own.
        """
        self._references = dict(references or {})
        taken = OWN_NAMES & self._references.keys()
        if taken:
            raise ValueError(f"a reference can't be called {min(taken)!r}")
        self._matchers = [
            _Matcher("history"),
            *(_Matcher(name) for name in self._references),
        ]
        self._restart()
        self._recycling, self._recycled = RecyclingMatrix(), Window()
        self._step = 0
        self._pending: list[int] = []
        self._pending_window = self._recycled
        self.outlook = _RECYCLED

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens per source."""
        windows = {m.name: m.window for m in self._matchers} | {"recycling": self._recycled}
        return {name: (w.drafted, w.accepted) for name, w in windows.items()}

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context`."""
        self._follow(context)
        self._step += 1
        best, longest = None, _SHORTEST_MATCH - 1
        for matcher in self._matchers:
            length = matcher.match.match_length
            if length > longest and not matcher.window.muted(self._step):
                best, longest = matcher, length
        if best is not None:
            draft = best.match.draft(min(limit, _TOKENS_PER_MATCHED * longest))
            self._pending_window = best.window
            self.outlook = next(o for n, o in self._place(best.match) if longest >= n)
        elif not self._recycled.muted(self._step):
            draft = self._recycling.draft(limit)
            self._pending_window, self.outlook = self._recycled, _RECYCLED
        else:
            draft = []
        self._pending = draft
        return list(draft)

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft."""
        if self._pending:
            held = common_prefix(self._pending, committed)
            self._pending_window.settle(len(self._pending), held, self._step)
            self._pending = []

    def truncate_pending(self, length: int) -> None:
        """Count only the first `length` tokens of the pending draft."""
        self._pending = self._pending[:length]

    @property
    def wants_topk(self) -> int:
        """Successors of use per row: 8, or 0 while recycled drafts fail."""
        return 0 if self._recycled.muted(self._step + 1) else WIDTH

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
        for matcher in self._matchers:
            matcher.match.extend(new)
        self._recycling.extend(new)

    def _restart(self) -> None:
        self._history = SuffixAutomaton()
        self._prompt = 0  # tokens that came before the first suggestion
        matches: list[SuffixAutomaton | Cursor] = [
            self._history,
            *(r.cursor() for r in self._references.values()),
        ]
        for matcher, match in zip(self._matchers, matches, strict=True):
            matcher.match = match
