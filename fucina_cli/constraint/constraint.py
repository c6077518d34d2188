"""A grammar's state in one stream: the sampler's hook, and look-aheads."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import numpy as np
from llguidance._lib import LLMatcher
from numpy.typing import NDArray

from fucina_cli.constraint.diagnostics import diagnosis
from fucina_cli.sampling.mask import apply_mask_words, is_allowed


class ConstraintError(RuntimeError):
    """The engine gave up on a state (too complex), or was given a token that it forbids."""


class Constraint:
    """A LogitProcessor over an llguidance matcher; also Structured, ForcesBytes and DraftMasks.

    Args:
        matcher: compiled, at its initial state; the constraint owns it.
        n_vocab: width of a logits row.
        stop_token: the one token allowed once the grammar is complete.
        ordinary: packed uint32 [ceil(n_vocab/32)], ids that may be produced at all. The engine
            excludes control tokens by itself; this holds even if a grammar names one.
        tokenize: ordinary ids of a text, for fixed text that spells a marker.

    Every token must pass `commit` exactly once. `forced_tokens`, `valid_prefix_len`, `mask_words`
    and `is_allowed` change nothing.
    """

    def __init__(
        self,
        matcher: LLMatcher,
        n_vocab: int,
        stop_token: int,
        ordinary: NDArray[np.uint32],
        tokenize: Callable[[str], list[int]],
    ) -> None:
        self._pristine = matcher
        self._matcher = matcher.deep_copy()
        self._draft: LLMatcher | None = None
        # Tokens from the committed to the speculative state, each with the mask after it if known.
        self._ahead: list[tuple[int, NDArray[np.uint32] | None]] = []
        self._n_vocab = n_vocab
        self.stop_token = stop_token
        self._ordinary = ordinary
        self._tokenize = tokenize
        self._mask: NDArray[np.uint32] | None = None
        #: Seconds that each mask took, in order, speculative ones too.
        self.mask_seconds: list[float] = []

    # -- LogitProcessor ----------------------------------------------------------------------

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Set the logits of every forbidden id to -inf; float32 [n_vocab], in place."""
        apply_mask_words(logits, self.mask_words())

    def commit(self, token: int) -> None:
        """Advance by a selected token. Raises ConstraintError when the grammar forbids it."""
        ahead, self._ahead = self._ahead, []
        draft, self._draft = self._draft, None
        self._mask = None
        if self._matcher.is_stopped() and token == self.stop_token:
            return
        if not self._matcher.consume_token(token):
            if self._matcher.is_error():
                raise _failure(self._matcher)
            raise ConstraintError(f"token {token} is not allowed here")
        if ahead and ahead[0][0] == token:  # as drafted: the masks computed ahead stay valid
            self._mask, self._ahead, self._draft = ahead[0][1], ahead[1:], draft

    def reset(self) -> None:
        """Back to the start of the grammar, for a new reply."""
        self._matcher = self._pristine.deep_copy()
        self._draft = self._mask = None
        self._ahead = []

    def fork(self) -> Constraint:
        """An independent constraint at the current state."""
        copy = Constraint(
            self._pristine, self._n_vocab, self.stop_token, self._ordinary, self._tokenize
        )
        copy._matcher = self._matcher.deep_copy()
        return copy

    # -- structure ---------------------------------------------------------------------------

    def mask_words(self) -> NDArray[np.uint32]:
        """The allowed set: packed uint32 [ceil(n_vocab/32)], id i at bit i%32 of word i//32.

        Raises ConstraintError when the engine can't go on (a grammar too complex for its limits).
        The array must not be changed; it is computed once per state.
        """
        if self._mask is None:
            self._mask = self._words_of(self._matcher)
        return self._mask

    def is_allowed(self, token: int) -> bool:
        """Whether `token` may come next."""
        return is_allowed(self.mask_words(), token)

    def forced_tokens(self, limit: int) -> list[int]:
        """The next tokens where the grammar leaves no choice, at most `limit` of them.

        Once the grammar is complete and can't go on, that is the stop token.
        """
        if limit <= 0:
            return []
        if self.finished:
            return [self.stop_token]
        tokens: list[int] = []
        for token in self._matcher.compute_ff_tokens()[:limit]:
            if not self._is_ordinary(token):
                return tokens or self._in_place_of_marker(self._matcher)
            tokens.append(token)
        return tokens

    def forced_bytes(self) -> bytes:
        """The next bytes where the grammar leaves no choice, past the last forced token too.

        There the bytes are certain and the token is not: it may end within them or go on beyond.
        They may end inside a character. Changes nothing.
        """
        return b"" if self._matcher.is_stopped() else self._matcher.compute_ff_bytes()

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` could be committed one after the other from here."""
        candidates = list(tokens)
        for i, token in enumerate(candidates):
            if not self._is_ordinary(token):
                candidates = candidates[:i]
                break
        return self._matcher.validate_tokens(candidates) if candidates else 0

    @property
    def complete(self) -> bool:
        """Whether what was committed is a whole answer of the grammar."""
        return self._matcher.is_accepting() and not self._matcher.is_error()

    @property
    def finished(self) -> bool:
        """Whether the answer is complete and can't be continued."""
        return self._matcher.is_stopped() and not self._matcher.is_error()

    # -- speculative state, for draft models -------------------------------------------------

    def draft_begin(self) -> None:
        """Copy the committed state to the speculative one, kept while commits agree with it."""
        self._draft = self._matcher.deep_copy()
        self._ahead = []

    def draft_mask_words(self) -> NDArray[np.uint32]:
        """The allowed set of the speculative state, as `mask_words`.

        It is reused where the committed state gets there by the same tokens.
        """
        draft = self._speculative()
        if not self._ahead:
            return self.mask_words()
        token, words = self._ahead[-1]
        if words is None:
            words = self._words_of(draft)
            self._ahead[-1] = (token, words)
        return words

    def draft_advance(self, token: int) -> bool:
        """Move the speculative state; False when the chain ends there (stop or illegal token)."""
        draft = self._speculative()
        if token == self.stop_token or not self._is_ordinary(token):
            return False
        if draft.validate_tokens([token]) != 1 or not draft.consume_token(token):
            return False
        self._ahead.append((token, None))
        return True

    # ----------------------------------------------------------------------------------------

    def _speculative(self) -> LLMatcher:
        if self._draft is None:
            raise ConstraintError("draft_begin was not called")
        return self._draft

    def _is_ordinary(self, token: int) -> bool:
        return 0 <= token < self._n_vocab and is_allowed(self._ordinary, token)

    def _in_place_of_marker(self, matcher: LLMatcher) -> list[int]:
        """The token of the first character, where the engine takes fixed text for a marker.

        The model's tokenizer, which the engine asks, finds user-defined tokens in any text. After
        the first character what is left does not spell the marker.
        """
        text = matcher.compute_ff_bytes().decode("utf-8", "ignore")
        tokens = self._tokenize(text[:1])[:1]
        allowed = all(map(self._is_ordinary, tokens)) and matcher.validate_tokens(tokens) == 1
        return tokens if allowed else []

    def _words_of(self, matcher: LLMatcher) -> NDArray[np.uint32]:
        """The mask of a state, computed and timed."""
        begin = time.perf_counter()
        words = np.zeros(self._ordinary.size, dtype=np.uint32)
        if matcher.is_stopped():
            if matcher.is_error():
                raise _failure(matcher)
            words[self.stop_token >> 5] = np.uint32(1 << (self.stop_token & 31))
        else:
            matcher.unsafe_compute_mask_ptr(words.ctypes.data, words.nbytes)
            if matcher.is_error():
                raise _failure(matcher)
            words &= self._ordinary
            if not words.any():
                for token in self._in_place_of_marker(matcher):
                    words[token >> 5] = np.uint32(1 << (token & 31))
        self.mask_seconds.append(time.perf_counter() - begin)
        return words


def _failure(matcher: LLMatcher) -> ConstraintError:
    reason = diagnosis(matcher.get_error()) or "no reason given"
    return ConstraintError(f"the grammar engine gave up: {reason}")
