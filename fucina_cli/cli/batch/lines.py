"""The requests of a batch: lines of a file, each overriding the command line.

Texts of a line are data: none is read as the name of a file.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from fucina_cli.cli import values
from fucina_cli.cli.batch import foreign, strictjson
from fucina_cli.cli.batch.results import Name
from fucina_cli.cli.batch.strictjson import WrongValue, quoted
from fucina_cli.cli.jobs import with_settings
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.constraint.kind import GrammarError, Kind, Spec, kinds
from fucina_cli.errors import InputError, Names
from fucina_cli.job import Chat, Job, Message, Start, Text, check_bias, job_options, merge_settings
from fucina_cli.options import Option
from fucina_cli.text import reason

if TYPE_CHECKING:
    from fucina_cli.cli.jobs import Given

FLAG = "--batch"
#: The limit of files that flags name, too.
MAX_LINE_BYTES = 64 << 20
_ENDLESS_BYTES = 1 << 30  # a longer line is taken for endless

_STARTS = ("prompt", "messages", "chat")
#: Low enough for "temperature" and "temperture", which share little with "temp" but the beginning.
_SIMILAR = 0.5
#: Characters of an unknown key that are compared, which takes quadratic time.
_LONGEST = 40


@functools.cache
def _options() -> Mapping[str, Option]:
    """The options that a line can set, by their keys."""
    settings = (each for kind in kinds() for each in kind.settings)
    return {each.key: each for each in (*settings, *job_options().values())}


@functools.cache
def _kinds() -> Mapping[str, Kind]:
    """The kinds of constraints, by their keys."""
    return {kind.option.key: kind for kind in kinds()}


@functools.cache
def keys() -> tuple[str, ...]:
    """Every key that a line may have."""
    return ("id", *_STARTS, "system", *_kinds(), *_options())


@dataclass(frozen=True)
class LineJob:
    """The line of a job; it is the job's id.

    Attributes:
        index: number of the request, from 0.
        number: number of its line, from 1.
        name: its name in the record.
        given: the line's keys.
        flags: names of parts on the command line.
    """

    index: int
    number: int
    name: Name
    given: frozenset[str]
    flags: Names

    def names(self, part: str) -> str:
        """The name of a part: the line's key, or the flag where the line has no such key."""
        if part == "raw prompt":
            return quoted("prompt")
        if part == "prompt":
            return self._first(_STARTS) or part
        if part == "system":
            return self._first(("system", "messages")) or self.flags(part)
        if part == "constraint":
            return self._first(_kinds()) or self.flags(part)
        key = next((key for key, each in _options().items() if each.name == part), part)
        return quoted(key) if key in self.given else self.flags(part)

    def _first(self, keys: Iterable[str]) -> str | None:
        """The first of `keys` that the line has, as it is told; None for none."""
        return next((quoted(key) for key in keys if key in self.given), None)


class BadLine(Exception):
    """A line that is not a request; its `name` is its number where no id can be read."""

    def __init__(self, name: Name, message: str) -> None:
        super().__init__(message)
        self.name = name
        self.message = message


def read_lines(path: str) -> Iterator[tuple[int, bytes | None]]:
    """Numbers (from 1) and lines of a file, or of standard input for `-`; blank ones are left out.

    Lines come without their newline, the first without a byte order mark. One of more than
    MAX_LINE_BYTES comes as None, which `parse` refuses. The file is opened at once and read as
    lines are asked for. Raises FlagError when it can't be opened or read.
    """
    if path == "-":
        if sys.stdin is None:
            raise FlagError(FLAG, "there is no standard input")
        return _lines("standard input", contextlib.nullcontext(sys.stdin.buffer))
    try:
        return _lines(f"'{path}'", open(path, "rb"))
    except (OSError, ValueError) as error:
        raise _unreadable(f"'{path}'", error) from None


def count_lines(path: str) -> int | None:
    """How many lines `read_lines` will give; None where reading them twice is not possible.

    Raises FlagError when the file can't be read.
    """
    # Not every system opens its standard input anew by this name: some share the position.
    if path == "-" or path.startswith("/dev/") or not os.path.isfile(path):
        return None
    return sum(1 for _ in read_lines(path))


def parse(number: int, raw: bytes | None, given: Given, flags: Names, index: int = 0) -> Job:
    """The job of a line, with the command line's values for what it leaves out.

    Its id is a LineJob. A key that is null counts as absent. Raises BadLine, whose message names
    the key.
    """
    name = Name(number, number)
    try:
        if raw is None:
            raise WrongValue(f"longer than {MAX_LINE_BYTES >> 20} MiB")
        line, repeated = strictjson.load_object(raw)
        if strictjson.is_id(line.get("id")) and "id" not in repeated:
            name = Name(line["id"])
        _check_keys(line, repeated, escapes=b"\\u" in raw)
        line = {key: value for key, value in line.items() if value is not None}
        request = LineJob(index, number, name, frozenset(line), flags)
        start = _start(line, given.system)
        try:
            own = _settings(line)
            settings = merge_settings(given.settings, own)
            constraint = _constraint(line, given.constraint, {**given.layout, **own}, own)
            names = job_options()
            return Job(start, constraint, {k: settings[k] for k in names if k in settings}, request)
        except InputError as error:
            raise BadLine(name, error.describe(request.names)) from None
    except WrongValue as error:
        raise BadLine(name, str(error)) from None
    except RecursionError:
        raise BadLine(name, "nested too deeply") from None


def _lines(
    name: str, opened: AbstractContextManager[IO[bytes]]
) -> Iterator[tuple[int, bytes | None]]:
    number = 0
    try:
        with opened as file:
            while raw := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if len(raw) > MAX_LINE_BYTES and not raw.endswith(b"\n"):
                    for _ in range(_ENDLESS_BYTES // MAX_LINE_BYTES):
                        if not raw or raw.endswith(b"\n"):
                            break
                        raw = file.readline(MAX_LINE_BYTES)
                    else:
                        raise FlagError(FLAG, f"{name} is no JSONL: line {number} never ends")
                    yield number, None
                    continue
                if number == 1:
                    raw = raw.removeprefix(codecs.BOM_UTF8)
                    _check_form(name, raw)
                if raw and not raw.isspace():
                    yield number, raw.removesuffix(b"\n").removesuffix(b"\r")
    except OSError as error:
        raise _unreadable(name, error) from None


def _check_form(name: str, first: bytes) -> None:
    """Raise FlagError for JSON that begins in the first line and goes on: it is no JSONL."""
    start = first.strip()
    if start[:1] not in (b"[", b"{"):
        return
    what = "one JSON array" if start[:1] == b"[" else "JSON over several lines"
    if start in (b"[", b"{") or re.fullmatch(rb"\[\s*\{.*,", start):
        query = ".[]" if start[:1] == b"[" else "."
        raise FlagError(
            FLAG, f"{name} is {what}; give each request on a line of its own (jq -c '{query}' FILE)"
        )


def _unreadable(name: str, error: Exception) -> FlagError:
    return FlagError(FLAG, f"can't read {name}: {reason(error)}")


def _check_keys(line: dict[str, Any], repeated: list[str], *, escapes: bool) -> None:
    for key in line:
        if key not in keys():
            hint = foreign.way_out(line, key)
            if not hint:
                similar = difflib.get_close_matches(key[:_LONGEST], keys(), 1, _SIMILAR)
                hint = f"did you mean {quoted(similar[0])}?" if similar else ""
            raise WrongValue(f"unknown key {quoted(key)}{f'; {hint}' if hint else ''}")
    if repeated:
        raise WrongValue(f"the key {quoted(repeated[0])} is given more than once")
    if escapes:  # only an escape brings half of a surrogate pair into valid UTF-8
        for key, value in line.items():
            if not strictjson.is_text(value):
                raise WrongValue(f"{quoted(key)}: has half of a surrogate pair, which is no text")
    if not (line.get("id") is None or strictjson.is_id(line["id"])):
        kind = strictjson.kind(line["id"])
        raise WrongValue(f'"id": must be a string or an integer, not {kind}')


def _start(line: dict[str, Any], default_system: str | None) -> Start:
    """Messages or prompt; a chat without a system text of its own takes the line's or default."""
    given = [quoted(key) for key in _STARTS if key in line]
    if not given:
        raise WrongValue(f"needs one of {', '.join(map(quoted, _STARTS))}")
    if len(given) > 1:
        raise WrongValue(f"{' and '.join(given)}: can't be given together")
    system = strictjson.string('"system"', line["system"]) if "system" in line else None
    if "prompt" in line:
        if system is not None:
            raise WrongValue('"system": needs "chat": only a chat has a system text')
        return Text(_some_text('"prompt"', line["prompt"]))
    messages: list[Message]
    if "chat" in line:
        messages = [{"role": "user", "content": _some_text('"chat"', line["chat"])}]
    else:
        messages = _messages(line["messages"])
    if messages[0]["role"] != "system":
        system = default_system if system is None else system
        if system is not None:
            messages.insert(0, {"role": "system", "content": system})
    elif system is not None:
        raise WrongValue('"system": "messages" begins with a system text already')
    return Chat(tuple(messages))


def _messages(given: object) -> list[Message]:
    if not isinstance(given, list) or not given:
        raise WrongValue('"messages": must be a list of at least one message')
    messages: list[Message] = []
    for position, message in enumerate(given, 1):
        name = f'"messages": message {position}'
        if not isinstance(message, dict) or set(message) != {"role", "content"}:
            raise WrongValue(f'{name}: must be an object of "role" and "content"')
        role = message["role"]
        if role not in ("system", "user", "assistant"):
            raise WrongValue(f'{name}: "role" must be "system", "user" or "assistant"')
        if role == "system" and position > 1:
            raise WrongValue(f"{name}: a system text can only come first")
        content = strictjson.string(f'{name}: "content"', message["content"])
        messages.append({"role": role, "content": content})
    if messages[-1]["role"] != "user":
        raise WrongValue('"messages": the last message must be a user\'s')
    _some_text(f'"messages": message {len(messages)}', messages[-1]["content"])
    return messages


def _some_text(name: str, value: object) -> str:
    text = strictjson.string(name, value)
    if not text:
        raise WrongValue(f"{name}: the text is empty; there is nothing to answer")
    return text


def _settings(line: dict[str, Any]) -> dict[str, Any]:
    """The options that the line sets, by name. Raises WrongValue and InputError."""
    settings = {}
    for key, each in _options().items():
        if key in line:
            settings[each.name] = _READERS.get(key, _plain(each))(quoted(key), line[key])
    if "gen" in settings:
        gen = job_options()["gen"]
        assert gen.within is not None
        replace(gen, within=(1, gen.within[1])).check(settings["gen"])
    for key, each in _options().items():
        if key in line:
            each.check(settings[each.name])
    return settings


def _plain(each: Option) -> Callable[[str, Any], Any]:
    """Reads a value of the option's type."""
    if each.type is bool:
        return strictjson.boolean
    return strictjson.integer if each.type is int else strictjson.number


def _stops(name: str, given: object) -> tuple[str | int, ...]:
    """Texts and ids: an id is written as a number, so digits in quotes are a text."""
    stops: list[str | int] = []
    listed: list[Any] = given if isinstance(given, list) else [given]
    for stop in listed:
        text = isinstance(stop, str) and stop
        number = isinstance(stop, int) and not isinstance(stop, bool) and stop >= 0
        if not text and not number:
            raise WrongValue(f"{name}: must be some text, a token id, or a list of them")
        stops.append(stop)
    return tuple(stops)


def _biases(name: str, given: object) -> tuple[tuple[str | int, float], ...]:
    """Pairs of an id or the text of a token, and its bias."""
    if not isinstance(given, dict):
        raise WrongValue(f"{name}: must be an object, not {strictjson.kind(given)}")
    biases: list[tuple[str | int, float]] = []
    for token, bias in given.items():
        if not token:
            raise WrongValue(f"{name}: a token is empty")
        of_token = f"{name}: {quoted(token)}"
        if isinstance(bias, str) and bias != "-inf":
            raise WrongValue(f'{of_token}: must be a number, or "-inf" to ban the token')
        number = float(bias) if bias == "-inf" else strictjson.number(of_token, bias)
        check_bias(token, number)
        biases.append((values.token_id(token) if values.is_id(token) else token, number))
    return tuple(biases)


_READERS: Mapping[str, Callable[[str, Any], Any]] = {"stop": _stops, "logit_bias": _biases}


def _constraint(
    line: dict[str, Any], default: Spec | None, layout: dict[str, Any], own: dict[str, Any]
) -> Spec | None:
    """The line's own constraint, or the command line's, with the settings of its kind in force.

    Raises WrongValue.
    """
    given = [key for key in _kinds() if key in line]
    if len(given) > 1:
        both = " and ".join(map(quoted, given))
        raise WrongValue(f"{both}: can't be given together: one constraint governs an answer")
    spec = default if not given else _read(given[0], line[given[0]])
    for kind in kinds():
        if spec is not None and spec.kind == kind.name:
            return with_settings(spec, kind, layout)
        for each in kind.settings:
            if own.get(each.name) and each.needs:
                needed = quoted(kind.option.key)
                raise WrongValue(f"{quoted(each.key)}: needs {needed}: {each.needs[1]}")
    return spec


def _read(key: str, value: Any) -> Spec:
    kind, name = _kinds()[key], quoted(key)
    if kind.option.repeatable:
        if not isinstance(value, list) or not value:
            raise WrongValue(f"{name}: must be a list of at least one string")
        value = [strictjson.string(name, each) for each in value]
    elif not kind.takes_json:
        value = strictjson.string(name, value)
    try:
        return kind.read(value)
    except GrammarError as error:
        told = InputError("constraint", *error.message).reason(quoted)
        raise WrongValue(f"{name}: {told}") from None
