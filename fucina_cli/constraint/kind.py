"""What a kind of constraint declares: how one is given, its grammar for the engine, its judge.

A kind is one file in `kinds`: a class of constraints as written by the user, and a `Kind` that
says how flags, lines of a batch and Python give one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Protocol, cast

from fucina_cli.errors import Part, keyword
from fucina_cli.options import Option


class GrammarError(ValueError):
    """A schema, pattern, grammar or choice that can't be compiled.

    Args:
        message: why, as text and mentions of other parts of the input.
    """

    def __init__(self, *message: str | Part) -> None:
        super().__init__(*message)
        self.message = message

    def __str__(self) -> str:
        return "".join(keyword(p.name) if isinstance(p, Part) else p for p in self.message)


@dataclass(frozen=True)
class Prepared:
    """A constraint in the grammar engine's own notation, checked without a vocabulary.

    `relaxations`: what the engine does not enforce of what was asked for, each named.
    """

    engine_text: str
    warnings: tuple[str, ...] = ()
    relaxations: tuple[str, ...] = ()

    @property
    def relaxed(self) -> bool:
        """Whether the engine enforces less than was asked for."""
        return bool(self.relaxations)


@dataclass(frozen=True)
class Verdict:
    """`valid` is None where no independent validator can tell; `errors`: why it is not True."""

    valid: bool | None
    errors: tuple[str, ...] = ()


class Spec(Protocol):
    """What an answer must match, as given. Equal ones have equal identities."""

    @property
    def kind(self) -> str:
        """Name of its kind, as in a record."""
        ...

    @property
    def identity(self) -> Hashable:
        """Equal for constraints that compile to the same grammar."""
        ...

    def prepare(self) -> Prepared:
        """Translate and check for the engine; needs no model. Raises GrammarError."""
        ...

    def judge(self, text: str) -> Verdict:
        """The verdict of code that shares nothing with the engine."""
        ...

    def value(self, text: str) -> Any:
        """A valid answer as a Python value."""
        ...


@dataclass(frozen=True)
class Kind:
    """How constraints of one kind are given.

    Attributes:
        option: its flag and its key in a line of a batch; named like the kind.
        spec: the class of its constraints.
        read: a constraint from the text that a flag or a line gives, from a list of texts where the
            option is repeatable, from any JSON value where `takes_json`. Raises GrammarError.
        takes: whether a Python value becomes such a constraint, as in `Job.chat(text, value)`;
            it is then the argument of `spec`.
        takes_paths: whether the path of a file, as it is, can be such a constraint.
        takes_json: whether a line of a batch may give any JSON value, not only the flag's text.
        settings: options of the constraint itself; they are fields of `spec`.
        warm_up: imports what preparing and judging need, where that is slow.
    """

    option: Option
    spec: type
    read: Callable[[Any], Spec]
    takes: Callable[[object], bool]
    takes_paths: bool = True
    takes_json: bool = False
    settings: tuple[Option, ...] = ()
    warm_up: Callable[[], None] | None = None

    @property
    def name(self) -> str:
        """Name of the kind."""
        return self.option.name


@functools.cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, in the order of their flags."""
    from fucina_cli.constraint import kinds as package
    from fucina_cli.discovery import declared

    return tuple(sorted(declared(package, Kind), key=lambda kind: kind.option.rank))


def spec_of(value: Any) -> Spec:
    """A Python value as a constraint: itself, or made of a schema, pattern or list.

    Raises GrammarError for a value that no kind takes.
    """
    for kind in kinds():
        if isinstance(value, kind.spec):
            return cast(Spec, value)
    for kind in kinds():
        if kind.takes(value):
            return cast(Spec, kind.spec(value))
    names = ", ".join(kind.spec.__name__ for kind in kinds())
    raise GrammarError(f"a constraint is one of {names}, not {type(value).__name__}")
