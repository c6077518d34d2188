"""Part four of the experiment: a logit bias bans, nudges and forces, at every step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fucina_cli.decoding.prefill import last_logits
from fucina_cli.llama.errors import ModelError
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.processor import LogitBias
from fucina_cli.sampling.topk import top_order
from fucina_cli.tiny.corpus.ticket_labels import Ticket
from fucina_cli.tiny.experiment.category import TAUGHT
from fucina_cli.tiny.experiment.lab import Lab, mass

_LIMIT = 16
_TOP = 3
_SEARCHED = 64
_BAN, _FORCE = -100.0, 100.0


@dataclass(frozen=True)
class Biased:
    """A bias on one token, the likeliest first tokens under it, and the greedy text.

    `token` and `token_text` are None without a bias; `top` has text and probability.
    """

    name: str
    token: int | None
    token_text: str | None
    bias: float
    top: tuple[tuple[str, float], ...]
    text: str


@dataclass(frozen=True)
class BiasReport:
    """The fourth part, on one ticket."""

    ticket: str
    cases: tuple[Biased, ...]


@dataclass(frozen=True)
class _Race:
    """A prompt, its raw row, and the two likeliest tokens that are text, the first ahead."""

    ticket: Ticket
    prompt: Prompt
    row: NDArray[np.float32]
    first: int
    second: int

    @property
    def gap(self) -> float:
        """How far the first is ahead, in logits."""
        return float(self.row[self.first]) - float(self.row[self.second])


def logit_bias(lab: Lab, tickets: Sequence[Ticket]) -> BiasReport:
    """Ban the favourite, nudge the second until it just wins, force the second.

    It is shown on the ticket whose first token is the closest race: where a model is certain, a
    nudge is not small. Raises ModelError where fewer than two likely tokens are text.
    """
    race = min((_race(lab, ticket) for ticket in tickets), key=lambda race: race.gap)
    # The gap in hundredths, and one to two more, so that rounding can't make a tie of it.
    nudge = math.ceil(race.gap * 100 + 1) / 100
    return BiasReport(
        race.ticket.text,
        (
            _biased(lab, race, "none", None, 0.0),
            _biased(lab, race, "ban", race.first, _BAN),
            _biased(lab, race, "nudge", race.second, nudge),
            _biased(lab, race, "force", race.second, _FORCE),
        ),
    )


def _race(lab: Lab, ticket: Ticket) -> _Race:
    prompt = lab.prompt(TAUGHT.prompt(ticket), _LIMIT)
    row = last_logits(lab.context, prompt.tokens)
    vocabulary = lab.model.vocabulary
    # Forcing the end of the text would show no repetition.
    texts = [
        token
        for token in top_order(row, _SEARCHED).tolist()
        if vocabulary.token_bytes(token) and not vocabulary.is_end(token)
    ]
    if len(texts) < 2:
        raise ModelError(f"of its {_SEARCHED} likeliest tokens fewer than two are text")
    return _Race(ticket, prompt, row, texts[0], texts[1])


def _biased(lab: Lab, race: _Race, name: str, token: int | None, bias: float) -> Biased:
    processor = LogitBias({} if token is None else {token: bias}, lab.model.n_vocab)
    row = race.row.copy()
    processor.process(row, race.prompt.tokens)
    top = top_order(row, _TOP)
    return Biased(
        name=name,
        token=token,
        token_text=None if token is None else lab.model.vocabulary.text(token),
        bias=bias,
        top=tuple(
            (text, mass(row, top[i : i + 1])) for i, text in enumerate(lab.pieces(top.tolist()))
        ),
        text=lab.ask(race.prompt, _LIMIT, processor=processor).text,
    )
