"""Small texts that every room needs: what is safe to print, and why a file can't be used."""

from __future__ import annotations


def printable(text: str) -> str:
    """`text` with U+FFFD in place of what a terminal would act on, line breaks included."""
    return "".join(c if c.isprintable() else "\ufffd" for c in text)


def one_line(text: str, limit: int = 200) -> str:
    """`text` on one line, at most `limit` characters of it."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 3] + "…"


def reason(error: Exception) -> str:
    """Why a file can't be used, without numbers and paths: of an OSError the system's words."""
    return getattr(error, "strerror", None) or str(error)


def counted(number: int, what: str) -> str:
    """`1 token`, `2 tokens`."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
