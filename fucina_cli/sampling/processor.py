"""The interface of what changes rows of logits, and its general implementations."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from fucina_cli.sampling.errors import AllTokensMasked
from fucina_cli.sampling.mask import pack_mask, word_count

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "AllTokensMasked",
    "DraftMasks",
    "ForcesBytes",
    "LogitBias",
    "LogitProcessor",
    "ProcessorChain",
    "Structured",
]

_MAX_BIAS = 1e38


@runtime_checkable
class LogitProcessor(Protocol):
    """Changes the row before penalties, temperature and filters; sees every selected token.

    One processor belongs to one stream. It is called by one sampler, from one thread.
    """

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Change one row, shape (n_vocab,), in place; forbidden tokens become -inf.

        ``history`` is every token before this one, prompt and reply.
        """
        ...

    def commit(self, token: int) -> None:
        """Observe a selected token: called exactly once for each, on every path."""
        ...

    def reset(self) -> None:
        """Re-arm for a new reply."""
        ...

    def fork(self) -> Self:
        """An independent copy at the current state."""
        ...


@runtime_checkable
class Structured(LogitProcessor, Protocol):
    """A processor that can say what it will allow. All of these are pure: they change nothing."""

    def forced_tokens(self, limit: int) -> list[int]:
        """Up to ``limit`` tokens from here, each the only one allowed after those before it."""
        ...

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        """How many of these tokens could be committed from here, one after the other."""
        ...

    def mask_words(self) -> NDArray[np.uint32]:
        """The set allowed now: exactly ceil(n_vocab / 32) uint32 words, bit i % 32 of i // 32.

        The caller may not change the array, and may not keep it past the next ``commit``.
        """
        ...

    def is_allowed(self, token: int) -> bool:
        """Whether this token could be committed now."""
        ...


@runtime_checkable
class ForcesBytes(Protocol):
    """A processor that knows bytes to come where it can't name the tokens yet."""

    def forced_bytes(self) -> bytes:
        """The bytes that every continuation begins with; b"" for none. Pure."""
        ...


@runtime_checkable
class DraftMasks(Protocol):
    """A processor with a second, speculative state, which a drafting model runs ahead of the text.

    The committed state does not change.
    """

    def draft_begin(self) -> None:
        """Make the speculative state a copy of the committed one.

        It lasts as long as what is committed is what was proposed.
        """
        ...

    def draft_mask_words(self) -> NDArray[np.uint32]:
        """The set allowed in the speculative state, packed as in ``Structured.mask_words``.

        The caller may not change the array. Raises a RuntimeError before the first
        ``draft_begin``, and where the processor can't go on.
        """
        ...

    def draft_advance(self, token: int) -> bool:
        """Move the speculative state by a proposed token.

        False when the chain of proposals ends before this token: it is the stop token or not
        allowed. The speculative state then means nothing until the next ``draft_begin``.
        """
        ...


class LogitBias:
    """Adds a fixed bias to chosen tokens at every step; a bias of -inf bans a token.

    Its structure is its bans: a finite bias, however large, forbids nothing and forces nothing.
    It has no state, so commit and reset do nothing.
    """

    def __init__(self, biases: Mapping[int, float], n_vocab: int) -> None:
        """Take token id -> bias.

        +inf is refused: it would make the row's maximum infinite, which is what a broken model
        looks like, and two of them would have no order. To force a token use a constraint, or a
        large finite bias such as 100.

        Raises:
            ValueError: an id outside [0, n_vocab); a bias that is NaN, +inf, or finite beyond
                1e38 in magnitude (which could overflow float32).
        """
        for token, bias in biases.items():
            if not 0 <= token < n_vocab:
                raise ValueError(f"bias for token {token}: ids go from 0 to {n_vocab - 1}")
            if math.isnan(bias) or (bias != -math.inf and abs(bias) > _MAX_BIAS):
                raise ValueError(
                    f"bias for token {token} must be -inf (ban) or a number from "
                    f"{-_MAX_BIAS:g} to {_MAX_BIAS:g}, got {bias}"
                )
        finite = {token: bias for token, bias in biases.items() if bias != -math.inf}
        self._banned = frozenset(biases.keys() - finite.keys())
        self._ban_ids = np.array(sorted(self._banned), dtype=np.int64)
        self._bias_ids = np.fromiter(finite.keys(), dtype=np.int64, count=len(finite))
        self._bias_values = np.fromiter(finite.values(), dtype=np.float32, count=len(finite))
        self._n_vocab = n_vocab
        allowed = np.ones(n_vocab, dtype=np.bool_)
        allowed[self._ban_ids] = False
        self._words = pack_mask(allowed)
        self._words.flags.writeable = False

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Add the biases in place; banned tokens become -inf whatever they were."""
        logits[self._bias_ids] += self._bias_values
        logits[self._ban_ids] = -np.inf

    def commit(self, token: int) -> None:
        """Nothing to observe."""

    def reset(self) -> None:
        """Nothing to re-arm."""

    def fork(self) -> Self:
        """A copy that shares the constant tables; never itself, so that streams can insist on
        having a processor each."""
        return copy.copy(self)

    def forced_tokens(self, limit: int) -> list[int]:
        """None: a bias list forces nothing."""
        return []

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        """The number of tokens before the first banned one."""
        for position, token in enumerate(tokens):
            if not self.is_allowed(token):
                return position
        return len(tokens)

    def mask_words(self) -> NDArray[np.uint32]:
        """Everything but the bans; a read-only array."""
        return self._words

    def is_allowed(self, token: int) -> bool:
        """Whether the token is an id of this vocabulary and not banned."""
        return 0 <= token < self._n_vocab and token not in self._banned


class ProcessorChain:
    """Several processors as one, such as a bias list and a grammar.

    Rows pass through them in order; commit, reset and fork reach all. The look-aheads speak for
    the structured members. A member without structure is not consulted: if it masks a token that
    these call allowed or forced, that shows when the token is sampled, as ``AllTokensMasked`` at
    the latest.
    """

    def __init__(self, members: Iterable[LogitProcessor], n_vocab: int) -> None:
        """Compose ``members`` over rows of ``n_vocab`` tokens.

        Raises:
            ValueError: the same object occurs twice (it would see every token twice).
        """
        self._members = tuple(members)
        if len({id(member) for member in self._members}) != len(self._members):
            raise ValueError("a processor may occur only once in a chain")
        self._n_vocab = n_vocab
        # isinstance on a protocol looks up every method: once here, not at every step.
        self._structured = tuple(m for m in self._members if isinstance(m, Structured))
        self._forcing = tuple(m for m in self._members if isinstance(m, ForcesBytes))
        self._drafting = tuple(m for m in self._members if isinstance(m, DraftMasks))
        self._constant = tuple(m for m in self._structured if not isinstance(m, DraftMasks))

    @property
    def members(self) -> tuple[LogitProcessor, ...]:
        """The members, in order."""
        return self._members

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Run all members over the row, in order."""
        for member in self._members:
            member.process(logits, history)

    def commit(self, token: int) -> None:
        """Show the token to all members."""
        for member in self._members:
            member.commit(token)

    def reset(self) -> None:
        """Re-arm all members."""
        for member in self._members:
            member.reset()

    def fork(self) -> Self:
        """A chain of forks."""
        return type(self)((member.fork() for member in self._members), self._n_vocab)

    def forced_tokens(self, limit: int) -> list[int]:
        """The longest run that one member forces and no other forbids; none with opaque members.

        A token that one member forces and another bans ends the run before it: there is then
        nothing to select, which is for the sampler to report. A finite bias never shortens a run.
        """
        longest: list[int] = []
        if len(self._structured) < len(self._members):
            return longest  # a member that can't be asked might mask what another forces
        for member in self._structured:
            run = member.forced_tokens(limit)
            for other in self._structured:
                if other is not member:
                    run = run[: other.valid_prefix_len(run)]
            longest = max(longest, run, key=len)
        return longest

    def forced_bytes(self) -> bytes:
        """The longest that one member forces; whether others forbid its tokens is not looked at."""
        return max((member.forced_bytes() for member in self._forcing), key=len, default=b"")

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        """The least that any member accepts."""
        return min(
            (member.valid_prefix_len(tokens) for member in self._structured),
            default=len(tokens),
        )

    def mask_words(self) -> NDArray[np.uint32]:
        """The intersection of the members' sets, as a new array."""
        return self._intersect(member.mask_words() for member in self._structured)

    def is_allowed(self, token: int) -> bool:
        """Whether all members allow the token."""
        return 0 <= token < self._n_vocab and all(
            member.is_allowed(token) for member in self._structured
        )

    def draft_begin(self) -> None:
        """Let every member that has a speculative state begin."""
        for member in self._drafting:
            member.draft_begin()

    def draft_mask_words(self) -> NDArray[np.uint32]:
        """The intersection of the members' speculative sets, as a new array.

        A structured member without such a state takes part with the set it allows now, which is
        right for one that never changes, such as a bias list.
        """
        speculative = (member.draft_mask_words() for member in self._drafting)
        constant = (member.mask_words() for member in self._constant)
        return self._intersect(itertools.chain(speculative, constant))

    def draft_advance(self, token: int) -> bool:
        """Move all speculative states; whether every member agrees to the token."""
        # A list, not a generator: a member that disagrees must not keep the others from moving.
        moved = [member.draft_advance(token) for member in self._drafting]
        return all(moved) and all(member.is_allowed(token) for member in self._constant)

    def _intersect(self, sets: Iterable[NDArray[np.uint32]]) -> NDArray[np.uint32]:
        """What all `sets` hold, of all ids of the vocabulary where there is none; a new array."""
        words = pack_mask(np.ones(self._n_vocab, dtype=np.bool_))
        for others in sets:
            if others.shape[0] != word_count(self._n_vocab):
                raise ValueError(
                    f"a mask of {others.shape[0]} words in a chain over {self._n_vocab} tokens"
                )
            words &= others
        return words
