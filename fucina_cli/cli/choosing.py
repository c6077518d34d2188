"""The flags, and the mode that a command line asks for; both follow from declarations."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from dataclasses import replace

from fucina_cli.cli.commandline import STARTS, CommandLine
from fucina_cli.cli.mode import CONSTRAINT, GENERATION, MODES, OUTPUT, PANELS, Mode, modes
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.constraint.kind import kinds
from fucina_cli.job import check_settings, job_options
from fucina_cli.options import Option, options_of
from fucina_cli.runtime import Runtime

_SHARED = (
    Option("chat", metavar="MSG", help="Answer a message.", panel=MODES, rank=10),
    Option("prompt", metavar="TEXT", help="Continue a raw text.", panel=MODES, rank=20),
    Option(
        "system",
        "System text of a chat.",
        "TEXT",
        panel=GENERATION,
        rank=60,
        needs=("chat", "only a chat has a system text"),
    ),
    Option("json", "Print one JSON record per answer.", type=bool, default=False, panel=OUTPUT),
    Option("tokens_out", "Write the answer's ids to a file, one per line.", "PATH", panel=OUTPUT),
    Option("quiet", type=bool, default=False, help="No notes and warnings.", panel=OUTPUT, rank=70),
    Option(
        "verbose",
        "llama.cpp's log, timings, and tracebacks of bugs, on stderr.",
        type=bool,
        default=False,
        panel=OUTPUT,
        rank=80,
    ),
)


@functools.cache
def flags() -> tuple[Option, ...]:
    """Every flag, in the order of the help."""
    found = [*_SHARED, *job_options().values(), *options_of(Runtime)]
    for kind in kinds():
        found += [replace(each, panel=CONSTRAINT) for each in (kind.option, *kind.settings)]
    for mode in modes():
        found += [*([mode.option] if mode.option else []), *mode.more]
    return tuple(sorted(found, key=lambda each: (PANELS.index(each.panel), each.rank)))


def choose(line: CommandLine) -> Mode:
    """The mode that a command line asks for.

    Raises InputError or FlagError for numbers out of range and for flags that can't be combined
    by what modes and flags declare.
    """
    if not line.model:
        raise FlagError("MODEL", "the path is empty; give a .gguf file")
    for each in line.options:
        if not each.repeatable:
            each.check(line[each.name])
    chosen = [mode for mode in modes() if mode.is_chosen(line)]
    constraints = [kind.name for kind in kinds() if line.given(kind.name)]
    _at_most_one(line, constraints, "one constraint governs an answer")
    own = [mode.option.name for mode in chosen if mode.option and mode.prompt == "own"]
    starts = [name for name in STARTS if line[name] is not None]
    _at_most_one(line, [*starts, *own], "an answer starts from one of them")
    flagged = [mode for mode in chosen if mode.option is not None]
    _at_most_one(line, (m.option.name for m in flagged if m.option), "they are modes of their own")
    _check_needed(line, chosen)
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
    """Refuse what can't be combined with a mode that writes no answer."""
    other = next((each for each in chosen if each.answers != "none" and each.option), None)
    if other is not None:
        why = f"does not go together with {mode.name}, which writes no answer"
        raise FlagError(other.name, why)
    if line.kind is not None:
        why = f"constrains nothing: {mode.name} writes no answer"
        raise FlagError(line.flag(line.kind.name), why)
    if mode.prompt == "none" and line.start:
        raise FlagError(f"{mode.name} and {line.flag(line.start)}", "can't be given together")
    if mode.prompt == "needed" and not line.start:
        raise FlagError(mode.name, "needs a prompt: --chat, --prompt or TOKEN_IDS")
    if mode.prompt != "optional":
        for flag in ineffective(line, mode):
            raise FlagError(flag, f"has no effect: {mode.name} writes no answer")
    faster = line.runtime.drafts or ("streams" if line.streams > 1 else None)
    if faster:
        raise FlagError(line.flag(faster), f"speeds nothing up: {mode.name} writes no answer")


def ineffective(line: CommandLine, mode: Mode) -> list[str]:
    """The flags given about answers that have no effect in a mode that writes none."""
    return [
        each.flag
        for name, each in job_options().items()
        if line.given(name)
        and not (name == "think" and mode.prompt != "none")  # the prompt depends on it
        and not (name == "gen" and line[name] == 0)
    ]


def _check_needed(line: CommandLine, chosen: list[Mode]) -> None:
    """Refuse flags that have no effect without another one."""
    for mode in modes():
        for each in mode.more:
            if line.given(each.name) and mode not in chosen and mode.option:
                raise FlagError(each.flag, f"needs {mode.option.flag}: {mode.about}")
    if any(mode.prompt == "own" for mode in chosen):
        return  # there such flags are defaults of requests
    for each in line.options:
        if each.needs and line[each.name] not in (None, False) and not line.given(each.needs[0]):
            raise FlagError(each.flag, f"needs {line.flag(each.needs[0])}: {each.needs[1]}")


def _check_counts(line: CommandLine, mode: Mode) -> None:
    """Refuse what does not fit the number of answers."""
    many = mode.name if mode.answers == "many" else "--streams" if line.streams > 1 else None
    if line["tokens_out"] is not None and many and mode.answers != "none":
        raise FlagError("--tokens-out", f"holds the ids of one answer; {many} has many")
    if mode.prompt == "needed" and not line.start and line["streams"] is not None:
        others = [m.name for m in modes() if m.option and m.answers == "many"]
        raise FlagError("--streams", f"needs a prompt, {' or '.join(others)}")


def _at_most_one(line: CommandLine, names: Iterable[str], why: str) -> None:
    present = [line.flag(name) for name in names]
    if len(present) > 1:
        raise FlagError(" and ".join(present), f"can't be given together: {why}")
