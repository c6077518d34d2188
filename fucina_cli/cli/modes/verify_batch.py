"""`--verify-batch`: whether a row's logits depend on the rows beside it, compared bit for bit."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import measuring
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.options import Option
from fucina_cli.text import counted

if TYPE_CHECKING:
    from fucina_cli.llama.context import Context
    from fucina_cli.llama.rowcheck import Report

_ARMS = {
    "batched": "in a verify batch",
    "after_draft": "after a forgotten draft",
    "lockstep": "in lockstep with other streams",
}


def run(line: CommandLine) -> int:
    """Compare single steps with the same rows beside others; exit 4 when one differs."""
    from fucina_cli.llama import rowcheck
    from fucina_cli.llama.exactness import spread_ids

    steps = line["verify_batch"]
    room, slots = steps + rowcheck.SPARE_CELLS, rowcheck.N_SLOTS
    with measuring.prompted(line, "verify_batch", room, slots) as (context, tokens, given):
        first = len(tokens)
        ids = None if given else spread_ids(context.model.n_vocab, first + steps)[first:]
        report = rowcheck.check(context, tokens, steps, ids)
        if line.json:
            output.record(_record(report, context, tokens))
        else:
            _show(report, context, tokens)
    if report.first is None:
        return exits.OK
    output.error(f"--verify-batch: {_first_difference(report)}")
    return exits.MISMATCH


def _record(report: Report, context: Context, tokens: list[int]) -> dict[str, Any]:
    first = report.first
    return {
        "exact": report.exact,
        "steps": report.steps,
        "prompt_tokens": len(tokens),
        "max_difference": _finite(report.worst),
        "first_difference": first
        and {
            "arm": first.arm,
            "step": first.step,
            "position": first.position,
            "rows": first.rows,
            "difference": _finite(first.size),
            "token": first.token,
        },
        "arms": {
            name: {
                "compared": arm.compared,
                "differing": arm.differing,
                "max_difference": _finite(arm.worst),
                "choices_changed": arm.choices_changed,
            }
            for name, arm in report.arms.items()
        },
        "quantization": context.model.quantization,
        "cache_type": list(context.cache_type),
    }


def _show(report: Report, context: Context, tokens: list[int]) -> None:
    from rich.table import Table

    verdict = "bitwise equal" if report.exact else "NOT equal"
    table = Table(
        title=f"{counted(report.steps, 'step')} after {measuring.tokens_after(tokens)}, "
        f"{context.model.quantization} weights, "
        f"{'/'.join(context.cache_type)} cache: {verdict}"
    )
    table.add_column("a row computed")
    for heading in ("compared", "differ", "largest\ndifference", "greedy choice\nchanged"):
        table.add_column(heading, justify="right")
    for name, arm in report.arms.items():
        table.add_row(
            _ARMS[name],
            f"{arm.compared}",
            f"{arm.differing}",
            f"{arm.worst:.3g}",
            f"{arm.choices_changed}",
        )
    output.table(table)


def _first_difference(report: Report) -> str:
    first = report.first
    assert first is not None
    return (
        f"step {first.step} of {report.steps} (position {first.position}) differs from its single "
        f"step {_ARMS[first.arm]}, {counted(first.rows, 'row')} in the forward: by "
        f"{first.size:.3g} at token {first.token}"
    )


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


VERIFY_BATCH = Mode(
    run=run,
    option=Option(
        "verify_batch",
        "Compare N steps alone with the same rows in batches, bitwise.",
        "N",
        type=int,
        panel=MODES,
        rank=90,
        within=(1, 100_000),
    ),
    prompt="optional",
)
