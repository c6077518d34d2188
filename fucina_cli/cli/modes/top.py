"""Bare ids and `--gen 0`: the likeliest next tokens of a prompt."""

from __future__ import annotations

from fucina_cli.cli import promptlogits
from fucina_cli.cli.commandline import IDS, CommandLine
from fucina_cli.cli.mode import Mode
from fucina_cli.cli.process import exits, output


def run(line: CommandLine) -> int:
    """One forward over the prompt; its five likeliest next tokens, a table or with --json JSON."""
    import numpy as np

    with promptlogits.forward(line) as (model, row):
        shifted = row.astype(np.float64) - float(row.max())
        log_total = float(np.log(np.exp(shifted).sum()))
        listed = [
            {
                "token": i,
                "text": model.vocabulary.text(i),
                "logit": round(float(row[i]), 6),
                "probability": round(float(np.exp(shifted[i] - log_total)), 9),
            }
            for i in promptlogits.top_ids(row)
        ]
    if line.json:
        output.record({"top": listed})
        return exits.OK
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for heading in ("id", "token", "logit", "probability"):
        table.add_column(heading, justify="left" if heading == "token" else "right")
    for entry in listed:
        table.add_row(
            str(entry["token"]),
            Text(repr(entry["text"])),
            f"{entry['logit']:.4f}",
            f"{entry['probability']:.2%}",
        )
    output.table(table)
    return exits.OK


def _bare_ids(line: CommandLine) -> bool:
    """Whether ids are given and nothing that asks for an answer."""
    asked = line["gen"] is not None or line["bench"] is not None or line.kind is not None
    return line[IDS] is not None and line.streams == 1 and not asked


TOP = Mode(
    run=run,
    name="--gen 0",
    prompt="needed",
    chosen=lambda line: line["gen"] == 0,
    rank=90,
)
BARE_IDS = Mode(
    run=run,
    name="TOKEN_IDS without --gen",
    prompt="needed",
    chosen=_bare_ids,
    rank=91,
)
