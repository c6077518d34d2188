"""`--spec-bench`: what a forward of several rows costs on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fucina_cli.cli import measuring
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.options import Option

if TYPE_CHECKING:
    from fucina_cli.llama.context import Context
    from fucina_cli.llama.rowcosts import RowCosts


def run(line: CommandLine) -> int:
    """Measure and show: a table, or a JSON object with --json; the exit code."""
    from fucina_cli.llama import rowcosts

    room = max(rowcosts.ROW_COUNTS)
    with measuring.prompted(line, "spec_bench", room) as (context, tokens, _):
        costs = rowcosts.measure(context, tokens)
        if line.json:
            output.record(_record(costs, context, tokens))
        else:
            _show(costs, tokens)
    return exits.OK


def _show(costs: RowCosts, tokens: list[int]) -> None:
    from rich.table import Table

    after = measuring.tokens_after(tokens)
    table = Table(title=f"a plain step takes {costs.plain_ms:.2f} ms after {after}")
    for heading in (
        "rows",
        "all with logits\n(plain steps)",
        "only the last\n(plain steps)",
        "drafts pay if\nmore hold than",
        "forced tokens\nfaster by",
    ):
        table.add_column(heading, justify="right")
    for cost in costs.rows:
        table.add_row(
            str(cost.rows),
            f"{cost.all_logits:.2f}",
            f"{cost.last_logits:.2f}",
            f"{cost.break_even:.0%}" if cost.break_even < 1 else "never",
            f"{cost.forced_speedup:.2f}x",
        )
    output.table(table)


def _record(costs: RowCosts, context: Context, tokens: list[int]) -> dict[str, Any]:
    return {
        "plain_ms": round(costs.plain_ms, 4),
        "rows": [
            {
                "rows": cost.rows,
                "all_logits": round(cost.all_logits, 4),
                "last_logits": round(cost.last_logits, 4),
                "break_even": round(cost.break_even, 4),
                "forced_speedup": round(cost.forced_speedup, 4),
            }
            for cost in costs.rows
        ],
        "rounds": costs.rounds,
        "prompt_tokens": len(tokens),
        "cache_type": list(context.cache_type),
    }


SPEC_BENCH = Mode(
    run=run,
    option=Option(
        "spec_bench",
        "Measure what a forward of several rows costs in plain steps.",
        type=bool,
        default=False,
        panel=MODES,
        rank=80,
    ),
    prompt="optional",
)
