"""The engine's work for this process, in a thread that nothing else need wait for."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

from fucina_cli.constraint.guard import too_long

#: More than the guard's worker has: what has passed there needs no more here.
_STACK_BYTES = 64 << 20
#: The guard's limit times this, for a larger vocabulary and a processor that others use, too.
_PATIENCE = 3.0

_Value = TypeVar("_Value")


class Apart(Generic[_Value]):
    """Work in a thread of its own, with a large stack, since the engine recurses.

    The engine lets go of the interpreter's lock: so Ctrl-C is handled at once, and decoding can go
    on.

    Args:
        work: is done at once.
        seconds: that it is to take; it may take three times that, then it is left alone.
    """

    def __init__(self, work: Callable[[], _Value], seconds: float) -> None:
        self._work, self._seconds = work, seconds
        self._until = time.monotonic() + _PATIENCE * seconds
        self._values: list[_Value] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)
        before = threading.stack_size(_STACK_BYTES)
        try:
            self._thread.start()
        finally:
            threading.stack_size(before)

    def is_done(self, seconds: float) -> bool:
        """Whether `value` will return at once; waits for that up to `seconds`."""
        self._thread.join(seconds)
        return not self._thread.is_alive() or time.monotonic() >= self._until

    def value(self) -> _Value:
        """What `work` returned. Raises what it raised, and GrammarError where it takes too long."""
        self._thread.join(max(0.0, self._until - time.monotonic()))
        if self._error is not None:
            raise self._error
        if not self._values:
            raise too_long(self._seconds)
        return self._values[0]

    def _run(self) -> None:
        try:
            self._values.append(self._work())
        except BaseException as error:  # a panic of the engine is not an Exception
            self._error = error
