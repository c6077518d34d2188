"""The engine's work for this process, in a thread that an interrupt need not wait for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

from fucina_cli.constraint.guard import too_long

#: More than the guard's worker has: what has passed there needs no more here.
_STACK_BYTES = 64 << 20
#: The guard's limit times this, for a larger vocabulary and a processor that others use, too.
_PATIENCE = 3.0

_Value = TypeVar("_Value")


def apart(work: Callable[[], _Value], seconds: float) -> _Value:
    """The value of `work`, which is to take `seconds` and may take three times that.

    It runs in a thread with a large stack, since the engine recurses and lets go of the
    interpreter's lock: so Ctrl-C is handled at once. A thread that takes too long is left alone.
    Raises what `work` raises, and GrammarError for one that takes too long.
    """
    values: list[_Value] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            values.append(work())
        except BaseException as error:  # a panic of the engine is not an Exception
            errors.append(error)

    thread = threading.Thread(target=run, daemon=True)
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(_PATIENCE * seconds)
    if errors:
        raise errors[0]
    if not values:
        raise too_long(seconds)
    return values[0]
