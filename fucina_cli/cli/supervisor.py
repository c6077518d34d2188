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
import re
import signal
import sys
from collections.abc import Callable, Iterable
from types import FrameType

from fucina_cli.cli import output
from fucina_cli.cli.exits import BAD_INPUT, INTERNAL, INTERRUPTED

_BOARD_BYTES = 8192
_HALF = _BOARD_BYTES // 2
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
    """The exit code of `work`, which runs in a child process where the system can fork.

    Ctrl-C reaches `work` as one KeyboardInterrupt; from the third on the child is killed.
    """
    _occupy_standard_files()
    if not hasattr(os, "fork"):
        return work()
    parent = os.getpid()
    # What arrives before both sides have their handlers waits; what is ignored (nohup) stays so.
    signals = [number for number in _forwarded() if signal.getsignal(number) != signal.SIG_IGN]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        child = os.fork()
    except OSError as error:
        output.error(f"can't start a process: {error.strerror}; close other programs")
        return BAD_INPUT
    if child == 0:
        code = INTERNAL
        try:
            _die_with(parent)
            _leave_no_core()
            try:
                if signal.SIGINT in signals:
                    signal.signal(signal.SIGINT, _interrupt_once)
                signal.pthread_sigmask(signal.SIG_SETMASK, mask)
                code = work()
            except KeyboardInterrupt:
                code = INTERRUPTED
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
            os._exit(code)
    return _wait(child, signals, mask)


def _wait(child: int, signals: Iterable[int], mask: Iterable[int]) -> int:
    interrupts = 0

    def forward(number: int, _frame: FrameType | None) -> None:
        nonlocal interrupts
        interrupts += number == signal.SIGINT
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL if interrupts >= _PATIENCE else number)

    for number in signals:
        signal.signal(number, forward)
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    _, status = os.waitpid(child, 0)
    if os.WIFEXITED(status):
        return os.WEXITSTATUS(status)
    return INTERRUPTED if interrupts >= _PATIENCE else _explain(os.WTERMSIG(status))


def _explain(number: int) -> int:
    """One line about a child that a signal ended; the exit code."""
    if number in _forwarded():
        return 128 + number
    blamed, words = BOARD.read()
    if number == signal.SIGKILL:
        what = "the system killed the process, most likely for lack of memory"
        output.error(f"{blamed}: {what}" if blamed else what)
        return BAD_INPUT if blamed else INTERNAL
    if number == signal.SIGPROF:  # the last resort of `limits.time_limit`
        output.error(f"{blamed or 'the input'}: takes for ever to process; it is hostile")
        return BAD_INPUT
    name = next((s.name for s in signal.Signals if s == number), f"signal {number}")
    # Assertions name the source file where it was on the machine that built the library.
    detail = re.sub(r"\S*/", "", " ".join(words.split()))[:200] or name
    if blamed:
        output.error(f"{blamed}: native code crashed on it ({detail}); it is damaged or hostile")
        return BAD_INPUT
    output.error(
        f"internal error: native code crashed ({detail}); please report it with the command line"
    )
    return INTERNAL


def _forwarded() -> list[int]:
    """Signals that are meant for the work: to stop, in whatever tone."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _interrupt_once(_number: int, _frame: FrameType | None) -> None:
    """Take the first Ctrl-C as KeyboardInterrupt, and no second one while winding up.

    The terminal sends it to parent and child, and the parent forwards it: it may arrive twice.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _occupy_standard_files() -> None:
    """Open what the caller closed: the next file opened must not become stdout or stderr."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one


def _leave_no_core() -> None:
    """A crash is reported in a line, so leave no image of the model's memory on disk."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def _die_with(parent: int) -> None:
    """Ask the system to end this child when its parent is killed (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(1, signal.SIGTERM, 0, 0, 0)  # PR_SET_PDEATHSIG
        if os.getppid() != parent:
            os._exit(INTERNAL)
