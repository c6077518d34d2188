"""Makes a job of the command line: reads text-valued flags and converts values."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from fucina_cli.cli import hints, values
from fucina_cli.cli.commandline import IDS, CommandLine
from fucina_cli.cli.process import output
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.constraint.kind import GrammarError, Kind, Spec, kinds
from fucina_cli.errors import InputError
from fucina_cli.job import Job, job_options

_SHOWN = 100


@dataclass(frozen=True)
class Given:
    """Settings of the command line for every answer, whatever its prompt.

    Attributes:
        settings: options of jobs, by name.
        constraint: None where there is none.
        layout: settings of constraints, by name; they hold for constraints of lines too.
        system: system text of chats.
    """

    settings: dict[str, Any]
    constraint: Spec | None
    layout: dict[str, Any]
    system: str | None


def read(line: CommandLine) -> tuple[Job | None, Given]:
    """The job of a command line, None where it has no prompt, and its settings.

    The constraint is not compiled yet: that has begun when this returns, and `check` waits for it.
    Raises FlagError and InputError for texts that can't be read or used.
    """
    chat, prompt = _text(line, "chat"), _text(line, "prompt")
    for name, text in (("chat", chat), ("prompt", prompt)):
        if text == "":
            raise InputError(name, "the text is empty; there is nothing to answer")
    settings = _settings(line)
    layout = {s.name: True for kind in kinds() for s in kind.settings if line.given(s.name)}
    given = Given(settings, _constraint(line, layout), layout, _text(line, "system"))
    if given.constraint is not None:
        with _about_the_constraint():
            line.guard.start()
            line.guard.begin(given.constraint)
    if chat is not None:
        job = Job.chat(chat, given.constraint, system=given.system, **settings)
    elif prompt is not None:
        job = Job.prompt(prompt, given.constraint, **settings)
    elif line[IDS] is not None:
        job = Job.ids(values.token_ids(line[IDS]), given.constraint, **settings)
    else:
        return None, given
    return job, given


def check(line: CommandLine) -> None:
    """Wait until the constraint of `read` is known to compile. Raises InputError."""
    with _about_the_constraint():
        line.guard.finish()


def with_settings(spec: Spec, kind: Kind, given: dict[str, Any]) -> Spec:
    """The constraint with those of `given` that are settings of its kind."""
    own = {each.name: given[each.name] for each in kind.settings if each.name in given}
    return replace(spec, **own) if own else spec  # type: ignore[type-var]


def _text(line: CommandLine, name: str) -> str | None:
    value = line[name]
    return None if value is None else _read(line, line.flag(name), value)


def _read(line: CommandLine, flag: str, value: str) -> str:
    """The text of a value; a warning where it is itself the path of a file."""
    text = line.reader.text(flag, value)
    if text == value and hints.is_file(value) and not line.quiet:
        output.warning(
            f"{flag}: '{value}' is a file, and is taken as the text itself; "
            f"give @{value} for what is in it"
        )
    return text


def _settings(line: CommandLine) -> dict[str, Any]:
    settings = {name: line[name] for name in job_options() if line.given(name)}
    if line["think"] is not None:
        settings["think"] = line["think"]
    if "stop" in settings:
        settings["stop"] = tuple(_stop(line, stop) for stop in settings["stop"])
    if "logit_bias" in settings:
        settings["logit_bias"] = tuple(values.bias(item) for item in settings["logit_bias"])
    return settings


def _stop(line: CommandLine, value: str) -> str | int:
    """A stop: digits are a token id, unless read from a file."""
    text = _read(line, "--stop", value)
    return values.token_id(text) if values.is_id(text) and not line.reader.is_file(value) else text


def _constraint(line: CommandLine, layout: dict[str, Any]) -> Spec | None:
    kind = line.kind
    if kind is None:
        return None
    flag = kind.option.flag
    value: Any = line[kind.name]
    if kind.option.repeatable:
        value = [text for each in value for text in _texts(line, flag, each)]
    elif kind.takes_paths:
        value = _read(line, flag, value)
    else:
        if hints.is_path(value):
            raise FlagError(
                flag, f"'{value[:_SHOWN]}' is a path; give @{value[:_SHOWN]} to read it"
            )
        value = line.reader.text(flag, value)
    with _about_the_constraint():
        spec = kind.read(value)
    return with_settings(spec, kind, layout)


@contextmanager
def _about_the_constraint() -> Iterator[None]:
    try:
        yield
    except GrammarError as error:
        raise InputError("constraint", *error.message) from None


def _texts(line: CommandLine, flag: str, value: str) -> list[str]:
    """The text of a value; of a file each of its lines."""
    text = _read(line, flag, value)
    if not line.reader.is_file(value):
        return [text]
    lines = (each.removesuffix("\r") for each in text.split("\n"))
    return [each for each in lines if each]
