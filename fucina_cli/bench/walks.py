"""Random answers of a compiled grammar of JSON, which end."""

from __future__ import annotations

import random
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.llama.vocabulary import Vocabulary
from fucina_cli.sampling.mask import allowed_ids

_CLOSERS = b"}]"
_LAST_RANK = 4


@dataclass(frozen=True)
class Walk:
    """An answer, and whether it ended within its length."""

    text: bytes
    ended: bool


class Walker:
    """Draws random allowed tokens, those that close what is open with growing probability.

    Args:
        vocabulary: whose tokens are drawn; the constraints must be compiled for it.
        most: tokens of a walk. From a third of them on only closing tokens are drawn where there
            are some.
    """

    def __init__(self, vocabulary: Vocabulary, most: int) -> None:
        self._vocabulary, self._most = vocabulary, most

    def walk(self, constraint: Constraint, seed: int) -> Walk:
        """One answer from the start of a fresh constraint. Raises ConstraintError."""
        draw = random.Random(seed)
        text, lexer, length = bytearray(), _Lexer(), 0
        stop = constraint.stop_token
        while length < self._most:
            forced = constraint.forced_tokens(self._most - length)
            for token in forced:
                if token == stop:
                    return Walk(bytes(text), True)
                constraint.commit(token)
                text += self._pieces[token]
                lexer.read(self._pieces[token])
            length += len(forced)
            ids = allowed_ids(constraint.mask_words(), self._vocabulary.size)
            closing = draw.random() < 3 * length / self._most
            if stop in ids:
                if closing or ids.size == 1 or draw.random() < 0.3:
                    return Walk(bytes(text), True)
                ids = ids[ids != stop]
            if closing and not lexer.opened:
                ranks = self._ranks[lexer.inside][ids]
                ids = ids[ranks == ranks.min()]
            token = int(draw.choice(ids))
            constraint.commit(token)
            text += self._pieces[token]
            lexer.read(self._pieces[token])
            length += 1
        return Walk(bytes(text), False)

    @cached_property
    def _pieces(self) -> list[bytes]:
        return [self._vocabulary.token_bytes(token) for token in range(self._vocabulary.size)]

    @cached_property
    def _ranks(self) -> dict[bool, NDArray[np.int8]]:
        """How much each token closes, 0 most; inside a string and outside."""
        return {
            inside: np.array([rank(piece) for piece in self._pieces], dtype=np.int8)
            for inside, rank in ((True, _rank_inside), (False, _rank_outside))
        }


def _rank_inside(piece: bytes) -> int:
    if not piece.startswith(b'"'):
        return _LAST_RANK
    return 0 if not piece[1:].strip(_CLOSERS) else 1


def _rank_outside(piece: bytes) -> int:
    if not piece or piece[0] in b"{[":
        return _LAST_RANK
    if piece[0] in _CLOSERS:
        return 0 if not piece.strip(_CLOSERS) else 1
    opens = piece.endswith((b"{", b"[")) or (piece.startswith(b'"') and len(piece) > 1)
    return 3 if opens else 2


class _Lexer:
    """Follows JSON text.

    Attributes:
        inside: whether its end lies inside a string.
        opened: whether that string is still empty. It is not closed at once: keys that are all
            empty would be repeated ones.
    """

    def __init__(self) -> None:
        self.inside = self.opened = self._escaped = False

    def read(self, piece: bytes) -> None:
        """Read on."""
        for byte in piece:
            self.opened = False
            if self._escaped:
                self._escaped = False
            elif self.inside and byte == ord("\\"):
                self._escaped = True
            elif byte == ord('"'):
                self.inside = self.opened = not self.inside
