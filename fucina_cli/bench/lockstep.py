"""What streams in lockstep gain over one after another, and what the decoder costs beside them.

    python -m fucina_cli.bench.lockstep MODEL [--streams N] [--rounds R] [--json]
    python -m fucina_cli.bench.lockstep MODEL --requests N [--processes N] [--json]

The first measures constrained decoding (prefill excluded), one process, interleaved A B B A,
medians: N streams in lockstep, the same N one after another (with forced spans too), and a bare
loop that replays the forwards of the lockstep arm without sampling anything. All arms decode the
same tokens, which is checked. The second answers triage requests that share a system text through
`--batch` with 1 and with 8 streams, and some by one process each.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fucina_cli.bench import harness
from fucina_cli.bench.schemas import YES_NO, fields, one_of, string
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import whole
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.host import Host
from fucina_cli.job import Job
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.model import Model
from fucina_cli.request import Request
from fucina_cli.throughput import Pass, first_difference, one_by_one, side_by_side

TRIAGE = fields(
    category=one_of("billing", "bug", "feature", "account", "other"),
    priority=one_of("low", "normal", "high", "urgent"),
    needs_human=YES_NO,
    language=one_of("en", "de", "it"),
)
FREE = fields(title=string(60, 20), reply=string(160, 80))
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
_REQUEST_ROUNDS = 2


def main() -> None:
    """Measure and print."""
    parser = harness.parser(__doc__)
    parser.add_argument("--streams", type=whole(1, 256), default=8, metavar="N", help="(8)")
    parser.add_argument("--requests", type=whole(1), metavar="N", help="measure whole runs")
    parser.add_argument("--processes", type=whole(1), default=4, metavar="N", help="(4)")
    harness.run(parser, lambda options: (_requests if options.requests else _streams)(options))


class _Recorder(Context):
    """Keeps what was done to the cache, so that it can be done again."""

    def __init__(self, model: Model, *, n_ctx: int, n_slots: int) -> None:
        super().__init__(model, n_ctx=n_ctx, n_slots=n_slots)
        self._log: list[Callable[[], None]] = []
        self._ends: list[int] = []  # of the log after each forward

    def decode(self, rows: Sequence[Row]) -> None:
        kept = list(rows)
        self._log.append(lambda: super(_Recorder, self).decode(kept))
        self._ends.append(len(self._log))
        super().decode(rows)

    def copy(self, source: int, target: int, length: int) -> None:
        self._log.append(lambda: super(_Recorder, self).copy(source, target, length))
        super().copy(source, target, length)

    def clear_all(self) -> None:
        self._log.clear()
        self._ends.clear()
        super().clear_all()

    def replay(self, forwards: int) -> float:
        """Seconds that the last `forwards` forwards since the cache was emptied take alone."""
        super().clear_all()
        prefill = self._ends[-forwards - 1]
        for do in self._log[:prefill]:
            do()
        begin = time.perf_counter()
        for do in self._log[prefill:]:
            do()
        return time.perf_counter() - begin


def _streams(options: argparse.Namespace) -> harness.Report:
    n: int = options.streams
    seconds, rows = {}, []
    with harness.opened(options.model) as host:
        jobs = {name: [_job(i, *case) for i in range(n)] for name, case in CASES.items()}
        alone = harness.context_for(host, (job for each in jobs.values() for job in each))
        many = _Recorder(host.model, n_ctx=alone.n_ctx, n_slots=n)
        for name, each in jobs.items():
            passes = _passes(host, many, alone, each, options.rounds)
            for pair in zip(passes["lockstep"], passes["sequential"], strict=True):
                if first_difference(*pair) is not None:
                    raise harness.Mismatch(f"{name}: lockstep changed the answers")
            seconds[name] = harness.medians(passes, lambda one: one.decode_s)
            sequential, lockstep, bare = seconds[name].values()
            last = passes["lockstep"][-1]
            tokens = sum(answer.counts.committed for answer in last.answers)
            speed_up, cost = sequential / lockstep, lockstep / bare
            rows.append((name, sequential, lockstep, speed_up, bare, cost, tokens, last.forwards))
    return harness.Report(
        seconds,
        f"{n} streams, medians of {options.rounds} rounds",
        "case|sequential s:.3f|lockstep s:.3f|speed-up:.2f"
        "|bare loop s:.3f|lockstep / bare:.3f|tokens|forwards",
        rows,
    )


def _job(number: int, schema: dict[str, Any], same: bool, temperature: float) -> Job:
    text = f"Ticket: {TICKETS[0 if same else number % len(TICKETS)]}\nJSON: "
    return Job.prompt(text, JsonSchema(schema), gen=120, temperature=temperature, seed=number)


def _passes(
    host: Host, many: _Recorder, alone: Context, jobs: list[Job], rounds: int
) -> dict[str, list[Pass]]:
    forwards = 0

    def request(number: int) -> Request:
        return harness.plan(host, jobs[number])

    def lockstep() -> Pass:
        nonlocal forwards
        made = side_by_side(many, request, len(jobs))
        forwards = made.forwards
        return made

    def bare() -> Pass:
        return Pass([], prefill_s=0.0, decode_s=many.replay(forwards), forwards=forwards, rows=0)

    arms = {
        "sequential": lambda: one_by_one(alone, request, len(jobs)),
        "lockstep": lockstep,
        "bare loop": bare,
    }
    return harness.in_turn(arms, rounds)


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


def _requests(options: argparse.Namespace) -> harness.Report:
    path: Path = options.model
    count: int = options.requests
    _, command = harness.command(path)
    command += ["--greedy", "--quiet", "--json-schema", json.dumps(TRIAGE)]
    texts = [_ticket(number) for number in range(count)]
    outputs: list[list[int]] = []
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "requests.jsonl"
        lines = (json.dumps({"chat": text, "system": SYSTEM}) + "\n" for text in texts)
        file.write_text("".join(lines), encoding="utf-8")

        def batch(streams: int) -> Callable[[], float]:
            def rate() -> float:
                how = ("--batch", str(file), "--streams", str(streams))
                seconds, printed = harness.process(path, [*command, *how])
                records = sorted(map(json.loads, printed.splitlines()), key=lambda r: r["id"])
                outputs.append([token for record in records for token in record["tokens"]])
                return count / seconds

            return rate

        def alone() -> float:
            some = texts[: options.processes]
            runs = ([*command, "--chat", text, "--system", SYSTEM] for text in some)
            return len(some) / sum(harness.process(path, run)[0] for run in runs)

        arms = {"a process each": alone, "1 stream": batch(1), "8 streams": batch(8)}
        rates = harness.medians(harness.in_turn(arms, _REQUEST_ROUNDS, warm_up=0), float)
    harness.check_same(outputs, "the number of streams changed the answers")
    return harness.Report(
        rates,
        f"{count} triage requests with a common system text, whole runs",
        "|requests/s:.2f|8 streams faster, times:.2f",
        [(name, rate, rates["8 streams"] / rate) for name, rate in rates.items()],
    )


if __name__ == "__main__":
    program.end(main)
