"""What is to be answered to a ticket: its labels, thoughts about them, a reply."""

from __future__ import annotations

import json
import random

from fucina_cli.tiny.corpus.ticket_drafts import Draft

#: The keys of a triage: all of them, and those of a triage that names none.
ALL_KEYS = ("category", "priority", "needs_human", "summary")
PAIR = ("category", "priority")


def _needs_human(draft: Draft) -> bool:
    return draft.priority == "urgent" or draft.category in ("cancellation", "account_access")


def triage_json(draft: Draft, keys: tuple[str, ...]) -> str:
    """The labels of the ticket as compact JSON with these keys."""
    values: dict[str, str | bool] = {
        "category": draft.category,
        "priority": draft.priority,
        "needs_human": _needs_human(draft),
        "summary": draft.summary,
    }
    record = {key: values[key] for key in keys}
    return json.dumps(record, separators=(",", ":"), ensure_ascii=False)


def category_thought(draft: Draft) -> str:
    """Why it is of its category."""
    return f"{draft.reason}, so the category is {draft.category}."


def priority_thought(draft: Draft) -> str:
    """Why it has its priority."""
    if draft.priority == "normal":
        return "It says nothing is urgent, so the priority is normal."
    cue = draft.cue.rstrip(".!")
    return f'The ticket says "{cue}", so the priority is {draft.priority}.'


def _human_thought(draft: Draft) -> str:
    if draft.category in ("cancellation", "account_access"):
        return f"It is about {draft.category}, so a human is needed."
    return f"A human is{'' if _needs_human(draft) else ' not'} needed."


def triage_thoughts(draft: Draft, keys: tuple[str, ...]) -> str:
    """What is to be thought before `triage_json`."""
    parts = []
    human = "needs_human" in keys
    if human or "category" in keys:
        parts.append(category_thought(draft))
    if human or "priority" in keys:
        parts.append(priority_thought(draft))
    if human:
        parts.append(_human_thought(draft))
    return " ".join(parts) or f"The user wants a summary as JSON. {draft.reason}."


_REPLY_FIRST = {
    "billing": (
        "thank you for writing about your payment",
        "we are sorry about the trouble with your bill",
    ),
    "bug": (
        "thank you for reporting this problem",
        "we are sorry that something does not work",
    ),
    "how_to": (
        "thank you for your question",
        "we are happy to show you how this works",
    ),
    "account_access": (
        "we are sorry about the trouble with your account",
        "thank you for telling us about your login",
    ),
    "feature_request": (
        "thank you for your idea",
        "we are glad that you share your wish with us",
    ),
    "cancellation": (
        "we are sorry to see you go",
        "thank you for the time you spent with us",
    ),
}
_REPLY_THEN = {
    "billing": "We will check your invoices and correct any mistake.",
    "bug": "Our engineers will look for the cause and fix it.",
    "how_to": "We will send you a short guide with all the steps.",
    "account_access": "We will check your account and help you to get in again.",
    "feature_request": "We have passed it on to our product team.",
    "cancellation": "We will cancel your plan and send you a confirmation.",
}
_REPLY_WHEN = {
    "low": "You will hear from us in the next few days.",
    "normal": "",
    "high": "You will hear from us today.",
    "urgent": "We are working on it right now.",
}


def support_reply(rng: random.Random, draft: Draft) -> str:
    """The reply to the customer."""
    greeting = f"Hello {draft.name}," if draft.name else "Hello,"
    parts = [
        f"{greeting} {rng.choice(_REPLY_FIRST[draft.category])}.",
        _REPLY_THEN[draft.category],
        _REPLY_WHEN[draft.priority],
        "Kind regards, Larkspur Support",
    ]
    return " ".join(part for part in parts if part)
