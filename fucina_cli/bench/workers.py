"""Work in processes of its own: one that hangs or crashes costs its task, and nothing else."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from typing import Any

#: Memory that a worker may take.
_BYTES = 6 << 30
_LOOK_SECONDS = 0.2
#: More seconds for the first task, until the process has started and imported what it needs.
_START_SECONDS = 60.0

Say = Callable[[Any], None]
Work = Callable[[Any, Say], Any]


@dataclass(frozen=True)
class Lost:
    """What is left of work whose process was lost: why, and what it had said last, if anything."""

    reason: str
    said: Any


class _Worker:
    def __init__(self, make: Callable[[], Work]) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(make, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.is_alive = True
        self.task: Any = None
        self.said: Any = None
        self._since = time.monotonic() + _START_SECONDS

    def begin(self, task: Any) -> None:
        self.task, self.said = task, None
        self._since = max(self._since, time.monotonic())
        self.connection.send(task)

    @property
    def seconds(self) -> float:
        """How long nothing was heard of the task."""
        return time.monotonic() - self._since

    def receive(self) -> Any:
        """The result, or None where there is none yet; `Lost` where the process is gone."""
        try:
            last, value = self.connection.recv()
        except (EOFError, OSError):
            self.is_alive = False
            self._process.join()
            return Lost(_ended(self._process.exitcode), self.said)
        if last is None:
            return Lost(f"it raised {value}", self.said)
        if last:
            return value
        self.said, self._since = value, time.monotonic()
        return None

    def kill(self) -> None:
        self._process.kill()
        self._process.join()
        self.connection.close()


def each(
    tasks: Iterable[Any], make: Callable[[], Work], *, count: int, seconds: float
) -> Iterator[tuple[Any, Any]]:
    """Every task with what became of it, in the order in which they end.

    Args:
        make: called once in each process; what it returns does the work. It must be picklable.
        count: of processes.
        seconds: that a task may take until its end, or between two things that it says.
    """
    waiting = iter(tasks)
    idle: list[_Worker] = []
    busy: dict[Connection, _Worker] = {}
    try:
        while True:
            while len(busy) < count and (task := next(waiting, None)) is not None:
                worker = idle.pop() if idle else _Worker(make)
                worker.begin(task)
                busy[worker.connection] = worker
            if not busy:
                return
            for connection in wait(list(busy), _LOOK_SECONDS):
                worker = busy[connection]  # type: ignore[index]
                result = worker.receive()
                if result is None:
                    continue
                del busy[worker.connection]
                if worker.is_alive:
                    idle.append(worker)
                else:
                    worker.kill()
                yield worker.task, result
            for worker in [w for w in busy.values() if w.seconds > seconds]:
                del busy[worker.connection]
                worker.kill()
                yield worker.task, Lost(f"it took more than {seconds:g} s", worker.said)
    finally:
        for worker in [*idle, *busy.values()]:
            worker.kill()


def _ended(code: int | None) -> str:
    with contextlib.suppress(ValueError):
        if code is not None and code < 0:
            return f"it crashed ({signal.Signals(-code).name})"
    return f"it crashed (exit code {code})"


def _serve(make: Callable[[], Work], connection: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner ends its workers
    sys.stdin.close()
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # panics of native code
    with contextlib.suppress(ImportError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_BYTES, _BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    work = make()
    connection.send((False, None))
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            task = connection.recv()
            try:
                result = work(task, lambda said: connection.send((False, said)))
            except Exception as error:  # a defect, or too little memory
                connection.send((None, f"{type(error).__name__}: {error}"))
            else:
                connection.send((True, result))
