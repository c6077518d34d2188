"""Judges finished answers, without the grammar engine's code."""

from __future__ import annotations

import functools

from fucina_cli.constraint.guard import Guard, JudgeFailed
from fucina_cli.constraint.kind import Spec, Verdict


class Judge:
    """Judges finished answers of one constraint.

    A validator that failed once, by exceeding a limit or by a crash, is not run again: streams
    decoded beside would wait.
    """

    def __init__(self, spec: Spec, guard: Guard) -> None:
        self._spec, self._guard = spec, guard
        self._failed = ""

    def judge(self, text: str) -> Verdict:
        """The verdict on an answer; None of an answer that could not be judged."""
        if self._failed:
            return Verdict(None, (f"not checked: {self._failed} on an earlier answer",))
        try:
            return self._guard.judge(self._spec, text)
        except JudgeFailed as error:
            self._failed = str(error)
            return Verdict(None, (self._failed,))

    @functools.cached_property
    def refuses(self) -> bool:
        """Whether any answer can be refused: there is a validator, and it reads the constraint."""
        return self.judge("").valid is not None
