"""The whole corpus: an endless stream of documents of all topics, from one seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from fucina_cli.tiny.corpus import city_documents, figures, office, talk, tickets
from fucina_cli.tiny.corpus.document import Chat, Document

#: Topics and their shares of the documents.
_TOPICS: tuple[tuple[Callable[[random.Random], Document], float], ...] = (
    (city_documents.sample, 0.26),
    (tickets.sample, 0.24),
    (office.sample, 0.24),
    (talk.sample, 0.16),
    (figures.sample, 0.10),
)
#: Share of the chats that come after several others, so that long contexts are known too.
_LONG = 0.03
_LONG_TURNS = (2, 6)


def documents(seed: int) -> Iterator[Document]:
    """The corpus of `seed`: without end, and the same whenever it is drawn."""
    rng = random.Random(seed)
    samplers, shares = zip(*_TOPICS, strict=True)
    while True:
        (sampler,) = rng.choices(samplers, shares)
        document = sampler(rng)
        # A system text may ask for a form (JSON only) that answers of other topics do not keep.
        if (
            isinstance(document, Chat)
            and not document.earlier
            and document.system is None
            and rng.random() < _LONG
        ):
            document = _after_others(document, rng, samplers, shares)
        yield document


def _after_others(
    chat: Chat,
    rng: random.Random,
    samplers: tuple[Callable[[random.Random], Document], ...],
    shares: tuple[float, ...],
) -> Chat:
    """`chat` as a later question of a conversation about this and that."""
    turns = rng.randint(*_LONG_TURNS)
    drawn = (sampler(rng) for sampler in rng.choices(samplers, shares, k=turns))
    earlier = tuple((d.user, d.reply) for d in drawn if isinstance(d, Chat) and not d.earlier)
    return replace(chat, earlier=earlier)
