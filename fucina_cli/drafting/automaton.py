"""Suffix automata over token ids: where has the end of the text been seen before?

The automaton is that of Blumer et al. 1985 ("The smallest automaton recognizing the subwords of a
text"), built online; drafting from it is SAM decoding (Hu et al. 2024). One structure serves two
uses: over a growing conversation (`SuffixAutomaton`), and over a document that never changes,
which streams share and walk with a cursor each (`Reference`, `Cursor`).
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence

_NONE = -1
_STEPS_PER_TOKEN = 16


class SuffixAutomaton:
    """Finds, after every token, the longest end of the text that occurs earlier in the text.

    Appending a token is amortized O(1). Arrays take less memory than lists and a little more time.

    A state stands for all substrings that end at the same positions. Most states have a single
    successor, which sits in two arrays; only branching ones get a dict of the others.

    The most recent end of a state's substrings is kept exact without walking to the root at every
    token: while the match grows token by token, each state on the way is longer than all those
    before, so none of them is asked for the recency of its ancestors. Only when the match breaks
    are the ancestors told, latest first, each walk ending where a later one has been. Natural text
    takes about one step per token for that; contrived texts take more, and past 16 per token some
    ancestors keep an occurrence that is not the latest.
    """

    def __init__(self, tokens: Iterable[int] = ()) -> None:
        """Start with `tokens`: ids of at least 0 and under 2**31."""
        self.text: list[int] = []
        #: Length of the longest suffix of the text that also ends earlier; 0 for none.
        self.match_length = 0
        #: Index after the most recent earlier occurrence of that suffix; 0 without a match.
        self.match_end = 0
        self._length = array("i", (0,))
        self._link = array("i", (_NONE,))
        self._recent = array("i", (0,))
        self._token = array("i", (_NONE,))
        self._target = array("i", (_NONE,))
        self._more: dict[int, dict[int, int]] = {}
        self._last = 0
        self._run: list[int] = []  # matched states, the last at the text's end: ancestors not told
        self._steps = 0  # that telling may still take
        self.extend(tokens)

    def extend(self, tokens: Iterable[int]) -> None:
        """Append `tokens` to the text."""
        text, length, link, recent = self.text, self._length, self._link, self._recent
        first, target, more = self._token, self._target, self._more
        last, matched = self._last, self._run[-1] if self._run else 0
        n, end = len(text), self.match_end
        for token in tokens:
            text.append(token)
            n += 1
            state = len(length)
            length.append(n)
            link.append(0)
            recent.append(n)
            first.append(_NONE)
            target.append(_NONE)
            first[last], target[last] = token, state
            # `matched` is the link of `last`: the longest suffix that was seen earlier.
            p = matched if last else _NONE
            last = state
            while p >= 0:
                if first[p] == token:
                    q = target[p]
                    break
                if first[p] == _NONE:
                    first[p], target[p] = token, state
                else:
                    branches = more.get(p)
                    if branches is None:
                        more[p] = {token: state}
                    elif token in branches:
                        q = branches[token]
                        break
                    else:
                        branches[token] = state
                p = link[p]
            if p != matched:
                self._tell(n - 1)
            if p < 0:
                matched = end = 0
                continue
            if length[p] + 1 != length[q]:
                q = self._split(p, q, token)
            link[state] = q
            matched, end = q, recent[q]
            recent[q] = n
            self._run.append(q)
        self._last, self.match_end = last, end
        self.match_length = length[matched]

    def draft(self, limit: int) -> list[int]:
        """What followed the most recent earlier occurrence, `limit` tokens; [] without a match.

        Where the occurrence reaches the end of the text, copying goes on into the copy, as in
        Ziv and Lempel's coding: a loop is continued as a loop.
        """
        if not self.match_length or limit <= 0:
            return []
        ahead = self.text[self.match_end : self.match_end + limit]
        while len(ahead) < limit:
            ahead += ahead[: limit - len(ahead)]
        return ahead

    def _split(self, p: int, q: int, token: int) -> int:
        """Give those substrings of `q` that are substrings of `p` and `token` their own state."""
        link, first, target, more = self._link, self._token, self._target, self._more
        copy = len(link)
        self._length.append(self._length[p] + 1)
        link.append(link[q])
        link[q] = copy
        self._recent.append(self._recent[q])
        first.append(first[q])
        target.append(target[q])
        if q in more:
            more[copy] = more[q].copy()
        while p >= 0:
            if first[p] == token:
                if target[p] != q:
                    break
                target[p] = copy
            else:
                branches = more[p]
                if branches[token] != q:
                    break
                branches[token] = copy
            p = link[p]
        return copy

    def _tell(self, end: int) -> None:
        """Let the ancestors of the run know that they end at `end` and just before."""
        link, recent, run = self._link, self._recent, self._run
        steps = self._steps + _STEPS_PER_TOKEN * len(run)
        for state in reversed(run):
            p = link[state]
            while p > 0 and recent[p] < end and steps:
                recent[p] = end
                p = link[p]
                steps -= 1
            end -= 1
        self._steps = steps
        run.clear()


class Reference:
    """A document that never changes, indexed once; any number of cursors may walk it.

    Building costs what appending to a SuffixAutomaton does. Only substrings with a token after
    them are indexed, so that every match can be drafted from.
    """

    def __init__(self, tokens: Sequence[int]) -> None:
        """Index `tokens`: ids of at least 0 and under 2**31."""
        automaton = SuffixAutomaton(tokens[:-1])
        automaton._tell(len(automaton.text))
        self._text = automaton.text
        self._text += tokens[-1:]
        self._length, self._link, self._recent = (
            automaton._length,
            automaton._link,
            automaton._recent,
        )
        self._first, self._target, self._more = (
            automaton._token,
            automaton._target,
            automaton._more,
        )

    def cursor(self) -> Cursor:
        """A cursor that has seen nothing yet."""
        return Cursor(self)


class Cursor:
    """Walks a reference along a text: the longest end of the text that the document holds.

    A token is amortized O(1).
    """

    def __init__(self, reference: Reference) -> None:
        self._reference = reference
        self._state = 0
        #: Length of the longest suffix of the text that occurs in the document.
        self.match_length = 0

    def extend(self, tokens: Iterable[int]) -> None:
        """Append `tokens` to the text."""
        reference = self._reference
        first, target, more = reference._first, reference._target, reference._more
        state, matched = self._state, self.match_length
        for token in tokens:
            while True:
                if first[state] == token:
                    state = target[state]
                    matched += 1
                    break
                if state in more and token in more[state]:
                    state = more[state][token]
                    matched += 1
                    break
                if not state:
                    break
                state = reference._link[state]
                matched = reference._length[state]
        self._state, self.match_length = state, matched

    @property
    def match_end(self) -> int:
        """Index after the last occurrence of the match in the document; 0 without a match."""
        return self._reference._recent[self._state]

    def draft(self, limit: int) -> list[int]:
        """What follows the match in the document, at most `limit` tokens; [] without a match."""
        if not self.match_length or limit <= 0:
            return []
        end = self.match_end
        return self._reference._text[end : end + limit]
