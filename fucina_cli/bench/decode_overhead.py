"""Decode rate of the whole stack against a bare loop of llama_decode and argmax.

    python -m fucina_cli.bench.decode_overhead MODEL [--tokens N] [--rounds R] [--json]

One process, the same context, unconstrained greedy, interleaved A B A B; medians of the rates.
"""

from __future__ import annotations

import json
import statistics
import time

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.cli import program
from fucina_cli.conversation import Request, generate
from fucina_cli.llama.context import Context, Row
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig

_PROMPT = "The history of the city begins"


def bare(context: Context, prompt: list[int], count: int) -> tuple[float, list[int]]:
    """Seconds for `count` steps of llama_decode and argmax after the prompt, and their tokens."""
    context.clear_all()
    context.decode([Row(t, i, 0, i == len(prompt) - 1) for i, t in enumerate(prompt)])
    token = int(context.logits(len(prompt) - 1).argmax())
    tokens = [token]
    begin = time.perf_counter()
    for position in range(len(prompt), len(prompt) + count):
        context.decode([Row(token, position, 0, True)])
        token = int(context.logits(0).argmax())
        tokens.append(token)
    return time.perf_counter() - begin, tokens


def stack(context: Context, prompt: list[int], count: int) -> tuple[float, list[int]]:
    """Seconds for the same through sampler, stream, step and conversation."""
    context.clear_all()
    request = Request(sampling=SamplingConfig(), limit=count + 1)
    answer = arguments.whole(generate(context, Prompt(prompt), request))
    return answer.decode_s, answer.tokens


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__)
    parser.add_argument("--tokens", type=arguments.positive, default=96)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    model = arguments.load(parser, options.model)
    prompt = model.vocabulary.tokenize(_PROMPT)
    context = Context(model, n_ctx=len(prompt) + options.tokens + 8)
    rates: dict[str, list[float]] = {"bare": [], "stack": []}
    bare(context, prompt, 8)  # warm pages and kernels
    for _ in range(options.rounds):
        seconds, expected = bare(context, prompt, options.tokens)
        rates["bare"].append(options.tokens / seconds)
        seconds, tokens = stack(context, prompt, options.tokens)
        # An early stop token shortens the stack's run; its rate counts what it decoded.
        steps = len(tokens) - 1 if len(tokens) > options.tokens else len(tokens)
        rates["stack"].append(steps / seconds)
        if tokens != expected[: len(tokens)]:
            raise SystemExit("the two loops chose different tokens")
    medians = {name: statistics.median(values) for name, values in rates.items()}
    ratio = medians["stack"] / medians["bare"]
    if options.json:
        print(json.dumps({"tokens_per_s": medians, "ratio": ratio, "rates": rates}))
        return
    rounds = f"{options.tokens} tokens, {options.rounds} rounds"
    table = Table(title=f"unconstrained greedy, {rounds}")
    for heading in ("loop", "median tokens/s", "min", "max", "ratio"):
        table.add_column(heading, justify="right")
    for name, values in rates.items():
        table.add_row(
            name,
            f"{medians[name]:.1f}",
            f"{min(values):.1f}",
            f"{max(values):.1f}",
            f"{medians[name] / medians['bare']:.3f}",
        )
    Console().print(table)


if __name__ == "__main__":
    program.end(main)
