"""Everything that is printed: answers on stdout, everything else on stderr."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

from fucina_cli.text import printable

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table


def answer(text: str) -> None:
    """Write to stdout, unbuffered, as UTF-8 whatever the locale says."""
    out = sys.stdout
    if out is None:
        raise BrokenPipeError
    buffer = getattr(out, "buffer", None)
    if buffer is None:  # a stand-in for stdout that takes only text
        out.write(text)
        out.flush()
        return
    out.flush()
    buffer.write(text.encode("utf-8", "replace"))
    buffer.flush()


def record(value: dict[str, Any]) -> None:
    """One JSON object on one line of stdout."""
    answer(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def table(content: Table) -> None:
    """A rich table on stdout."""
    console().print(content)


def console() -> Console:
    """A console for stdout; 120 columns wide where that is not a terminal."""
    from rich.console import Console

    width = None if sys.stdout is not None and sys.stdout.isatty() else 120
    return Console(width=width, highlight=False, soft_wrap=False)


def note(text: str) -> None:
    """One line on stderr, if there is a stderr."""
    _line("note", text)


def warning(text: str) -> None:
    """One line on stderr."""
    _line("warning", text)


def error(text: str) -> None:
    """One line on stderr."""
    _line("error", text)


def thinking(text: str) -> None:
    """Thoughts as they come, dim, on a terminal's stderr only."""
    if sys.stderr is None or not sys.stderr.isatty():
        return
    plain = "NO_COLOR" in os.environ
    _stderr(text if plain else f"\x1b[2m{text}\x1b[22m")


def discard_stdout() -> None:
    """Point stdout at the null device: the interpreter's flush at exit could fail on a pipe."""
    if sys.stdout is None:
        return
    try:
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
    except (OSError, ValueError):
        pass


def _line(kind: str, text: str) -> None:
    """One line of printable characters: parts of it may come from files and grammars."""
    _stderr(f"{kind}: {printable(' '.join(text.split()))}\n")


def _stderr(text: str) -> None:
    if sys.stderr is None:
        return
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except UnicodeEncodeError:
        sys.stderr.write(text.encode("ascii", "backslashreplace").decode("ascii"))
        sys.stderr.flush()
    except (OSError, ValueError):
        pass
