"""Wall time of a one-token completion against a minimal script on llama-cpp-python's `Llama`.

    python -m fucina_cli.bench.startup MODEL [--rounds R] [--json]

Whole processes, unconstrained, interleaved A B B A; medians. On a CPU with AMX the minimal script
leaves out llama.cpp's extra kernels, since their AMX part crashes when GCC built it.
"""

from __future__ import annotations

import argparse
import sys

from fucina_cli.bench import harness
from fucina_cli.cli.process import program

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


def main() -> None:
    """Measure and print."""
    harness.run(harness.parser(__doc__, rounds=9), _measure)


def _measure(options: argparse.Namespace) -> harness.Report:
    path = options.model
    name, command = harness.command(path)
    ours = [*command, "--prompt", _PROMPT, "-n", "1"]
    minimal = [sys.executable, "-c", _MINIMAL, str(path), _PROMPT]
    seconds = harness.in_turn(
        {
            name: lambda: harness.process(path, ours)[0],
            "Llama": lambda: harness.process(path, minimal)[0],
        },
        options.rounds,
    )
    medians = harness.medians(seconds, float)
    return harness.Report(
        {"seconds": medians, "ratio": medians[name] / medians["Llama"]},
        f"one-token completion, {options.rounds} rounds",
        "command|median s:.3f|min:.3f|max:.3f|ratio:.2f",
        [
            (name, medians[name], min(each), max(each), medians[name] / medians["Llama"])
            for name, each in seconds.items()
        ],
    )


if __name__ == "__main__":
    program.end(main)
