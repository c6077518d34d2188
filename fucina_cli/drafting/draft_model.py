"""Drafts from a smaller model with the same vocabulary.

Speculative sampling's original drafter (Leviathan et al. 2023; Chen et al. 2023), made greedy:
the likeliest token is the best guess whatever the target's sampler draws. Under a grammar it
chooses among what the grammar will allow, so no proposal is wasted on a token that can't come.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.source import Counters, Outlook
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.llama.model import Model
from fucina_cli.llama.prefix import common_prefix
from fucina_cli.llama.vocabulary import check_same_vocabulary
from fucina_cli.sampling.mask import apply_mask_words, is_allowed
from fucina_cli.sampling.processor import DraftMasks

_NAME = "draft model"
_OUTLOOK = Outlook(_NAME, 0.7, 0.8)


def check_draft_model(target: Model, draft: Model) -> None:
    """Raise ModelError, saying why, when `draft` can't draft for `target`.

    Ask once, before a context's memory is spent; both may be loaded `vocab_only`. For the cost
    see `check_same_vocabulary`.
    """
    _refuse_recurrent(draft)
    check_same_vocabulary(target.vocabulary, draft.vocabulary)


class DraftModelSource:
    """A DraftSource: a smaller model's greedy guesses, under the grammar where there is one.

    Its KV cache follows the text: what agrees is kept, what was rejected is truncated, what is new
    is decoded. So a draft takes a forward of the draft model per token, the first of them over all
    that is new (at first the prompt); a token that the grammar forces takes none. Where the gate
    gives no budget, nothing is decoded, and the next draft decodes what it missed. The mask of a
    proposal need not be computed again for the target once the proposal is accepted.

    Tokens that end a turn are not proposed. A text that the draft model's context can't hold, or
    a grammar that becomes too complex ahead of the text, ends the draft and raises nothing.
    """

    #: One kind for all its drafts.
    outlook = _OUTLOOK

    def __init__(
        self,
        context: Context,
        masks: DraftMasks | None = None,
        gate: Gate | None = None,
        *,
        n_vocab: int | None = None,
        is_end: Callable[[int], bool] | None = None,
        slot: int = 0,
    ) -> None:
        """Draft with the model of `context`; see `check_draft_model` for which models can.

        Args:
            context: of the draft model; nothing else may use its slot `slot`, which is cleared.
            masks: the stream's processor, always at the end of the text; None drafts unmasked.
            gate: asked before anything is computed; None drafts always.
            n_vocab: number of the target's ids, None for as many as the draft model has; ids from
                there on are never proposed.
            is_end: whether an id ends the turn, beside those that do so for the draft model.

        Raises:
            ModelError: a recurrent draft model.
        """
        model = context.model
        _refuse_recurrent(model)
        self._context, self._masks, self._gate, self._slot = context, masks, gate, slot
        self._known = model.n_vocab
        self._width = min(self._known, n_vocab or self._known)
        self._model_ends, self._ends = model.vocabulary.is_end, is_end
        self._cached: list[int] = []  # tokens that the cache is sure to hold, in order
        self._reach = 0  # the cache holds no token at this position or later
        self._pending: list[int] = []
        self._pending_masked: list[bool] = []
        self._drafted = self._accepted = 0
        #: Drafted tokens that the draft model would have chosen otherwise without the mask; forced
        #: ones, for which it was not asked, are not among them.
        self.masked = 0
        context.clear(slot)

    @property
    def counters(self) -> Counters:
        """Drafted and accepted tokens."""
        return {_NAME: (self._drafted, self._accepted)}

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        """At most `limit` tokens that may follow `context`, legal one after the other.

        Raises ModelError when llama.cpp fails to compute.
        """
        self._pending, self._pending_masked = [], []
        # The last proposal is never decoded, so it needs no room in the cache.
        limit = min(limit, self._context.n_ctx + 1 - len(context))
        if limit > 0 and self._gate is not None:
            limit = self._gate.budget(limit, self.outlook)
        if limit <= 0 or not context:
            return []
        try:
            waiting = self._follow(list(context))
            if waiting:
                self._propose(waiting, limit)
        except (ContextFull, ConstraintError):
            pass  # what was proposed before it stays valid
        return list(self._pending)

    def observe(self, committed: Sequence[int]) -> None:
        """Settle the pending draft."""
        self._drafted += len(self._pending)
        self._accepted += common_prefix(self._pending, committed)
        self.masked += sum(self._pending_masked)
        self._pending, self._pending_masked = [], []

    def truncate_pending(self, length: int) -> None:
        """Count only the first `length` tokens of the pending draft."""
        del self._pending[length:]
        del self._pending_masked[length:]

    # ----------------------------------------------------------------------------------------

    def _follow(self, tokens: list[int]) -> list[int]:
        """Make the cache hold nothing but a beginning of `tokens`; those that it lacks.

        None at all when the draft model has no such token: a padding id past its vocabulary.
        """
        # The last token is decoded again where it is known already: its logits are gone.
        keep = min(common_prefix(self._cached, tokens), len(tokens) - 1)
        if max(tokens[keep:]) >= self._known:
            return []
        if self._reach > keep:
            del self._cached[keep:]
            self._context.truncate(self._slot, keep)
            self._reach = keep
        return tokens[keep:]

    def _propose(self, waiting: list[int], limit: int) -> None:
        """Extend the pending draft to `limit` tokens, after the cached and the `waiting` ones."""
        masks = self._masks
        if masks is not None:
            masks.draft_begin()
        while len(self._pending) < limit:
            words = None if masks is None else masks.draft_mask_words()
            token, masked = _only(words), False
            if token is None:
                logits = self._logits(waiting)
                waiting = []
                token = int(logits.argmax())
                # The best of all, where allowed, is the best of those allowed.
                if words is not None and not is_allowed(words, token):
                    apply_mask_words(logits, words)
                    token, masked = int(logits.argmax()), True
                if not logits[token] > -math.inf:
                    return  # nothing is allowed, or the row is broken
            if token >= self._width or self._is_end(token):
                return
            if masks is not None and not masks.draft_advance(token):
                return
            self._pending.append(token)
            self._pending_masked.append(masked)
            waiting.append(token)

    def _logits(self, tokens: list[int]) -> NDArray[np.float32]:
        """Decode tokens after those cached; the last one's logits, float32 [width], to change."""
        start = len(self._cached)
        # Noted before and after: where a forward is interrupted, what it left is truncated.
        self._reach = start + len(tokens)
        row = self._context.prefill(self._slot, tokens, start, logits=True)
        self._cached += tokens
        return self._context.logits(row)[: self._width]

    def _is_end(self, token: int) -> bool:
        return self._model_ends(token) or (self._ends is not None and self._ends(token))


def _refuse_recurrent(model: Model) -> None:
    if not model.can_rewind:
        raise ModelError(
            f"a recurrent model ({model.architecture}) can't draft: it can't take back what was "
            "rejected; use a draft model with attention only"
        )


def _only(words: NDArray[np.uint32] | None) -> int | None:
    """The one token of a packed set that holds exactly one."""
    if words is None or np.count_nonzero(words) != 1:
        return None
    at = int(np.flatnonzero(words)[0])
    word = int(words[at])
    return None if word & (word - 1) else 32 * at + word.bit_length() - 1
