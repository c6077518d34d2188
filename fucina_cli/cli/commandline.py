"""The command line as parsed: values of flags, and names for messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.kind import Kind, kinds
from fucina_cli.families.family import Family
from fucina_cli.options import Option, options_of
from fucina_cli.runtime import Runtime

if TYPE_CHECKING:
    from fucina_cli.constraint.guard import Guard

IDS = "token_ids"
#: Names of what gives a prompt: two flags and an argument.
STARTS = ("chat", "prompt", IDS)


@dataclass(frozen=True)
class CommandLine:
    """A command line as parsed.

    Attributes:
        family: the family of the command.
        model: name of the model, as given.
        values: of each option, by its name; None where it was not given.
        options: every option that the command has.
    """

    family: Family
    model: str
    values: Mapping[str, Any]
    options: tuple[Option, ...]

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def given(self, name: str) -> bool:
        """Whether a flag was given; of a boolean one, whether it is on."""
        value = self.values.get(name)
        return value is not None and value is not False and value != []

    @cached_property
    def reader(self) -> TextReader:
        """Reads the files that flags name, and standard input once."""
        return TextReader()

    @property
    def json(self) -> bool:
        """Whether to print records in place of text."""
        return self.given("json")

    @property
    def quiet(self) -> bool:
        """Whether to drop notes and warnings."""
        return self.given("quiet")

    @property
    def streams(self) -> int:
        """Answers or requests side by side."""
        return self["streams"] or 1

    @cached_property
    def runtime(self) -> Runtime:
        """How the model is to run. Raises InputError."""
        given = {each.name: self[each.name] for each in options_of(Runtime)}
        return Runtime(**{name: value for name, value in given.items() if value is not None})

    @cached_property
    def guard(self) -> Guard:
        """Where constraints are prepared and answers judged."""
        from fucina_cli.constraint.guard import Guard  # not needed by runs without a constraint

        return Guard(self.runtime.compile_timeout)

    def close(self) -> None:
        """End the processes that were started for this command line."""
        if "guard" in self.__dict__:
            self.guard.close()

    @property
    def start(self) -> str | None:
        """Name of the flag or argument that gives the prompt; None without one."""
        names = STARTS
        return next((name for name in names if self[name] is not None), None)

    @property
    def kind(self) -> Kind | None:
        """The kind of the constraint that was given; None without one."""
        return next((kind for kind in kinds() if self.given(kind.name)), None)

    @cached_property
    def _flags(self) -> Mapping[str, str]:
        return {IDS: "TOKEN_IDS", **{each.name: each.flag for each in self.options}}

    def flag(self, name: str) -> str:
        """The flag of an option; any other name as it is."""
        return self._flags.get(name, name)

    def names(self, part: str) -> str:
        """The name of a part of the input on this command line, for messages."""
        if part == "prompt":
            return self.flag(self.start) if self.start else "the prompt"
        if part == "raw prompt":
            return "--prompt"
        if part == "constraint":
            return self._with_file(self.kind.name) if self.kind else "constraint"
        if part == "draft_model" and self["draft_model"]:
            return f"--draft-model ('{self['draft_model']}')"
        return self.flag(part)

    def about(self, part: str | None) -> str:
        """The beginning of a message about a part of the input; empty for None."""
        return "" if part is None else f"{self.names(part)}: "

    def _with_file(self, name: str) -> str:
        value = self[name]
        if isinstance(value, str) and value.startswith("@") and not value.startswith("@@"):
            return f"{self.flag(name)} ('{value[1:]}')"
        return self.flag(name)
