"""What `--spec` gains: copying from a document into JSON, and free text, with and without drafts.

    python -m fucina_cli.bench.speculation MODEL [--rounds R] [--case NAME] [--json]

One process, greedy, decode only (prefill excluded), interleaved A B B A; medians. Both arms decode
the same tokens (checked), so the ratio of times is the speed-up. It is the median of the rounds'
ratios: a shared machine may change its pace from one round to the next. Free text has a given
length.

A model may be asked to copy and do something else. So the table says how much of an answer is
quoted: the share of its tokens that lie in a run of at least five that the prompt holds too. The
cases of the group "copy" ask for quotes; those of the group "drift" begin as quotes and may go
round in circles.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass

from fucina_cli.bench import harness
from fucina_cli.bench.documents import LEASE, MINUTES, NOTES
from fucina_cli.bench.schemas import fields, items, string
from fucina_cli.cli.process import program
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.job import Job

_QUOTED_RUN = 5
_EXAMPLE = """Extract what the text says, word for word, as JSON.

Text: The ferry leaves at seven. The captain is called Sofia Lund. Dogs stay on the lower deck.
JSON: {"departure":"The ferry leaves at seven.","captain":"The captain is called Sofia Lund."}

Text: """
_THREE = "Quote the three most important sentences of the text, word for word, in JSON."
_SPLIT = "Split the text above into sentences. Do not change a word."
_HALVES = "Copy the text into JSON in two parts, the first half and the second half."
_TITLE = "Put this text into JSON, with a title and the text itself."


@dataclass(frozen=True)
class _Case:
    """A prompt, as a chat or as text to go on; the schema, None for free text; most tokens."""

    text: str
    schema: object = None
    limit: int = 240
    chat: bool = False

    @property
    def job(self) -> Job:
        """What to decode."""
        constraint = None if self.schema is None else JsonSchema(self.schema)
        make = Job.chat if self.chat else Job.prompt
        return make(self.text, constraint, gen=self.limit, greedy=True)


def _fields(*names: str, most: int = 240) -> dict[str, object]:
    return fields(**{name: string(most) for name in names})


def _sentences(count: int) -> dict[str, object]:
    return fields(sentences=items(count, count, string(240, 8)))


def _quoting(text: str, schema: object) -> _Case:
    return _Case(text, schema, chat=True)


def _drifting(document: str, *names: str) -> _Case:
    return _Case(f"{_EXAMPLE}{document}\nJSON: ", _fields(*names))


_MINUTES, _LEASE, _NOTES = (" ".join(text.split()) for text in (MINUTES, LEASE, NOTES))
CASES: dict[str, _Case] = {
    "copy: 3 of minutes": _quoting(f"Text: {_MINUTES}\n\n{_THREE}", _sentences(3)),
    "copy: 3 of lease": _quoting(f"Text: {_LEASE}\n\n{_THREE}", _sentences(3)),
    "copy: split lease": _quoting(f"{_LEASE}\n\n{_SPLIT}", _sentences(6)),
    "copy: title of lease": _quoting(f"{_TITLE}\n\n{_LEASE}", _fields("title", "text", most=1200)),
    "copy: halves of notes": _quoting(
        f"Text: {_NOTES}\n\n{_HALVES}", _fields("first_half", "second_half", most=700)
    ),
    "copy: title of notes": _quoting(f"{_TITLE}\n\n{_NOTES}", _fields("title", "text", most=1200)),
    "drift: minutes": _drifting(MINUTES, "crane", "cables", "budget", "visitors"),
    "drift: lease": _drifting(LEASE, "rent", "deposit", "keys", "chimney"),
    "drift: notes": _drifting(NOTES, "import", "passwords", "search", "default"),
    "free: story": _Case("Once upon a time in a small town by the sea, a clockmaker", limit=160),
    "free: advice": _Case("Ten short tips for someone who moves to a new city:\n1.", limit=160),
    "free: letter": _Case("Dear Ms. Brambilla,\n\nThank you for your letter of", limit=160),
}


def main() -> None:
    """Measure and print."""
    parser = harness.parser(__doc__)
    known = ", ".join(f"'{name}'" for name in CASES)
    parser.add_argument(
        "--case", action="append", choices=CASES, metavar="NAME", help=f"repeatable: {known}"
    )
    harness.run(parser, _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    cases = {name: CASES[name] for name in options.case or CASES}
    with harness.opened(options.model) as host:
        model = host.model
        if not model.can_rewind:
            reason = (
                f"a recurrent model ({model.architecture}) can't be rewound: nothing is drafted"
            )
            raise harness.Unfit(model.path, reason)
        if any(case.chat for case in cases.values()):
            harness.check_chats(host, "; give cases of another group than 'copy' by --case")
        context = harness.context_for(host, (case.job for case in cases.values()))
        record, rows = {}, []
        groups: dict[str, list[float]] = {}
        for name, case in cases.items():
            job, endless = case.job, case.schema is None
            arms = {
                "plain": harness.arm(host, context, job, endless=endless),
                "spec": harness.arm(host, context, job, Speculation, endless=endless),
            }
            answers = harness.in_turn(arms, options.rounds)
            tokens = (answer.tokens for each in answers.values() for answer in each)
            harness.check_same(tokens, f"{name}: drafts changed the answer")
            seconds = {arm: [one.decode_s for one in each] for arm, each in answers.items()}
            ratio = statistics.median(a / b for a, b in zip(*seconds.values(), strict=True))
            record[name] = seconds
            groups.setdefault(name.split(":")[0], []).append(ratio)
            medians = harness.medians(seconds, float).values()
            last = answers["spec"][-1]
            counts = last.counts
            quoted = _quoted(host.planner.prompt(job).tokens, last.tokens)
            held = f"{counts.accepted}/{counts.drafted}"
            rows.append((name, *medians, ratio, counts.committed, quoted, counts.forwards, held))
    return harness.Report(
        record,
        f"greedy decode, medians of {options.rounds}",
        "case|plain s:.3f|--spec s:.3f|ratio:.2f|tokens|quoted:.0%|forwards|held",
        rows,
        [
            f"{group}: {statistics.geometric_mean(ratios):.2f} on average (geometric mean)"
            for group, ratios in groups.items()
        ],
    )


def _quoted(prompt: list[int], answer: list[int]) -> float:
    """Share of the answer's tokens in runs of at least `_QUOTED_RUN` that the prompt holds."""
    cursor = Reference([*prompt, prompt[-1]]).cursor()
    quoted: set[int] = set()
    for end, token in enumerate(answer, 1):
        cursor.extend([token])
        if cursor.match_length >= _QUOTED_RUN:
            quoted.update(range(end - cursor.match_length, end))
    return len(quoted) / len(answer)


if __name__ == "__main__":
    program.end(main)
