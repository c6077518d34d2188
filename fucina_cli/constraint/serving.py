"""Inside the guard's worker: takes requests from a pipe, and answers each or dies of it.

A request is a pickle of the seconds that the work may take, its name, the constraint and further
arguments. The answer is an empty frame once the work begins, then a pickled `Outcome`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pickle
import select
import signal
import struct
import sys
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from fucina_cli.constraint.kind import GrammarError, Spec, kinds

#: Stack of the engine's recursion, in bytes: less than a compilation has elsewhere, so that what
#: passes here passes there.
_STACK_BYTES = 48 << 20
#: Memory beyond that at the start, or half of the machine's where that is less.
_MOST_BYTES = 4 << 30
#: A worker that has grown by this much is replaced, so that the limit is the same for all.
_RETIRE_BYTES = 256 << 20
#: After the owner's limit, should the owner be gone.
_GRACE_SECONDS = 2.0
#: Between looks for an owner that ended while others hold its end of the pipe.
_LOOK_SECONDS = 5.0

_HEADER = struct.Struct("<Q")


@dataclass(frozen=True)
class Outcome:
    """What came of a request.

    Attributes:
        kind: "value"; "refused" with the parts of a GrammarError's message; "memory"; "panic" with
            the message of a failed assertion; "raised" with an exception and its traceback;
            "unreadable" for a constraint that only its owner's process has.
        value: as above.
        last: whether the worker ends now.
    """

    kind: Literal["value", "refused", "memory", "panic", "raised", "unreadable"]
    value: Any = None
    last: bool = False


def frame(data: bytes) -> bytes:
    """`data` with its length before it, as it goes through a pipe."""
    return _HEADER.pack(len(data)) + data


class Frames:
    """Cuts the bytes of a pipe into frames."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, data: bytes) -> None:
        """Take bytes that were read."""
        self._bytes += data

    def next(self) -> bytes | None:
        """The next whole frame, without its length."""
        if len(self._bytes) < _HEADER.size:
            return None
        (size,) = _HEADER.unpack_from(self._bytes)
        end = _HEADER.size + size
        if len(self._bytes) < end:
            return None
        data = bytes(self._bytes[_HEADER.size : end])
        del self._bytes[:end]
        return data


def serve_standard_files() -> None:
    """Serve the owner at the other ends of standard input and output; does not return.

    Both are then the null device: what the work prints goes nowhere.
    """
    try:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the terminal's; the owner handles it
        requests, replies = os.dup(0), os.dup(1)
        null = os.open(os.devnull, os.O_RDWR)
        os.dup2(null, 0)
        os.dup2(null, 1)
        sys.stdout = sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 (of this process)
        _limit_memory()
        _import_bare("llguidance")
        # In a thread, whose stack has the same size everywhere.
        threading.stack_size(_STACK_BYTES)
        worker = threading.Thread(target=_Server(requests, replies).run)
        worker.start()
        worker.join()
    except BaseException:
        os.write(2, traceback.format_exc().encode())
    finally:
        os._exit(0)


class _Server:
    def __init__(self, requests: int, replies: int) -> None:
        self._requests, self._replies = requests, replies
        self._owner = os.getppid()
        self._begin = _peak_memory()
        self._warm: set[str] = set()

    def run(self) -> None:
        """Serve until the owner is gone, or the worker has grown too large."""
        frames = Frames()
        with contextlib.suppress(BrokenPipeError):  # the owner is gone
            while (data := self._receive(frames)) is not None:
                outcome = self._outcome(data)
                self._send(pickle.dumps(outcome))
                if outcome.last:
                    return

    def _receive(self, frames: Frames) -> bytes | None:
        """The next request; None where the owner is gone."""
        poll = select.poll()
        poll.register(self._requests, select.POLLIN)
        while (data := frames.next()) is None:
            while not poll.poll(_LOOK_SECONDS * 1000):
                if os.getppid() != self._owner:
                    return None
            read = os.read(self._requests, 1 << 20)
            if not read:
                return None
            frames.add(read)
        return data

    def _send(self, data: bytes) -> None:
        rest = memoryview(frame(data))
        while rest:
            rest = rest[os.write(self._replies, rest) :]

    def _outcome(self, data: bytes) -> Outcome:
        seconds, work, kind, packed, arguments = pickle.loads(data)
        self._warm_up(kind)
        try:
            spec: Spec = pickle.loads(packed)
        except Exception:  # of a module that only the owner has, such as its __main__
            return Outcome("unreadable")
        self._send(b"")
        with _mortal(self._requests, seconds + _GRACE_SECONDS):
            outcome = _tried(lambda: getattr(spec, work)(*arguments))
        grown = _peak_memory() - self._begin
        return Outcome(outcome.kind, outcome.value, last=grown > _RETIRE_BYTES)

    def _warm_up(self, kind: str) -> None:
        """Import what a kind needs, which is no work on its constraint; each once."""
        if kind in self._warm:
            return
        self._warm.add(kind)
        for each in kinds():
            if each.name == kind and each.warm_up is not None:
                each.warm_up()
        self._begin = _peak_memory()


def _tried(work: Callable[[], Any]) -> Outcome:
    try:
        outcome = Outcome("value", work())
        pickle.dumps(outcome)
        return outcome
    except GrammarError as error:
        return Outcome("refused", error.message)
    except MemoryError:
        return Outcome("memory")
    except Exception as error:
        return _raised(error, traceback.format_exc())
    except BaseException as error:  # a panic of the engine is not an Exception
        return Outcome("panic", str(error))


def _raised(error: Exception, trace: str) -> Outcome:
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        error = RuntimeError(f"{type(error).__name__}: {error}")
    return Outcome("raised", (error, trace))


@contextlib.contextmanager
def _mortal(requests: int, seconds: float) -> Any:
    """End this process, whatever native code does, when its owner ends or after `seconds`.

    Where the system sends a signal when a pipe loses its writer (Linux) it does so at once.
    """
    import fcntl

    flags = fcntl.fcntl(requests, fcntl.F_GETFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    fcntl.fcntl(requests, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(requests, fcntl.F_SETFL, flags | fcntl.FASYNC)
    poll = select.poll()
    poll.register(requests, 0)
    if poll.poll(0):  # it ended just before
        os._exit(0)
    try:
        yield
    finally:
        fcntl.fcntl(requests, fcntl.F_SETFL, flags)
        signal.setitimer(signal.ITIMER_REAL, 0)


def _import_bare(package: str) -> None:
    """Import a package without its own code, which for this one takes longer than all the rest.

    That code offers what nothing here uses; modules inside the package are found as ever.
    """
    found = importlib.util.find_spec(package) if package not in sys.modules else None
    if found is not None and found.submodule_search_locations is not None:
        sys.modules[package] = importlib.util.module_from_spec(found)


def _limit_memory() -> None:
    """Bound the address space (Linux), and write no core dumps."""
    import resource

    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    with contextlib.suppress(OSError, ValueError):
        pages = int(open("/proc/self/statm").read().split()[0])  # noqa: SIM115
        size = os.sysconf("SC_PAGE_SIZE")
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        limit = pages * size + _STACK_BYTES + most_bytes()
        if soft == resource.RLIM_INFINITY or limit < soft:
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))


def most_bytes() -> int:
    """Memory that the work may take."""
    try:
        return min(_MOST_BYTES, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2)
    except (OSError, ValueError):
        return _MOST_BYTES


def _peak_memory() -> int:
    """Most resident memory so far, in bytes."""
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
