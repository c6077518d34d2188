"""The command line as parsed: what flags there are, what was given, and what goes together."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fucina_cli.cli.mode import CONSTRAINT, GENERATION, MODES, OUTPUT, PANELS, Mode, modes
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.kind import Kind, kinds
from fucina_cli.families.family import Family
from fucina_cli.job import check_settings, job_options
from fucina_cli.options import Option, options_of
from fucina_cli.runtime import Runtime

#: Flags that bring a prompt; ids come as an argument.
STARTS = (
    Option("chat", metavar="MSG", help="Answer a message.", panel=MODES, rank=10),
    Option("prompt", metavar="TEXT", help="Continue a raw text.", panel=MODES, rank=20),
)
IDS = "token_ids"
_SHARED = (
    Option(
        "system",
        metavar="TEXT",
        help="System text of a chat.",
        panel=GENERATION,
        rank=60,
        needs=("chat", "only a chat has a system text"),
    ),
    Option(
        "json",
        type=bool,
        default=False,
        help="Print one JSON record per answer.",
        panel=OUTPUT,
    ),
    Option(
        "tokens_out",
        metavar="PATH",
        help="Write the answer's ids to a file, one per line.",
        panel=OUTPUT,
    ),
    Option("quiet", type=bool, default=False, help="No notes and warnings.", panel=OUTPUT, rank=70),
    Option(
        "verbose",
        type=bool,
        default=False,
        help="llama.cpp's log, timings, and tracebacks of bugs, on stderr.",
        panel=OUTPUT,
        rank=80,
    ),
)


@functools.cache
def flags() -> tuple[Option, ...]:
    """Every flag, in the order of the help."""
    found = [*STARTS, *_SHARED, *job_options().values(), *options_of(Runtime)]
    for kind in kinds():
        found += [replace(each, panel=CONSTRAINT) for each in (kind.option, *kind.settings)]
    for mode in modes():
        found += [*([mode.option] if mode.option else []), *mode.more]
    return tuple(sorted(found, key=lambda each: (PANELS.index(each.panel), each.rank)))


@dataclass(frozen=True)
class CommandLine:
    """A command line for a family: the model's name, and the value of each flag by its name."""

    family: Family
    model: str
    values: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.values.get(name)

    def given(self, name: str) -> bool:
        """Whether a flag was given a value; of a switch, whether it is on."""
        value = self.values.get(name)
        return value is not None and value is not False and value != []

    @cached_property
    def reader(self) -> TextReader:
        """Reads the files that flags name, and standard input once."""
        return TextReader()

    @property
    def json(self) -> bool:
        """Whether records are wanted in place of text."""
        return self.given("json")

    @property
    def quiet(self) -> bool:
        """Whether notes and warnings are unwelcome."""
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

    @property
    def start(self) -> str | None:
        """Name of the flag or argument that brings the prompt."""
        names = (*(each.name for each in STARTS), IDS)
        return next((name for name in names if self[name] is not None), None)

    @property
    def kind(self) -> Kind | None:
        """The kind of the constraint that was given."""
        return next((kind for kind in kinds() if self.given(kind.name)), None)

    def names(self, part: str) -> str:
        """What this command line calls a part of the input."""
        if part == "prompt":
            return flag_of(self.start) if self.start else "the prompt"
        if part == "raw prompt":
            return "--prompt"
        if part == "constraint":
            return self._with_file(self.kind.name) if self.kind else "constraint"
        if part == "draft_model" and self["draft_model"]:
            return f"--draft-model ('{self['draft_model']}')"
        return flag_of(part)

    def about(self, part: str | None) -> str:
        """How a message about a part of the input, or about none, begins."""
        return "" if part is None else f"{self.names(part)}: "

    def _with_file(self, name: str) -> str:
        value = self[name]
        if isinstance(value, str) and value.startswith("@") and not value.startswith("@@"):
            return f"{flag_of(name)} ('{value[1:]}')"
        return flag_of(name)


def choose(line: CommandLine) -> Mode:
    """The mode that a command line asks for.

    Raises InputError or FlagError for numbers out of range and for what does not go together: that
    follows from what modes and flags declare.
    """
    if not line.model:
        raise FlagError("MODEL", "the path is empty; give a .gguf file")
    for each in flags():
        if not each.repeatable:
            each.check(line[each.name])
    chosen = [mode for mode in modes() if mode.is_chosen(line)]
    _at_most_one(
        (k.name for k in kinds() if line.given(k.name)), "one constraint governs an answer"
    )
    own = [mode.option.name for mode in chosen if mode.option and mode.prompt == "own"]
    starts = [name for name in (*(s.name for s in STARTS), IDS) if line[name] is not None]
    _at_most_one([*starts, *own], "an answer starts from one of them")
    flagged = [mode for mode in chosen if mode.option is not None]
    _at_most_one((m.option.name for m in flagged if m.option), "they are modes of their own")
    _check_what_is_left_out(line, chosen)
    silent = next((mode for mode in chosen if mode.answers == "none"), None)
    if silent is not None:
        _check_silent(line, silent, chosen)
    mode = (flagged or chosen)[0]
    _check_counts(line, mode)
    given = {name: line[name] for name in job_options() if line.given(name)}
    check_settings({k: v for k, v in given.items() if k not in ("stop", "logit_bias")})
    if line.quiet and line.given("verbose"):
        raise FlagError("--quiet", "contradicts --verbose; give one of them")
    return mode


def _check_silent(line: CommandLine, mode: Mode, chosen: list[Mode]) -> None:
    """What a mode that writes no answer goes together with."""
    other = next((each for each in chosen if each.answers != "none" and each.option), None)
    if other is not None:
        why = f"does not go together with {mode.name}, which writes no answer"
        raise FlagError(other.name, why)
    if line.kind is not None:
        why = f"constrains nothing: {mode.name} writes no answer"
        raise FlagError(flag_of(line.kind.name), why)
    if mode.prompt == "none" and line.start:
        raise FlagError(f"{mode.name} and {flag_of(line.start)}", "can't be given together")
    if mode.prompt == "needed" and not line.start:
        raise FlagError(mode.name, "needs a prompt: --chat, --prompt or TOKEN_IDS")
    faster = line.runtime.drafts or ("streams" if line.streams > 1 else None)
    if faster:
        raise FlagError(flag_of(faster), f"speeds nothing up: {mode.name} writes no answer")


def _check_what_is_left_out(line: CommandLine, chosen: list[Mode]) -> None:
    """Flags that say nothing without another one."""
    for mode in modes():
        for each in mode.more:
            if line.given(each.name) and mode not in chosen and mode.option:
                raise FlagError(each.flag, f"needs {mode.option.flag}: {mode.about}")
    if any(mode.prompt == "own" for mode in chosen):
        return  # there they are about those requests that they fit
    for each in flags():
        if each.needs and line[each.name] not in (None, False) and not line.given(each.needs[0]):
            raise FlagError(each.flag, f"needs {flag_of(each.needs[0])}: {each.needs[1]}")


def _check_counts(line: CommandLine, mode: Mode) -> None:
    """What depends on how many answers there are."""
    many = mode.name if mode.answers == "many" else "--streams" if line.streams > 1 else None
    if line["tokens_out"] is not None and many and mode.answers != "none":
        raise FlagError("--tokens-out", f"holds the ids of one answer; {many} has many")
    if mode.prompt == "needed" and not line.start and line["streams"] is not None:
        others = [m.name for m in modes() if m.option and m.answers == "many"]
        raise FlagError("--streams", f"needs a prompt, {' or '.join(others)}")


def _at_most_one(names: Iterable[str], why: str) -> None:
    present = [flag_of(name) for name in names]
    if len(present) > 1:
        raise FlagError(" and ".join(present), f"can't be given together: {why}")


@functools.cache
def _flags_by_name() -> dict[str, str]:
    return {each.name: each.flag for each in flags()}


def flag_of(name: str) -> str:
    """The flag of an option; of anything else what it is called."""
    return "TOKEN_IDS" if name == IDS else _flags_by_name().get(name, name)
