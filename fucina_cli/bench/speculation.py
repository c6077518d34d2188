"""What `--spec` gains: copying from a document into JSON, and free text, with and without drafts.

    python -m fucina_cli.bench.speculation MODEL [--rounds R] [--case NAME] [--json]

One process, greedy, decode only (prefill excluded), interleaved A B B A; medians. Both arms decode
the same tokens (checked), so the ratio of times is the speed-up. It is the median of the rounds'
ratios: a shared machine may change its pace from one round to the next.

A model may be asked to copy and do something else. So the table says how much of an answer is
quoted: the share of its tokens that lie in a run of at least five that the prompt holds too. With
SmolLM2 135M two thirds to nine tenths of the answers of the group "copy" are quoted; those of the
group "drift" begin as quotes and then go round in circles.
"""

from __future__ import annotations

import json
import statistics
from dataclasses import dataclass, field

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.bench.documents import LEASE, MINUTES, NOTES
from fucina_cli.cli import program
from fucina_cli.constraint import grammar, source
from fucina_cli.conversation import Answer, Request, generate
from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.prompts import chat_prompt, stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

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


def _fields(*names: str, most: int = 240) -> dict[str, object]:
    return {
        "type": "object",
        "properties": {name: {"type": "string", "maxLength": most} for name in names},
        "required": list(names),
        "additionalProperties": False,
    }


def _sentences(count: int) -> dict[str, object]:
    sentence = {"type": "string", "minLength": 8, "maxLength": 240}
    sentences = {"type": "array", "items": sentence, "minItems": count, "maxItems": count}
    return {
        "type": "object",
        "properties": {"sentences": sentences},
        "required": ["sentences"],
        "additionalProperties": False,
    }


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


@dataclass
class _Arm:
    prompt: list[int]
    seconds: list[float] = field(default_factory=list)
    answer: Answer | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__)
    known = ", ".join(f"'{name}'" for name in CASES)
    parser.add_argument(
        "--case", action="append", choices=CASES, metavar="NAME", help=f"repeatable: {known}"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model = arguments.load(parser, options.model)
    context = Context(model, n_ctx=1024)
    names = options.case or list(CASES)
    results = {name: _measure(context, name, options.rounds) for name in names}
    if options.json:
        print(json.dumps({n: {a: arm.seconds for a, arm in r.items()} for n, r in results.items()}))
        return
    ratios = {name: _ratio(**arms) for name, arms in results.items()}
    table = Table(title=f"greedy decode, medians of {options.rounds}", padding=(0, 0))
    table.add_column("case", no_wrap=True)
    for heading in ("plain s", "--spec s", "ratio", "tokens", "quoted", "forwards", "held"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, arms in results.items():
        answer = arms["spec"].answer
        assert answer is not None
        table.add_row(
            name,
            f"{arms['plain'].median:.3f}",
            f"{arms['spec'].median:.3f}",
            f"{ratios[name]:.2f}",
            str(answer.counts.committed),
            f"{_quoted(arms['spec'].prompt, answer.tokens):.0%}",
            str(answer.counts.forwards),
            f"{answer.counts.accepted}/{answer.counts.drafted}",
        )
    Console().print(table)
    for group in ("copy", "drift", "free"):
        of_group = [ratio for name, ratio in ratios.items() if name.startswith(group)]
        if of_group:
            print(f"{group}: {statistics.geometric_mean(of_group):.2f} on average (geometric mean)")


def _ratio(plain: _Arm, spec: _Arm) -> float:
    return statistics.median(a / b for a, b in zip(plain.seconds, spec.seconds, strict=True))


def _quoted(prompt: list[int], answer: list[int]) -> float:
    """Share of the answer's tokens in runs of at least `_QUOTED_RUN` that the prompt holds."""
    cursor = Reference([*prompt, prompt[-1]]).cursor()
    quoted: set[int] = set()
    for end, token in enumerate(answer, 1):
        cursor.extend([token])
        if cursor.match_length >= _QUOTED_RUN:
            quoted.update(range(end - cursor.match_length, end))
    return len(quoted) / len(answer)


def _measure(context: Context, name: str, rounds: int) -> dict[str, _Arm]:
    case, model = CASES[name], context.model
    family = family_of(model.architecture)
    if case.chat:
        prompt = chat_prompt(model, family, case.text, system=None, thinking=False)
    else:
        prompt = text_prompt(model, case.text)
    compiled = None
    if case.schema is not None:
        prepared = grammar.prepare(source.json_schema(json.dumps(case.schema)))
        stop = stop_token(model, family, chat=case.chat)
        compiled = grammar.compile_grammar(prepared, grammar.build_tokens(model.vocabulary, stop))
    arms = {"plain": _Arm(prompt.tokens), "spec": _Arm(prompt.tokens)}
    for number in range(rounds + 1):
        for kind, arm in list(arms.items())[:: -1 if number % 2 else 1]:
            answer = generate(
                context,
                prompt,
                Request(
                    SamplingConfig(),
                    case.limit,
                    constraint=compiled.constraint() if compiled else None,
                ),
                speculation=Speculation() if kind == "spec" else None,
            )
            arm.answer = arguments.whole(answer)
            if number:  # the first round warms up
                arm.seconds.append(answer.decode_s)
        produced = {tuple(arm.answer.tokens) for arm in arms.values() if arm.answer}
        if len(produced) != 1:
            raise SystemExit(f"{name}: drafts changed the answer")
    return arms


if __name__ == "__main__":
    program.end(main)
