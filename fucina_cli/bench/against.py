"""Whole answers against llama-cpp-python's own grammar, on the same file, prompt and schema.

    python -m fucina_cli.bench.against MODEL [--rounds R] [--json]

One process, greedy, prefill included, interleaved A B A B; medians. Both sides hold their model
loaded and their grammar compiled before the clock starts. `Llama` samples first and checks the
grammar afterwards; here the mask comes first and forced tokens need no logits.
"""

from __future__ import annotations

import json
import statistics
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.bench.constrained import CASES
from fucina_cli.cli import program
from fucina_cli.constraint import grammar, source
from fucina_cli.conversation import Request, generate
from fucina_cli.families.registry import family_of
from fucina_cli.llama import native
from fucina_cli.llama.context import Context
from fucina_cli.prompts import stop_token, text_prompt
from fucina_cli.sampling.config import SamplingConfig

_TOKENS = 160
#: Llama's own grammar dies of a segmentation fault on a pattern with \\d, so not all cases.
_NAMES = ("triage", "tool call", "city", "order", "review")


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
    other = _llama(options.model)
    results = {}
    for name in _NAMES:
        prompt, schema = CASES[name]
        text = json.dumps(schema)
        compiled = grammar.compile_grammar(grammar.prepare(source.json_schema(text)), tokens)
        theirs = _their_grammar(text)
        seconds: dict[str, list[float]] = {"Llama": [], "fucina": []}
        for _ in range(options.rounds):
            begin = time.perf_counter()
            other.reset()
            other.create_completion(prompt, grammar=theirs, max_tokens=_TOKENS, temperature=0.0)
            seconds["Llama"].append(time.perf_counter() - begin)
            request = Request(SamplingConfig(), _TOKENS, constraint=compiled.constraint())
            begin = time.perf_counter()
            arguments.whole(generate(context, text_prompt(model, prompt), request))
            seconds["fucina"].append(time.perf_counter() - begin)
        results[name] = {side: statistics.median(times) for side, times in seconds.items()}
    if options.json:
        print(json.dumps(results))
        return
    table = Table(title=f"seconds for a whole answer, medians of {options.rounds} rounds")
    for heading in ("schema", "Llama and its grammar", "fucina", "times faster"):
        table.add_column(heading, justify="left" if heading == "schema" else "right")
    for name, row in results.items():
        ratio = row["Llama"] / row["fucina"]
        table.add_row(name, f"{row['Llama']:.3f}", f"{row['fucina']:.3f}", f"{ratio:.1f}")
    Console().print(table)


def _llama(path: Path) -> Any:
    from llama_cpp import Llama, llama_cpp

    defaults = llama_cpp.llama_model_default_params

    def without_amx() -> Any:
        params = defaults()
        params.use_extra_bufts = False
        return params

    if native.amx_kernels():  # they crash where GCC built them
        llama_cpp.llama_model_default_params = without_amx
    return Llama(str(path), n_ctx=512, verbose=False)


def _their_grammar(schema: str) -> Any:
    from llama_cpp.llama_grammar import LlamaGrammar

    return LlamaGrammar.from_json_schema(schema, verbose=False)


if __name__ == "__main__":
    program.end(main)
