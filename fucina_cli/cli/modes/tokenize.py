"""`--tokenize`: the ids of a text."""

from __future__ import annotations

from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.options import Option


def run(line: CommandLine) -> int:
    """Print the ids that --prompt would feed for a file's text, one per line."""
    from fucina_cli.cli.opening import start_native
    from fucina_cli.loading import load_model
    from fucina_cli.prompts import text_prompt

    text = line.reader.file("--tokenize", line["tokenize"])
    start_native(line)
    model, _ = load_model(line.model, line.family, line.runtime, vocab_only=True)
    tokens = text_prompt(model, text).tokens
    model.close()
    if line.json:
        output.record({"tokens": tokens})
    else:
        output.answer("".join(f"{token}\n" for token in tokens))
    return exits.OK


TOKENIZE = Mode(
    run=run,
    option=Option(
        "tokenize",
        "Print the ids of a text file, one per line; no weights are loaded.",
        "FILE",
        panel=MODES,
        rank=50,
    ),
)
