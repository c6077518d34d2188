"""Judges finished answers within a time limit, without the grammar engine's code."""

from __future__ import annotations

from fucina_cli.constraint.kind import Spec, Verdict
from fucina_cli.limits import TimeLimit, time_limit

_SECONDS = 10.0
_TOO_SLOW = f"the validator did not finish within {_SECONDS:.0f} s"


class Judge:
    """Judges finished answers of one constraint.

    A validator that exceeded the limit once is not run again: streams decoded beside would wait.
    """

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._too_slow = False

    def judge(self, text: str) -> Verdict:
        """The verdict on an answer."""
        if self._too_slow:
            return Verdict(None, (f"not checked: {_TOO_SLOW} on an earlier answer",))
        try:
            with time_limit(_SECONDS):
                return self._spec.judge(text)
        except TimeLimit:
            self._too_slow = True
            return Verdict(None, (_TOO_SLOW,))
