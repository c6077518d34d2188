"""`python -m fucina_cli.tiny.recipe qwen3|gemma4`: make a tiny model anew, from its seed."""

from __future__ import annotations

import argparse
import os
import sys
import time
from itertools import islice
from pathlib import Path

# Torch then asks for huge pages: every tensor is a fresh buffer, and having the kernel clear it in
# small pages costs a third of the speed.
os.environ.setdefault("THP_MEM_ALLOC_ENABLE", "1")
try:
    import tokenizers  # noqa: F401
    import torch
except ImportError as error:
    sys.exit(f"error: {error.name} is missing; the recipe needs: pip install 'fucina-cli[train]'")

from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import Parser, whole
from fucina_cli.text import reason
from fucina_cli.tiny.corpus.mixture import documents
from fucina_cli.tiny.recipe.batches import batches, written
from fucina_cli.tiny.recipe.export import export
from fucina_cli.tiny.recipe.formats import FORMATS
from fucina_cli.tiny.recipe.networks import CONFIGS, Network
from fucina_cli.tiny.recipe.training import train
from fucina_cli.tiny.recipe.vocabulary import learn

#: Documents that the vocabulary is learned from.
_VOCABULARY_DOCUMENTS = 60_000
_STEPS = {"qwen3": 2400, "gemma4": 1800}
_BATCH_TOKENS = 4096


def main() -> None:
    """Learn the vocabulary, train the network, write the GGUF."""
    options = _options()
    form, config = FORMATS[options.family], CONFIGS[options.family]
    torch.manual_seed(options.seed)
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = False  # a guard that costs a tenth
    began = time.perf_counter()
    # A stream of its own, so that the network sees the same documents whatever is taken here.
    sample = islice(written(documents(options.seed), form, options.seed), _VOCABULARY_DOCUMENTS)
    vocabulary = learn(form, (part for pair in sample for part in pair), config.vocab)
    _say(f"vocabulary of {config.vocab} tokens after {time.perf_counter() - began:.0f} s")
    network = Network(config)
    _say(f"{sum(p.numel() for p in network.parameters()):,} parameters")
    texts = written(documents(options.seed + 1), form, options.seed + 1)
    stream = batches(texts, vocabulary, _BATCH_TOKENS, options.seed)

    steps = options.steps or _STEPS[options.family]

    def report(step: int, loss: float, rate: float) -> None:
        if step % 20 == 0 or step == steps - 1:
            spent = time.perf_counter() - began
            _say(f"step {step}  loss {loss:.3f}  {rate:,.0f} tokens/s  {spent:.0f} s")

    train(network, stream, steps, report)
    export(options.out, network, vocabulary, form)
    _say(f"{options.out}: {options.out.stat().st_size / 1e6:.1f} MB")


def _options() -> argparse.Namespace:
    parser = Parser(
        prog="python -m fucina_cli.tiny.recipe", description="Train a built-in tiny model anew."
    )
    parser.add_argument("family", choices=sorted(FORMATS))
    parser.add_argument("--steps", type=whole(1), help=f"batches ({_STEPS})")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True, help="the GGUF to write")
    options = parser.parse_args()
    try:
        options.out.touch()  # better now than after half an hour
    except OSError as error:
        parser.error(f"--out: can't write '{options.out}': {reason(error)}")
    return options


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    program.end(main)
