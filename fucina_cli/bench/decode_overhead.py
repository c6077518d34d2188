"""Decode rate of the whole stack against a bare loop of llama_decode and argmax.

    python -m fucina_cli.bench.decode_overhead MODEL [--tokens N] [--rounds R] [--json]

One process, the same context, unconstrained greedy, interleaved A B B A; medians of the rates.
"""

from __future__ import annotations

import argparse
import time

from fucina_cli.bench import harness
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import whole
from fucina_cli.job import Job
from fucina_cli.llama.context import Context, Row

_PROMPT = "The history of the city begins"


def bare(context: Context, prompt: list[int], count: int) -> tuple[float, list[int]]:
    """Seconds for `count` steps of llama_decode and argmax after the prompt, and their tokens."""
    context.clear_all()
    token = int(context.logits(context.prefill(0, prompt, logits=True)).argmax())
    tokens = [token]
    begin = time.perf_counter()
    for position in range(len(prompt), len(prompt) + count):
        context.decode([Row(token, position, 0, True)])
        token = int(context.logits(0).argmax())
        tokens.append(token)
    return time.perf_counter() - begin, tokens


def main() -> None:
    """Measure and print."""
    parser = harness.parser(__doc__)
    parser.add_argument("--tokens", type=whole(1), default=96, metavar="N", help="(96)")
    harness.run(parser, _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    count: int = options.tokens
    job = Job.prompt(_PROMPT, gen=count + 1)  # the first token comes with the prefill
    with harness.opened(options.model) as host:
        context = harness.context_for(host, [job])
        prompt = host.planner.prompt(job).tokens

        def stack() -> tuple[float, list[int]]:
            answer = whole_stack()
            return answer.decode_s, answer.tokens

        whole_stack = harness.arm(host, context, job, endless=True)
        arms = {"bare": lambda: bare(context, prompt, count), "stack": stack}
        results = harness.in_turn(arms, options.rounds)
    harness.check_same(
        (tokens for each in results.values() for _, tokens in each),
        "the two loops chose different tokens",
    )
    rates = {name: [count / seconds for seconds, _ in each] for name, each in results.items()}
    medians = harness.medians(rates, float)
    ratios = {name: median / medians["bare"] for name, median in medians.items()}
    return harness.Report(
        {"tokens_per_s": medians, "ratio": ratios["stack"], "rates": rates},
        f"unconstrained greedy, {count} tokens, {options.rounds} rounds",
        "loop|median tokens/s:.1f|min:.1f|max:.1f|ratio:.3f",
        [(name, medians[name], min(each), max(each), ratios[name]) for name, each in rates.items()],
    )


if __name__ == "__main__":
    program.end(main)
