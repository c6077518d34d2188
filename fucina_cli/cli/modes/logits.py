"""`--logits-out` and `--compare-logits`: the logits after a prompt, written or compared."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import promptlogits
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.errors import InputError
from fucina_cli.options import Option
from fucina_cli.text import reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MAX_BYTES = 1 << 26


def write(line: CommandLine) -> int:
    """Write the last position's logits to a file, raw little-endian float32."""
    path = Path(line["logits_out"])
    with promptlogits.forward(line) as (_, row):
        try:
            path.write_bytes(row.astype("<f4").tobytes())
        except (OSError, ValueError) as error:
            raise InputError("logits_out", f"can't write '{path}': {reason(error)}") from None
    return exits.OK


def compare(line: CommandLine) -> int:
    """Compare the last position's logits with those of a file; exit 4 where the top 5 differ."""
    path = Path(line["compare_logits"])
    other = _read(path)
    with promptlogits.forward(line) as (_, row):
        if other.size != row.size:
            raise InputError(
                "compare_logits",
                f"'{path}' holds {other.size} logits and this model has {row.size}; "
                "it was written with another model",
            )
        compared, text = _compared(row, other)
    if line.json:
        output.record(compared)
    else:
        output.answer(text)
    return exits.OK if compared["top5_agree"] else exits.MISMATCH


def _read(path: Path) -> NDArray[np.float32]:
    import numpy as np

    part = "compare_logits"
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_BYTES)
    except (OSError, ValueError) as error:
        raise InputError(part, f"can't read '{path}': {reason(error)}") from None
    if not data or len(data) % 4:
        raise InputError(part, f"'{path}' is not a file of float32 ({len(data)} bytes)")
    other = np.frombuffer(data, dtype="<f4").astype(np.float32)
    if not promptlogits.is_valid(other):
        raise InputError(part, f"'{path}' holds values that are no logits")
    return other


def _compared(row: NDArray[np.float32], other: NDArray[np.float32]) -> tuple[dict[str, Any], str]:
    """The comparison as a record, and as text."""
    import numpy as np

    with np.errstate(invalid="ignore"):  # -inf in both is not a difference
        difference = np.abs(row.astype(np.float64) - other.astype(np.float64))
    difference[row == other] = 0.0
    here, there = promptlogits.top_ids(row), promptlogits.top_ids(other)
    worst, mean = float(difference.max()), float(difference.mean())
    finite = bool(np.isfinite(worst))
    verdict = "agree" if here == there else f"differ: {here} here, {there} in the file"
    record = {
        "max_difference": worst if finite else None,
        "mean_difference": mean if finite else None,
        "top5_agree": here == there,
        "top5": here,
        "top5_file": there,
    }
    return record, f"max difference {worst:.6g}\nmean difference {mean:.6g}\ntop 5 {verdict}\n"


WRITE = Mode(
    run=write,
    option=Option(
        "logits_out",
        "Write the prompt's last logits as little-endian float32.",
        "PATH",
        panel=MODES,
        rank=60,
    ),
    prompt="needed",
)
COMPARE = Mode(
    run=compare,
    option=Option(
        "compare_logits",
        "Compare the prompt's last logits with such a file.",
        "PATH",
        panel=MODES,
        rank=70,
    ),
    prompt="needed",
)
