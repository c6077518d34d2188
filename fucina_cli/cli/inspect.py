"""Modes that look instead of writing: the file, token ids, logits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table

from fucina_cli import prompts
from fucina_cli.cli import exits, output, session
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.values import TextReader
from fucina_cli.decoding.prefill import last_logits
from fucina_cli.families.family import Family
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import probe
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt

_TOP = 5
_PROBE_TOKENS = 640
_MAX_LOGITS_BYTES = 1 << 26


def run(family: Family, options: Options) -> int:
    """The looking mode that the flags ask for; bare ids and `--gen 0` show the top 5."""
    if options.info:
        return info(family, options)
    if options.tokenize is not None:
        return tokenize(family, options)
    if options.logits_out is not None or options.compare_logits is not None:
        return logits(family, options)
    return top(family, options)


def info(family: Family, options: Options) -> int:
    """Describe the model file: a table, or a JSON object with --json."""
    model = session.load_model(options, family)
    room = max(0, min(_PROBE_TOKENS, model.n_ctx_train - 1))
    context = session.make_context(options, model, Prompt([0]), gen=room)
    with session.blame_first_forward(options):
        try:
            exactness = probe(context)
        except ModelError as error:
            raise FlagError(f"'{options.model}'", str(error)) from None
    stop = session.stop_for(options, family, model)
    thinks = family.thinking is not None and family.thinking.on_by_default
    defaults = family.sampling(thinks, model.number)
    path = session.model_path(f"'{options.model}'", options.model, family)
    described: dict[str, Any] = {
        "file": str(path.resolve()),
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
        "sampling": {
            "temperature": defaults.temperature,
            "top_k": defaults.top_k,
            "top_p": defaults.top_p,
            "min_p": defaults.min_p,
        },
        "cache_type": list(context.cache_type),
        "exact": exactness.exact,
        "exact_reason": exactness.reason,
    }
    if options.json:
        output.record(described)
    else:
        output.table(_info_table(described, model))
    return exits.OK


def _info_table(described: dict[str, Any], model: Model) -> Table:
    table = Table(show_header=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    sampling = described["sampling"]
    template = model.chat_template
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
    from rich.text import Text

    for name, value in rows.items():
        if value:
            table.add_row(name, Text(_printable(str(value))))
    return table


def tokenize(family: Family, options: Options) -> int:
    """Print the ids that --prompt would feed for a file's text, one per line."""
    text = TextReader().file("--tokenize", options.tokenize or "")
    model = session.load_model(options, family, vocab_only=True)
    tokens = prompts.text_prompt(model, text).tokens
    if options.json:
        output.record({"tokens": tokens})
    else:
        output.answer("".join(f"{token}\n" for token in tokens))
    return exits.OK


def top(family: Family, options: Options) -> int:
    """One forward over the prompt; its five likeliest next tokens."""
    model, row = _forward(family, options)
    shifted = row.astype(np.float64) - float(row.max())
    log_total = float(np.log(np.exp(shifted).sum()))
    best = _top_ids(row)
    listed = [
        {
            "token": int(i),
            "text": model.vocabulary.text(int(i)),
            "logit": round(float(row[i]), 6),
            "probability": round(float(np.exp(shifted[i] - log_total)), 9),
        }
        for i in best
    ]
    if options.json:
        output.record({"top": listed})
        return exits.OK
    table = Table()
    for heading in ("id", "token", "logit", "probability"):
        table.add_column(heading, justify="left" if heading == "token" else "right")
    from rich.text import Text

    for entry in listed:
        table.add_row(
            str(entry["token"]),
            Text(repr(entry["text"])),
            f"{entry['logit']:.4f}",
            f"{entry['probability']:.2%}",
        )
    output.table(table)
    return exits.OK


def logits(family: Family, options: Options) -> int:
    """Write the last position's logits to a file, or compare them with one."""
    path = Path(options.logits_out or options.compare_logits or "")
    if options.logits_out is not None:
        _, row = _forward(family, options)
        try:
            path.write_bytes(row.astype("<f4").tobytes())
        except (OSError, ValueError) as error:
            raise FlagError("--logits-out", f"can't write '{path}': {_reason(error)}") from None
        return exits.OK
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_LOGITS_BYTES)
    except (OSError, ValueError) as error:
        raise FlagError("--compare-logits", f"can't read '{path}': {_reason(error)}") from None
    if not data or len(data) % 4:
        raise FlagError(
            "--compare-logits", f"'{path}' is not a file of float32 ({len(data)} bytes)"
        )
    other = np.frombuffer(data, dtype="<f4").astype(np.float32)
    if not _sound(other):
        raise FlagError("--compare-logits", f"'{path}' holds values that are no logits")
    _, row = _forward(family, options)
    if other.size != row.size:
        raise FlagError(
            "--compare-logits",
            f"'{path}' holds {other.size} logits and this model has {row.size}; "
            "it was written with another model",
        )
    return _compare(options, row, other)


def _compare(options: Options, row: NDArray[np.float32], other: NDArray[np.float32]) -> int:
    with np.errstate(invalid="ignore"):  # -inf in both is no difference
        difference = np.abs(row.astype(np.float64) - other.astype(np.float64))
    difference[row == other] = 0.0
    here, there = _top_ids(row), _top_ids(other)
    agree = here == there
    worst, mean = float(difference.max()), float(difference.mean())
    if options.json:
        finite = np.isfinite(worst)
        output.record(
            {
                "max_difference": worst if finite else None,
                "mean_difference": mean if finite else None,
                "top5_agree": agree,
                "top5": here,
                "top5_file": there,
            }
        )
    else:
        verdict = "agree" if agree else f"differ: {here} here, {there} in the file"
        output.answer(f"max difference {worst:.6g}\nmean difference {mean:.6g}\ntop 5 {verdict}\n")
    return exits.OK if agree else exits.MISMATCH


def _forward(family: Family, options: Options) -> tuple[Model, NDArray[np.float32]]:
    """The model and a copy of the logits after the prompt, float32 [n_vocab]."""
    texts = session.read_texts(options, TextReader())
    model = session.load_model(options, family)
    prompt = session.make_prompt(options, family, model, texts, thinking=options.think)
    context = session.make_context(options, model, prompt, gen=0)
    with session.blame_first_forward(options):
        try:
            row = last_logits(context, prompt.tokens)
        except ModelError as error:
            raise FlagError(f"'{options.model}'", str(error)) from None
    if not _sound(row):
        raise FlagError(
            f"'{options.model}'",
            "the model computes logits that are no numbers; the file is damaged",
        )
    return model, row


def _sound(row: NDArray[np.float32]) -> bool:
    """Whether a softmax over `row` exists: no NaN, no +inf, not -inf throughout."""
    return bool((row < np.inf).all() and row.max() > -np.inf)


def _top_ids(row: NDArray[np.float32]) -> list[int]:
    """The five largest, largest first, ties by lower id."""
    return [int(i) for i in np.argsort(-row, kind="stable")[:_TOP]]


def _printable(text: str) -> str:
    """Text of a model file, harmless to a terminal."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def _reason(error: Exception) -> str:
    return getattr(error, "strerror", None) or str(error)
