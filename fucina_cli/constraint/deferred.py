"""A constraint that starts after the thoughts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.sampling.mask import apply_mask_words, is_allowed, pack_mask


class AfterThinking:
    """A processor that lets one thinking block pass, then hands over to a constraint.

    The opening marker is forced, and only the closing marker ends the block: nothing that would end
    the turn is allowed inside. Thoughts are otherwise free.

    Args:
        constraint: starts after the block; owned by this processor.
        opens, closes: ids of the block's markers.
        inside: whether the prompt ended within an open block.
        forbidden: ids that must not appear inside the block (those that end a turn).
        n_vocab: width of a logits row.
    """

    def __init__(
        self,
        constraint: Constraint,
        *,
        opens: int,
        closes: int,
        inside: bool,
        forbidden: Sequence[int],
        n_vocab: int,
    ) -> None:
        self.constraint = constraint
        self._opens, self._closes, self._n_vocab = opens, closes, n_vocab
        self._inside_at_start = inside
        self._phase = "inside" if inside else "before"
        self._draft_phase: str | None = None
        free = np.ones(n_vocab, dtype=np.bool_)
        free[[*forbidden, opens]] = False
        self._free = pack_mask(free)
        only = np.zeros(n_vocab, dtype=np.bool_)
        only[opens] = True
        self._only_open = pack_mask(only)

    @property
    def members(self) -> tuple[Constraint]:
        """The constraint, like the members of a chain."""
        return (self.constraint,)

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Set the logits of every forbidden id to -inf; float32 [n_vocab], in place."""
        apply_mask_words(logits, self.mask_words())

    def commit(self, token: int) -> None:
        """Advance by a selected token."""
        if self._phase == "after":
            self.constraint.commit(token)
        elif self._phase == "before":
            self._phase = "inside"
        elif token == self._closes:
            self._phase = "after"

    def reset(self) -> None:
        """Back to the start, before the thinking block."""
        self.constraint.reset()
        self._phase = "inside" if self._inside_at_start else "before"
        self._draft_phase = None

    def fork(self) -> AfterThinking:
        """An independent copy at the current state."""
        copy = object.__new__(AfterThinking)
        copy.__dict__.update(self.__dict__)
        copy.constraint = self.constraint.fork()
        copy._draft_phase = None
        return copy

    def mask_words(self) -> NDArray[np.uint32]:
        """The allowed set, packed uint32 [ceil(n_vocab/32)]; must not be changed."""
        return self.constraint.mask_words() if self._phase == "after" else self._block(self._phase)

    def is_allowed(self, token: int) -> bool:
        """Whether `token` may come next."""
        return is_allowed(self.mask_words(), token)

    def forced_tokens(self, limit: int) -> list[int]:
        """The opening marker at the start, nothing inside, then what the constraint forces."""
        if self._phase == "after":
            return self.constraint.forced_tokens(limit)
        return [self._opens][:limit] if self._phase == "before" else []

    def forced_bytes(self) -> bytes:
        """The bytes that the constraint forces next; none before the block has ended."""
        return self.constraint.forced_bytes() if self._phase == "after" else b""

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        """How many of `tokens` could be committed from here."""
        for i, token in enumerate(tokens):
            if self._phase == "after":
                return self.constraint.valid_prefix_len(tokens)
            if not self.is_allowed(token):
                return i
            if token == self._closes:
                return i + 1 + self.constraint.valid_prefix_len(tokens[i + 1 :])
            if self._phase == "before":
                return 1  # tokens after the marker are not checked
        return len(tokens)

    # -- speculative state, for draft models -------------------------------------------------

    def draft_begin(self) -> None:
        """Copy the committed state to the speculative one."""
        self._draft_phase = self._phase
        if self._phase == "after":
            self.constraint.draft_begin()

    def draft_mask_words(self) -> NDArray[np.uint32]:
        """The allowed set of the speculative state, as `mask_words`."""
        phase = self._speculative()
        return self.constraint.draft_mask_words() if phase == "after" else self._block(phase)

    def draft_advance(self, token: int) -> bool:
        """Move the speculative state; False when the chain ends there (stop or illegal token)."""
        phase = self._speculative()
        if phase == "after":
            return self.constraint.draft_advance(token)
        if not 0 <= token < self._n_vocab or not is_allowed(self._block(phase), token):
            return False
        if phase == "before":
            self._draft_phase = "inside"
        elif token == self._closes:
            self._draft_phase = "after"
            self.constraint.draft_begin()  # nothing has been committed to it yet
        return True

    # ----------------------------------------------------------------------------------------

    def _speculative(self) -> str:
        if self._draft_phase is None:
            raise ConstraintError("draft_begin was not called")
        return self._draft_phase

    def _block(self, phase: str) -> NDArray[np.uint32]:
        """The set allowed before the thinking block, or inside it."""
        return self._only_open if phase == "before" else self._free
