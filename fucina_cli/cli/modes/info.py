"""`--info`: the model file, and whether the model is exact on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.options import Option
from fucina_cli.text import printable

if TYPE_CHECKING:
    from rich.table import Table

_PROBE_TOKENS = 640


def run(line: CommandLine) -> int:
    """Describe the model file: a table, or a JSON object with --json."""
    from fucina_cli.cli.opening import open_runner

    with open_runner(line, probes=False) as runner:
        host = runner.host
        model, family = host.model, host.family
        room = max(0, min(_PROBE_TOKENS, model.n_ctx_train - 1))
        context = host.open_context(host.planner.context_size(1, room))
        exactness = host.probe(context)
        stop = host.planner.stop_token(chat=True)
        thinks = family.thinking is not None and family.thinking.on_by_default
        described: dict[str, Any] = {
            "file": str(model.path.resolve()),
            "family": family.name,
            "architecture": model.architecture,
            "name": model.metadata("general.name"),
            "parameters": model.n_params,
            "size_bytes": model.size_bytes,
            "quantization": model.quantization,
            "vocabulary": model.n_vocab,
            "context": model.n_ctx_train,
            "layers": model.n_layers,
            "sliding_window": model.sliding_window or None,
            "template": model.chat_template is not None,
            "stop_token": {"id": stop, "text": model.vocabulary.text(stop)},
            "sampling": host.planner.advice(thinks=thinks),
            "cache_type": list(context.cache_type),
            "exact": exactness.exact,
            "exact_reason": exactness.reason,
        }
        if line.json:
            output.record(described)
        else:
            output.table(_table(described, model.chat_template))
    return exits.OK


def _table(described: dict[str, Any], template: str | None) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    sampling = described["sampling"]
    rows = {
        "file": described["file"],
        "architecture": f"{described['architecture']} (family {described['family']})",
        "name": described["name"],
        "parameters": f"{described['parameters'] / 1e6:,.1f} M",
        "quantization": f"{described['quantization']}, {described['size_bytes'] / 2**20:,.1f} MiB",
        "vocabulary": f"{described['vocabulary']:,} ids",
        "context": f"{described['context']:,} tokens",
        "layers": str(described["layers"]),
        "sliding window": described["sliding_window"] and f"{described['sliding_window']} tokens",
        "template": "none" if template is None else f"yes, {len(template):,} characters",
        "stop token": f"{described['stop_token']['id']} {described['stop_token']['text']}",
        "family defaults": ", ".join(f"{k} {v:g}" for k, v in sampling.items()),
        "KV cache": "/".join(described["cache_type"]),
        "exact": f"{'yes' if described['exact'] else 'no'}: {described['exact_reason']}",
    }
    for name, value in rows.items():
        if value:
            table.add_row(name, Text(printable(str(value))))
    return table


INFO = Mode(
    run=run,
    option=Option(
        "info", "Describe the model file.", type=bool, default=False, panel=MODES, rank=40
    ),
)
