"""What a mode declares of itself, from which follows what goes together on the command line."""

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
    """One job of the command.

    Declarations are light: what `run` needs is imported inside it, so that no mode pays for others.

    Attributes:
        run: does it; the exit code.
        option: the flag that chooses it, None where `chosen` does.
        name: how messages call it; the flag unless given.
        prompt: whether it starts from a prompt: "needed", "optional", "none", or "own" where it
            brings requests of its own, to which flags about answers are defaults.
        answers: how many answers it writes: "none", "one" or "many".
        more: flags that say something in this mode only.
        about: why they do, as in "needs --batch: it is about …".
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
