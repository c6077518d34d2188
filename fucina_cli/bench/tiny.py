"""How well the built-in models answer what their training never showed them.

    python -m fucina_cli.bench.tiny [qwen3|gemma4] [--json]

Prompts with wordings of their own that the corpus does not have, thinking off, greedy:

* a sentence about a city, free: one to three whole sentences, ended by the stop token; and of those
  the ones that name the city, which is to say that it understood the question;
* a city as JSON, free: the whole answer parses to an object;
* the same under a schema: the answer satisfies it, by the word of an independent validator.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from fucina_cli.answer import Answer
from fucina_cli.bench import harness
from fucina_cli.bench.schemas import YES_NO, fields
from fucina_cli.builtin import builtin_path
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import Parser
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.job import Job
from fucina_cli.runner import Runner
from fucina_cli.tiny.corpus.cities import CITIES
from fucina_cli.tiny.corpus.city_documents import held_out_json_prompts, held_out_prompts

FAMILIES = ("qwen3", "gemma4")
_TOKENS = 200
_GOOD = ("fluent", "named", "parsed", "satisfied")
SCHEMA = fields(
    name={"type": "string"},
    country={"type": "string"},
    population={"type": "integer"},
    capital=YES_NO,
)
_SENTENCES = re.compile(r"[A-Z][^.!?]+[.!?](?: [A-Z][^.!?]+[.!?]){0,2}")


@dataclass(frozen=True)
class Quality:
    """Counts of good answers of so many, and the others as (prompt, answer)."""

    prompts: int
    fluent: int
    named: int
    parsed: int
    satisfied: int
    bad: list[tuple[str, str]]


def quality(path: Path) -> Quality:
    """Ask the model at `path` everything. Raises harness.Unfit."""
    bad: list[tuple[str, str]] = []
    with harness.opened(path) as host:
        harness.check_chats(host)
        runner = Runner(host)

        def ask(prompts: Sequence[str], constraint: Any = None) -> list[tuple[str, Answer]]:
            jobs = [Job.chat(p, constraint, think=False, greedy=True, gen=_TOKENS) for p in prompts]
            for job in jobs:
                harness.plan(host, job)  # is there room for all?
            return [(p, runner.answer(job)) for p, job in zip(prompts, jobs, strict=True)]

        sentences, objects = ask(held_out_prompts()), ask(held_out_json_prompts())
        under = ask(held_out_json_prompts(), JsonSchema(SCHEMA))

    def count(answers: list[tuple[str, Answer]], good: Callable[[str, Answer], bool]) -> int:
        failed = [(prompt, answer.text) for prompt, answer in answers if not good(prompt, answer)]
        bad.extend(failed)
        return len(answers) - len(failed)

    return Quality(
        prompts=len(sentences),
        fluent=sum(is_fluent(answer) for _, answer in sentences),
        named=count(sentences, lambda p, a: is_fluent(a) and names_its_city(p, a)),
        parsed=count(objects, lambda _, a: _is_object(a)),
        satisfied=count(under, lambda _, a: a.valid is True),
        bad=bad,
    )


def is_fluent(answer: Answer) -> bool:
    """Whole sentences, at most three, ended by the stop token.

    Four words in a row never come twice: that is how a small model loses its thread.
    """
    words = answer.text.split()
    fours = [tuple(words[at : at + 4]) for at in range(len(words) - 3)]
    return (
        answer.stop_reason == "eos"
        and bool(_SENTENCES.fullmatch(answer.text))
        and len(fours) == len(set(fours))
    )


def names_its_city(prompt: str, answer: Answer) -> bool:
    """Is a city of the prompt in the answer?"""
    asked = [city.name for city in CITIES if city.name.lower() in prompt.lower()]
    return any(name in answer.text for name in asked)


def _is_object(answer: Answer) -> bool:
    try:
        return isinstance(json.loads(answer.text), dict)
    except ValueError:
        return False


def main() -> None:
    """Measure and print."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("family", nargs="?", choices=FAMILIES)
    parser.add_argument(
        "--model", type=harness.model_file, help="another GGUF, in place of the built-in one"
    )
    parser.add_argument("--json", action="store_true")
    harness.run(parser, _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    families = [options.family] if options.family else FAMILIES
    paths = {family: options.model or builtin_path(family) for family in families}
    results = {family: quality(path) for family, path in paths.items() if path is not None}
    return harness.Report(
        {family: asdict(made) for family, made in results.items()},
        "good answers",
        "model|fluent|name the city|JSON, free|JSON under the schema",
        [
            (family, *(f"{getattr(made, name)}/{made.prompts}" for name in _GOOD))
            for family, made in results.items()
        ],
        [f"{prompt!r}: {answer!r}" for made in results.values() for prompt, answer in made.bad],
    )


if __name__ == "__main__":
    program.end(main)
