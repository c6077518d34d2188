"""Tickets for training, drawn at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fucina_cli.tiny.corpus.ticket_held_out import HELD_OUT_LOWER
from fucina_cli.tiny.corpus.ticket_issues import ISSUES
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES, PRIORITIES, Ticket
from fucina_cli.tiny.corpus.ticket_slots import NAMES, Values
from fucina_cli.tiny.corpus.ticket_words import CLOSINGS, CUES, DETAILS, OPENINGS


@dataclass(frozen=True)
class Draft:
    """A training ticket with all that is known about it."""

    text: str
    category: str
    priority: str
    cue: str
    summary: str
    reason: str
    name: str


def capital(text: str) -> str:
    """The text with a capital first letter."""
    return text[:1].upper() + text[1:]


def _first_word(text: str) -> str:
    return text.split(" ", 1)[0]


_TEMPLATES = (
    *(sentence for issues in ISSUES.values() for _, sentence in issues),
    *(cue for cues in CUES.values() for cue in cues),
)
_LOWERED = frozenset(
    word
    for word in map(_first_word, _TEMPLATES)
    if word[0] != "{" and (word == "A" or not word.rstrip("!").isupper())
)


def _uncapital(text: str) -> str:
    """The text with a small first letter, unless it begins with a name or with `I`."""
    return text[:1].lower() + text[1:] if _first_word(text) in _LOWERED else text


def _cue(rng: random.Random, priority: str) -> str:
    if priority == "normal" and rng.random() < 0.5:
        return ""
    return rng.choice(CUES[priority])


def _compose(rng: random.Random, issue: str, cue: str, values: Values) -> tuple[str, str]:
    """The text of a ticket and the name that signs it, if one does."""
    parts = [capital(issue)]
    if rng.random() < 0.2:
        detail = rng.choice(DETAILS).format_map(values)
        parts.insert(rng.randrange(2), capital(detail))
    if cue:
        parts.insert(0 if rng.random() < 0.3 else len(parts), cue)
    if rng.random() < 0.4:
        opening = rng.choice(OPENINGS)
        parts[0] = _uncapital(parts[0]) if rng.random() < 0.5 else parts[0]
        parts.insert(0, opening)
    name = rng.choice(NAMES) if rng.random() < 0.35 else ""
    if name:
        parts.append(rng.choice(CLOSINGS).format(name))
    elif rng.random() < 0.1 and not cue:
        parts.append(rng.choice(("Thanks!", "Thanks.", "Thank you.", "Best regards.")))
    return " ".join(parts), name


def draw_draft(rng: random.Random) -> Draft:
    """Draw a training ticket with what is known about it."""
    category = rng.choice(CATEGORIES)
    priority = rng.choice(PRIORITIES)
    kind, sentence = rng.choice(ISSUES[category])
    while True:
        values = Values(rng)
        issue = sentence.format_map(values)
        cue = _cue(rng, priority)
        text, name = _compose(rng, issue, cue, values)
        if 8 <= text.count(" ") + 1 <= 45 and issue.lower() not in HELD_OUT_LOWER:
            break
    if rng.random() < 0.06:
        text, cue = text.lower(), cue.lower()
    summary = capital(kind.summary.format_map(values))
    reason = kind.reason.format_map(values)
    return Draft(text, category, priority, cue, summary, reason, name)


def ticket(rng: random.Random) -> Ticket:
    """Draw a training ticket, of 8 to 45 words; it never holds one of `HELD_OUT_ISSUES`."""
    draft = draw_draft(rng)
    return Ticket(draft.text, draft.category, draft.priority)
