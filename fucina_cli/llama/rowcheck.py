"""Are a row's logits bit for bit the same alone, in a batch, after a draft, beside other slots?

The probe in `exactness` compares a few rows. This compares every step of a run, in the three kinds
of forwards that speculative and lockstep decoding bring about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import spread_ids

BATCHED, AFTER_DRAFT, LOCKSTEP = "batched", "after_draft", "lockstep"
#: Sizes of the verify batches and of the drafts to forget, in turn.
SIZES = (2, 3, 4, 8, 16)
#: Cells beyond prompt and steps that rows to forget take.
SPARE_CELLS = max(SIZES)

# One slot decodes one by one, one in batches, one with drafts; four go in lockstep: a fork of
# the first made anew for each block, one that was only decoded in lockstep, one that stays
# where the prompt ends, and one some steps behind. The last joins late: llama.cpp computes slots
# together only if their numbers follow each other.
_SINGLE, _BATCHED, _DRAFTED, _FORK, _EVEN, _SHORT, _BEHIND = range(7)
N_SLOTS = 7
_LAG = 5

Logits = NDArray[np.float32]


@dataclass(frozen=True)
class Difference:
    """Where a row's logits are not those of its single step.

    `step` counts from 0, `position` is the row's place in the context, `rows` how many shared its
    forward, `size` the largest difference (infinite for a NaN) and `token` the id that has it.
    """

    arm: str
    step: int
    position: int
    rows: int
    size: float
    token: int


@dataclass
class Arm:
    """Rows compared and rows that differ; the largest difference; greedy choices that changed."""

    compared: int = 0
    differing: int = 0
    worst: float = 0.0
    choices_changed: int = 0


@dataclass
class Report:
    """What a check found; `first` is the difference of the lowest step."""

    steps: int
    arms: dict[str, Arm] = field(
        default_factory=lambda: {name: Arm() for name in (BATCHED, AFTER_DRAFT, LOCKSTEP)}
    )
    first: Difference | None = None

    @property
    def exact(self) -> bool:
        """Whether every row was bitwise equal."""
        return self.first is None

    @property
    def worst(self) -> float:
        """Largest difference of all arms."""
        return max(arm.worst for arm in self.arms.values())


def check(
    context: Context, prompt: Sequence[int], steps: int, script: Sequence[int] | None = None
) -> Report:
    """Compare `steps` single steps with the same rows beside others, bitwise; empties the context.

    The first step computes the prompt's last token. The tokens of the steps after it are those of
    `script`, or the model's own greedy choices. Each arm keeps its own cache: from a difference
    on, the rows of that arm compute with a cache that those beside them may have changed, as in
    speculation.

    Args:
        context: of `N_SLOTS` slots, with room for prompt, steps and `SPARE_CELLS` in each
            and for `SPARE_CELLS` rows with logits.
        script: at least `steps` - 1 ids.

    Raises:
        ModelError: for a recurrent model, for logits that are NaN, and when llama.cpp fails.
        ContextFull: when the context is too short.
    """
    context.clear_all()
    try:
        return _Check(context, prompt, steps, script).run()
    finally:
        context.clear_all()


class _Check:
    """The state of one check; positions index `tokens`, steps count from the prompt's last."""

    def __init__(
        self, context: Context, prompt: Sequence[int], steps: int, script: Sequence[int] | None
    ) -> None:
        self.context = context
        self.tokens = list(prompt)
        self.start = len(prompt) - 1
        self.end = self.start + steps
        self.script = script
        self.garbage = spread_ids(context.model.n_vocab, 2 * SPARE_CELLS)[SPARE_CELLS:]
        #: Logits of single steps by position: those that an arm still compares with.
        self.single: dict[int, Logits] = {}
        self.report = Report(steps)

    def run(self) -> Report:
        context = self.context
        context.prefill(_SINGLE, self.tokens[: self.start])
        if self.start:
            for slot in range(N_SLOTS):
                if slot != _SINGLE:
                    context.copy(_SINGLE, slot, self.start)
        at, block = self.start, 0
        while at < self.end:
            size = SIZES[block % len(SIZES)]
            end = min(self.end, at + size)
            for position in range(at, end):
                self._step_alone(position)
            self._batch(at, end, size)
            for position in range(at, end):
                self._step_after_draft(position)
            self._fork(at)
            for position in range(at, end):
                self._step_in_lockstep(position)
            kept = {self.start, *range(end - _LAG, end)}
            self.single = {p: row for p, row in self.single.items() if p in kept}
            at, block = end, block + 1
        return self.report

    def _step_alone(self, position: int) -> None:
        self.context.decode([self._row(position, _SINGLE)])
        logits = self.context.logits(0).copy()
        if np.isnan(logits.max()):
            raise ModelError("the model computes logits that are no numbers; the file is damaged")
        self.single[position] = logits
        if position + 1 == len(self.tokens):
            step = position - self.start
            scripted = self.script is not None and step < len(self.script)
            token = self.script[step] if self.script and scripted else int(logits.argmax())
            self.tokens.append(token)

    def _batch(self, at: int, end: int, size: int) -> None:
        """Rows `at` to `end` in one forward, filled up to `size` with rows to forget."""
        rows = [self._row(position, _BATCHED) for position in range(at, end)]
        rows += self._draft(end, size - len(rows), _BATCHED, logits=True)
        self.context.decode(rows)
        for i, position in enumerate(range(at, end)):
            self._compare(BATCHED, position, position, i, size)
        self.context.truncate(_BATCHED, end)

    def _step_after_draft(self, position: int) -> None:
        """A draft is decoded in the row's place and forgotten, then the row alone."""
        size = SIZES[position % len(SIZES)]
        self.context.decode(self._draft(position, size, _DRAFTED, logits=False))
        self.context.truncate(_DRAFTED, position)
        self.context.decode([self._row(position, _DRAFTED)])
        self._compare(AFTER_DRAFT, position, position, 0, 1)

    def _fork(self, position: int) -> None:
        if position:
            self.context.copy(_SINGLE, _FORK, position)

    def _step_in_lockstep(self, position: int) -> None:
        """One row of each slot in one forward."""
        places = {_FORK: position, _EVEN: position, _SHORT: self.start, _BEHIND: position - _LAG}
        rows = [self._row(p, slot) for slot, p in places.items() if p >= self.start]
        self.context.decode(rows)
        for i, row in enumerate(rows):
            self._compare(LOCKSTEP, position, row.position, i, len(rows))
        self.context.truncate(_SHORT, self.start)

    # ----------------------------------------------------------------------------------------

    def _row(self, position: int, slot: int, *, logits: bool = True) -> Row:
        return Row(self.tokens[position], position, slot, logits)

    def _draft(self, position: int, count: int, slot: int, *, logits: bool) -> list[Row]:
        """`count` rows from `position` on with arbitrary tokens."""
        n = len(self.garbage)
        ids = (self.garbage[(position + i) % n] for i in range(count))
        return [Row(token, position + i, slot, logits) for i, token in enumerate(ids)]

    def _compare(self, name: str, at: int, position: int, row: int, rows: int) -> None:
        """Row `row` of the last forward, made at step `at`, with the single step at `position`."""
        alone, here = self.single[position], self.context.logits(row)
        arm = self.report.arms[name]
        arm.compared += 1
        if np.array_equal(alone.view(np.uint32), here.view(np.uint32)):
            return
        size, token = largest_difference(alone, here)
        arm.differing += 1
        arm.worst = max(arm.worst, size)
        arm.choices_changed += int(alone.argmax()) != int(here.argmax())
        found = Difference(name, at - self.start, position, rows, size, token)
        first = self.report.first
        if first is None or found.step < first.step:
            self.report.first = found


def largest_difference(a: Logits, b: Logits) -> tuple[float, int]:
    """The largest absolute difference of two rows and its index; infinite for a NaN in one."""
    with np.errstate(invalid="ignore"):  # infinities that are equal differ by nothing
        apart = np.abs(a - b)
    apart[a == b] = 0.0
    apart[np.isnan(apart)] = np.inf
    at = int(apart.argmax())
    return float(apart[at]), at
