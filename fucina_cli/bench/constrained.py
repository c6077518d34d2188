"""Decode rate under a schema against the unconstrained rate of the same model.

    python -m fucina_cli.bench.constrained MODEL [--rounds R] [--json]

One process, one context, greedy, decode only (prefill excluded), interleaved: for each schema free
text, the schema with forced spans, and the schema token by token. Medians.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.cli import program
from fucina_cli.constraint import grammar, source
from fucina_cli.conversation import Answer, Request, generate
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.prompts import Prompt, stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

_NUMBER = {"type": "integer", "minimum": 0}


def _string(longest: int) -> dict[str, object]:
    return {"type": "string", "maxLength": longest}


def _object(**properties: object) -> dict[str, object]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


#: Name to (prompt, schema): enums, tool calls, free strings, numbers, lists, patterns.
CASES: dict[str, tuple[str, object]] = {
    "triage": (
        "Ticket: I was charged twice this month and nobody answers.\nTriage as JSON:\n",
        {
            "type": "object",
            "properties": {
                "category": {"enum": ["bug", "billing", "how_to", "feature_request"]},
                "priority": {"enum": ["low", "normal", "high", "urgent"]},
                "product": {"enum": ["web", "mobile", "desktop", "api"]},
                "escalate": {"type": "boolean"},
            },
            "required": ["category", "priority", "product", "escalate"],
            "additionalProperties": False,
        },
    ),
    "tool call": (
        "Schedule a budget review with Ana on Monday at ten for half an hour.\nCall as JSON:\n",
        {
            "type": "object",
            "properties": {
                "name": {"const": "create_event"},
                "arguments": {
                    "type": "object",
                    "properties": {
                        "title": {"type": "string", "maxLength": 40},
                        "weekday": {"enum": ["Monday", "Tuesday", "Wednesday", "Thursday"]},
                        "hour": {"type": "integer", "minimum": 0, "maximum": 23},
                        "minutes": {"type": "integer", "minimum": 5, "maximum": 240},
                        "attendee": {"type": "string", "maxLength": 24},
                    },
                    "required": ["title", "weekday", "hour", "minutes", "attendee"],
                    "additionalProperties": False,
                },
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        },
    ),
    "city": (
        "Describe the city of Rome as JSON:\n",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 30},
                "country": {"type": "string", "maxLength": 30},
                "population": {"type": "integer", "minimum": 0, "maximum": 50_000_000},
                "known_for": {"type": "string", "maxLength": 60},
            },
            "required": ["city", "country", "population", "known_for"],
            "additionalProperties": False,
        },
    ),
    "order": (
        "Order 4711: two oak shelves and a lamp for Mrs. Lindqvist, paid by card.\nAs JSON:\n",
        _object(
            order=_NUMBER | {"maximum": 99999},
            customer=_string(30),
            city=_string(20),
            payment={"enum": ["card", "invoice", "cash", "voucher"]},
            items={
                "type": "array",
                "minItems": 1,
                "maxItems": 3,
                "items": _object(article=_string(24), count=_NUMBER | {"maximum": 99}),
            },
        ),
    ),
    "service settings": (
        "Settings of the web service for production, as JSON:\n",
        _object(
            environment={"enum": ["development", "staging", "production"]},
            replicas=_NUMBER | {"minimum": 1, "maximum": 16},
            log_level={"enum": ["debug", "info", "warning", "error"]},
            features=_object(
                dark_mode={"type": "boolean"},
                beta_search={"type": "boolean"},
                audit_trail={"type": "boolean"},
            ),
            timeout_seconds=_NUMBER | {"maximum": 600},
        ),
    ),
    "review": (
        "Review: the hotel was quiet and clean, but breakfast was poor.\nAnalysis as JSON:\n",
        _object(
            sentiment={"enum": ["positive", "mixed", "negative"]},
            stars=_NUMBER | {"minimum": 1, "maximum": 5},
            topics={
                "type": "array",
                "minItems": 1,
                "maxItems": 3,
                "items": {"enum": ["room", "cleanliness", "noise", "breakfast", "staff", "price"]},
            },
            would_return={"type": "boolean"},
        ),
    ),
    "dates": (
        "The project starts on 3 March 2025 and ends in June. Milestones as JSON:\n",
        _object(
            start_date={"type": "string", "pattern": r"^20\d\d-[01]\d-[0-3]\d$"},
            end_date={"type": "string", "pattern": r"^20\d\d-[01]\d-[0-3]\d$"},
            confirmed={"type": "boolean"},
            quarter={"enum": ["Q1", "Q2", "Q3", "Q4"]},
        ),
    ),
    "route": (
        "From the station to the museum: walk, then tram 4. Route as JSON:\n",
        _object(
            origin=_string(20),
            destination=_string(20),
            steps={
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": _object(
                    mode={"enum": ["walk", "tram", "bus", "train"]},
                    line={"type": ["integer", "null"], "minimum": 1, "maximum": 99},
                    duration_minutes=_NUMBER | {"maximum": 120},
                ),
            },
            wheelchair_accessible={"type": "boolean"},
        ),
    ),
}
_FREE_TOKENS = 48
_ANSWER_TOKENS = 160


@dataclass
class _Arm:
    """Rates of one way to decode, in tokens per second, and its last answer."""

    rates: list[float] = field(default_factory=list)
    answer: Answer | None = None

    def add(self, answer: Answer) -> None:
        self.answer = arguments.whole(answer)
        forwards = answer.counts.forwards - 1  # the first one is the prefill
        if forwards and answer.decode_s > 0:
            # Tokens that came with the prefill's forward are not decode's merit.
            committed = answer.counts.committed * forwards / (forwards + 1)
            self.rates.append(committed / answer.decode_s)

    @property
    def median(self) -> float:
        return statistics.median(self.rates) if self.rates else 0.0


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model = arguments.load(parser, options.model)
    tokens = grammar.build_tokens(
        model.vocabulary, stop_token(model, family_of(model.architecture), chat=False)
    )
    context = Context(model, n_ctx=512)
    results = {name: _measure(context, tokens, name, options.rounds) for name in CASES}
    if options.json:
        print(json.dumps({n: {a: arm.median for a, arm in r.items()} for n, r in results.items()}))
        return
    table = Table(title=f"greedy decode, tokens/s, medians of {options.rounds} rounds")
    for heading in ("schema", "free text", "token by token", "forced spans", "ratio", "tokens"):
        table.add_column(heading, justify="left" if heading == "schema" else "right")
    table.add_column("per forward", justify="right")
    for name, arms in results.items():
        spans = arms["forced spans"]
        counts = spans.answer.counts if spans.answer else None
        table.add_row(
            name,
            f"{arms['free text'].median:.1f}",
            f"{arms['token by token'].median:.1f}",
            f"{spans.median:.1f}",
            f"{spans.median / arms['free text'].median:.2f}",
            str(counts.committed if counts else 0),
            f"{counts.committed / counts.forwards:.2f}" if counts else "",
        )
    ratios = {
        arm: statistics.mean(r[arm].median / r["free text"].median for r in results.values())
        for arm in ("token by token", "forced spans")
    }
    table.add_section()
    table.add_row(
        "mean ratio", "1", f"{ratios['token by token']:.2f}", f"{ratios['forced spans']:.2f}"
    )
    Console().print(table)


def _measure(context: Context, tokens: grammar.Tokens, name: str, rounds: int) -> dict[str, _Arm]:
    text, schema = CASES[name]
    prepared = grammar.prepare(source.json_schema(json.dumps(schema)))
    compiled = grammar.compile_grammar(prepared, tokens)
    prompt: Prompt = text_prompt(context.model, text)
    arms = {"free text": _Arm(), "forced spans": _Arm(), "token by token": _Arm()}
    for _ in range(rounds):
        greedy = SamplingConfig()
        arms["free text"].add(generate(context, prompt, Request(greedy, _FREE_TOKENS)))
        for arm, forced_spans in (("forced spans", True), ("token by token", False)):
            request = Request(
                greedy,
                _ANSWER_TOKENS,
                constraint=compiled.constraint(),
                forced_spans=forced_spans,
            )
            arms[arm].add(generate(context, prompt, request))
        answers = [arms[a].answer for a in ("forced spans", "token by token")]
        if len({tuple(a.tokens) for a in answers if a}) != 1:
            raise SystemExit(f"{name}: forced spans changed the answer")
    return arms


if __name__ == "__main__":
    program.end(main)
