"""The whole experiment over some tickets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fucina_cli.tiny.corpus.ticket_labels import Ticket
from fucina_cli.tiny.experiment.bias import BiasReport, logit_bias
from fucina_cli.tiny.experiment.category import TAUGHT, UNTAUGHT, Categories, categories
from fucina_cli.tiny.experiment.lab import Lab
from fucina_cli.tiny.experiment.triage import Triage, triage


@dataclass(frozen=True)
class Report:
    """All parts; `asdict` of it is what --json prints."""

    model: str
    architecture: str
    quantization: str
    tickets: int
    seed: int
    categories: Categories
    untaught: Categories
    triage: Triage
    logit_bias: BiasReport


def run(lab: Lab, tickets: Sequence[Ticket], seed: int) -> Report:
    """The whole experiment over `tickets`, at least one. Raises what its parts raise."""
    model = lab.model
    return Report(
        model=model.path.name,
        architecture=model.architecture,
        quantization=model.quantization,
        tickets=len(tickets),
        seed=seed,
        categories=categories(lab, TAUGHT, tickets, seed),
        untaught=categories(lab, UNTAUGHT, tickets, seed),
        triage=triage(lab, tickets, seed),
        logit_bias=logit_bias(lab, tickets),
    )
