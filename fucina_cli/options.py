"""Options declared once: flag, key, keyword, range, help and record derive from one field.

An option is a field of a dataclass made by `option`, or an `Option` of its own. It becomes a
flag of the command line, a key in lines of a batch, and a keyword in Python.
"""

from __future__ import annotations

import dataclasses
import math
import typing
from collections.abc import Iterator
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
        type: int, float, bool or str; of a repeatable one, of each value.
        help: one sentence.
        default: value where none is given.
        low, high: accepted numbers, both ends included; None for no bound.
        least: the smallest number above `low` that is accepted.
        below: what an error says to give in place of a number smaller than `least`.
        unit: of the number, where it has one.
        flag: on the command line; its name with dashes unless given.
        short: a second, short flag.
        negative: the flag for False, of a bool that can be given either way.
        repeatable: whether it is a list.
        metavar: what stands for its value in the help.
        panel: heading in the help that it stands under.
        rank: place under that heading.
        key: in a line of a batch; None where lines can't set it.
        metadata: GGUF key of the model file's own default, None where there is none.
        needs: name of another option without which it has no effect, and why.
    """

    name: str
    type: type = str
    help: str = ""
    default: Any = None
    low: float | None = None
    high: float | None = None
    least: float | None = None
    below: str = ""
    unit: str = ""
    flag: str = ""
    short: str = ""
    negative: str = ""
    repeatable: bool = False
    metavar: str | None = None
    panel: str = ""
    rank: int = 50
    key: str | None = None
    metadata: str | None = None
    needs: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if not self.flag:
            object.__setattr__(self, "flag", "--" + self.name.replace("_", "-"))

    def __str__(self) -> str:
        """Name, default, range and help, readable."""
        ends = "" if self.low is None else f" ({_plain(self.low)} to {_plain(self.high or 0)})"
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.name} = {self.default!r}{unit}{ends}: {self.help}"

    def check(self, value: Any) -> None:
        """Raise InputError for a value of the wrong type or out of range; None is accepted.

        NaN is outside of every range. Texts and lists are not checked.
        """
        if value is None or self.repeatable or self.type is str:
            return
        if self.type is bool:
            if not isinstance(value, bool):
                raise InputError(self.name, f"must be True or False, not {value!r:.40}")
            return
        accepted = (int, float) if self.type is float else int
        if not isinstance(value, accepted) or isinstance(value, bool):
            what = "a number" if self.type is float else "an integer"
            raise InputError(self.name, f"must be {what}, not {value!r:.40}")
        if self.low is not None and self.high is not None and not self.low <= value <= self.high:
            ends = f"{_plain(self.low)} to {_plain(self.high)}"
            raise InputError(self.name, f"{_plain(value)} is out of range; give {ends}")
        if self.least is not None and self.low != value < self.least:
            raise InputError(self.name, f"{value:g} is too small; give {self.below}")


def option(default: Any = None, **declaration: Any) -> Any:
    """A dataclass field that is an option; `declaration` are arguments of Option.

    Name and type are the field's, and the default is that of the field.
    """
    return dataclasses.field(default=default, metadata={_METADATA: declaration})


def options_of(declaring: type) -> list[Option]:
    """The options that a dataclass declares, in order."""
    return list(_options_of(declaring))


def _options_of(declaring: type) -> Iterator[Option]:
    types: dict[str, Any] = {}
    for field in dataclasses.fields(declaring):
        declaration = field.metadata.get(_METADATA)
        if declaration is None:
            continue
        types = types or typing.get_type_hints(declaring)
        kind = declaration.get("type") or _plain_type(types[field.name])
        yield Option(**{**declaration, "name": field.name, "type": kind, "default": field.default})


def check_options(value: Any) -> None:
    """Check every option of a dataclass's value. Raises InputError."""
    for each in options_of(type(value)):
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
