"""Support tickets of the fictional Larkspur Boards: their triage, and replies to the customers."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fucina_cli.tiny.corpus.document import Chat, Document, Text
from fucina_cli.tiny.corpus.ticket_asks import (
    CATEGORY_ASKS,
    FULL_ASKS,
    KEYS_ASKS,
    PRIORITY_ASKS,
    REPLY_ASKS,
    TRIAGE_ASKS,
    asked,
    layout,
)
from fucina_cli.tiny.corpus.ticket_drafts import Draft, draw_draft
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES, PRIORITIES
from fucina_cli.tiny.corpus.ticket_replies import (
    ALL_KEYS,
    PAIR,
    category_thought,
    priority_thought,
    support_reply,
    triage_json,
    triage_thoughts,
)


@dataclass(frozen=True)
class _Task:
    """One thing to ask for, with its answer and the thoughts before it."""

    ask: str
    reply: str
    thoughts: str
    form: str


def _key_subset(rng: random.Random) -> tuple[str, ...]:
    """The keys that a prompt names, in its order."""
    which = rng.random()
    if which < 0.3:
        return ALL_KEYS
    if which < 0.5:
        return PAIR if rng.random() < 0.6 else ("priority", "category")
    return tuple(rng.sample(ALL_KEYS, rng.choice((1, 2, 2, 3, 3, 4))))


def _word_task(rng: random.Random, draft: Draft, key: str) -> _Task:
    asks = CATEGORY_ASKS if key == "category" else PRIORITY_ASKS
    thought = category_thought(draft) if key == "category" else priority_thought(draft)
    reply = draft.category if key == "category" else draft.priority
    return _Task(asked(rng, asks), reply, f"The user wants the {key}. {thought}", key)


def _json_task(rng: random.Random, draft: Draft) -> _Task:
    which = rng.random()
    keys: tuple[str, ...]
    if which < 0.35:
        keys, ask = PAIR, asked(rng, TRIAGE_ASKS)
    elif which < 0.43:
        keys, ask = ALL_KEYS, asked(rng, FULL_ASKS)
    else:
        keys = _key_subset(rng)
        ask = asked(rng, KEYS_ASKS, keys)
        ask = ask.replace("json", rng.choice(("json", "JSON"))) if ask.islower() else ask
    return _Task(ask, triage_json(draft, keys), triage_thoughts(draft, keys), "json")


def _reply_task(rng: random.Random, draft: Draft) -> _Task:
    thoughts = f"The user wants a reply to the customer. {category_thought(draft)}"
    return _Task(asked(rng, REPLY_ASKS), support_reply(rng, draft), thoughts, "reply")


def _task(rng: random.Random, draft: Draft) -> _Task:
    which = rng.random()
    if which < 0.22:
        return _word_task(rng, draft, "category")
    if which < 0.36:
        return _word_task(rng, draft, "priority")
    if which < 0.86:
        return _json_task(rng, draft)
    return _reply_task(rng, draft)


_SYSTEMS = (
    "You are a helpful assistant.",
    "You are a concise assistant.",
    "You work for the support of Larkspur Boards.",
    "You help the support team of a small software company.",
    "You triage support tickets for Larkspur Boards.",
    "Be brief.",
)
_FORM_SYSTEMS = {
    "category": (
        "Answer with one word.",
        f"Categories: {', '.join(CATEGORIES)}.",
        "You classify support tickets. Answer with the category only.",
    ),
    "priority": (
        "Answer with one word.",
        f"Priorities: {', '.join(PRIORITIES)}.",
        "You rate support tickets. Answer with the priority only.",
    ),
    "json": (
        "Answer with JSON only.",
        "Reply in compact JSON.",
        "You triage support tickets and answer with JSON only.",
    ),
    "reply": (
        "You write polite replies for Larkspur Support.",
        "Answer in two or three sentences.",
    ),
}
_BARE_SYSTEMS = {
    "category": (
        f"The user sends a ticket. Answer with its category: {', '.join(CATEGORIES)}.",
        "Reply with the category of the ticket and nothing else.",
    ),
    "priority": (
        f"The user sends a ticket. Answer with its priority: {', '.join(PRIORITIES)}.",
        "Reply with the priority of the ticket and nothing else.",
    ),
    "json": (
        "The user sends a ticket. Answer with JSON: category and priority.",
        "Triage each ticket as JSON with category and priority.",
    ),
    "reply": (
        "The user sends a ticket. Write the reply of Larkspur Support.",
        "You are Larkspur Support. Answer the customer.",
    ),
}


def _system(rng: random.Random, form: str) -> str | None:
    if rng.random() < 0.79:
        return None
    return rng.choice(_SYSTEMS if rng.random() < 0.5 else _FORM_SYSTEMS[form])


def _bare_chat(rng: random.Random, draft: Draft) -> Chat:
    """The system text says what to do, and the user sends nothing but a ticket."""
    form = rng.choice(("category", "priority", "json", "reply"))
    system = rng.choice(_BARE_SYSTEMS[form])
    user = f"Ticket: {draft.text}" if rng.random() < 0.3 else draft.text
    if form == "json":
        return Chat(user, triage_json(draft, PAIR), triage_thoughts(draft, PAIR), system)
    task = _reply_task(rng, draft) if form == "reply" else _word_task(rng, draft, form)
    return Chat(user, task.reply, task.thoughts, system)


_NEXT_TICKET = (
    *(
        "And this one: {}",
        "And this one?\n{}",
        "Next ticket: {}",
        "The same for this: {}",
        "Now: {}",
    ),
    *("Same again: {}", "and this: {}", "What about this one? {}", "Next: {}", "Another one:\n{}"),
)
_FOLLOW_UPS = {
    "category": ("And the category?", "And its category?", "which category", "Category?"),
    "priority": ("And the priority?", "And its priority?", "how urgent is it", "Priority?"),
    "json": ("And as JSON?", "Now as JSON", "Both as JSON, please", "Triage it as JSON."),
    "reply": ("Write a reply.", "And a reply to the customer?", "now reply to them", "Answer it."),
}


def _again(rng: random.Random, draft: Draft) -> Chat:
    """After one ticket comes another, with the same task; only word tasks and the pair."""
    other, key = draw_draft(rng), rng.choice(("category", "priority", "json"))
    if key == "json":
        user = layout(rng, asked(rng, TRIAGE_ASKS), other.text)
        reply, thoughts = triage_json(draft, PAIR), triage_thoughts(draft, PAIR)
        earlier = (user, triage_json(other, PAIR))
    else:
        before, now = _word_task(rng, other, key), _word_task(rng, draft, key)
        reply, thoughts = now.reply, now.thoughts
        earlier = (layout(rng, before.ask, other.text), before.reply)
    user = rng.choice(_NEXT_TICKET).format(draft.text)
    return Chat(user, reply, thoughts, None, (earlier,))


def _follow_up(rng: random.Random, draft: Draft) -> Chat:
    """A second question about the ticket of the message before."""
    first, then = rng.sample(("category", "priority", "json", "reply"), 2)
    if first in ("json", "reply"):
        first = "category" if then != "category" else "priority"
    before = _word_task(rng, draft, first)
    earlier = ((layout(rng, before.ask, draft.text), before.reply),)
    user = rng.choice(_FOLLOW_UPS[then])
    if then == "json":
        thoughts = triage_thoughts(draft, PAIR)
        return Chat(user, triage_json(draft, PAIR), thoughts, None, earlier)
    task = _reply_task(rng, draft) if then == "reply" else _word_task(rng, draft, then)
    return Chat(user, task.reply, task.thoughts, None, earlier)


def _chat(rng: random.Random) -> Chat:
    draft, which = draw_draft(rng), rng.random()
    if which < 0.06:
        return _again(rng, draft)
    if which < 0.12:
        return _follow_up(rng, draft)
    if which < 0.18:
        return _bare_chat(rng, draft)
    task = _task(rng, draft)
    user = layout(rng, task.ask, draft.text)
    return Chat(user, task.reply, task.thoughts, _system(rng, task.form))


def sample(rng: random.Random) -> Document:
    """Draw one document: a ticket to be continued with its labels, or a chat about a ticket."""
    which = rng.random()
    if which < 0.5:
        return _chat(rng)
    draft = draw_draft(rng)
    prompt = f"Ticket: {draft.text}\n"
    if which < 0.8:
        return Text(f"{prompt}Category:", f" {draft.category}")
    if which < 0.88:
        return Text(f"{prompt}Priority:", f" {draft.priority}")
    return Text(f"{prompt}Triage JSON:", f" {triage_json(draft, PAIR)}")
