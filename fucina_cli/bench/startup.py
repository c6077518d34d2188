"""Wall time of a one-token completion against a minimal script on llama-cpp-python's `Llama`.

    python -m fucina_cli.bench.startup MODEL [--command fucina-run] [--rounds R] [--json]

Whole processes, unconstrained, interleaved A B A B; medians. On a CPU with AMX the minimal script
leaves out llama.cpp's extra kernels, since their AMX part crashes when GCC built it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time

from rich.console import Console
from rich.table import Table

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
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("model")
    parser.add_argument("--command", choices=sorted(_MODULES), default="fucina-run")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    python = sys.executable
    module = _MODULES[arguments.command]
    commands = {
        "Llama": [python, "-c", _MINIMAL, arguments.model, _PROMPT],
        arguments.command: [python, "-m", module, arguments.model, "--prompt", _PROMPT, "-n", "1"],
    }
    seconds: dict[str, list[float]] = {name: [] for name in commands}
    for round_number in range(arguments.rounds + 1):
        for name, command in commands.items():
            begin = time.perf_counter()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
            if round_number:  # the first round warms the page cache and compiles bytecode
                seconds[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(values) for name, values in seconds.items()}
    ratio = medians[arguments.command] / medians["Llama"]
    if arguments.json:
        print(json.dumps({"seconds": medians, "ratio": ratio}))
        return
    table = Table(title=f"one-token completion, {arguments.rounds} rounds")
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
    main()
