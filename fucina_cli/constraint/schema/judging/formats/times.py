"""Dates, times and durations of RFC 3339."""

from __future__ import annotations

_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_DAY_MINUTES = 24 * 60


def digits(text: str, count: int | None = None) -> bool:
    """Whether `text` is ASCII digits, at least one, or `count` of them."""
    right_length = bool(text) if count is None else len(text) == count
    return right_length and text.isascii() and text.isdigit()


def is_date(text: str) -> bool:
    """`full-date` of section 5.6; 0000 is a leap year (appendix C)."""
    parts = text.split("-")
    if len(parts) != 3 or not all(digits(p, n) for p, n in zip(parts, (4, 2, 2), strict=True)):
        return False
    year, month, day = map(int, parts)
    if not 1 <= month <= 12:
        return False
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 1 <= day <= _DAYS[month - 1] + (leap and month == 2)


def is_time(text: str) -> bool:
    """`full-time` of section 5.6.

    Second 60 is one that a leap second may have: at 23:59 in UTC, whichever the day.
    """
    seconds, offset = text[:8], text[8:]
    if len(seconds) != 8 or seconds[2] + seconds[5] != "::":
        return False
    parts = seconds[:2], seconds[3:5], seconds[6:]
    if not all(digits(part, 2) for part in parts):
        return False
    hour, minute, second = map(int, parts)
    if offset.startswith("."):
        fraction = len(offset) - len(offset[1:].lstrip("0123456789")) - 1
        if not fraction:
            return False
        offset = offset[1 + fraction :]
    ahead = _offset(offset)
    if ahead is None or hour > 23 or minute > 59 or second > 60:
        return False
    at = (hour * 60 + minute - ahead) % _DAY_MINUTES
    return second < 60 or at == _DAY_MINUTES - 1


def is_date_time(text: str) -> bool:
    """`date-time` of section 5.6; T and Z in either case."""
    return is_date(text[:10]) and text[10:11] in ("T", "t") and is_time(text[11:])


def is_duration(text: str) -> bool:
    """`duration` of appendix A: units in their order without gaps, weeks alone."""
    if not text.startswith("P"):
        return False
    date, marker, time = text[1:].partition("T")
    if marker and not _units(time, "HMS"):
        return False
    if not date:
        return bool(marker)
    return _units(date, "YMD") or (not marker and _units(date, "W"))


def _units(text: str, order: str) -> bool:
    """Whether `text` is numbers with units that follow each other in `order`."""
    units = ""
    number = ""
    for character in text:
        if digits(character):
            number += character
        elif number:
            units, number = units + character, ""
        else:
            return False
    return bool(units) and not number and units in order


def _offset(text: str) -> int | None:
    """`time-offset` in minutes."""
    if text in ("Z", "z"):
        return 0
    if len(text) != 6 or text[0] not in "+-" or text[3] != ":":
        return None
    if not digits(text[1:3], 2) or not digits(text[4:], 2):
        return None
    hour, minute = int(text[1:3]), int(text[4:])
    if hour > 23 or minute > 59:
        return None
    return (hour * 60 + minute) * (-1 if text[0] == "-" else 1)
