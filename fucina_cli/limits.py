"""Limits on work that could run for ever, and on when Ctrl-C may break into work."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

_RING_AGAIN = 0.5  # seconds
_GRACE = 2.5  # seconds
_interrupt_came = False


class TimeLimit(BaseException):
    """The work did not end within its limit.

    Like KeyboardInterrupt no Exception: the work itself may catch and ignore every Exception.
    """


@contextlib.contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeLimit inside the block after `seconds` of wall time.

    A single call into C code that does not return can't be interrupted: the process ends with
    SIGPROF once it spent 2.5 s of processor time more than that.

    Works where an alarm signal can be taken (the main thread of a Unix process); elsewhere the
    block runs without a limit.
    """
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TimeLimit

    def stop() -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGALRM, previous)

    previous = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_PROF, seconds + _GRACE)
        # More than once: an exception can get lost in a destructor or a callback.
        signal.setitimer(signal.ITIMER_REAL, seconds, _RING_AGAIN)
        try:
            yield
        finally:
            stop()
    finally:
        stop()  # the alarm may have rung once more before the first


@contextlib.contextmanager
def interrupts_held() -> Iterator[None]:
    """Let Ctrl-C wait for the end of the block.

    For native code that calls back into Python: an exception raised inside a callback is printed
    and then lost. Blocking the signal would not do: a thread of some library, of BLAS for one,
    would take it, and Python's handler would still run at once in the main thread.
    """
    global _interrupt_came
    handler = signal.getsignal(signal.SIGINT)
    if (
        threading.current_thread() is not threading.main_thread()
        or not callable(handler)  # ignored, or not Python's to take
        or handler is _note_interrupt
    ):
        yield
        return
    _interrupt_came = False
    signal.signal(signal.SIGINT, _note_interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        came, _interrupt_came = _interrupt_came, False
        if came:
            signal.raise_signal(signal.SIGINT)


def interrupt_waits() -> bool:
    """Whether Ctrl-C came inside `interrupts_held`."""
    return _interrupt_came


def _note_interrupt(_number: int, _frame: FrameType | None) -> None:
    global _interrupt_came
    _interrupt_came = True
