"""Runs the commands for the tests: as processes of their own, or in this one."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from fucina_cli.cli.main import execute
from fucina_cli.families.family import Family
from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.generic import GENERIC
from fucina_cli.families.qwen3 import QWEN3

_FAMILIES: dict[str, Family] = {"generic": GENERIC, "qwen3": QWEN3, "gemma4": GEMMA4}


@dataclass(frozen=True)
class Result:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str

    def refused(self, *words: str) -> str:
        """Check that this is bad input, told in one line that has all of `words`; the line."""
        assert self.code == 2, (self.code, self.out, self.err)
        assert self.out == ""
        assert self.err.startswith("error: ")
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        assert len(self.err) < 400
        for word in words:
            assert word in self.err
        return self.err


def run(
    *arguments: str | Path,
    family: str = "generic",
    stdin: bytes = b"",
    python: tuple[str, ...] = (),
    cwd: Path | None = None,
) -> Result:
    """Run a family's command as a process; `python` are options of the interpreter."""
    done = subprocess.run(
        [sys.executable, *python, "-m", f"fucina_cli.{family}", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        timeout=120,
        check=False,
        cwd=cwd,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


#: Arguments and standard input of a command, and what came of it.
RunHere = Callable[..., Result]


@pytest.fixture
def run_here(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> RunHere:
    """Run a command in this process: the same code below the fork, without its start-up."""

    def call(*arguments: str | Path, family: str = "generic", stdin: bytes | None = None) -> Result:
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        interrupt = signal.getsignal(signal.SIGINT)
        capfd.readouterr()
        try:
            code = execute(_FAMILIES[family], [str(a) for a in arguments])
        finally:
            signal.signal(signal.SIGINT, interrupt)
        captured = capfd.readouterr()
        return Result(code, captured.out, captured.err)

    return call
