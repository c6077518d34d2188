"""How people ask for the labels of a ticket, or for a reply to it."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fucina_cli.tiny.corpus.ticket_drafts import capital
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES, PRIORITIES


@dataclass(frozen=True)
class Asks:
    """Ways to ask for one thing: questions, commands and mere fragments."""

    questions: tuple[str, ...]
    commands: tuple[str, ...]
    fragments: tuple[str, ...]


CATEGORY_ASKS = Asks(
    (
        "Which category fits?",
        "Which category fits this ticket?",
        "What is the category of this ticket?",
        "What category is this?",
        "Into which category does this ticket go?",
        "What kind of ticket is this?",
        "Is this {options}?",
        "Which of {options} is it?",
        "Where does this ticket belong?",
        "Which queue should get this ticket?",
        "Which label fits best?",
        "How would you classify this message?",
        "What is the right category for this customer message?",
    ),
    (
        "Classify this ticket",
        "Classify the following support ticket",
        "Classify the ticket as {options}",
        "Classify",
        "Categorize this support ticket",
        "Give me only the category",
        "Tell me the category of this support request",
        "Choose one of {options}",
        "Pick one category out of {options}",
        "Sort this ticket into a category",
        "Label this ticket with its category",
        "Name the category in one word",
        "Pick the right category",
        "Determine the category of this ticket",
        "Assign a category to this message",
        "Answer with the category only",
        "Say which category this ticket belongs to",
    ),
    ("Category?", "Category", "One word, the category", "Ticket category", "Category only"),
)
PRIORITY_ASKS = Asks(
    (
        "What is the priority of this ticket?",
        "Which priority fits?",
        "Which priority does this ticket have?",
        "How urgent is this ticket?",
        "How urgent is this?",
        "What priority would you give this ticket?",
        "What is the urgency of this message?",
        "Is the priority {levels}?",
        "Which of {levels} is its priority?",
        "How fast should we answer, {levels}?",
    ),
    (
        "Give the priority of this ticket",
        "Give me only the priority",
        "Rate the urgency as {levels}",
        "Tell me the priority of this support ticket",
        "Choose a priority out of {levels}",
        "Assign a priority to this ticket",
        "Set the priority",
        "Name the priority in one word",
        "Determine how urgent this message is",
        "Prioritize this ticket",
        "Answer with the priority only",
        "Estimate the priority, one of {levels}",
    ),
    ("Priority?", "Priority", "Ticket priority", "Urgency", "Priority only"),
)
TRIAGE_ASKS = Asks(
    (
        "How would you triage this ticket?",
        "What is the triage for this ticket?",
        "Can I have the triage JSON?",
    ),
    (
        "Triage this ticket",
        "Triage",
        "Triage the following ticket",
        "Triage this support ticket as JSON",
        "Triage the message below and answer in JSON",
        "Give me the triage JSON",
        "Do the triage",
        "Make a triage record",
        "Run the triage on this ticket",
        "Write the triage object for this ticket",
        "Classify and prioritize this ticket in JSON",
        "Classify this ticket as JSON",
        "Turn this ticket into JSON",
    ),
    ("Triage JSON", "Ticket triage", "Triage as JSON", "JSON triage"),
)
FULL_ASKS = Asks(
    ("What is the full triage of this ticket?",),
    (
        "Do a full triage of this ticket",
        "Triage this ticket with all fields",
        "Give the complete triage object",
        "Make a detailed triage in JSON",
        "Write the full triage as JSON",
    ),
    ("Full triage", "Full triage JSON", "Complete triage as JSON"),
)
KEYS_ASKS = Asks(
    (
        "What are the {keys} as JSON?",
        "Can I have {keys} as JSON?",
        "What is the triage of this ticket as JSON with {keys}?",
        "Which {keys} does this ticket have, in JSON?",
    ),
    (
        "Give {keys} as JSON",
        "Give me {keys} as JSON",
        "Return JSON with {keys}",
        "Return a JSON object with the keys {keys}",
        "Triage this ticket as JSON with the keys {keys}",
        "Triage this ticket with {keys}",
        "Extract {keys} as JSON",
        "Answer in JSON with {keys}",
        "Make a JSON object with {keys} for this ticket",
        "Classify this ticket as JSON, keys {keys}",
        "Fill in {shape} for this ticket",
        "Triage this ticket as {shape}",
        "Answer in the format {shape}",
        "Read the ticket and output {keys} as JSON",
        "Analyze this customer message, output JSON with {keys}",
        "Produce {shape}",
        "Determine {keys} and reply with JSON only",
    ),
    (
        "{keys} as JSON",
        "{keys} in JSON",
        "JSON with {keys}",
        "JSON, {keys}",
        "Ticket as JSON with {keys}",
        "JSON object, fields {keys}",
    ),
)
REPLY_ASKS = Asks(
    (
        "What should we answer this customer?",
        "How do we reply to this ticket?",
        "What would you reply?",
        "What is a good answer to this customer?",
    ),
    (
        "Write a reply to this customer",
        "Write a reply to this ticket",
        "Reply to this ticket",
        "Answer this customer",
        "Answer the ticket politely",
        "Draft a short answer to this support ticket",
        "Draft a polite response",
        "Write a short polite reply for this customer",
        "Respond to the customer",
        "Compose an answer from Larkspur Support",
        "Write back to this customer",
        "Help me to answer this ticket",
    ),
    ("Reply to the customer", "Draft reply", "Customer reply", "Answer for the customer"),
)


def _listed(rng: random.Random, names: list[str], last: str) -> str:
    if rng.random() < 0.5:
        return ", ".join(names)
    return f"{', '.join(names[:-1])} {last} {names[-1]}" if len(names) > 1 else names[0]


def _shuffled(rng: random.Random, names: tuple[str, ...]) -> str:
    items = list(names)
    if rng.random() < 0.5:
        rng.shuffle(items)
    return _listed(rng, items, "or")


def _named_keys(rng: random.Random, keys: tuple[str, ...]) -> str:
    names = list(keys)
    if rng.random() < 0.2:
        names = [f'"{key}"' for key in names]
    if rng.random() < 0.15:
        names = [f"{name} (true or false)" if "human" in name else name for name in names]
    return _listed(rng, names, "and")


def _shape(rng: random.Random, keys: tuple[str, ...]) -> str:
    filler, gap = rng.choice(('"..."', "...", '""', "..")), rng.choice(("", " "))
    return "{" + f",{gap}".join(f'"{key}":{gap}{filler}' for key in keys) + "}"


def _filled(rng: random.Random, ask: str, keys: tuple[str, ...]) -> str:
    if "{options}" in ask:
        return ask.replace("{options}", _shuffled(rng, CATEGORIES))
    if "{levels}" in ask:
        return ask.replace("{levels}", _shuffled(rng, PRIORITIES))
    if "{keys}" in ask:
        return capital(ask.replace("{keys}", _named_keys(rng, keys)))
    return ask.replace("{shape}", _shape(rng, keys)) if "{shape}" in ask else ask


def _lower_first(text: str) -> str:
    return text if text.startswith(("JSON", "I ")) else text[:1].lower() + text[1:]


def _polite(rng: random.Random, command: str) -> str:
    mood = rng.random()
    if mood < 0.55:
        return command
    if mood < 0.75:
        return f"Please {_lower_first(command)}"
    if mood < 0.83:
        return f"{command}, please"
    start = rng.choice(("Can you", "Could you", "Could you please", "Would you", "I want you to"))
    return f"{start} {_lower_first(command)}{'' if start[0] == 'I' else '?'}"


def asked(rng: random.Random, asks: Asks, keys: tuple[str, ...] = ()) -> str:
    """One of the ways to ask, with these keys where it names keys."""
    which = rng.random()
    if which < 0.33:
        ask = _filled(rng, rng.choice(asks.questions), keys)
    elif which < 0.8:
        ask = _polite(rng, _filled(rng, rng.choice(asks.commands), keys))
    else:
        ask = _filled(rng, rng.choice(asks.fragments), keys)
    if rng.random() < 0.2:
        ask = ask.lower().rstrip("?")
    return ask


_LABELS = ("Ticket", "Ticket", "Ticket", "ticket", "Support ticket", "Message", "Customer", "Email")


def layout(rng: random.Random, ask: str, text: str) -> str:
    """The ask and the ticket in one message, in one of many layouts."""
    colon = ask if ask.endswith("?") else f"{ask}:"
    stop = ask if ask.endswith("?") else f"{ask}."
    label = rng.choice(_LABELS)
    layouts = (
        f"{colon} {text}",
        f"{colon} {text}",
        f"{colon}\n{text}",
        f"{colon}\n\n{text}",
        f"{stop} {label}: {text}",
        f"{stop}\n{label}: {text}",
        f"{ask}\n\n{label}: {text}",
        f'{colon} "{text}"',
        f"{label}: {text}\n{ask}",
        f"{label}: {text}\n\n{stop}",
        f"{text}\n\n{ask}",
        f'{label}: "{text}" {stop}',
        f"{text}\n{colon}",
        f"{ask} - {text}",
    )
    return rng.choice(layouts)
