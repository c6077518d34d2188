"""Text helpers for messages."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with U+FFFD in place of unprintable characters, line breaks included."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def one_line(text: str, limit: int = 200) -> str:
    """`text` on one line, at most `limit` characters: of a longer one the middle is left out.

    What a message is about often comes first, and the reason last.
    """
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    tail = (limit - 1) // 2
    return f"{line[: limit - 1 - tail]}…{line[len(line) - tail :]}"


def reason(error: Exception) -> str:
    """Why a file can't be used: of an OSError the system's text, without its number and path."""
    return getattr(error, "strerror", None) or str(error)


def counted(number: int, what: str) -> str:
    """`1 token`, `2 tokens`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
