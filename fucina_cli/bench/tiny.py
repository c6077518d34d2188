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
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from fucina_cli.bench.arguments import model_file, whole
from fucina_cli.builtin import builtin_path
from fucina_cli.cli import program
from fucina_cli.cli.parser import Parser
from fucina_cli.constraint import grammar, source, validation
from fucina_cli.constraint.grammar import Grammar
from fucina_cli.conversation import Answer, Request, generate
from fucina_cli.families.registry import family_of
from fucina_cli.llama.context import Context
from fucina_cli.llama.model import Model
from fucina_cli.prompts import chat_prompt, stop_token
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.tiny.corpus.cities import CITIES
from fucina_cli.tiny.corpus.city_documents import held_out_json_prompts, held_out_prompts

FAMILIES = ("qwen3", "gemma4")
_TOKENS = 200
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "country": {"type": "string"},
        "population": {"type": "integer"},
        "capital": {"type": "boolean"},
    },
    "required": ["name", "country", "population", "capital"],
    "additionalProperties": False,
}
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
    """Ask the model at `path` everything."""
    model = Model(path)
    context = Context(model, n_ctx=512)
    family = family_of(model.architecture)
    tokens = grammar.build_tokens(model.vocabulary, stop_token(model, family, chat=True))
    text = json.dumps(SCHEMA)
    compiled = grammar.compile_grammar(grammar.prepare(source.json_schema(text)), tokens)

    def ask(user: str, under: Grammar | None = None) -> Answer:
        prompt = chat_prompt(model, family, user, system=None, thinking=False)
        constraint = None if under is None else under.constraint()
        request = Request(SamplingConfig(), _TOKENS, constraint=constraint)
        return whole(generate(context, prompt, request))

    bad: list[tuple[str, str]] = []

    def count(prompts: tuple[str, ...], answers: list[Answer], good: list[bool]) -> int:
        bad.extend((p, a.text) for p, a, g in zip(prompts, answers, good, strict=True) if not g)
        return sum(good)

    sentences, objects = held_out_prompts(), held_out_json_prompts()
    free = [ask(prompt) for prompt in sentences]
    fluent = [is_fluent(answer) for answer in free]
    named = [f and names_its_city(p, a) for f, p, a in zip(fluent, sentences, free, strict=True)]
    free_json = [ask(prompt) for prompt in objects]
    under = [ask(prompt, compiled) for prompt in objects]
    schema = source.json_schema(text)
    return Quality(
        prompts=len(sentences),
        fluent=sum(fluent),
        named=count(sentences, free, named),
        parsed=count(objects, free_json, [_is_object(a) for a in free_json]),
        satisfied=count(
            objects, under, [validation.validate(schema, a.text).valid is True for a in under]
        ),
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
        "--model", type=model_file, help="another GGUF, in place of the built-in one"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    families = [options.family] if options.family else FAMILIES
    paths = {family: options.model or builtin_path(family) for family in families}
    results = {family: quality(path) for family, path in paths.items() if path is not None}
    if options.json:
        print(json.dumps({family: asdict(result) for family, result in results.items()}))
        return
    table = Table("model", "fluent", "name the city", "JSON, free", "JSON under the schema")
    for family, made in results.items():
        counts = (made.fluent, made.named, made.parsed, made.satisfied)
        table.add_row(family, *(f"{count}/{made.prompts}" for count in counts))
    console = Console()
    console.print(table)
    for made in results.values():
        for prompt, answer in made.bad:
            console.print(f"{prompt!r}: {answer!r}", markup=False, highlight=False)


if __name__ == "__main__":
    program.end(main)
