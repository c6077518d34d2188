"""What a constraint gives a small model, and what it can't: the experiment on 48 held-out tickets.

    python -m fucina_cli.tiny.experiment [qwen3|gemma4 | --model PATH] [--seed N] [--json]

The model is the built-in one of the family, or any other GGUF. Four parts:

1. The category of each ticket: free, constrained (sampled and greedy), and by scoring the six
   options. Options begin with a space. The allowed first tokens are those of the compiled
   constraint's mask, every token that can begin an option; the log-probability of an option is that
   of its canonical tokens. One row has a bug on purpose: the argmax of the whole row first, the
   mask after it, so that a forbidden favourite becomes the lowest allowed id.
2. The same by a question that the built-in models were never taught: a department for each
   ticket, graded as the category that it stands for. The allowed first tokens have little
   probability, so that the constraint does the work and the bug shows.
3. Category and priority as JSON, sampled: free, and under a schema.
4. A logit bias that bans, nudges and forces a token.

The answer that the majority of these tickets has is the baseline. The same file, seed and machine
give the same output.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NoReturn

from fucina_cli.builtin import builtin_path
from fucina_cli.cli.process import exits, output, program
from fucina_cli.cli.process.parser import Parser, whole
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.decoding.step import STREAM_FAILURES
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.tiny.corpus.ticket_held_out import HELD_OUT
from fucina_cli.tiny.experiment.lab import open_lab
from fucina_cli.tiny.experiment.report import run
from fucina_cli.tiny.experiment.tables import show

_FAMILIES = ("qwen3", "gemma4")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run and print. Exits with 2 and one line on stderr for bad input."""
    options = _parser().parse_args(arguments)
    if options.family and options.model:
        _fail(f"--model: takes the place of '{options.family}'; give one of them")
    family = options.family or _FAMILIES[0]
    path = options.model or builtin_path(family)
    if path is None:
        _fail(f"there is no built-in {family} model in this installation; give --model")
    try:
        with open_lab(path) as lab:
            report = run(lab, HELD_OUT, options.seed)
    except (ModelError, GrammarError, ContextFull, OSError, *STREAM_FAILURES) as error:
        _fail(f"'{path}': {error}")
    if options.json:
        output.record(asdict(report))
        return
    show(report, output.console())


def _parser() -> Parser:
    parser = Parser(
        prog="python -m fucina_cli.tiny.experiment",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("family", nargs="?", choices=_FAMILIES, help=f"({_FAMILIES[0]})")
    parser.add_argument("--model", type=Path, help="another GGUF, in place of the built-in one")
    parser.add_argument("--seed", type=whole(0), default=0, help="of the sampled rows (0)")
    parser.add_argument("--json", action="store_true", help="one JSON object in place of tables")
    return parser


def _fail(message: str) -> NoReturn:
    output.error(message)
    raise SystemExit(exits.BAD_INPUT)


if __name__ == "__main__":
    program.end(main)
