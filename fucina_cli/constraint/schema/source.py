"""The text that a schema was given in: lines of places, keys written twice."""

from __future__ import annotations

import bisect
import contextlib
import re
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property
from json.decoder import scanstring  # type: ignore[attr-defined]
from typing import Any

from fucina_cli.constraint.schema.walk import Note, escaped

_SPACE = re.compile(r"[ \t\n\r]*")
_SCALAR = re.compile(r'[^\s,\]}"]+')
_SHOWN = 200


@dataclass(frozen=True)
class Source:
    """Where a schema was written.

    Attributes:
        text: the user's own text; "" where the schema was not given as text.
        prefix: JSON pointer of the schema within it, where it was in a wrapper.
        notes: what was read otherwise than it was written.
        schema: as it was read, before any rewrite.
    """

    text: str = field(default="", repr=False)
    prefix: str = ""
    notes: tuple[Note, ...] = ()
    schema: Any = field(default=None, repr=False, compare=False)

    @property
    def identity(self) -> Hashable:
        """Equal for sources whose messages about the same schema are the same."""
        return self.text if self._breaks else "", self.prefix, self.notes

    def place(self, pointer: str) -> str:
        """A place for messages: its JSON pointer, and its line where the text has several.

        `pointer` is that of a part of the schema. A place that was not written, as after a
        rewrite, has no line.
        """
        whole = self.prefix + pointer
        shown = whole if len(whole) <= _SHOWN else f"{whole[: _SHOWN // 2]}…{whole[-_SHOWN // 2 :]}"
        line = self.line(pointer)
        return (shown or "the top") + (f", line {line}" if line else "")

    def line(self, pointer: str) -> int | None:
        """The line of a part of the schema, from 1; None where unknown or there is but one."""
        offset = self._offsets.get(self.prefix + pointer)
        if offset is None or not self._breaks:
            return None
        return bisect.bisect_left(self._breaks, offset) + 1

    def repeated(self) -> list[tuple[str, int]]:
        """Pointers of keys that an object has more than once, and how often, in order."""
        counts: dict[str, int] = {}
        for pointer, _offset in self._positions():
            counts[pointer] = counts.get(pointer, 0) + 1
        return [(pointer, count) for pointer, count in counts.items() if count > 1]

    @cached_property
    def _breaks(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text.rstrip())]

    @cached_property
    def _offsets(self) -> dict[str, int]:
        return dict(self._positions())  # of a key written twice the last one counts

    def _positions(self) -> list[tuple[str, int]]:
        """Pointer and offset of the text's value, then of every key and element, in order."""
        found: list[tuple[str, int]] = []
        if self.text:
            # A place without a line is better than no message.
            with contextlib.suppress(RecursionError, ValueError, IndexError):
                _walk(self.text, _skip(self.text, 0), "", found)
        return found


#: Of a schema that was not given as text.
NOWHERE = Source()


def _walk(text: str, at: int, pointer: str, found: list[tuple[str, int]]) -> int:
    """Note the places within the JSON value at `at`; the offset after it."""
    if not found:
        found.append((pointer, at))
    if text[at] == "{":
        at = _skip(text, at + 1)
        while text[at] != "}":
            begin = at
            name, at = scanstring(text, at + 1, True)
            inner = f"{pointer}/{escaped(name)}"
            found.append((inner, begin))
            at = _walk(text, _skip(text, _skip(text, at) + 1), inner, found)
            at = _after_comma(text, at)
        return at + 1
    if text[at] == "[":
        at, index = _skip(text, at + 1), 0
        while text[at] != "]":
            inner = f"{pointer}/{index}"
            found.append((inner, at))
            at = _after_comma(text, _walk(text, at, inner, found))
            index += 1
        return at + 1
    if text[at] == '"':
        end: int = scanstring(text, at + 1, True)[1]
        return end
    scalar = _SCALAR.match(text, at)
    if scalar is None:
        raise ValueError
    return scalar.end()


def _after_comma(text: str, at: int) -> int:
    at = _skip(text, at)
    return _skip(text, at + 1) if text[at] == "," else at


def _skip(text: str, at: int) -> int:
    """The offset of what follows the white space at `at`."""
    space = _SPACE.match(text, at)
    return at if space is None else space.end()
