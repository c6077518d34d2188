"""Schemas to be tried, from JSONL files, folders, and checkouts of the JSON Schema Test Suite."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fucina_cli.bench import literal

#: `$schema` of the drafts, by the name of their folder in the Test Suite; and folders left out.
DIALECTS = {
    **{f"draft{n}": f"http://json-schema.org/draft-0{n}/schema#" for n in (4, 6, 7)},
    **{f"draft{y}": f"https://json-schema.org/draft/{y}/schema" for y in ("2019-09", "2020-12")},
}
_LEFT_OUT = {"draft3", "draft-next", "remotes"}


@dataclass(frozen=True)
class Instance:
    """A document, as `literal` reads it, and whether its schema accepts it."""

    description: str
    data: Any
    valid: bool


@dataclass(frozen=True)
class Case:
    """A schema to be tried.

    Attributes:
        name: its file, and where in it.
        group: what it is counted under: the draft, and whether optional; "schemas" of others.
        schema: its JSON text.
        instances: documents for it.
    """

    name: str
    group: str
    schema: str
    instances: tuple[Instance, ...] = ()


class Unreadable(Exception):
    """A path without schemas; the text says why."""


def read(path: Path) -> Iterator[Case]:
    """The cases of a JSONL file with a schema, or `{"schema": …}`, in each line; or of a folder.

    Files of a folder hold a schema, or a list of groups `{"schema": …, "tests": […]}` as in the
    Test Suite. Folders named like a draft say how schemas in them without `$schema` are read;
    drafts other than those from 4 to 2020-12 are left out. Raises Unreadable.
    """
    if path.is_dir():
        files = sorted(path.rglob("*.json"))
        if not files:
            raise Unreadable(f"'{path}' has no .json files")
        for file in files:
            yield from _of_file(file, str(file.relative_to(path)))
        return
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Unreadable(f"'{path}' can't be read: {error}") from None
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield _of_line(line, number)


def _of_line(line: str, number: int) -> Case:
    name = f"line {number}"
    try:
        value = literal.loads(line)
        if isinstance(value, dict) and isinstance(value.get("schema"), dict | bool):
            identity = value.get("id", name)
            name = identity if isinstance(identity, str) else name
            return _with_tests(name, "schemas", value)
    except (ValueError, RecursionError):
        pass  # it is tried as it stands, and refused
    return Case(name, "schemas", line)


def _of_file(path: Path, name: str) -> Iterator[Case]:
    """The cases of one file."""
    folders = path.resolve().parts[:-1]
    if _LEFT_OUT.intersection(folders):
        return
    draft = next((part for part in folders if part in DIALECTS), "")
    group = draft or "schemas"
    if draft and "optional" in folders:
        group += " format" if "format" in folders else " optional"
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    try:
        value = literal.loads(text)
    except (ValueError, RecursionError):
        yield Case(name, group, text)
        return
    if (
        isinstance(value, list)
        and value
        and all(isinstance(g, dict) and "schema" in g for g in value)
    ):
        for each in value:
            at = f"{name}: {each.get('description', '')}"
            yield _with_tests(at, group, each, DIALECTS.get(draft))
    elif isinstance(value, dict) and isinstance(value.get("tests"), list) and "schema" in value:
        yield _with_tests(name, group, value)
    else:
        yield Case(name, group, text)


def _is_group(value: Any) -> bool:
    return isinstance(value, dict) and "schema" in value


def _with_tests(name: str, group: str, value: dict[str, Any], dialect: str | None = None) -> Case:
    schema, tests = value["schema"], value.get("tests")
    if dialect and isinstance(schema, dict) and "$schema" not in schema:
        schema = {"$schema": dialect, **schema}
    instances = [
        Instance(str(test.get("description", "")), test["data"], test["valid"] is True)
        for test in (tests if isinstance(tests, list) else [])
        if isinstance(test, dict) and "data" in test and "valid" in test
    ]
    return Case(name, group, literal.dumps(schema), tuple(instances))


_ARRANGEMENTS = 48
_INTEGRAL = re.compile(r"(-?\d+)\.0+")


def texts(data: Any, schema: Any) -> list[str]:
    """Compact texts of a document, the likeliest first, at most 48.

    A grammar may fix the order of the properties, so they come in the order of the schema, then as
    they are, then in others. Integral numbers such as 1.0 also come as integers.
    """
    names = list(dict.fromkeys(_names(schema)))
    found: dict[str, None] = {}
    for changed in (_integral(data), data):
        found[literal.dumps(_sorted(changed, names))] = None
        for arranged in _arrangements(changed):
            found[literal.dumps(arranged)] = None
            if len(found) >= _ARRANGEMENTS:
                return list(found)
    return list(found)


def _names(schema: Any) -> Iterator[str]:
    """Names of properties anywhere in a schema, in its order."""
    if isinstance(schema, dict):
        properties = schema.get("properties")
        if isinstance(properties, dict):
            yield from properties
        for each in schema.values():
            yield from _names(each)
    elif isinstance(schema, list):
        for each in schema:
            yield from _names(each)


def _sorted(value: Any, names: list[str]) -> Any:
    if isinstance(value, dict):
        known = [name for name in names if name in value]
        order = [*known, *(name for name in value if name not in known)]
        return {name: _sorted(value[name], names) for name in order}
    if isinstance(value, list):
        return [_sorted(each, names) for each in value]
    return value


def _integral(value: Any) -> Any:
    if isinstance(value, literal.Number):
        match = _INTEGRAL.fullmatch(value.text)
        return literal.Number(match.group(1)) if match else value
    if isinstance(value, dict):
        return {key: _integral(each) for key, each in value.items()}
    return [_integral(each) for each in value] if isinstance(value, list) else value


def _arrangements(value: Any) -> Iterator[Any]:
    """`value` with the properties of its objects in every order; as they are first."""
    if isinstance(value, dict):
        for order in itertools.permutations(value):
            for parts in itertools.product(*(_few(value[name]) for name in order)):
                yield dict(zip(order, parts, strict=True))
    elif isinstance(value, list):
        for parts in itertools.product(*map(_few, value)):
            yield list(parts)
    else:
        yield value


def _few(value: Any) -> list[Any]:
    return list(itertools.islice(_arrangements(value), _ARRANGEMENTS))
