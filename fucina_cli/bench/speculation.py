"""What `--spec` gains: copying from a document into JSON, and free text, with and without drafts.

    python -m fucina_cli.bench.speculation MODEL [--rounds R] [--json]

One process, greedy, decode only (prefill excluded), interleaved A B A B; medians of decode time.
Both arms decode the same tokens (checked), so the ratio of times is the speed-up.
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
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.prompts import stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

_EXAMPLE = """Extract what the text says, word for word, as JSON.

Text: The ferry leaves at seven. The captain is called Sofia Lund. Dogs stay on the lower deck.
JSON: {"departure":"The ferry leaves at seven.","captain":"The captain is called Sofia Lund."}

Text: """

_TEXT = {"type": "string", "maxLength": 240}


def _texts(*names: str) -> dict[str, object]:
    return {
        "type": "object",
        "properties": dict.fromkeys(names, _TEXT),
        "required": list(names),
        "additionalProperties": False,
    }


def _extraction(document: str) -> str:
    return f"{_EXAMPLE}{document}\nJSON: "


#: Name to (prompt, schema or None for free text, most tokens).
CASES: dict[str, tuple[str, object, int]] = {
    "copy: minutes": (
        _extraction(MINUTES),
        _texts("crane", "cables", "budget", "visitors"),
        240,
    ),
    "copy: lease": (_extraction(LEASE), _texts("rent", "deposit", "keys", "chimney"), 240),
    "copy: notes": (_extraction(NOTES), _texts("import", "passwords", "search", "default"), 240),
    "copy: sentences": (
        MINUTES + "\n\nThe first sentence and the last sentence, as JSON:\n",
        _texts("first_sentence", "last_sentence"),
        200,
    ),
    "free: story": ("Once upon a time in a small town by the sea, a clockmaker", None, 160),
    "free: advice": ("Ten short tips for someone who moves to a new city:\n1.", None, 160),
    "free: letter": ("Dear Ms. Brambilla,\n\nThank you for your letter of", None, 160),
}


@dataclass
class _Arm:
    seconds: list[float] = field(default_factory=list)
    answer: Answer | None = None

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--case", action="append", choices=CASES)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model = arguments.load(parser, options.model)
    context = Context(model, n_ctx=1024)
    stop = stop_token(model, family_of(model.architecture), chat=False)
    tokens = grammar.build_tokens(model.vocabulary, stop)
    names = options.case or list(CASES)
    results = {name: _measure(context, tokens, name, options.rounds) for name in names}
    if options.json:
        print(json.dumps({n: {a: arm.seconds for a, arm in r.items()} for n, r in results.items()}))
        return
    ratios = {name: arms["plain"].median / arms["spec"].median for name, arms in results.items()}
    table = Table(title=f"greedy decode, medians of {options.rounds} rounds")
    for heading in ("case", "plain s", "--spec s", "speed-up", "tokens", "forwards", "accepted"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for name, arms in results.items():
        answer = arms["spec"].answer
        assert answer is not None
        table.add_row(
            name,
            f"{arms['plain'].median:.3f}",
            f"{arms['spec'].median:.3f}",
            f"{ratios[name]:.2f}",
            str(answer.counts.committed),
            str(answer.counts.forwards),
            f"{answer.counts.accepted}/{answer.counts.drafted}",
        )
    Console().print(table)
    for group in ("copy", "free"):
        of_group = [ratio for name, ratio in ratios.items() if name.startswith(group)]
        if of_group:
            print(f"{group}: {statistics.geometric_mean(of_group):.2f} on average (geometric mean)")


def _measure(context: Context, tokens: grammar.Tokens, name: str, rounds: int) -> dict[str, _Arm]:
    text, schema, limit = CASES[name]
    prompt = text_prompt(context.model, text)
    compiled = None
    if schema is not None:
        prepared = grammar.prepare(source.json_schema(json.dumps(schema)))
        compiled = grammar.compile_grammar(prepared, tokens)
    arms = {"plain": _Arm(), "spec": _Arm()}
    for number in range(rounds + 1):
        for kind, arm in arms.items():
            answer = generate(
                context,
                prompt,
                Request(
                    SamplingConfig(),
                    limit,
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
