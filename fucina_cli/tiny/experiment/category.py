"""Parts one and two of the experiment: a question about each ticket, answered in several ways."""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fucina_cli.answer import Answer
from fucina_cli.constraint.kinds.choice import Choice
from fucina_cli.decoding.prefill import last_logits
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.mask import allowed_ids
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES, Ticket
from fucina_cli.tiny.experiment.lab import (
    Lab,
    MaskAfterArgmax,
    is_masked_argmax,
    log_probabilities,
    mass,
    most_tokens,
    wilson,
)


@dataclass(frozen=True)
class Question:
    """A way to ask for the category of a ticket.

    `options` has the text that stands for each category, with the space before it. An answer is
    such a text without the space, and is right where it stands for the ticket's category.
    """

    title: str
    cue: str
    options: dict[str, str]

    def prompt(self, ticket: Ticket) -> str:
        """What an option completes."""
        return f"Ticket: {ticket.text}\n{self.cue}"


TAUGHT = Question(
    "the category", "Category:", {category: f" {category}" for category in CATEGORIES}
)
"""As in training."""

UNTAUGHT = Question(
    "a question never taught, the department for each",
    "Which department? The",
    {
        "billing": " finance",
        "bug": " developers",
        "how_to": " support",
        "account_access": " security",
        "feature_request": " product",
        "cancellation": " sales",
    },
)
"""The same six classes by names, and after a cue, that the built-in models were never taught."""


@dataclass(frozen=True)
class Outcome:
    """One way to answer, over all tickets.

    `interval` is that of the accuracy; `distinct` counts different answers; `first` is the answer
    to the first ticket. Answers are compared without the white space around them.
    """

    name: str
    parses: int
    correct: int
    interval: tuple[float, float]
    distinct: int
    most_common: str
    most_common_count: int
    first: str


@dataclass(frozen=True)
class Spread:
    """Median and extremes."""

    median: float
    min: float
    max: float


@dataclass(frozen=True)
class Score:
    """Log-probability of an option's canonical tokens, nats: in all, and per token."""

    total: float
    per_token: float
    tokens: int


@dataclass(frozen=True)
class Categories:
    """The first or the second part.

    `first_tokens` can begin an option, and `mass` is the probability on them before masking.
    `favourite_forbidden` counts tickets whose likeliest first token is none of them: there the bug
    shows. `masked_argmax` counts tickets whose constrained greedy answer is, token by token, the
    argmax of the masked row. `lowest_greedy` and `lowest_buggy` count tickets whose first token,
    constrained greedy and with the bug, is the lowest allowed id. `chosen` is the log-probability
    (nats) of the best option by total.
    """

    question: Question
    outcomes: tuple[Outcome, ...]
    first_tokens: int
    mass: Spread
    favourite_forbidden: int
    masked_argmax: int
    lowest_greedy: int
    lowest_buggy: int
    chosen: Spread
    first_ticket: str
    first_scores: dict[str, Score]


@dataclass(frozen=True)
class _Seen:
    """What the raw model thinks of one ticket."""

    mass: float
    favourite_allowed: bool
    masked_argmax: bool
    scores: dict[str, Score]


def categories(lab: Lab, question: Question, tickets: Sequence[Ticket], seed: int) -> Categories:
    """Six ways to answer the question for each ticket, and one with the chapter's bug."""
    options = {text.strip(): text for text in question.options.values()}
    compiled = lab.compile(Choice(list(options.values())))
    allowed = allowed_ids(compiled.constraint().mask_words(), lab.model.n_vocab)
    room = most_tokens(options.values())
    prompts = [lab.prompt(question.prompt(ticket), room) for ticket in tickets]

    def all_texts(ask: Callable[[Prompt, int], Answer]) -> list[str]:
        return [ask(prompt, seed + i).text for i, prompt in enumerate(prompts)]

    # A free answer is what stands on the line: more lenient than to ask for the end of the text.
    free = all_texts(lambda p, _: lab.ask(p, room, stop="\n"))
    sampled = all_texts(lambda p, s: lab.ask(p, room, seed=s, constraint=compiled.constraint()))
    greedy = [lab.ask(p, room, constraint=compiled.constraint()) for p in prompts]
    buggy = [lab.ask(p, room, processor=MaskAfterArgmax(compiled.constraint())) for p in prompts]
    seen: list[_Seen] = []
    for prompt, answer in zip(prompts, greedy, strict=True):
        row = last_logits(lab.context, prompt.tokens)
        best = is_masked_argmax(lab.context, prompt, row, answer.tokens, compiled.constraint())
        scores = score_options(lab, prompt, row, options)
        seen.append(_Seen(mass(row, allowed), int(row.argmax()) in allowed, best, scores))
    totals = [_best(one.scores, lambda score: score.total) for one in seen]
    gold = [question.options[ticket.category].strip() for ticket in tickets]
    majority = Counter(gold).most_common(1)[0][0]
    answers = {
        "free_greedy": free,
        "constrained_sampled": sampled,
        "constrained_greedy": [answer.text for answer in greedy],
        "mask_after_argmax": [answer.text for answer in buggy],
        "scored_total": totals,
        "scored_per_token": [_best(one.scores, lambda score: score.per_token) for one in seen],
        "majority": [majority] * len(tickets),
    }
    lowest = int(allowed.min())
    return Categories(
        question=question,
        outcomes=tuple(_outcome(name, texts, gold, options) for name, texts in answers.items()),
        first_tokens=len(allowed),
        mass=_spread([one.mass for one in seen]),
        favourite_forbidden=sum(not one.favourite_allowed for one in seen),
        masked_argmax=sum(one.masked_argmax for one in seen),
        lowest_greedy=sum(answer.tokens[0] == lowest for answer in greedy),
        lowest_buggy=sum(answer.tokens[0] == lowest for answer in buggy),
        chosen=_spread([one.scores[c].total for one, c in zip(seen, totals, strict=True)]),
        first_ticket=tickets[0].text,
        first_scores=seen[0].scores,
    )


def score_options(
    lab: Lab, prompt: Prompt, row: NDArray[np.float32], options: dict[str, str]
) -> dict[str, Score]:
    """The raw model's log-probability of each option, by its canonical tokens.

    A text can be cut into tokens in many ways, and the probability of the text is the sum over all
    of them. The tokenizer's own is nearly all of it in a model that was trained on no other.

    Args:
        row: raw logits after the prompt, from `last_logits`; the cache holds the prompt.
        options: name to text.
    """
    scores: dict[str, Score] = {}
    for name, text in options.items():
        tokens = lab.model.vocabulary.tokenize_inside(text)
        total = sum(log_probabilities(lab.context, prompt, row, tokens))
        scores[name] = Score(total, total / len(tokens), len(tokens))
    return scores


def _outcome(
    name: str, texts: Sequence[str], gold: Sequence[str], options: Collection[str]
) -> Outcome:
    answers = [text.strip() for text in texts]
    correct = sum(answer == right for answer, right in zip(answers, gold, strict=True))
    counted = Counter(answers)
    answer, count = counted.most_common(1)[0]
    return Outcome(
        name=name,
        parses=sum(answer in options for answer in answers),
        correct=correct,
        interval=wilson(correct, len(gold)),
        distinct=len(counted),
        most_common=answer,
        most_common_count=count,
        first=answers[0],
    )


def _best(scores: dict[str, Score], key: Callable[[Score], float]) -> str:
    return max(scores, key=lambda name: key(scores[name]))


def _spread(values: Sequence[float]) -> Spread:
    return Spread(statistics.median(values), min(values), max(values))
