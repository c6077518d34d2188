"""The logits after a prompt, for the modes that show or compare them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fucina_cli.cli import jobs
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from fucina_cli.llama.model import Model

_TOP = 5


@contextmanager
def forward(line: CommandLine) -> Iterator[tuple[Model, NDArray[np.float32]]]:
    """The model and the logits after the prompt, float32 [n_vocab]. Raises InputError."""
    from fucina_cli.cli.opening import open_runner
    from fucina_cli.decoding.prefill import last_logits
    from fucina_cli.llama.errors import ModelError
    from fucina_cli.sampling.errors import NonFiniteLogits

    job, _ = jobs.read(line)
    assert job is not None
    with open_runner(line, probes=False) as runner:
        host = runner.host
        tokens = host.planner.prompt(job).tokens
        context = host.open_context(host.planner.context_size(len(tokens), 0))
        try:
            row = last_logits(context, tokens)
        except ModelError as error:
            raise InputError(host.planner.part, str(error)) from None
        if not is_valid(row):
            raise host.planner.fault(job, NonFiniteLogits())
        yield host.model, row


def is_valid(row: NDArray[np.float32]) -> bool:
    """Whether a softmax over `row` exists: no NaN, no +inf, not -inf throughout."""
    inf = float("inf")
    return bool((row < inf).all() and row.max() > -inf)


def top_ids(row: NDArray[np.float32]) -> list[int]:
    """The five largest, largest first, ties by lower id."""
    return [int(i) for i in (-row).argsort(kind="stable")[:_TOP]]
