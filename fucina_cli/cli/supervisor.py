"""Keeps a crash inside native code from becoming a crash of the command.

A damaged model file can make llama.cpp abort, divide by zero or touch memory that is not there,
and a hostile grammar can overflow a native stack. No check of ours finds all such inputs, so the
work runs in a forked child, before any native library is loaded, and the parent turns the child's
death into one clear line. The parent only waits: it costs about a millisecond and 10 MB shared.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from fucina_cli.cli import output
from fucina_cli.cli.exits import BAD_INPUT, INTERNAL

_BOARD_BYTES = 8192
_HALF = _BOARD_BYTES // 2
_FORWARDED = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
_PATIENCE = 3  # interrupts after which a child that does not stop is killed


class Board:
    """A page of memory shared with the parent: what is being done, and native last words."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BOARD_BYTES)

    def blame(self, what: str) -> None:
        """From now on a native crash is the fault of `what` (a file or a flag); '' for ours."""
        self._write(0, what)

    def last_words(self, text: str) -> None:
        """The message of a failing native assertion."""
        self._write(_HALF, text)

    def read(self) -> tuple[str, str]:
        """What was blamed, and the last words."""
        return self._read(0), self._read(_HALF)

    def _write(self, at: int, text: str) -> None:
        data = text.encode("utf-8", "replace")[: _HALF - 1]
        self._memory[at : at + _HALF] = data.ljust(_HALF, b"\0")

    def _read(self, at: int) -> str:
        return self._memory[at : at + _HALF].rstrip(b"\0").decode("utf-8", "replace")


#: The board of this process; the child of `supervise` shares it with its parent.
BOARD = Board()


def supervise(work: Callable[[], int]) -> int:
    """The exit code of `work`, which runs in a child process where the system can fork."""
    if not hasattr(os, "fork"):
        return work()
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        _die_with(parent)
        code = INTERNAL
        try:
            code = work()
        finally:
            with contextlib.suppress(Exception):
                sys.stdout.flush()
            with contextlib.suppress(Exception):
                sys.stderr.flush()
            os._exit(code)
    return _wait(child)


def _wait(child: int) -> int:
    interrupts = 0

    def forward(number: int, _frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += number == signal.SIGINT
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if interrupts >= _PATIENCE else number)

    for name in _FORWARDED:
        number = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, forward)
    while True:
        try:
            _, status = os.waitpid(child, 0)
            break
        except InterruptedError:
            continue
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    return _explain(os.WTERMSIG(status))


def _explain(number: int) -> int:
    name = signal.Signals(number).name
    if name in ("SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT"):
        return 128 + number
    blamed, words = BOARD.read()
    detail = " ".join(words.split())[:300] or name
    if name == "SIGKILL":
        output.error("the process was killed by the system, most likely for lack of memory")
        return INTERNAL
    if blamed:
        output.error(f"{blamed}: native code crashed on it ({detail}); it is damaged or hostile")
        return BAD_INPUT
    output.error(
        f"internal error: native code crashed ({detail}); please report it with the command line"
    )
    return INTERNAL


def _die_with(parent: int) -> None:
    """Ask the system to end this child when its parent is killed (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(INTERNAL)
