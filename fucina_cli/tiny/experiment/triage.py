"""Part three of the experiment: a JSON object for each ticket, free and under a schema."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass

from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.constraint.kinds.lark import Lark
from fucina_cli.decoding.prefill import last_logits
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES, PRIORITIES, Ticket
from fucina_cli.tiny.experiment.lab import Lab, log_probabilities, most_tokens


def triage_prompt(ticket: Ticket) -> str:
    """What a JSON object, with a space before it, completes."""
    return f"Ticket: {ticket.text}\nTriage JSON:"


@dataclass(frozen=True)
class TriageOutcome:
    """One way to write the object, over all tickets; right counts only what is valid."""

    name: str
    parses: int
    valid: int
    category_right: int
    priority_right: int
    first: str


@dataclass(frozen=True)
class Piece:
    """A token, its text, and the probability that the raw model gave it."""

    token: int
    text: str
    probability: float


@dataclass(frozen=True)
class Triage:
    """The third part; `pieces` are those of the first ticket's constrained answer.

    `log_probability` is that of all of them together, nats.
    """

    outcomes: tuple[TriageOutcome, ...]
    pieces: tuple[Piece, ...]
    log_probability: float


def triage_schema() -> JsonSchema:
    """The schema of the object: two enums, nothing else."""
    return JsonSchema(_schema())


def spaced_triage() -> Lark:
    """One space, then compact JSON by the schema, as a Lark grammar.

    The models learned " {" after "Triage JSON:", one token in most vocabularies. A bare schema
    allows no white space before the object, and so rules out the token that the model wants; a
    prompt that ends in a space would break the same token in two. In a grammar the space belongs
    to the answer, the forced text is cut into tokens as in training, and the part behind the space
    is what the schema allows. JSON allows white space around a value, so the whole answer parses.
    """
    rules = [
        f"{name}: {' | '.join(json.dumps(json.dumps(each)) for each in values)}"
        for name, values in _properties().items()
    ]
    members = ' "," '.join(f"{json.dumps(json.dumps(name) + ':')} {name}" for name in _properties())
    return Lark("\n".join([f'start: " {{" {members} "}}"', *rules, ""]))


def triage(lab: Lab, tickets: Sequence[Ticket], seed: int) -> Triage:
    """Sampled objects: free, under the schema after a space, and under the bare schema."""
    spaced, bare = lab.compile(spaced_triage()), lab.compile(triage_schema())
    room = most_tokens(
        " " + json.dumps({"category": category, "priority": priority}, separators=(",", ":"))
        for category in CATEGORIES
        for priority in PRIORITIES
    )
    prompts = [lab.prompt(triage_prompt(ticket), room) for ticket in tickets]
    free = [lab.ask(p, room, seed=seed + i) for i, p in enumerate(prompts)]
    constrained, unspaced = (
        [
            lab.ask(p, room, seed=seed + i, constraint=compiled.constraint())
            for i, p in enumerate(prompts)
        ]
        for compiled in (spaced, bare)
    )
    tokens = constrained[0].tokens
    row = last_logits(lab.context, prompts[0].tokens)
    logs = log_probabilities(lab.context, prompts[0], row, tokens)
    texts = {"free": free, "constrained": constrained, "constrained_without_space": unspaced}
    return Triage(
        outcomes=tuple(
            _triage_outcome(name, [answer.text for answer in answers], tickets)
            for name, answers in texts.items()
        ),
        pieces=tuple(
            Piece(token, text, math.exp(log))
            for token, text, log in zip(tokens, lab.pieces(tokens), logs, strict=True)
        ),
        log_probability=sum(logs),
    )


def _properties() -> dict[str, Sequence[str]]:
    """The values of each property."""
    return {"category": CATEGORIES, "priority": PRIORITIES}


def _schema() -> dict[str, object]:
    properties = {name: {"enum": list(values)} for name, values in _properties().items()}
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _triage_outcome(name: str, texts: Sequence[str], tickets: Sequence[Ticket]) -> TriageOutcome:
    schema = triage_schema()
    parses = valid = category = priority = 0
    for text, ticket in zip(texts, tickets, strict=True):
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        parses += 1
        # The independent judge, not the engine that wrote the answer.
        if schema.judge(text).valid:
            valid += 1
            category += value["category"] == ticket.category
            priority += value["priority"] == ticket.priority
    return TriageOutcome(name, parses, valid, category, priority, texts[0])
