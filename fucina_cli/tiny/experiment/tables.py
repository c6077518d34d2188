"""The report of the experiment for people."""

from __future__ import annotations

import math

from rich.console import Console
from rich.table import Table
from rich.text import Text

from fucina_cli.text import printable
from fucina_cli.tiny.experiment.bias import Biased, BiasReport
from fucina_cli.tiny.experiment.category import Categories
from fucina_cli.tiny.experiment.report import Report
from fucina_cli.tiny.experiment.triage import Triage

_NAMES = {
    "free_greedy": "free, greedy",
    "constrained_sampled": "constrained, sampled (T=1)",
    "constrained_greedy": "constrained, greedy",
    "mask_after_argmax": "the bug: argmax first, mask after",
    "scored_total": "scored, total log-probability",
    "scored_per_token": "scored, log-probability per token",
    "majority": "baseline: the majority",
    "free": "free",
    "constrained": "a space, then the schema",
    "constrained_without_space": "the schema, without the space",
}
_SHOWN = 40


def show(report: Report, console: Console) -> None:
    """Print all parts."""
    n = report.tickets
    # Text, not str: what models write must not be read as markup.
    console.print(
        Text(f"{report.model} ({report.architecture}, {report.quantization}), seed {report.seed}")
    )
    for part in (report.categories, report.untaught):
        console.print(_category_table(part, n))
        for line in _category_notes(part, n):
            console.print(Text(line))
        if part is report.untaught:
            console.print(Text(_lesson(part, n)))
        console.print()
    console.print(_triage_table(report.triage, n))
    for line in _triage_notes(report.triage):
        console.print(Text(line))
    console.print()
    console.print(Text(f"the ticket with the closest race: {report.logit_bias.ticket}"))
    console.print(_bias_table(report.logit_bias))


def _category_table(part: Categories, n: int) -> Table:
    table = Table(title=f"{n} held-out tickets: {part.question.title}")
    for heading in ("answer", "parses", "correct", "95% interval", "distinct", "most common"):
        left = heading in ("answer", "most common")
        table.add_column(heading, justify="left" if left else "right")
    for outcome in part.outcomes:
        low, high = outcome.interval
        table.add_row(
            _NAMES[outcome.name],
            f"{outcome.parses}/{n}",
            f"{outcome.correct}/{n}",
            f"{low:.0%} to {high:.0%}",
            str(outcome.distinct),
            Text(f"{_short(outcome.most_common)} ({outcome.most_common_count})"),
        )
    return table


def _category_notes(part: Categories, n: int) -> list[str]:
    mass, chosen = part.mass, part.chosen
    ranked = sorted(part.first_scores.items(), key=lambda item: -item[1].total)
    scores = ", ".join(f"{name} {s.total:.1f} ({s.tokens})" for name, s in ranked)
    return [
        f"probability of the {part.first_tokens} allowed first tokens before masking: median "
        f"{mass.median:.3g}, {mass.min:.3g} to {mass.max:.3g}",
        f"log-probability of the chosen option: median {chosen.median:.2f} (probability "
        f"{math.exp(chosen.median):.2g}), {chosen.min:.2f} to {chosen.max:.2f}",
        f"constrained greedy is the argmax of the masked row at each token: {part.masked_argmax} "
        f"of {n} tickets",
        f"the favourite is forbidden, so that the bug shows: {part.favourite_forbidden} of {n} "
        "tickets",
        f"the first token is the lowest allowed id: with the bug {part.lowest_buggy} of {n} "
        f"tickets, constrained greedy {part.lowest_greedy}",
        f"ticket 1: {part.first_ticket}",
        f"log-probability of each option (tokens): {scores}",
    ]


def _lesson(part: Categories, n: int) -> str:
    outcomes = {outcome.name: outcome for outcome in part.outcomes}
    bug, greedy = outcomes["mask_after_argmax"], outcomes["constrained_greedy"]
    return (
        "where the allowed tokens have little probability, the constraint does the work, not the "
        f"model: the bug says {_short(bug.most_common)!r} {bug.most_common_count} times of {n}; "
        f"masked first, greedy gives {greedy.distinct} different answers"
    )


def _triage_table(part: Triage, n: int) -> Table:
    table = Table(title="category and priority as JSON, sampled (T=1)")
    for heading in ("answer", "parses", "fits the schema", "category right", "priority right"):
        table.add_column(heading, justify="left" if heading == "answer" else "right")
    for outcome in part.outcomes:
        counts = (outcome.parses, outcome.valid, outcome.category_right, outcome.priority_right)
        table.add_row(_NAMES[outcome.name], *(f"{count}/{n}" for count in counts))
    return table


def _triage_notes(part: Triage) -> list[str]:
    width = max(len(_NAMES[outcome.name]) for outcome in part.outcomes)
    pieces = "  ".join(f"{piece.text!r} {piece.probability:.2g}" for piece in part.pieces)
    return [
        *(f"ticket 1, {_NAMES[o.name]:{width}}  {o.first!r}" for o in part.outcomes),
        f"raw probability of each token after the space and under the schema: {pieces}",
        f"log-probability of the whole: {part.log_probability:.1f} over {len(part.pieces)} tokens",
    ]


def _bias_table(part: BiasReport) -> Table:
    table = Table(title="the category of that ticket under a logit bias, greedy")
    for heading in ("bias", "likeliest first tokens", "text"):
        table.add_column(heading, overflow="fold")
    for case in part.cases:
        top = ", ".join(f"{text!r} {probability:.2g}" for text, probability in case.top)
        table.add_row(Text(_bias_name(case)), Text(top), Text(repr(case.text)))
    return table


def _bias_name(case: Biased) -> str:
    if case.token is None:
        return "none"
    return f"{case.name} {case.token_text!r} ({case.bias:+g})"


def _short(text: str) -> str:
    line = printable(text)
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
