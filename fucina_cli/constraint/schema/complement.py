"""A pattern for all strings but some."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

_LONGEST = 4000  # characters of a pattern
#: Characters that a class of the engine can't leave out: it also reads them as JSON escapes.
_NOT_LEFT_OUT = '"\\'


def all_but(strings: Iterable[str]) -> str | None:
    """An ECMA-262 pattern (flag `u`) that matches exactly the strings not given.

    None where it would be long, or where the engine could not tell the strings apart. Walks the
    tree of prefixes: a string is another one where it ends early, goes on, or leaves the tree.
    """
    unique = sorted(set(strings))
    if any(char in _NOT_LEFT_OUT for text in unique for char in text):
        return None
    if sum(map(len, unique)) * 12 > _LONGEST:
        return None
    return f"^{_others(unique, 0)}$"


def _others(strings: list[str], depth: int) -> str:
    """Matches what follows a shared prefix of `depth` characters in every other string."""
    ends = any(len(text) == depth for text in strings)
    longer = [text for text in strings if len(text) > depth]
    if not longer:
        return r"[\s\S]+"
    branches = [(char, list(group)) for char, group in groupby(longer, lambda text: text[depth])]
    left = "".join(_written(char) for char, _ in branches)
    options = [rf"[^{left}][\s\S]*"]
    options += [f"{_written(char)}{_others(group, depth + 1)}" for char, group in branches]
    return f"(?:{'|'.join(options)})" + ("" if ends else "?")


def _written(char: str) -> str:
    return char if char.isascii() and char.isalnum() else rf"\u{{{ord(char):x}}}"
