"""Context and prompt for the modes that measure rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fucina_cli.cli import jobs
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import modes
from fucina_cli.cli.process import output
from fucina_cli.errors import InputError, Part
from fucina_cli.llama.errors import ModelError
from fucina_cli.text import counted

if TYPE_CHECKING:
    from fucina_cli.host import Host
    from fucina_cli.llama.context import Context

_PROMPT_TOKENS = 64


@contextmanager
def prompted(
    line: CommandLine, part: str, room: int, n_slots: int = 1
) -> Iterator[tuple[Context, list[int], bool]]:
    """A context with room for a prompt and `room` more tokens in each slot.

    Gives the context, the prompt's ids, and whether they are the user's or built-in ones. Raises
    InputError about `part` for a recurrent model and where the tokens don't fit, and about the
    model file where a computation within the block fails.
    """
    from fucina_cli.cli.opening import open_runner

    job, _ = jobs.read(line)
    _tell_ineffective(line, part)
    with open_runner(line, probes=False) as runner:
        host = runner.host
        model = host.model
        if not model.can_rewind:
            raise InputError(
                part,
                f"{host.planner.part} is a recurrent model ({model.architecture}): its state "
                "can't be rewound, so nothing is drafted with it and there is nothing to measure",
            )
        given = None if job is None else host.planner.prompt(job).tokens
        tokens = _fitting(host, given, room, part)
        context = host.open_context(host.planner.context_size(len(tokens), room), n_slots)
        try:
            yield context, tokens, given is not None
        except ModelError as error:
            raise InputError(host.planner.part, str(error)) from None


def tokens_after(tokens: list[int]) -> str:
    """The number of tokens, in words."""
    return counted(len(tokens), "token")


def _tell_ineffective(line: CommandLine, part: str) -> None:
    """A warning for each flag about answers: one may measure a command by adding the mode to it."""
    from fucina_cli.cli.choosing import ineffective

    mode = next(mode for mode in modes() if mode.option and mode.option.name == part)
    for flag in [] if line.quiet else ineffective(line, mode):
        output.warning(f"{flag}: has no effect: {mode.name} writes no answer")


def _fitting(host: Host, given: list[int] | None, room: int, part: str) -> list[int]:
    """The prompt given, or built-in ids. Raises InputError when `room` more cells don't fit."""
    from fucina_cli.llama.exactness import spread_ids

    ctx, trained = host.runtime.ctx, host.model.n_ctx_train
    limit = ctx if ctx is not None else trained
    tokens = given
    if tokens is None:
        n = max(1, min(_PROMPT_TOKENS, limit - room))
        tokens = spread_ids(host.model.n_vocab, n)
    needed = len(tokens) + room
    if needed <= limit:
        return tokens
    if ctx is not None:
        text = f"{limit} tokens are too few; "
        raise InputError("ctx", text, Part(part), f" needs {needed} here")
    raise InputError(
        part,
        f"needs a context of {needed} tokens and the model was trained for {limit}; ",
        Part("ctx"),
        f" {needed} goes beyond that",
    )
