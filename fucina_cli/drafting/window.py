"""How one source has done lately, and whether it should be asked at all."""

from __future__ import annotations

from collections import deque

_DRAFTS = 16  # remembered
_ENOUGH = 4  # drafts before judging
_FLOOR = 0.1  # accepted of drafted, below which a source is muted
_FIRST_WAIT, _LONGEST_WAIT = 8, 256  # steps


class Window:
    """Acceptance of a source over its last drafts; mutes it while that is poor.

    A muted source is asked again after 8 steps; as long as the draft it then gives fails, the wait
    doubles, up to 256. Time is counted in steps, so the same calls always give the same answers.
    """

    def __init__(self) -> None:
        #: Tokens drafted and accepted in all.
        self.drafted = self.accepted = 0
        self._recent: deque[tuple[int, int]] = deque(maxlen=_DRAFTS)
        self._wait = 0  # steps of the last muting; 0 when the draft after it did well
        self._until = 0

    def muted(self, step: int) -> bool:
        """Whether the source should be left alone at this step."""
        return step < self._until

    def settle(self, drafted: int, accepted: int, step: int) -> None:
        """Count a draft of `drafted` tokens, at least 1, of which `accepted` held."""
        self.drafted += drafted
        self.accepted += accepted
        recent = self._recent
        recent.append((drafted, accepted))
        if len(recent) < _ENOUGH and not self._wait:
            return
        if sum(a for _, a in recent) >= _FLOOR * sum(d for d, _ in recent):
            self._wait = 0
        else:
            self._wait = min(max(_FIRST_WAIT, 2 * self._wait), _LONGEST_WAIT)
            self._until = step + 1 + self._wait
            recent.clear()
