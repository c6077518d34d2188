"""Batches of documents of like lengths, so that little is padded and nothing is cut in two."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor

from fucina_cli.tiny.corpus.document import Chat, Document
from fucina_cli.tiny.recipe.formats import Format
from fucina_cli.tiny.recipe.vocabulary import Vocabulary

#: Share of the chats that think before they answer.
THINKING = 0.35
#: What a token that is given counts in the loss, beside one that the network is to write.
_GIVEN = 0.4
#: Documents that are sorted by length at a time.
_POOL = 16384
_LONGEST = 512


@dataclass(frozen=True)
class Batch:
    """`tokens` (B, T) int64, `targets` (B, T) int64, `weights` (B, T) float32: 0 on padding."""

    tokens: Tensor
    targets: Tensor
    weights: Tensor


def written(documents: Iterable[Document], form: Format, seed: int) -> Iterator[tuple[str, str]]:
    """Documents in the family's format, (given, to be written); some of the chats think."""
    rng = random.Random(f"thinks {seed}")
    for document in documents:
        thinks = isinstance(document, Chat) and rng.random() < THINKING
        yield form.written(document, thinks)


def batches(
    texts: Iterator[tuple[str, str]], vocabulary: Vocabulary, size: int, seed: int
) -> Iterator[Batch]:
    """Endless batches of about `size` tokens, padding included."""
    rng = random.Random(f"batches {seed}")
    while True:
        pool = list(islice(texts, _POOL))
        given = vocabulary.encode([text for text, _ in pool])
        answers = vocabulary.encode([text for _, text in pool])
        pairs = [(g, a) for g, a in zip(given, answers, strict=True) if len(g) + len(a) <= _LONGEST]
        pairs.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        groups: list[list[tuple[list[int], list[int]]]] = [[]]
        for pair in pairs:
            longest = len(pair[0]) + len(pair[1])  # they come sorted
            if groups[-1] and longest * (len(groups[-1]) + 1) > size:
                groups.append([])
            groups[-1].append(pair)
        rng.shuffle(groups)
        yield from map(_batch, groups)


def _batch(pairs: list[tuple[list[int], list[int]]]) -> Batch:
    length = max(len(given) + len(answer) for given, answer in pairs)
    tokens = torch.zeros(len(pairs), length, dtype=torch.int64)
    weights = torch.zeros(len(pairs), length)
    for row, (given, answer) in enumerate(pairs):
        tokens[row, : len(given) + len(answer)] = torch.tensor(given + answer)
        weights[row, : len(given)] = _GIVEN
        weights[row, len(given) : len(given) + len(answer)] = 1.0
    return Batch(tokens[:, :-1], tokens[:, 1:], weights[:, 1:])
