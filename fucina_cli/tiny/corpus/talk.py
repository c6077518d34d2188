"""Short chats about this and that: greetings, small facts, lists, choices, little texts and
invented things, and what the model says when it does not know."""

from __future__ import annotations

import random
from dataclasses import replace

from fucina_cli.tiny.corpus import (
    talk_choices,
    talk_facts,
    talk_small,
    talk_unknown,
    talk_writing,
)
from fucina_cli.tiny.corpus.document import Chat, Document, Text
from fucina_cli.tiny.corpus.talk_wording import cap


def sample_text(rng: random.Random) -> Text:
    """A raw completion."""
    roll = rng.random()
    if roll < 0.5:
        return talk_facts.text(rng)
    if roll < 0.75:
        return talk_choices.text_list(rng)
    if roll < 0.9:
        return talk_writing.text_story(rng)
    if roll < 0.95:
        core, _ = talk_unknown.hard(rng)
        return Text(f"Q: {cap(core)}?\nA:", " unknown")
    asks, replies, _ = rng.choice(talk_small.SMALL)
    return Text(f"User: {cap(rng.choice(asks))}\nAssistant:", f" {rng.choice(replies)}")


_PARTS = (
    (talk_small.sample_small, 0.09),
    (talk_small.sample_echo, 0.03),
    (talk_facts.sample, 0.24),
    (talk_choices.sample_list, 0.11),
    (talk_choices.sample_yes_no, 0.06),
    (talk_choices.sample_choice, 0.07),
    (talk_writing.sample_sentence, 0.04),
    (talk_writing.sample_story, 0.04),
    (talk_writing.sample_note, 0.04),
    (talk_writing.sample_invented, 0.11),
    (talk_writing.sample_portrait, 0.01),
    (talk_unknown.sample_unknown, 0.06),
    (sample_text, 0.10),
)
#: Share of the chats that come after something else.
_AFTER_OTHER = 0.05
_SAMPLERS = tuple(sampler for sampler, _ in _PARTS)
_SHARES = tuple(share for _, share in _PARTS)


def sample(rng: random.Random) -> Document:
    """One random document of small talk."""
    document = rng.choices(_SAMPLERS, _SHARES)[0](rng)
    if isinstance(document, Chat) and not document.earlier and rng.random() < _AFTER_OTHER:
        before = rng.choice((talk_facts.sample, talk_choices.sample_list))(rng)
        return replace(document, earlier=(*before.earlier, (before.user, before.reply)))
    return document
