"""What the command lines of the measurements have in common."""

from __future__ import annotations

import argparse
from pathlib import Path

from fucina_cli.cli.parser import Parser
from fucina_cli.conversation import Answer
from fucina_cli.llama import header
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model


def parser(description: str | None, rounds: int = 7) -> argparse.ArgumentParser:
    """Takes a model's path and `--rounds`, `rounds` unless given."""
    made = Parser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    made.add_argument("model", type=model_file, help="path of a .gguf file")
    made.add_argument("--rounds", type=positive, default=rounds, help=f"({rounds})")
    return made


def model_file(text: str) -> Path:
    """The path of a model file. Raises ArgumentTypeError, which argparse tells, for another."""
    path = Path(text)
    try:
        header.architecture(path)
    except ModelError as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error}") from None
    return path


def positive(text: str) -> int:
    """A whole number from 1 on. Raises ArgumentTypeError for anything else."""
    if not text.isascii() or not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number from 1 on")
    return int(text)


def whole(answer: Answer) -> Answer:
    """The answer, unless Ctrl-C cut it off, which ends a measurement: raises KeyboardInterrupt."""
    if answer.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return answer


def load(parser: argparse.ArgumentParser, path: Path) -> Model:
    """The model at `path`; a file that is none ends the process, as a bad argument does."""
    try:
        return Model(path)
    except ModelError as error:
        parser.error(f"argument model: '{path}': {error}")
