"""Decode rate under a schema against the unconstrained rate of the same model.

    python -m fucina_cli.bench.constrained MODEL [--rounds R] [--json]

One process, one context, greedy, decode only (prefill excluded), interleaved A B B A: for each
schema free text of a given length, the schema with forced spans, and the schema token by token.
Medians.
"""

from __future__ import annotations

import argparse
import statistics

from fucina_cli.answer import Answer
from fucina_cli.bench import harness
from fucina_cli.bench.schemas import YES_NO, fields, items, number, one_of, string
from fucina_cli.cli.process import program
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.job import Job

_DATE = {"type": "string", "pattern": r"^20\d\d-[01]\d-[0-3]\d$"}
_TOPICS = one_of("room", "cleanliness", "noise", "breakfast", "staff", "price")
_WEEKDAY = one_of("Monday", "Tuesday", "Wednesday", "Thursday")
#: Name to (prompt, schema): enums, tool calls, free strings, numbers, lists, patterns.
CASES: dict[str, tuple[str, dict[str, object]]] = {
    "triage": (
        "Ticket: I was charged twice this month and nobody answers.\nTriage as JSON:\n",
        fields(
            category=one_of("bug", "billing", "how_to", "feature_request"),
            priority=one_of("low", "normal", "high", "urgent"),
            product=one_of("web", "mobile", "desktop", "api"),
            escalate=YES_NO,
        ),
    ),
    "tool call": (
        "Schedule a budget review with Ana on Monday at ten for half an hour.\nCall as JSON:\n",
        fields(
            name={"const": "create_event"},
            arguments=fields(
                title=string(40),
                weekday=_WEEKDAY,
                hour=number(0, 23),
                minutes=number(5, 240),
                attendee=string(24),
            ),
        ),
    ),
    "city": (
        "Describe the city of Rome as JSON:\n",
        fields(
            city=string(30),
            country=string(30),
            population=number(0, 50_000_000),
            known_for=string(60),
        ),
    ),
    "order": (
        "Order 4711: two oak shelves and a lamp for Mrs. Lindqvist, paid by card.\nAs JSON:\n",
        fields(
            order=number(0, 99999),
            customer=string(30),
            city=string(20),
            payment=one_of("card", "invoice", "cash", "voucher"),
            items=items(1, 3, fields(article=string(24), count=number(0, 99))),
        ),
    ),
    "service settings": (
        "Settings of the web service for production, as JSON:\n",
        fields(
            environment=one_of("development", "staging", "production"),
            replicas=number(1, 16),
            log_level=one_of("debug", "info", "warning", "error"),
            features=fields(dark_mode=YES_NO, beta_search=YES_NO, audit_trail=YES_NO),
            timeout_seconds=number(0, 600),
        ),
    ),
    "review": (
        "Review: the hotel was quiet and clean, but breakfast was poor.\nAnalysis as JSON:\n",
        fields(
            sentiment=one_of("positive", "mixed", "negative"),
            stars=number(1, 5),
            topics=items(1, 3, _TOPICS),
            would_return=YES_NO,
        ),
    ),
    "dates": (
        "The project starts on 3 March 2025 and ends in June. Milestones as JSON:\n",
        fields(
            start_date=_DATE,
            end_date=_DATE,
            confirmed=YES_NO,
            quarter=one_of("Q1", "Q2", "Q3", "Q4"),
        ),
    ),
    "route": (
        "From the station to the museum: walk, then tram 4. Route as JSON:\n",
        fields(
            origin=string(20),
            destination=string(20),
            steps=items(
                2,
                2,
                fields(
                    mode=one_of("walk", "tram", "bus", "train"),
                    line={"type": ["integer", "null"], "minimum": 1, "maximum": 99},
                    duration_minutes=number(0, 120),
                ),
            ),
            wheelchair_accessible=YES_NO,
        ),
    ),
}
_FREE_TOKENS = 48
_ANSWER_TOKENS = 160


def main() -> None:
    """Measure and print."""
    harness.run(harness.parser(__doc__), _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    jobs = {
        name: (
            Job.prompt(text, gen=_FREE_TOKENS),
            Job.prompt(text, JsonSchema(schema), gen=_ANSWER_TOKENS),
        )
        for name, (text, schema) in CASES.items()
    }
    rates, rows = {}, []
    with harness.opened(options.model) as host:
        context = harness.context_for(host, (job for pair in jobs.values() for job in pair))
        for name, (free, under) in jobs.items():
            arms = {
                "free text": harness.arm(host, context, free, endless=True),
                "token by token": harness.arm(host, context, under, forced_spans=False),
                "forced spans": harness.arm(host, context, under),
            }
            answers = harness.in_turn(arms, options.rounds)
            spans = answers["forced spans"]
            harness.check_same(
                (answer.tokens for answer in (*spans, *answers["token by token"])),
                f"{name}: forced spans changed the answer",
            )
            rates[name] = harness.medians(answers, _rate)
            counts, ratio = spans[-1].counts, rates[name]["forced spans"] / rates[name]["free text"]
            per_forward = counts.committed / counts.forwards
            rows.append((name, *rates[name].values(), ratio, counts.committed, per_forward))
    relative = [[rate / of["free text"] for rate in of.values()] for of in rates.values()]
    means = (f"{statistics.mean(ratios):.2f}" for ratios in zip(*relative, strict=True))
    return harness.Report(
        rates,
        f"greedy decode, tokens/s, medians of {options.rounds} rounds",
        "schema|free text:.1f|token by token:.1f|forced spans:.1f|ratio:.2f|tokens|per forward:.2f",
        rows,
        ["mean ratio to free text: {}, token by token {}, forced spans {}".format(*means)],
    )


def _rate(answer: Answer) -> float:
    """Tokens per second of decoding; those that came with the prefill's forward are not counted."""
    forwards = answer.counts.forwards
    return answer.counts.committed * (forwards - 1) / forwards / answer.decode_s


if __name__ == "__main__":
    program.end(main)
