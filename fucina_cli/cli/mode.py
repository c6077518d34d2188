"""What a mode declares; which flags can be combined follows from it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fucina_cli.cli.commandline import CommandLine
from fucina_cli.options import Option

#: Headings of the help, in order.
MODES = "Modes (one of)"
CONSTRAINT = "Constraint (one of)"
GENERATION = "Generation"
SAMPLING = "Sampling (defaults: the family's in a chat, greedy otherwise)"
SPEED = "Speed"
RUNTIME = "Runtime"
OUTPUT = "Output"
PANELS = (MODES, CONSTRAINT, GENERATION, SAMPLING, SPEED, RUNTIME, OUTPUT)


@dataclass(frozen=True)
class Mode:
    """One thing that the command can do.

    What `run` needs is imported inside it, so that no mode loads what only others need.

    Attributes:
        run: runs it and returns the exit code.
        option: the flag that chooses it, None where `chosen` does.
        name: its name in messages; the flag unless given.
        prompt: whether it starts from a prompt: "needed", "optional", "none", or "own" where it
            brings requests of its own, to which flags about answers are defaults.
        answers: how many answers it writes: "none", "one" or "many".
        more: flags that have an effect in this mode only.
        about: why, as in "needs --batch: it is about …".
        chosen: whether the command line asks for it, where that takes more than `option`.
        rank: of several modes without a flag the lowest that is chosen runs.
    """

    run: Callable[[CommandLine], int]
    option: Option | None = None
    name: str = ""
    prompt: Literal["needed", "optional", "none", "own"] = "none"
    answers: Literal["none", "one", "many"] = "none"
    more: tuple[Option, ...] = ()
    about: str = ""
    chosen: Callable[[CommandLine], bool] | None = None
    rank: int = 50

    def __post_init__(self) -> None:
        if not self.name and self.option is not None:
            object.__setattr__(self, "name", self.option.flag)

    def is_chosen(self, line: CommandLine) -> bool:
        """Whether the command line asks for this mode."""
        if self.chosen is not None:
            return self.chosen(line)
        return self.option is not None and line.given(self.option.name)


@functools.cache
def modes() -> tuple[Mode, ...]:
    """Every mode that a file of `modes` declares, by rank."""
    from fucina_cli.cli import modes as package
    from fucina_cli.discovery import declared

    return tuple(sorted(declared(package, Mode), key=lambda mode: mode.rank))
