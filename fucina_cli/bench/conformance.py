"""How many schemas compile, how fast, and whether grammar and judge do what the standard says.

    python -m fucina_cli.bench.conformance PATH… [--walks N] [--failures FILE] [--json]

A PATH is a JSONL file with a schema, or {"schema": …}, in each line; a folder of .json files; or a
checkout of the JSON Schema Test Suite, whole or in part. For each schema:

* whether it compiles as given, relaxed (the rest is left to the judge), or is refused, and how long
  that takes;
* random walks through its grammar, with the vocabulary of the built-in model, that prefer closing
  tokens more and more: how many end, and how many of those the judge calls invalid;
* of the Test Suite's documents, as compact text with the properties in the schema's order: how many
  valid ones the grammar refuses, how many invalid ones it lets through, and where the judge
  disagrees with the suite.

Each schema is tried in a process of its own under limits of time and memory: one that hangs or
crashes counts as refused. --failures writes each finding as a line of JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fucina_cli.bench import cases, harness, workers
from fucina_cli.bench.cases import Case
from fucina_cli.bench.trials import Trial, Trying
from fucina_cli.builtin import builtin_path
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import Parser, whole
from fucina_cli.text import one_line

_SHOWN_REASONS = 12
_KEYWORD = re.compile(r"[`\"'](\$?[a-zA-Z]+)[`\"']")
#: What differs between messages of one kind: names, places, numbers.
_PARTICULARS = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\(at [^)]*\)|\d+")


@dataclass
class Tally:
    """Counts of one group of schemas; pairs are of those as given and of relaxed ones."""

    seconds: list[float] = field(default_factory=list)
    schemas: Counter[str] = field(default_factory=Counter)
    ended: Counter[str] = field(default_factory=Counter)
    invalid: Counter[str] = field(default_factory=Counter)
    walks: int = 0
    failed: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    passed: Counter[str] = field(default_factory=Counter)
    valid: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    documents: int = 0

    def add(self, trial: Trial) -> None:
        """Count a trial."""
        status = trial.status
        self.schemas[status] += 1
        if status != "refused":
            self.seconds.append(trial.seconds)
        self.walks += trial.walks
        self.failed += len(trial.failures)
        self.ended[status] += len(trial.ended)
        self.invalid[status] += sum(walk.valid is not True for walk in trial.ended)
        for fed in trial.fed:
            self.documents += 1
            self.valid[f"{status} {fed.valid}"] += 1
            if fed.accepted is not None and fed.accepted != fed.valid:
                (self.refused if fed.valid else self.passed)[status] += 1
            if fed.judged is not fed.valid:
                self.wrong["unjudged" if fed.judged is None else "wrong"] += 1

    def record(self) -> dict[str, Any]:
        """All counts, as `--json` prints them."""
        made: dict[str, Any] = {
            "schemas": self.schemas.total(),
            **{status: self.schemas[status] for status in ("given", "relaxed", "refused")},
            "compile_s": {
                "p50": _percentile(self.seconds, 50),
                "p99": _percentile(self.seconds, 99),
                "max": max(self.seconds, default=0.0),
            },
            "walks": {"all": self.walks, "failed": self.failed},
        }
        for status in ("given", "relaxed"):
            made["walks"][status] = {"ended": self.ended[status], "invalid": self.invalid[status]}
        if self.documents:
            made["documents"] = {
                status: {
                    "valid": self.valid[f"{status} True"],
                    "valid_refused": self.refused[status],
                    "invalid": self.valid[f"{status} False"],
                    "invalid_let_through": self.passed[status],
                }
                for status in ("given", "relaxed")
            }
            made["judge"] = {
                "documents": self.documents,
                "wrong": self.wrong["wrong"],
                "unjudged": self.wrong["unjudged"],
            }
        return made

    def row(self) -> list[object]:
        """The cells of the table."""
        times = (
            *(_percentile(self.seconds, percent) for percent in (50, 99)),
            max(self.seconds, default=0.0),
        )
        return [
            *(self.schemas[status] for status in ("given", "relaxed", "refused")),
            *(1000 * each for each in times),
            *(f"{self.invalid[s]} of {self.ended[s]}" for s in ("given", "relaxed")),
        ]

    def about_documents(self) -> Iterator[str]:
        """Sentences about the documents, if there are any."""
        for status, name in (("given", "as given"), ("relaxed", "relaxed")):
            valid, invalid = (self.valid[f"{status} {kind}"] for kind in (True, False))
            if valid or invalid:
                yield (
                    f"{name}: {self.refused[status]} of {valid} valid documents refused, "
                    f"{self.passed[status]} of {invalid} invalid ones let through"
                )
        if self.documents:
            wrong, unjudged = self.wrong["wrong"], self.wrong["unjudged"]
            yield f"judge: {wrong} of {self.documents} documents wrong, {unjudged} not judged"


_COLUMNS = (
    "schemas|as given|relaxed|refused|p50 ms:.1f|p99 ms:.0f|max ms:.0f"
    "|invalid walks, as given|relaxed"
)


def main() -> None:
    """Measure and print."""
    harness.run(_parser(), _measure)


def _parser() -> Parser:
    parser = Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("paths", type=Path, nargs="+", metavar="PATH")
    parser.add_argument("--walks", type=whole(0), default=4, metavar="N", help="per schema (4)")
    parser.add_argument(
        "--length", type=whole(1), default=400, metavar="N", help="tokens of a walk (400)"
    )
    parser.add_argument("--seed", type=whole(0), default=0, metavar="N", help="of the walks (0)")
    parser.add_argument(
        "--seconds", type=whole(1), default=10, metavar="S", help="for compiling, or judging (10)"
    )
    parser.add_argument(
        "--processes", type=whole(1), default=os.cpu_count() or 1, metavar="N", help="(all cores)"
    )
    parser.add_argument("--model", type=harness.model_file, help="another GGUF, for its vocabulary")
    parser.add_argument("--failures", type=Path, metavar="FILE", help="write findings as JSONL")
    parser.add_argument("--json", action="store_true", help="a JSON object in place of the table")
    parser.set_defaults(refuse=parser.error)
    return parser


def _measure(options: argparse.Namespace) -> harness.Report:
    try:
        found = [case for path in options.paths for case in cases.read(path)]
    except cases.Unreadable as error:
        options.refuse(f"argument PATH: {error}")
    model = options.model or builtin_path("qwen3")
    assert model is not None
    trying = Trying(model, options.walks, options.length, options.seed)
    tallies: dict[str, Tally] = {case.group: Tally() for case in found}
    reasons: Counter[str] = Counter()
    keywords: Counter[str] = Counter()
    findings: list[dict[str, Any]] = []
    limits = {"count": min(options.processes, len(found) or 1), "seconds": options.seconds}
    for case, result in workers.each(found, trying, **limits):
        trial = _salvaged(result)
        tallies[case.group].add(trial)
        if trial.status == "refused":
            reasons[_PARTICULARS.sub("…", one_line(trial.reason))[:100]] += 1
        elif trial.status == "relaxed":
            keywords.update(_keywords(trial.warnings))
        findings += _findings(case, trial)
    if options.failures is not None:
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in findings]
        options.failures.write_text("".join(lines), encoding="utf-8", errors="backslashreplace")
    return _report(tallies, reasons, keywords, findings)


def _salvaged(result: Trial | workers.Lost) -> Trial:
    """The trial, where its process was lost too."""
    if isinstance(result, Trial):
        return result
    trial = result.said
    if trial is None:
        return Trial("refused", reason=result.reason)
    assert isinstance(trial, Trial)
    trial.failures.append(result.reason)
    return trial


def _keywords(warnings: Sequence[str]) -> set[str]:
    """The keywords that warnings name."""
    return {name for text in warnings for name in _KEYWORD.findall(text)} or {"?"}


def _findings(case: Case, trial: Trial) -> Iterator[dict[str, Any]]:
    """What is not as it should be, each with what it takes to see it again."""

    def finding(what: str, **more: object) -> dict[str, Any]:
        about = {"what": what, "id": case.name, "group": case.group, "status": trial.status}
        return {**about, **more, "warnings": trial.warnings, "schema": case.schema}

    if trial.status == "refused":
        yield finding("refused", reason=trial.reason)
    for reason in trial.failures:
        yield finding("walk failed", reason=reason)
    for walk in trial.ended:
        if walk.valid is not True:
            what = "invalid walk" if walk.valid is False else "unjudged walk"
            yield finding(what, answer=walk.text, errors=walk.errors)
    for fed in trial.fed:
        about = {"about": fed.description, "answer": fed.text}
        if fed.accepted is not None and fed.accepted != fed.valid:
            yield finding("valid refused" if fed.valid else "invalid let through", **about)
        if fed.judged is not fed.valid:
            what = "unjudged" if fed.judged is None else "judged wrongly"
            yield finding(what, **about, valid=fed.valid, errors=fed.errors)


def _report(
    tallies: dict[str, Tally],
    reasons: Counter[str],
    keywords: Counter[str],
    findings: list[dict[str, Any]],
) -> harness.Report:
    record = {
        "groups": {group: tally.record() for group, tally in tallies.items()},
        "refused": dict(reasons.most_common()),
        "relaxed": dict(keywords.most_common()),
        "findings": findings,
    }
    notes = [
        f"{group}, {sentence}"
        for group, tally in tallies.items()
        for sentence in tally.about_documents()
    ]
    notes += [f"refused {n} times: {reason}" for reason, n in reasons.most_common(_SHOWN_REASONS)]
    if keywords:
        named = ", ".join(f"{name} {count}" for name, count in keywords.most_common())
        notes.append(f"keywords named where relaxed: {named}")
    failed = sum(tally.failed for tally in tallies.values())
    unended = sum(t.walks - t.failed - t.ended.total() for t in tallies.values())
    notes.append(f"walks that failed: {failed}; that did not end: {unended}")
    rows = [(group, *tally.row()) for group, tally in tallies.items()]
    return harness.Report(record, "schemas and the standard", _COLUMNS, rows, notes)


def _percentile(values: Sequence[float], percent: int) -> float:
    if len(values) < 2:
        return next(iter(values), 0.0)
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


if __name__ == "__main__":
    program.end(main)
