"""Whole answers against llama-cpp-python's own grammar, on the same file, prompt and schema.

    python -m fucina_cli.bench.against MODEL [--rounds R] [--json]

One process, greedy, prefill included, interleaved A B B A; medians. Both sides hold their model
loaded and their grammar compiled before the clock starts. `Llama` samples first and checks the
grammar afterwards; here the mask comes first and forced tokens need no logits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fucina_cli.bench import harness
from fucina_cli.bench.constrained import CASES
from fucina_cli.cli.process import program
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.job import Job
from fucina_cli.llama import native
from fucina_cli.text import one_line

_TOKENS = 160
#: Llama's own grammar dies of a segmentation fault on a pattern with \\d, so not all cases.
_NAMES = ("triage", "tool call", "city", "order", "review")


def main() -> None:
    """Measure and print."""
    harness.run(harness.parser(__doc__), _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    with harness.opened(options.model) as host:
        jobs = {
            name: Job.prompt(CASES[name][0], JsonSchema(CASES[name][1]), gen=_TOKENS)
            for name in _NAMES
        }
        context = harness.context_for(host, jobs.values())
        theirs = _llama(options.model, context.n_ctx)
        results = {}
        for name, job in jobs.items():
            arms = {"Llama": theirs(*CASES[name]), "fucina": harness.arm(host, context, job)}
            seconds = {side: _timed(work) for side, work in arms.items()}
            results[name] = harness.medians(harness.in_turn(seconds, options.rounds), float)
    return harness.Report(
        results,
        f"seconds for a whole answer, medians of {options.rounds} rounds",
        "schema|Llama and its grammar:.3f|fucina:.3f|times faster:.1f",
        [(name, *row.values(), row["Llama"] / row["fucina"]) for name, row in results.items()],
    )


def _timed(work: Callable[[], object]) -> Callable[[], float]:
    def seconds() -> float:
        begin = time.perf_counter()
        work()
        return time.perf_counter() - begin

    return seconds


def _llama(path: Path, n_ctx: int) -> Callable[[str, object], Callable[[], object]]:
    """Makes, of a prompt and a schema, what lets `Llama` answer. Raises Unfit, also when called."""
    from llama_cpp import Llama, llama_cpp
    from llama_cpp.llama_grammar import LlamaGrammar

    defaults = llama_cpp.llama_model_default_params

    def without_amx() -> Any:
        params = defaults()
        params.use_extra_bufts = False
        return params

    if native.amx_kernels():  # they crash where GCC built them
        llama_cpp.llama_model_default_params = without_amx

    def tried(work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (ValueError, RuntimeError) as error:
            reason = f"llama-cpp-python can't answer with it: {one_line(str(error))}"
            raise harness.Unfit(path, reason) from None

    llama = tried(lambda: Llama(str(path), n_ctx=n_ctx, verbose=False))

    def answering(prompt: str, schema: object) -> Callable[[], object]:
        grammar = LlamaGrammar.from_json_schema(json.dumps(schema), verbose=False)

        def answer() -> object:
            llama.reset()
            return llama.create_completion(
                prompt, grammar=grammar, max_tokens=_TOKENS, temperature=0.0
            )

        return lambda: tried(answer)

    return answering


if __name__ == "__main__":
    program.end(main)
