"""What streams in lockstep gain over one after another, and what the decoder costs beside them.

    python -m fucina_cli.bench.lockstep MODEL [--streams N] [--rounds R]
    python -m fucina_cli.bench.lockstep MODEL --requests N [--processes N]

The first measures constrained decoding (prefill excluded), one process, interleaved A B A B,
medians: N streams in lockstep, the same N one after another (with forced spans too), and a bare
loop that replays the forwards of the lockstep arm without sampling anything. All arms decode the
same tokens, which is checked. The second answers triage requests that share a system text through
`--batch` with 1 and with 8 streams, and some by one process each.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.cli import program
from fucina_cli.constraint import grammar, source
from fucina_cli.constraint.grammar import Grammar
from fucina_cli.conversation import Answer, Conversations, Request, generate
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt, stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

TRIAGE = {
    "type": "object",
    "properties": {
        "category": {"enum": ["billing", "bug", "feature", "account", "other"]},
        "priority": {"enum": ["low", "normal", "high", "urgent"]},
        "needs_human": {"type": "boolean"},
        "language": {"enum": ["en", "de", "it"]},
    },
    "required": ["category", "priority", "needs_human", "language"],
    "additionalProperties": False,
}
FREE = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 20, "maxLength": 60},
        "reply": {"type": "string", "minLength": 80, "maxLength": 160},
    },
    "required": ["title", "reply"],
    "additionalProperties": False,
}
TICKETS = (
    "I was charged twice for my order of 3 May.",
    "The app crashes whenever I open the monthly report.",
    "Please add a dark mode, my eyes hurt at night.",
    "I can't sign in since Monday; the code never arrives.",
    "Do you have a plan for schools?",
    "The invoice of April is missing from my account.",
    "The export button does nothing at all.",
    "All my photos of June are gone, I am furious!",
)
SYSTEM = (
    "You are the triage desk of Cobalt Software, which sells an invoicing program called "
    "Ledgerline, a time tracker called Hourbox and a photo backup called Attic. Read the "
    "customer's ticket and fill in the form. The category is billing when money, invoices, "
    "refunds or cards are concerned, bug when something that worked does not work any more, "
    "feature when something new is asked for, account when it is about signing in or "
    "passwords, and other for everything else. The priority is urgent only when the customer "
    "can't work at all or loses data, high when a deadline is near, normal in most cases, and "
    "low for wishes and praise. A human is needed when the customer is angry or threatens to "
    "leave. Answer with the form and nothing else."
)
#: Name to (schema, whether all streams have the same prompt, temperature).
CASES: dict[str, tuple[dict[str, Any], bool, float]] = {
    "triage, one prompt": (TRIAGE, True, 0.0),
    "triage, eight tickets": (TRIAGE, False, 0.8),
    "free strings, one prompt": (FREE, True, 0.0),
    "free strings, eight tickets": (FREE, False, 0.8),
}


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--streams", type=arguments.positive, default=8)
    parser.add_argument("--requests", type=arguments.positive)
    parser.add_argument("--processes", type=arguments.positive, default=4)
    options = parser.parse_args()
    if options.requests:
        _requests(options.model, options.requests, options.processes)
        return
    model = arguments.load(parser, options.model)
    stop = stop_token(model, family_of(model.architecture), chat=False)
    tokens = grammar.build_tokens(model.vocabulary, stop)
    many = _Recorder(model, n_ctx=512, n_slots=options.streams)
    alone = Context(model, n_ctx=512)
    table = Table(title=f"{options.streams} streams, medians of {options.rounds} rounds")
    for heading in (
        "case",
        "sequential s",
        "lockstep s",
        "speed-up",
        "bare loop s",
        "lockstep / bare",
        "tokens",
        "forwards",
    ):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for name, (schema, same, temperature) in CASES.items():
        compiled = grammar.compile_grammar(
            grammar.prepare(source.json_schema(json.dumps(schema))), tokens
        )
        table.add_row(
            name,
            *_measure(many, alone, compiled, options.streams, same, temperature, options.rounds),
        )
    Console(width=120).print(table)


class _Recorder(Context):
    """Keeps what was done to the cache, so that it can be done again."""

    def __init__(self, model: Model, *, n_ctx: int, n_slots: int) -> None:
        super().__init__(model, n_ctx=n_ctx, n_slots=n_slots)
        self.log: list[Callable[[], None]] = []

    def decode(self, rows: Sequence[Row]) -> None:
        kept = list(rows)
        self.log.append(lambda: super(_Recorder, self).decode(kept))
        super().decode(rows)

    def copy(self, source: int, target: int, length: int) -> None:
        self.log.append(lambda: super(_Recorder, self).copy(source, target, length))
        super().copy(source, target, length)


def _measure(
    many: _Recorder,
    alone: Context,
    compiled: Grammar,
    n: int,
    same: bool,
    temperature: float,
    rounds: int,
) -> list[str]:
    tickets = [TICKETS[0 if same else i % len(TICKETS)] for i in range(n)]
    prompts = [text_prompt(many.model, f"Ticket: {ticket}\nJSON: ") for ticket in tickets]

    def request(number: int) -> Request:
        sampling = SamplingConfig(temperature=temperature, seed=number)
        return Request(sampling, 120, constraint=compiled.constraint())

    sequential, lockstep, bare = [], [], []
    answers: list[Answer] = []
    forwards = 0
    for number in range(rounds + 1):
        answers = [
            arguments.whole(generate(alone, prompt, request(i))) for i, prompt in enumerate(prompts)
        ]
        tokens, seconds, prefill = _lockstep(many, prompts, request)
        if tokens != [answer.tokens for answer in answers]:
            raise SystemExit("lockstep changed the answers")
        replayed = _replay(many, prefill)
        forwards = len(many.log) - prefill
        if number:  # the first round warms up
            sequential.append(sum(answer.decode_s for answer in answers))
            lockstep.append(seconds)
            bare.append(replayed)
    medians = [statistics.median(times) for times in (sequential, lockstep, bare)]
    return [
        f"{medians[0]:.3f}",
        f"{medians[1]:.3f}",
        f"{medians[0] / medians[1]:.2f}",
        f"{medians[2]:.3f}",
        f"{medians[1] / medians[2]:.3f}",
        str(sum(answer.counts.committed for answer in answers)),
        str(forwards),
    ]


def _lockstep(
    context: _Recorder, prompts: list[Prompt], request: Callable[[int], Request]
) -> tuple[list[list[int]], float, int]:
    """Tokens, seconds of decoding, and how many of the recorded steps were prefill."""
    together = Conversations(context, share=False)
    context.log.clear()
    answers: dict[object, Answer] = {}
    for number, prompt in enumerate(prompts):
        together.submit(number, prompt, request(number))
    answers.update(together.advance())
    prefill = len(context.log)
    begin = time.perf_counter()
    while together.running:
        answers.update(together.advance())
    seconds = time.perf_counter() - begin
    return [answers[number].tokens for number in range(len(prompts))], seconds, prefill


def _replay(context: _Recorder, prefill: int) -> float:
    """Seconds that the recorded forwards after the prefill take by themselves."""
    context.clear_all()
    for do in context.log[:prefill]:
        do()
    begin = time.perf_counter()
    for do in context.log[prefill:]:
        do()
    return time.perf_counter() - begin


def _ticket(number: int) -> str:
    """One of some hundred tickets; neighbours have little in common."""
    product = ("Ledgerline", "Hourbox", "Attic")[number % 3]
    month = ("March", "April", "May", "June", "July")[number * 7 % 5]
    matters = (
        f"I was charged twice for {product} in {month}.",
        f"{product} crashes whenever I open the report of {month}.",
        f"Please add a dark mode to {product}, as you promised in {month}.",
        f"Since {month} I can't sign in to {product}.",
        f"How do I export what {product} has recorded in {month}?",
        f"Where is the invoice of {month}? {product} does not show it.",
        f"All my files of {month} are gone from {product}, I am furious!",
    )
    return matters[number * 3 % len(matters)]


def _requests(model: Path, count: int, processes: int) -> None:
    command = [sys.executable, "-m", "fucina_cli.generic", str(model), "--greedy", "--quiet"]
    schema = ["--json-schema", json.dumps(TRIAGE)]
    texts = [_ticket(number) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requests.jsonl"
        file.write_text(
            "".join(json.dumps({"chat": text, "system": SYSTEM}) + "\n" for text in texts)
        )
        rates: dict[str, list[float]] = {"1 stream": [], "8 streams": [], "a process each": []}
        outputs = set()
        for _ in range(2):
            for streams in (1, 8):
                begin = time.perf_counter()
                done = subprocess.run(
                    [*command, *schema, "--batch", str(file), "--streams", str(streams)],
                    capture_output=True,
                    check=True,
                    text=True,
                )
                name = "1 stream" if streams == 1 else "8 streams"
                rates[name].append(count / (time.perf_counter() - begin))
                records = map(json.loads, done.stdout.splitlines())
                outputs.add(tuple(sorted((r["id"], r["text"]) for r in records)))
        for text in texts[:processes]:
            begin = time.perf_counter()
            subprocess.run(
                [*command, *schema, "--chat", text, "--system", SYSTEM],
                capture_output=True,
                check=True,
            )
            rates["a process each"].append(1 / (time.perf_counter() - begin))
    if len(outputs) != 1:
        raise SystemExit("the number of streams changed the answers")
    best = statistics.median(rates["8 streams"])
    table = Table(title=f"{count} triage requests with a common system text, whole runs")
    for heading in ("", "requests/s", "8 streams faster by"):
        table.add_column(heading, justify="right" if heading else "left")
    for name, values in rates.items():
        rate = statistics.median(values)
        table.add_row(name, f"{rate:.2f}", f"{best / rate:.2f}x")
    Console(width=120).print(table)


if __name__ == "__main__":
    program.end(main)
