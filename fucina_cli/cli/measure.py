"""Modes that measure the model on this machine: what rows cost, and whether they are exact."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rich.table import Table

from fucina_cli.cli import exits, output, session
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.values import TextReader
from fucina_cli.families.family import Family
from fucina_cli.llama import rowcheck, rowcosts
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import spread_ids
from fucina_cli.llama.model import Model
from fucina_cli.llama.rowcheck import Report
from fucina_cli.llama.rowcosts import RowCosts
from fucina_cli.prompts import Prompt

_PROMPT_TOKENS = 64
_ARMS = {
    rowcheck.BATCHED: "in a verify batch",
    rowcheck.AFTER_DRAFT: "after a forgotten draft",
    rowcheck.LOCKSTEP: "in lockstep with other streams",
}


def run(family: Family, options: Options) -> int:
    """The measuring mode that the flags ask for; the exit code."""
    texts = session.read_texts(options, TextReader())
    model = session.load_model(options, family)
    flag = "--spec-bench" if options.spec_bench else "--verify-batch"
    if not model.can_rewind:
        raise FlagError(
            flag,
            f"'{options.model}' is a recurrent model ({model.architecture}): its state can't be "
            "rewound, so nothing is drafted with it and there is nothing to measure",
        )
    prompt = None
    if options.prompt_flag is not None:
        prompt = session.make_prompt(options, family, model, texts, thinking=options.think)
    if options.spec_bench:
        return spec_bench(options, model, prompt)
    return verify_batch(options, model, prompt, options.verify_batch or 1)


def spec_bench(options: Options, model: Model, prompt: Prompt | None) -> int:
    """Show what a forward of several rows costs: a table, or a JSON object with --json."""
    rows = max(rowcosts.ROW_COUNTS)
    start = _start(options, model, prompt, rows, "--spec-bench")
    context = session.make_context(options, model, start, gen=rows)
    with _blame_model(options):
        costs = rowcosts.measure(context, start.tokens)
    if options.json:
        output.record(_costs_record(costs, context, start))
        return exits.OK
    table = Table(title=f"a plain step takes {costs.plain_ms:.2f} ms after {_tokens(start)}")
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
    return exits.OK


def _costs_record(costs: RowCosts, context: Context, start: Prompt) -> dict[str, Any]:
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
        "prompt_tokens": len(start.tokens),
        "cache_type": list(context.cache_type),
    }


def verify_batch(options: Options, model: Model, prompt: Prompt | None, steps: int) -> int:
    """Compare single steps with the same rows in company; exit 4 when one of them differs."""
    room = steps + rowcheck.SPARE_CELLS
    start = _start(options, model, prompt, room, "--verify-batch")
    script = None
    if prompt is None:
        first = len(start.tokens)
        script = spread_ids(model.n_vocab, first + steps)[first:]
    context = session.make_context(options, model, start, gen=room, n_slots=rowcheck.N_SLOTS)
    with _blame_model(options):
        report = rowcheck.check(context, start.tokens, steps, script)
    if options.json:
        output.record(_report_record(report, context, start))
    else:
        _show(report, context, start)
    if report.first is None:
        return exits.OK
    output.error(f"--verify-batch: {_first_difference(report)}")
    return exits.MISMATCH


def _report_record(report: Report, context: Context, start: Prompt) -> dict[str, Any]:
    first = report.first
    return {
        "exact": report.exact,
        "steps": report.steps,
        "prompt_tokens": len(start.tokens),
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


def _show(report: Report, context: Context, start: Prompt) -> None:
    verdict = "bitwise equal" if report.exact else "NOT equal"
    steps = "1 step" if report.steps == 1 else f"{report.steps} steps"
    table = Table(
        title=f"{steps} after {_tokens(start)}, {context.model.quantization} weights, "
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
    rows = "1 row" if first.rows == 1 else f"{first.rows} rows"
    return (
        f"step {first.step} of {report.steps} (position {first.position}) differs from its single "
        f"step {_ARMS[first.arm]}, {rows} in the forward: by {first.size:.3g} at token "
        f"{first.token}"
    )


def _start(options: Options, model: Model, prompt: Prompt | None, room: int, flag: str) -> Prompt:
    """The prompt given, or built-in ids. Raises FlagError when `room` more cells don't fit."""
    limit = options.ctx if options.ctx is not None else model.n_ctx_train
    if prompt is None:
        prompt = Prompt(spread_ids(model.n_vocab, max(1, min(_PROMPT_TOKENS, limit - room))))
    needed = len(prompt.tokens) + room
    if needed <= limit:
        return prompt
    if options.ctx is not None:
        raise FlagError("--ctx", f"{limit} tokens are too few; {flag} needs {needed} here")
    raise FlagError(
        flag,
        f"needs a context of {needed} tokens and the model was trained for {limit}; "
        f"--ctx {needed} goes beyond that",
    )


@contextmanager
def _blame_model(options: Options) -> Iterator[None]:
    """A crash and a failing computation within the block are the model file's fault."""
    with session.blame_first_forward(options):
        try:
            yield
        except ModelError as error:
            raise FlagError(f"'{options.model}'", str(error)) from None


def _tokens(prompt: Prompt) -> str:
    n = len(prompt.tokens)
    return "1 token" if n == 1 else f"{n} tokens"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
