"""Turns a crash inside native code into an error message of the command.

A damaged model file can make llama.cpp abort, divide by zero or touch memory that is not there,
and a hostile grammar can overflow a native stack. No check finds all such inputs, so the
work runs in a child, forked before any native library is loaded, and the parent, which only waits,
reports the child's death in one line.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from types import FrameType

from fucina_cli.cli.process import output
from fucina_cli.cli.process.exits import BAD_INPUT, INTERNAL, INTERRUPTED
from fucina_cli.text import printable, reason

_BOARD_BYTES = 8192
_HALF = _BOARD_BYTES // 2
_STACK_BYTES = 512 << 20
_PATIENCE = 3  # interrupts after which a child that does not stop is killed
_AGAIN_SECONDS = 0.02


class Board:
    """Memory shared by parent and child: the input to blame for a crash, and a native message."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _BOARD_BYTES)
        self._default = ""
        self._stderr: int | None = None
        with contextlib.suppress(AttributeError, OSError):  # Linux only
            self._stderr = os.memfd_create("stderr")

    def blame_by_default(self, what: str) -> None:
        """Attribute crashes outside of `blaming` to `what`, usually the model file."""
        self._default = what
        self.blame("")

    def blame(self, what: str) -> None:
        """Attribute a native crash from now on to `what`; to the default when that is ''."""
        self._write(0, what or self._default)

    @contextlib.contextmanager
    def blaming(self, what: str) -> Iterator[None]:
        """Attribute a crash within the block to `what`."""
        self.blame(what)
        try:
            yield
        finally:
            self.blame("")

    def record_message(self, text: str) -> None:
        """Record the message of a failing native assertion."""
        self._write(_HALF, text)

    def take_stderr(self) -> None:
        """Redirect what native code writes to stderr; Python's stderr stays the terminal."""
        stderr = sys.stderr
        if self._stderr is None or stderr is None:
            return
        sys.stderr = open(  # noqa: SIM115 (open until the process ends)
            os.dup(2), "w", buffering=1, encoding=stderr.encoding, errors=stderr.errors
        )
        os.dup2(self._stderr, 2)

    def read(self) -> tuple[str, str]:
        """What a crash is attributed to, and the recorded message or else the end of stderr."""
        words = self._read(_HALF)
        if not words and self._stderr is not None:
            start = max(0, os.fstat(self._stderr).st_size - _HALF)
            written = os.pread(self._stderr, _HALF, start).decode("utf-8", "replace")
            words = " ".join(written.splitlines()[-2:])
        return self._read(0), words

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
    # Signals are blocked until both sides have handlers; ignored ones (nohup) stay ignored.
    signals = [number for number in _forwarded() if signal.getsignal(number) != signal.SIG_IGN]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        child = os.fork()
    except OSError as error:
        output.error(f"can't start a process: {reason(error)}; close other programs")
        return BAD_INPUT
    if child == 0:
        code = INTERNAL
        try:
            _die_with(parent)
            _set_limits()
            BOARD.take_stderr()
            try:
                if signal.SIGINT in signals:
                    signal.signal(signal.SIGINT, _interrupt_once)
                    sys.unraisablehook = _interrupt_again
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
    if number == signal.SIGPROF:  # of `limits.time_limit`
        output.error(f"{blamed or 'the input'}: takes for ever to process; it is hostile")
        return BAD_INPUT
    name = next((s.name for s in signal.Signals if s == number), f"signal {number}")
    # Assertions name the source file where it was on the machine that built the library.
    detail = re.sub(r"\S*/", "", " ".join(words.split()))[:200] or name
    detail = printable(detail)  # it may hold text of the file
    if blamed:
        output.error(
            f"{blamed}: native code crashed on it ({detail}); "
            "it is damaged or hostile, or the engine has a bug"
        )
        return BAD_INPUT
    output.error(
        f"internal error: native code crashed ({detail}); please report it with the command line"
    )
    return INTERNAL


def _forwarded() -> list[int]:
    """Signals that ask the work to stop, which the parent forwards."""
    names = ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def _interrupt_once(_number: int, _frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt for the first Ctrl-C, and ignore a second during the clean-up.

    The terminal sends it to parent and child, and the parent forwards it: it may arrive twice.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _interrupt_again(lost: sys.UnraisableHookArgs) -> None:
    """Send an interrupt again that was raised where exceptions are lost.

    That is in a callback from native code or a destructor, which should end soon.
    """
    if lost.exc_type is None or not issubclass(lost.exc_type, KeyboardInterrupt):
        sys.__unraisablehook__(lost)
        return
    signal.signal(signal.SIGINT, _interrupt_once)
    again = threading.Timer(_AGAIN_SECONDS, os.kill, (os.getpid(), signal.SIGINT))
    again.daemon = True
    again.start()


def _occupy_standard_files() -> None:
    """Open closed standard files, so that no other file becomes stdout or stderr."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number: this one


def _set_limits() -> None:
    """Disable core dumps, and allow a larger stack.

    Some pre-tokenizers of llama.cpp match words with std::regex, which recurses per character.
    """
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
        if soft != resource.RLIM_INFINITY:
            most = _STACK_BYTES if hard == resource.RLIM_INFINITY else min(hard, _STACK_BYTES)
            resource.setrlimit(resource.RLIMIT_STACK, (max(soft, most), hard))


def _die_with(parent: int) -> None:
    """Ask the system to end this child when its parent is killed (Linux)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    with contextlib.suppress(OSError, AttributeError):
        # PR_SET_PDEATHSIG; with SIGKILL, because an ignored SIGTERM is inherited.
        ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(INTERNAL)
