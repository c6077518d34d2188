"""A constraint whose preparing and judging do what a hostile one may do."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from fucina_cli.constraint.kind import Prepared, Verdict


def _chain(length: int, start: str = "") -> str:
    """Rules each of which is the next one, once or twice, after `start`; the last may be empty."""
    rules = (f"r{i}: r{i + 1} r{i + 1}?" for i in range(length))
    return "\n".join((f"start: {start} r0", *rules, f'r{length}: "a"?'))


#: Lark grammars: the engine needs time of the square of the length, and a stack frame for each.
ENDLESS, CRASHING = _chain(15_000), _chain(30_000)
#: The engine compiles it, and gives up in mid-answer: it has a limit of items for each token.
HUNGRY = _chain(3_000, "/[x-z]{4}/")


@dataclass(frozen=True)
class Hostile:
    """Does `deed` when it is prepared, or when `judging` then."""

    deed: str
    judging: bool = False

    kind = "hostile"

    @property
    def identity(self) -> Hashable:
        return self.kind, self.deed, self.judging

    def prepare(self) -> Prepared:
        if not self.judging:
            _do(self.deed)
        return Prepared("start: /[a-z]{3}/")

    def judge(self, _text: str) -> Verdict:
        if self.judging:
            _do(self.deed)
        return Verdict(True)

    def value(self, text: str) -> Any:
        return text


def _do(deed: str) -> None:
    if deed == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
        time.sleep(60)
    elif deed == "be killed":
        os.kill(os.getpid(), signal.SIGKILL)
        time.sleep(60)
    elif deed == "exit":
        os._exit(0)
    elif deed == "hang":
        time.sleep(3600)
    elif deed == "hang in native code":  # which holds the interpreter's lock
        re.fullmatch(r"(a|a)*b", "a" * 60)
    elif deed == "eat memory":
        bytearray(1 << 40)
    elif deed == "raise":
        raise KeyError("a defect")
    elif deed == "be well":
        pass
