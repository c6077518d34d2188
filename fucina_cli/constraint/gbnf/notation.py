"""What a GBNF grammar says, without its layout."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
#: First and last code point, both included.
Interval = tuple[int, int]


@dataclass(frozen=True)
class Chars:
    """One character of a set: disjoint intervals in order, without surrogates."""

    intervals: tuple[Interval, ...]


@dataclass(frozen=True)
class Seq:
    """One part after the other; without parts, the empty text."""

    parts: tuple[Expr, ...]


@dataclass(frozen=True)
class Alt:
    """One of the options; without options, nothing at all."""

    options: tuple[Expr, ...]


@dataclass(frozen=True)
class Repeat:
    """A part at least and at most so many times; None for no upper bound."""

    part: Expr
    least: int
    most: int | None


@dataclass(frozen=True)
class Ref:
    """Another rule."""

    name: str


Expr = Chars | Seq | Alt | Repeat | Ref
EMPTY = Seq(())
NOTHING = Alt(())
#: Where a grammar starts.
ROOT = "root"


def chars(intervals: Iterable[Interval]) -> Chars:
    """A set of characters from any intervals."""
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return Chars(tuple(_without_surrogates(merged)))


def others(intervals: Iterable[Interval]) -> Chars:
    """All characters but those."""
    found, begin = [], 0
    for low, high in sorted([*chars(intervals).intervals, _SURROGATES]):
        if begin < low:
            found.append((begin, low - 1))
        begin = high + 1
    if begin <= LAST:
        found.append((begin, LAST))
    return Chars(tuple(found))


def _without_surrogates(intervals: Iterable[Interval]) -> Iterator[Interval]:
    first, last = _SURROGATES
    for low, high in intervals:
        if high < first or low > last:
            yield low, high
            continue
        if low < first:
            yield low, first - 1
        if high > last:
            yield last + 1, high


def seq(parts: Iterable[Expr]) -> Expr:
    """Parts in sequence, without sequences in the sequence."""
    flat: list[Expr] = []
    for part in parts:
        if part == NOTHING:
            return NOTHING
        flat += part.parts if isinstance(part, Seq) else (part,)
    return flat[0] if len(flat) == 1 else Seq(tuple(flat))


def alt(options: Iterable[Expr]) -> Expr:
    """One of some options, each once, without choices in the choice."""
    flat: dict[Expr, None] = {}
    for option in options:
        flat.update(dict.fromkeys(option.options if isinstance(option, Alt) else (option,)))
    return next(iter(flat)) if len(flat) == 1 else Alt(tuple(flat))


def repeat(part: Expr, least: int, most: int | None) -> Expr:
    """A repeated part."""
    if most == 0 or part == EMPTY:
        return EMPTY
    if part == NOTHING:
        return NOTHING if least else EMPTY
    return part if (least, most) == (1, 1) else Repeat(part, least, most)


def inside(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one."""
    if isinstance(expr, Seq):
        return expr.parts
    if isinstance(expr, Alt):
        return expr.options
    return (expr.part,) if isinstance(expr, Repeat) else ()


def references(expr: Expr) -> Iterator[str]:
    """Names of the rules that an expression mentions."""
    if isinstance(expr, Ref):
        yield expr.name
    for part in inside(expr):
        yield from references(part)
