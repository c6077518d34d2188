"""Wall time of a one-token completion against a minimal script on llama-cpp-python's `Llama`.

    python -m fucina_cli.bench.startup MODEL [--command fucina-run] [--rounds R] [--json]

Whole processes, unconstrained, interleaved A B A B; medians. On a CPU with AMX the minimal script
leaves out llama.cpp's extra kernels, since their AMX part crashes when GCC built it.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

from fucina_cli.bench import arguments
from fucina_cli.cli import program

_PROMPT = "The capital of France is"
_MINIMAL = """
import sys
from llama_cpp import Llama, llama_cpp
if b"AMX_INT8 = 1" in llama_cpp.llama_print_system_info():
    defaults = llama_cpp.llama_model_default_params
    def without_amx():
        params = defaults()
        params.use_extra_bufts = False
        return params
    llama_cpp.llama_model_default_params = without_amx
model = Llama(sys.argv[1], verbose=False)
out = model.create_completion(sys.argv[2], max_tokens=1, temperature=0)
print(out["choices"][0]["text"])
"""
_MODULES = {
    "fucina-run": "fucina_cli.generic",
    "fucina-qwen3": "fucina_cli.qwen3",
    "fucina-gemma4": "fucina_cli.gemma4",
}


def main() -> None:
    """Measure and print."""
    parser = arguments.parser(__doc__, rounds=9)
    parser.add_argument("--command", choices=sorted(_MODULES), default="fucina-run")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    arguments.load(parser, options.model)  # does it load at all?
    python, model = sys.executable, str(options.model)
    module = _MODULES[options.command]
    commands = {
        "Llama": [python, "-c", _MINIMAL, model, _PROMPT],
        options.command: [python, "-m", module, model, "--prompt", _PROMPT, "-n", "1"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(options.rounds + 1):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if round_number:  # the first round warms the page cache and compiles bytecode
                seconds[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratio = medians[options.command] / medians["Llama"]
    if options.json:
        print(json.dumps({"seconds": medians, "ratio": ratio}))
        return
    table = Table(title=f"one-token completion, {options.rounds} rounds")
    for heading in ("command", "median s", "min", "max", "ratio"):
        table.add_column(heading, justify="right")
    for name, values in seconds.items():
        table.add_row(
            name,
            f"{medians[name]:.3f}",
            f"{min(values):.3f}",
            f"{max(values):.3f}",
            f"{medians[name] / medians['Llama']:.2f}",
        )
    Console().print(table)


if __name__ == "__main__":
    program.end(main)
