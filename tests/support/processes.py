"""Commands as processes among others, for tests of signals, pipes and terminals."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

#: Far longer than anything here takes; only a hang gets there.
PATIENCE = 60.0


def command(*arguments: str | Path, family: str = "generic") -> list[str]:
    return [sys.executable, "-m", f"fucina_cli.{family}", *map(str, arguments)]


def environment(**changes: str | None) -> dict[str, str]:
    """This environment without what colours output, and with `changes`; None takes away."""
    plain = {
        key: value
        for key, value in os.environ.items()
        if key not in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS", "GITHUB_ACTIONS", "TERM", "COLUMNS")
    }
    plain["TERM"] = "xterm-256color"
    for key, value in changes.items():
        if value is None:
            plain.pop(key, None)
        else:
            plain[key] = value
    return plain


class Running:
    """A command in a process group of its own that is killed rather than waited for for ever."""

    def __init__(self, *arguments: str | Path, family: str = "generic", **options: Any) -> None:
        options = {
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            "start_new_session": True,
            **options,
        }
        self.process = subprocess.Popen(command(*arguments, family=family), **options)
        self._seen = {1: b"", 2: b""}

    def wait_for(self, what: bytes, stream: int = 1) -> None:
        """Read stdout (1) or stderr (2) until `what` was seen on it."""
        pipe = self.process.stdout if stream == 1 else self.process.stderr
        assert pipe is not None
        until = time.monotonic() + PATIENCE
        while what not in self._seen[stream]:
            self._seen[stream] += read_some(pipe.fileno(), until)

    def wait_for_output(self) -> None:
        """Read the first that comes on stdout."""
        assert self.process.stdout is not None
        self._seen[1] += read_some(self.process.stdout.fileno(), time.monotonic() + PATIENCE)

    def interrupt(self, whom: str = "group") -> None:
        """What Ctrl-C sends (to the group), or what another process may send (to the parent)."""
        self.send(signal.SIGINT, whom)

    def send(self, number: int, whom: str = "group") -> None:
        if whom == "group":
            os.killpg(self.process.pid, number)
        else:
            os.kill(self.process.pid, number)

    def end(self) -> tuple[int, str, str]:
        """Exit code, stdout and stderr of the command, once it is over."""
        out, err = self.process.communicate(timeout=PATIENCE)
        out, err = self._seen[1] + (out or b""), self._seen[2] + (err or b"")
        return self.process.returncode, out.decode(), err.decode()

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


def read_some(descriptor: int, until: float) -> bytes:
    """What comes next on `descriptor`, by `until` of the monotonic clock."""
    ready, _, _ = select.select([descriptor], [], [], max(0.0, until - time.monotonic()))
    assert ready, "nothing more came"
    with contextlib.suppress(OSError):  # a terminal whose other end closed
        if data := os.read(descriptor, 1 << 16):
            return data
    raise AssertionError("the output ended")


@pytest.fixture
def start() -> Iterator[Callable[..., Running]]:
    """Start a command; whatever a test leaves running is killed at its end."""
    started: list[Running] = []

    def begin(*arguments: str | Path, **options: Any) -> Running:
        started.append(Running(*arguments, **options))
        return started[-1]

    yield begin
    for running in started:
        running.kill()
