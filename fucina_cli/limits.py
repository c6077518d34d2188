"""Time limits on work, and blocks that Ctrl-C may not interrupt."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager
from types import FrameType

_RING_AGAIN = 0.5  # seconds
_GRACE = 2.5  # seconds
_own_process = False
_interrupt_came = False


class TimeLimit(BaseException):
    """The work did not end within its limit.

    Not an Exception, like KeyboardInterrupt: the work may catch and ignore every Exception.
    """


def own_process() -> None:
    """Allow signal handlers, because this process runs a command of this package.

    Without this call signals are left alone, as a library must.
    """
    global _own_process
    _own_process = True


def _takes_signals() -> bool:
    return _own_process and threading.current_thread() is threading.main_thread()


def time_limit(seconds: float) -> AbstractContextManager[None]:
    """Raise TimeLimit inside the block after `seconds` of wall time.

    In the main thread of a command by an alarm signal, which also interrupts regular expressions.
    C code that ignores the signal is ended, with the process, by SIGPROF after 2.5 s more of
    processor time. Elsewhere by an asynchronous exception that another thread sets, which is
    raised between two instructions of Python.
    """
    if hasattr(signal, "setitimer") and _takes_signals():
        return _alarm(seconds)
    return _timer(seconds)


@contextlib.contextmanager
def _timer(seconds: float) -> Iterator[None]:
    import ctypes  # slow to load, and no command gets here

    thread = ctypes.c_ulong(threading.get_ident())
    raise_in_thread = ctypes.pythonapi.PyThreadState_SetAsyncExc
    lock, over = threading.Lock(), False

    def ring() -> None:
        with lock:
            if not over:
                raise_in_thread(thread, ctypes.py_object(TimeLimit))

    timer = threading.Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        with lock:
            over = True
        timer.cancel()
        raise_in_thread(thread, None)  # one that was set and not raised yet


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
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
    """Defer Ctrl-C to the end of the block.

    For native code that calls back into Python: an exception raised inside a callback is printed
    and then lost. Blocking the signal would not do: a thread of a library such as BLAS would
    take it, and Python's handler would still run at once in the main thread.
    """
    global _interrupt_came
    handler = signal.getsignal(signal.SIGINT)
    if (
        not _takes_signals()
        or not callable(handler)  # ignored, or not handled by Python
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
