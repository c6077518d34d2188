"""The guard's worker, seen from its owner: started, asked, and killed."""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import sys
import threading
import time

from fucina_cli.constraint.serving import Frames, frame, serve_standard_files

_MOST_WORDS = 4096
#: A worker whose pipe is closed is about to exit.
_EXIT_SECONDS = 5.0
_LOOK_SECONDS = 0.001
#: Numbers of files that a command may have open when it forks.
_MOST_FILES = 256
_COMMAND = (
    f"import json, os, sys; os.closerange(3, {_MOST_FILES}); "
    "sys.path[:] = json.loads(sys.argv[1]); "
    "from fucina_cli.constraint.serving import serve_standard_files; serve_standard_files()"
)


class Died(Exception):
    """The worker ended: the number of the signal, 0 for none, and the last that it wrote."""

    def __init__(self, number: int, words: str) -> None:
        super().__init__(number, words)
        self.number, self.words = number, words


class TooLong(Exception):
    """The worker did not reply in time, and was killed."""


def available() -> bool:
    """Whether this system and this program can have such a worker."""
    frozen = getattr(sys, "frozen", False)  # there the executable is the program itself
    return hasattr(os, "posix_spawn") and hasattr(select, "poll") and not frozen


def may_fork() -> bool:
    """Whether a fork is safe: no other thread may hold a lock, in Python or in llama.cpp."""
    return threading.active_count() == 1 and "llama_cpp" not in sys.modules


class Worker:
    """A process that serves one request after the other.

    Args:
        fork: copy this process, which is fast, in place of starting an interpreter.

    Raises OSError when it can't be started.
    """

    def __init__(self, *, fork: bool) -> None:
        self._frames = Frames()
        requests, self._write = os.pipe()
        self._read, replies = os.pipe()
        self._stderr = _anonymous_file()
        try:
            start = _forked if fork else _spawned
            self._pid: int | None = start(requests, replies, self._stderr)
        except BaseException:
            self._close()
            os.close(self._stderr)
            raise
        finally:
            os.close(requests)
            os.close(replies)
        os.set_blocking(self._write, False)

    def send(self, data: bytes, seconds: float) -> None:
        """Send a request. Raises Died and TooLong."""
        rest, until = memoryview(frame(data)), time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._write, select.POLLOUT)
        try:
            while rest:
                if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
                    self.kill()
                    raise TooLong
                with contextlib.suppress(BlockingIOError):
                    rest = rest[os.write(self._write, rest[: 1 << 16]) :]
        except BrokenPipeError:
            raise self._died() from None
        except KeyboardInterrupt:
            self.kill()
            raise

    def receive(self, seconds: float, *, kills: bool = True) -> bytes | None:
        """The next frame; without `kills` None after `seconds`. Raises Died and TooLong.

        An interrupt (Ctrl-C) kills the worker, too.
        """
        until = time.monotonic() + seconds
        poll = select.poll()
        poll.register(self._read, select.POLLIN)
        try:
            while (data := self._frames.next()) is None:
                if not poll.poll(max(0.0, until - time.monotonic()) * 1000):
                    if not kills:
                        return None
                    self.kill()
                    raise TooLong
                read = os.read(self._read, 1 << 20)
                if not read:
                    raise self._died()
                self._frames.add(read)
        except KeyboardInterrupt:
            self.kill()
            raise
        return data

    def kill(self) -> None:
        """End the worker at once, and wait for that; a second call does nothing."""
        if self._pid is not None:
            self._end()
            os.close(self._stderr)

    def _died(self) -> Died:
        """The error for a worker that has ended by itself."""
        number, words = self._end(_EXIT_SECONDS), ""
        with contextlib.suppress(OSError):
            start = max(0, os.fstat(self._stderr).st_size - _MOST_WORDS)
            written = os.pread(self._stderr, _MOST_WORDS, start).decode("utf-8", "replace")
            words = " ".join(written.splitlines()[-2:])
        os.close(self._stderr)
        return Died(number, words)

    def _end(self, seconds: float = 0.0) -> int:
        """Reap the worker, killed after `seconds`; the signal that ended it, 0 for none."""
        pid, self._pid = self._pid, None
        assert pid is not None
        self._close()
        status, until = 0, time.monotonic() + seconds
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            ended = 0
            while seconds and not ended and time.monotonic() < until:
                ended, status = os.waitpid(pid, os.WNOHANG)
                time.sleep(0 if ended else _LOOK_SECONDS)
            if not ended:
                os.kill(pid, signal.SIGKILL)
                _, status = os.waitpid(pid, 0)
        return os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0

    def _close(self) -> None:
        os.close(self._write)
        os.close(self._read)


def _forked(requests: int, replies: int, stderr: int) -> int:
    pid = os.fork()
    if pid == 0:
        try:
            gc.freeze()  # a collection would write to, and so copy, all memory that both share
            for number, descriptor in enumerate(_clear(requests, replies, stderr)):
                os.dup2(descriptor, number)
            _forget_files()
            for number in (signal.SIGTERM, signal.SIGALRM, signal.SIGIO):
                signal.signal(number, signal.SIG_DFL)
            serve_standard_files()
        finally:
            os._exit(0)
    return pid


def _forget_files() -> None:
    """Let go of all files but the standard ones, which would keep pipes open.

    Their numbers stay taken: objects that this process inherited may still close them.
    """
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3, _MOST_FILES):
        with contextlib.suppress(OSError):
            os.fstat(descriptor)
            os.dup2(null, descriptor)


def _clear(*descriptors: int) -> list[int]:
    """Copies with numbers that no standard file has."""
    import fcntl

    return [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 3) for descriptor in descriptors]


def _spawned(requests: int, replies: int, stderr: int) -> int:
    """An interpreter of its own, which works in a notebook too: nothing is forked or imported."""
    clear = _clear(requests, replies, stderr)
    try:
        return os.posix_spawn(
            sys.executable,
            [sys.executable, "-c", _COMMAND, json.dumps(sys.path)],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, each, number) for number, each in enumerate(clear)],
            setsigmask=[signal.SIGINT],  # the terminal's; the owner handles it
            setsigdef=[signal.SIGTERM, signal.SIGALRM, signal.SIGIO],
        )
    finally:
        for descriptor in clear:
            os.close(descriptor)


def _anonymous_file() -> int:
    """A file without a name for what the worker writes to stderr."""
    with contextlib.suppress(AttributeError, OSError):  # Linux only
        return os.memfd_create("stderr")
    return os.open(os.devnull, os.O_RDWR)
