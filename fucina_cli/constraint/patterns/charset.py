"""Sets of characters, as sorted ranges of code points.

Surrogates are never members: no text in UTF-8 has them.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Iterable
from dataclasses import dataclass

from fucina_cli.constraint.patterns.errors import PatternError

LAST = 0x10FFFF
_SURROGATES = (0xD800, 0xDFFF)
Range = tuple[int, int]


@dataclass(frozen=True)
class CharSet:
    """Disjoint ranges (first, last), ascending, with a gap between any two."""

    ranges: tuple[Range, ...]

    def __or__(self, other: CharSet) -> CharSet:
        return of(*self.ranges, *other.ranges)

    def __and__(self, other: CharSet) -> CharSet:
        return ~(~self | ~other)

    def __sub__(self, other: CharSet) -> CharSet:
        return ~(~self | other)

    def __invert__(self) -> CharSet:
        gaps, begin = [], 0
        for first, last in of(*self.ranges, _SURROGATES, scalar=False).ranges:
            if begin < first:
                gaps.append((begin, first - 1))
            begin = last + 1
        if begin <= LAST:
            gaps.append((begin, LAST))
        return CharSet(tuple(gaps))

    @property
    def spans(self) -> tuple[Range, ...]:
        """The ranges, with the surrogates inside of one that goes on after them."""
        before, after = _SURROGATES[0] - 1, _SURROGATES[1] + 1
        if before in self and after in self:
            return of(*self.ranges, _SURROGATES, scalar=False).ranges
        return self.ranges

    def __contains__(self, code: int) -> bool:
        at = bisect.bisect_right(self.ranges, (code, LAST))
        return at > 0 and code <= self.ranges[at - 1][1]

    def __bool__(self) -> bool:
        return bool(self.ranges)


def of(*ranges: Range, scalar: bool = True) -> CharSet:
    """The set of these ranges, which may overlap; `scalar` leaves the surrogates out."""
    merged: list[list[int]] = []
    for first, last in sorted(ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1][1] = max(merged[-1][1], last)
        else:
            merged.append([first, last])
    found = CharSet(tuple((first, last) for first, last in merged))
    touches = any(f <= _SURROGATES[1] and last >= _SURROGATES[0] for f, last in found.ranges)
    return ~~found if scalar and touches else found


@functools.lru_cache(maxsize=4096)
def single(code: int) -> CharSet:
    """The set of one code point."""
    return of((code, code))


def union(sets: Iterable[CharSet]) -> CharSet:
    """All members of all sets."""
    return of(*(part for members in sets for part in members.ranges))


NONE = CharSet(())
ANY = ~NONE
DIGIT = of((0x30, 0x39))
WORD = of((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
#: LineTerminator of ECMA-262, 12.3: what its `.` does not match.
LINE_ENDS = of((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
#: WhiteSpace and LineTerminator of ECMA-262, 12.2 and 12.3: its `\s`.
ECMA_SPACE = of(
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
ASCII_SPACE = of((0x09, 0x0D), (0x20, 0x20))


@functools.lru_cache(maxsize=256)
def unicode_property(text: str) -> CharSet:
    r"""The members of a property as ECMA-262 names it in `\p{text}`. Raises PatternError."""
    import regress

    try:
        pattern = regress.Regex(f"\\p{{{text}}}+", "u")
    except regress.RegressError:
        raise PatternError(f"unknown property \\p{{{text[:40]}}}") from None
    found = []
    for match in pattern.find_iter(_everything().decode()) or ():
        place = match.range()  # in bytes
        chars = _everything()[place.start : place.stop].decode()
        found.append((ord(chars[0]), ord(chars[-1])))
    return of(*found)


@functools.lru_cache(maxsize=256)
def folded(members: CharSet) -> CharSet:
    """The set closed under Unicode's simple case folding (CaseFolding.txt, status C and S)."""
    import regress

    # Never as `[^…]`, whose members are folded before they are excluded.
    ranges = "".join(f"\\u{{{first:X}}}-\\u{{{last:X}}}" for first, last in members.ranges)
    pattern = regress.Regex(f"[{ranges}]", "iu")
    return members | union(single(ord(char)) for char in _cased() if pattern.find(char))


@functools.cache
def _everything() -> bytes:
    """All characters, in order, in UTF-8."""
    codes = (code for first, last in ANY.ranges for code in range(first, last + 1))
    return "".join(map(chr, codes)).encode()


@functools.cache
def _cased() -> str:
    """All characters that have another case; none is beyond the second plane."""
    chars = (chr(code) for first, last in ANY.ranges for code in range(first, min(last, 0x1FFFF)))
    return "".join(char for char in chars if char.lower() != char or char.upper() != char)
