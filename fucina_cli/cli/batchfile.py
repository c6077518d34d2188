"""The requests of a batch: lines of a file, each checked against the command line it overrides.

Whatever a line holds is data. Its texts never become part of an Options, where `@FILE` and `-`
would be read as files: there a placeholder stands for each, and the request carries the text.
"""

from __future__ import annotations

import codecs
import contextlib
import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import IO, TYPE_CHECKING, Any

from fucina_cli.cli import strictjson, values
from fucina_cli.cli.batchout import Name
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.strictjson import WrongValue, quoted
from fucina_cli.constraint import source
from fucina_cli.constraint.source import GrammarError, Source

if TYPE_CHECKING:
    from fucina_cli.cli.session import Texts

FLAG = "--batch"
#: As long as a file that a flag may name.
MAX_LINE_BYTES = 64 << 20
_ENDLESS_BYTES = 1 << 30  # from which on a line is taken for one that never ends

#: What a batch's Options hold beside those of its lines, which are checked as single runs.
_SINGLE_RUN: dict[str, Any] = {
    "batch": None,
    "streams": None,
    "out": None,
    "resume": False,
    "in_order": False,
}

_STARTS = ("prompt", "messages", "chat")
_CONSTRAINTS = ("json_schema", "regex", "lark", "choices")
#: Keys whose value is that of the option of the same name.
_VALUES: dict[str, Callable[[str, Any], Any]] = {
    "json_whitespace": strictjson.boolean,
    "gen": strictjson.integer,
    "think": strictjson.boolean,
    "temp": strictjson.number,
    "top_k": strictjson.integer,
    "top_p": strictjson.number,
    "min_p": strictjson.number,
    "repeat_penalty": strictjson.number,
    "repeat_last_n": strictjson.integer,
    "freq_penalty": strictjson.number,
    "presence_penalty": strictjson.number,
    "seed": strictjson.integer,
    "greedy": strictjson.boolean,
}
KEYS = ("id", *_STARTS, "system", *_CONSTRAINTS, "stop", "logit_bias", *_VALUES)
#: Flags that a line's key is named after, where the names differ by more than the dashes.
_KEY_OF = {"--choice": "choices", **{"--" + key.replace("_", "-"): key for key in KEYS}}
#: Low enough for "temperature" and "temperture", which share little with "temp" but the beginning.
_SIMILAR = 0.5
#: Of an unknown key as much is looked at; comparing takes quadratic time.
_LONGEST = 40


@dataclass(frozen=True)
class BatchRequest:
    """One request: the text that it starts from, and how it is to be answered.

    Either `messages` or `prompt` is given. `options` are the command line's with the line's own
    values over them; where a line brings a text (prompt, system text, constraint, stops), they hold
    a placeholder in brackets, and the text is here alone. `stops` are as in `session.Texts`.
    """

    line: int
    name: Name
    options: Options
    messages: list[dict[str, str]] | None
    prompt: str | None
    source: Source | None
    stops: tuple[tuple[str, bool], ...]


class BadLine(Exception):
    """A line that is no request, named by its number where no id can be read."""

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


def parse(number: int, raw: bytes | None, options: Options, texts: Texts) -> BatchRequest:
    """The request in a line, with the command line's options and texts for what it leaves out.

    A key that is null counts as absent. Raises BadLine, whose message names the key.
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
        messages, prompt = _start(line, texts.system)
        stops = texts.stops if "stop" not in line else _stops(line["stop"])
        laid_over = _lay_over(options, line, stops)
        return BatchRequest(
            line=number,
            name=name,
            options=laid_over,
            messages=messages,
            prompt=prompt,
            source=_source(line) or texts.source,
            stops=stops,
        )
    except WrongValue as error:
        raise BadLine(name, str(error)) from None
    except FlagError as error:
        raise BadLine(name, in_keys(str(error))) from None
    except RecursionError:
        raise BadLine(name, "nested too deeply") from None


def in_keys(message: str) -> str:
    """A message about flags as one about a line's keys: `--top-k: …` becomes `"top_k": …`."""

    def key(flag: re.Match[str]) -> str:
        known = _KEY_OF.get(flag.group())
        return flag.group() if known is None else f'"{known}"'

    return re.sub(r"--[a-z]+(?:-[a-z]+)*", key, message)


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
                if raw and not raw.isspace():
                    yield number, raw.removesuffix(b"\n").removesuffix(b"\r")
    except OSError as error:
        raise _unreadable(name, error) from None


def _unreadable(name: str, error: Exception) -> FlagError:
    reason = getattr(error, "strerror", None) or str(error)
    return FlagError(FLAG, f"can't read {name}: {reason}")


def _check_keys(line: dict[str, Any], repeated: list[str], *, escapes: bool) -> None:
    for key in line:
        if key not in KEYS:
            similar = difflib.get_close_matches(key[:_LONGEST], KEYS, 1, _SIMILAR)
            hint = f"; did you mean {quoted(similar[0])}?" if similar else ""
            raise WrongValue(f"unknown key {quoted(key)}{hint}")
    if repeated:
        raise WrongValue(f"the key {quoted(repeated[0])} is given more than once")
    if escapes:  # only an escape brings half of a surrogate pair into valid UTF-8
        for key, value in line.items():
            if not strictjson.is_text(value):
                raise WrongValue(f"{quoted(key)}: has half of a surrogate pair, which is no text")
    if not (line.get("id") is None or strictjson.is_id(line["id"])):
        kind = strictjson.kind(line["id"])
        raise WrongValue(f'"id": must be a string or an integer, not {kind}')


def _start(
    line: dict[str, Any], default_system: str | None
) -> tuple[list[dict[str, str]] | None, str | None]:
    """Messages or prompt; a chat without a system text of its own takes the line's or default."""
    given = [quoted(key) for key in _STARTS if key in line]
    if not given:
        raise WrongValue(f"needs one of {', '.join(map(quoted, _STARTS))}")
    if len(given) > 1:
        raise WrongValue(f"{' and '.join(given)}: can't be given together")
    system = strictjson.string('"system"', line["system"]) if "system" in line else None
    if "prompt" in line:
        return None, _some_text('"prompt"', line["prompt"])
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
    return messages, None


def _messages(given: object) -> list[dict[str, str]]:
    if not isinstance(given, list) or not given:
        raise WrongValue('"messages": must be a list of at least one message')
    messages = []
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


def _stops(given: object) -> tuple[tuple[str, bool], ...]:
    stops = []
    for stop in given if isinstance(given, list) else [given]:
        if isinstance(stop, str) and stop:
            stops.append((stop, False))  # an id is written as a number, so this is none
        elif isinstance(stop, int) and not isinstance(stop, bool) and stop >= 0:
            stops.append((str(stop), True))
        else:
            raise WrongValue('"stop": must be some text, a token id, or a list of them')
    return tuple(stops)


def _source(line: dict[str, Any]) -> Source | None:
    """The line's own constraint; at most one is given, which its options were checked for."""
    key = next((key for key in _CONSTRAINTS if key in line), None)
    if key is None:
        return None
    name, value = quoted(key), line[key]
    try:
        if key == "json_schema":
            # A schema is read by the same function, whether it came as an object or as text.
            return source.json_schema(value if isinstance(value, str) else json.dumps(value))
        if key == "choices":
            if not isinstance(value, list) or not value:
                raise WrongValue(f"{name}: must be a list of at least one string")
            return source.choice([strictjson.string(name, answer) for answer in value])
        read = source.regex if key == "regex" else source.lark
        return read(strictjson.string(name, value))
    except GrammarError as error:
        raise WrongValue(f"{name}: {error}") from None


def _biases(given: object) -> list[str]:
    """The object as the command line would write it, checked. Raises FlagError, WrongValue."""
    if not isinstance(given, dict):
        raise WrongValue(f'"logit_bias": must be an object, not {strictjson.kind(given)}')
    items = []
    for token, bias in given.items():
        if not token:
            raise WrongValue('"logit_bias": a token is empty')
        name = f'"logit_bias": {quoted(token)}'
        if isinstance(bias, str) and bias != "-inf":
            raise WrongValue(f'{name}: must be a number, or "-inf" to ban the token')
        if bias != "-inf":
            bias = strictjson.number(name, bias)
        items.append(f"{token}={bias}")
        values.bias(items[-1])
    return items


def _lay_over(
    options: Options, line: dict[str, Any], stops: tuple[tuple[str, bool], ...]
) -> Options:
    """The command line's options with the line's over them. Raises FlagError, WrongValue."""
    changes: dict[str, Any] = {
        key: read(quoted(key), line[key]) for key, read in _VALUES.items() if key in line
    }
    chats = "prompt" not in line
    changes["chat"] = "(chat)" if chats else None
    changes["prompt"] = None if chats else "(prompt)"
    changes["system"] = "(system)" if "system" in line else None
    changes["stop"] = ["(stop)"] if stops else None
    if "logit_bias" in line:
        changes["logit_bias"] = _biases(line["logit_bias"]) or None
    if any(key in line for key in _CONSTRAINTS):
        given = {key: f"({key})" if key in line else None for key in _CONSTRAINTS}
        choices = given.pop("choices")
        changes.update(given, choice=[choices] if choices else None)
    # Of two ways to set one thing the line's wins.
    if "temp" in line:
        changes.setdefault("greedy", False)
    elif changes.get("greedy"):
        changes["temp"] = None
    result = replace(options, **_SINGLE_RUN, **changes)
    # What the command line says of constraints is meant for the lines that have such a one.
    if "json_whitespace" not in line and result.json_schema is None:
        result = replace(result, json_whitespace=False)
    if result.constraint_flag is None:
        result = replace(result, forced_spans=True)
    if result.gen is not None:
        values.Range(1, values.RANGES["--gen"].high).check('"gen"', result.gen)
    result.check()
    return result
