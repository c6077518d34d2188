"""Options declared once: flag, key, keyword, range, help and record derive from one field.

An option is a field of a dataclass made by `option`, or an `Option` of its own. It becomes a
flag of the command line, a key in lines of a batch, and a keyword in Python.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import typing
from dataclasses import dataclass
from typing import Any

from fucina_cli.errors import InputError, Part

_METADATA = "option"
_MAX_SEED = 2**64 - 1


@dataclass(frozen=True)
class Option:
    """One thing that can be set.

    Attributes:
        name: its keyword in Python, its field, and its key in a record.
        help: one sentence.
        metavar: what stands for its value in the help.
        type: int, float, bool or str; of a repeatable one, of each value.
        default: value where none is given.
        within: the lowest and the highest number accepted; None for any.
        least: the smallest number above the lowest that is accepted, and what to give instead.
        elsewhere: numbers outside of the range that other tools give a meaning, and the way out.
        unit: of the number, where it has one.
        flag: on the command line; its name with dashes unless given.
        short: a second, short flag.
        negative: the flag for False, of a bool that can be given either way.
        repeatable: whether it is a list.
        panel: heading in the help that it stands under.
        rank: place under that heading.
        key: in a line of a batch, where lines can set it; the flag's words unless given.
        metadata: GGUF key of the model file's own default, None where there is none.
        needs: name of another option without which it has no effect, and why.
    """

    name: str
    help: str
    metavar: str | None = None
    type: type = str
    default: Any = None
    within: tuple[float, float] | None = None
    least: tuple[float, str] | None = None
    elsewhere: tuple[tuple[float, str], ...] = ()
    unit: str = ""
    flag: str = ""
    short: str = ""
    negative: str = ""
    repeatable: bool = False
    panel: str = ""
    rank: int = 50
    key: str = ""
    metadata: str | None = None
    needs: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if not self.flag:
            object.__setattr__(self, "flag", "--" + self.name.replace("_", "-"))
        if not self.key:
            object.__setattr__(self, "key", self.flag[2:].replace("-", "_"))

    def check(self, value: Any) -> None:
        """Raise InputError for a value of the wrong type or out of range; None is accepted.

        NaN is outside of every range. Lists are not checked.
        """
        if value is None or self.repeatable:
            return
        if self.type is str:
            if not isinstance(value, str):
                raise InputError(self.name, f"must be text, not {value!r:.40}")
            return
        if self.type is bool:
            if not isinstance(value, bool):
                raise InputError(self.name, f"must be True or False, not {value!r:.40}")
            return
        accepted = (int, float) if self.type is float else int
        if not isinstance(value, accepted) or isinstance(value, bool):
            what = "a number" if self.type is float else "an integer"
            what += f" ({self.unit})" if self.unit else ""
            raise InputError(self.name, f"must be {what}, not {value!r:.40}")
        low, high = self.within or (-math.inf, math.inf)
        if not low <= value <= high:
            ends = f"{_plain(low)} to {_plain(high)}"
            way_out = dict(self.elsewhere).get(value)
            if way_out is not None:
                ends += f", or {way_out}"
            raise InputError(self.name, f"{_plain(value)} is out of range; give {ends}")
        if self.least is not None and low != value < self.least[0]:
            raise InputError(self.name, f"{value:g} is too small; give {self.least[1]}")


def option(default: Any, help: str, metavar: str | None = None, **declaration: Any) -> Any:
    """A dataclass field that is an option; `declaration` are further arguments of Option.

    Name and type are the field's; the heading is the `PANEL` of its class unless given.
    """
    declaration.update(help=help, metavar=metavar)
    return dataclasses.field(default=default, metadata={_METADATA: declaration})


@functools.cache
def options_of(declaring: type) -> tuple[Option, ...]:
    """The options that a dataclass declares, in order."""
    types = typing.get_type_hints(declaring)
    own = {"panel": getattr(declaring, "PANEL", "")}
    return tuple(
        Option(
            **{
                "type": _plain_type(types[field.name]),
                **own,
                **field.metadata[_METADATA],
                "name": field.name,
                "default": field.default,
            }
        )
        for field in dataclasses.fields(declaring)
        if _METADATA in field.metadata
    )


def check_options(value: Any) -> None:
    """Check every option of a dataclass's value. Raises InputError."""
    declaring: type = type(value)
    for each in options_of(declaring):
        each.check(getattr(value, each.name))


def contradiction(part: str, other: str, value: str) -> InputError:
    """The error for two parts that contradict each other."""
    return InputError(part, "contradicts ", Part(other), f"{value}; give one of them")


def _plain_type(hint: Any) -> type:
    """The type of a field's values: of `int | None` that is int."""
    given = [arg for arg in typing.get_args(hint) if arg is not type(None)]
    chosen = given[0] if given else hint
    return chosen if isinstance(chosen, type) else str


def _plain(value: float) -> str:
    """A number, short and without an exponent where possible."""
    if value == _MAX_SEED:
        return "2^64-1"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number that long"
    whole = math.isfinite(value) and value.is_integer() and abs(value) < 1e15
    return str(int(value)) if whole else f"{value:g}"
