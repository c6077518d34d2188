"""Drafts from what the grammar forces next, and around them those of another source."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from fucina_cli.drafting.source import (
    CERTAIN,
    UNKNOWN,
    Counters,
    Counting,
    DraftSource,
    Forecasting,
    LearnsTopK,
    Outlook,
)
from fucina_cli.llama.prefix import common_prefix
from fucina_cli.sampling.processor import ForcesBytes, Structured

_BOUNDARY = Outlook("boundary", 0.9, 0.9)
_MOST_BYTES = 512  # of a forced text that are looked at in one step
_MOST_TEXTS = 1024  # tokenizations remembered
# How often an end of a forced text must fail more than it holds before it is left out.
_FIRST_SCORE, _BEST_SCORE = 1, 3


class ConstrainedSource:
    """A DraftSource: forced tokens, then tokens at a boundary, or what another source suggests.

    *Forced tokens* can't fail. Past them a grammar often fixes the next bytes but not where the
    token ends; the *boundary draft* is the canonical tokenization of those bytes. Its last token
    may turn out to be a longer one that goes on into free text; ends that keep failing are left
    out. The *inner source* drafts where the grammar leaves all open, and is cut at its first
    illegal token; it also takes over where it begins with the grammar's draft and goes beyond.

    A draft of the inner source costs a look-ahead of the grammar over it; a forced text is
    tokenized once.
    """

    def __init__(
        self,
        structure: Structured,
        inner: DraftSource | None = None,
        *,
        tokenize: Callable[[str], Sequence[int]],
        token_bytes: Callable[[int], bytes],
        ask_always: bool = True,
    ) -> None:
        """Draft what `structure` forces, else what `inner` suggests.

        Args:
            structure: the stream's processor, always at the end of the context; boundaries need
                one that is also ForcesBytes.
            inner: None for no other guesses.
            tokenize: canonical ids of a text in the middle of a text: no BOS, no space put before.
                Ids that don't spell the text are not drafted.
            token_bytes: raw bytes of an id.
            ask_always: ask `inner` also where the grammar drafts, for what goes beyond; not worth
                it where asking costs forwards.
        """
        self._ask_always = ask_always
        self._structure = structure
        self._bytes = structure if isinstance(structure, ForcesBytes) else None
        self._inner = inner
        self._learner = inner if isinstance(inner, LearnsTopK) else None
        self._tokenize, self._token_bytes = tokenize, token_bytes
        self._texts: dict[str, list[int]] = {}
        self._scores: dict[int, int] = {}  # of last tokens of forced texts
        self._counts = {"forced": [0, 0], "boundary": [0, 0]}
        self._own: list[int] = []  # the live draft, when it is the grammar's
        self._forced = 0  # how many of it are forced
        self._ends_text = False  # whether its last token ends the forced text
        self.outlook = UNKNOWN

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens: "forced", "boundary" and those of the inner source."""
        own = {name: (drafted, held) for name, (drafted, held) in self._counts.items()}
        return {**own, **(self._inner.counters if isinstance(self._inner, Counting) else {})}

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context`, legal one after the other."""
        forced = self._structure.forced_tokens(limit) if limit > 0 else []
        own = forced + self._boundary(forced, limit)
        self._own, self._forced = own, len(forced)
        if own:
            self.outlook = CERTAIN if forced else _BOUNDARY
        if self._inner is None or (own and not self._ask_always):
            return list(own)
        guess = self._inner.suggest(context, limit)
        if own and (len(guess) <= len(own) or guess[: len(own)] != own):
            self._inner.truncate_pending(0)
            return list(own)
        self._own, self._ends_text = [], False
        if guess:
            legal = self._structure.valid_prefix_len(guess)
            if legal < len(guess):
                guess = guess[:legal]
                self._inner.truncate_pending(legal)
            inner = self._inner
            self.outlook = inner.outlook if isinstance(inner, Forecasting) else UNKNOWN
        return guess

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft."""
        own, forced = self._own, self._forced
        if own:
            held = common_prefix(own, committed)
            if self._ends_text and held >= len(own) - 1 and len(committed) >= len(own):
                score = self._scores.get(own[-1], _FIRST_SCORE)
                score += 1 if held == len(own) else -1
                self._scores[own[-1]] = min(score, _BEST_SCORE)
            forced = min(forced, len(own))
            for name, drafted, good in (
                ("forced", forced, min(held, forced)),
                ("boundary", len(own) - forced, max(held - forced, 0)),
            ):
                self._counts[name][0] += drafted
                self._counts[name][1] += good
            self._own, self._ends_text = [], False
        if self._inner is not None:
            self._inner.observe(committed)

    def truncate_pending(self, length: int) -> None:
        """Count only the first `length` tokens of the pending draft."""
        if length < len(self._own):
            self._own, self._ends_text = self._own[:length], False
        elif not self._own and self._inner is not None:
            self._inner.truncate_pending(length)

    @property
    def wants_topk(self) -> int:
        """What the inner source wants."""
        return self._learner.wants_topk if self._learner else 0

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        """For the inner source."""
        if self._learner:
            self._learner.observe_topk(rows)

    def _boundary(self, forced: list[int], limit: int) -> list[int]:
        """The canonical tokens of what is forced after `forced`; sets `_ends_text`."""
        self._ends_text = False
        data = self._bytes.forced_bytes() if self._bytes and len(forced) < limit else b""
        if not data:
            return []
        if forced:
            certain = b"".join(map(self._token_bytes, forced))
            if not data.startswith(certain):
                return []
            data = data[len(certain) :]
        text = _whole_characters(data[:_MOST_BYTES])
        tokens = self._tokens(text)
        whole = len(text.encode()) == len(data)
        if tokens and (not whole or self._scores.get(tokens[-1], _FIRST_SCORE) < 0):
            # What comes next may merge into the last token.
            tokens, whole = tokens[:-1], False
        if len(tokens) > limit - len(forced):
            tokens, whole = tokens[: limit - len(forced)], False
        if tokens:
            legal = self._structure.valid_prefix_len(forced + tokens) - len(forced)
            self._ends_text = whole and legal == len(tokens)
            tokens = tokens[: max(legal, 0)]
        return tokens

    def _tokens(self, text: str) -> list[int]:
        tokens = self._texts.get(text)
        if tokens is None:
            tokens = list(self._tokenize(text)) if text else []
            if b"".join(map(self._token_bytes, tokens)) != text.encode():
                tokens = []
            if len(self._texts) >= _MOST_TEXTS:
                self._texts.clear()
            self._texts[text] = tokens
        return tokens


def _whole_characters(data: bytes) -> str:
    """The characters that `data` begins with, up to the first that is not whole."""
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start].decode()
