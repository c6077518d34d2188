"""The cost gate: whether a draft is worth verifying, and how much of it; not what is drafted."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, fields
from statistics import median
from typing import Any

from fucina_cli.drafting.cost import CostModel
from fucina_cli.drafting.source import Outlook

_LENGTHS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
_USUAL = 16  # tokens of the drafts that a kind is judged by
_PRIOR_WEIGHT = 2.0  # drafts that an outlook counts as
_SURE = 0.995  # the largest probability estimated
_LEAST_RISK = 0.25  # share of a draft's cost that must be affordable, however likely it holds
_ASSUMED_FAILURES = 2.0  # drafts added to those seen to fail where a loss must be affordable
_NEAR_BEST = 0.95  # the shortest draft that gives this much of the best speed-up is taken
_UNVERIFIED = 4  # drafts learned from without verifying them; more probes tell no more
_MAKING = 5  # timings of making drafts that are kept


@dataclass(frozen=True)
class GateSettings:
    """Constants of the gate; a value out of range raises ValueError naming it.

    Attributes:
        on, off: estimated speed-up from which a kind of draft is used, and below which it is no
            longer.
        share: what failed drafts may cost in all, as a share of all steps.
        grant: plain steps that they may cost in addition, which allows the first ones.
        credit: most plain steps of earlier gains that may be spent on failed drafts.
        unaffordable_weight: how much of the gain counts that a draft left out as unaffordable
            would have had.
        first_wait, longest_wait: steps between probes of a kind that is off; doubled by failures.
        probe: most tokens of a probe.
        memory: weight of a kind's past after one more draft.
        refresh: steps without a plain one after which one is taken, to know its cost now.
    """

    on: float = 1.1
    off: float = 1.0
    share: float = 0.01
    grant: float = 0.75
    credit: float = 16.0
    unaffordable_weight: float = 0.5
    first_wait: int = 8
    longest_wait: int = 256
    probe: int = 4
    memory: float = 0.9
    refresh: int = 64

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not math.isfinite(value) or (field.type == "int" and value != int(value)):
                raise ValueError(f"{field.name} must be a finite {field.type}, got {value}")
        for name, holds, rule in (
            ("off", self.off > 0, "above 0"),
            ("on", self.on >= self.off, f"at least `off` ({self.off})"),
            ("share", 0 <= self.share < 1, "from 0 to under 1"),
            ("grant", self.grant >= 0, "at least 0"),
            ("credit", self.credit >= 0, "at least 0"),
            ("unaffordable_weight", 0 <= self.unaffordable_weight <= 1, "from 0 to 1"),
            ("first_wait", self.first_wait >= 1, "at least 1"),
            ("longest_wait", self.longest_wait >= self.first_wait, "at least `first_wait`"),
            ("probe", self.probe >= 1, "at least 1"),
            ("memory", 0 < self.memory < 1, "between 0 and 1"),
            ("refresh", self.refresh >= 2, "at least 2"),
        ):
            if not holds:
                raise ValueError(f"{name} must be {rule}, got {getattr(self, name)}")


class _Kind:
    """How drafts of one kind have held: probability of the first token, and of each next one."""

    def __init__(self, outlook: Outlook, wait: int) -> None:
        self.first_held, self.firsts = _PRIOR_WEIGHT * outlook.first, _PRIOR_WEIGHT
        self.next_held, self.nexts = _PRIOR_WEIGHT * outlook.then, _PRIOR_WEIGHT
        self.on = False
        self.wait, self.probe_at = wait, 0
        self.unverified = 0  # drafts learned from without verifying them
        self.making: deque[float] = deque(maxlen=_MAKING)
        self.best: dict[tuple[int, int, int], _Best] = {}
        self.best_version = -1

    @property
    def first(self) -> float:
        return min(self.first_held / self.firsts, _SURE)

    @property
    def then(self) -> float:
        return min(self.next_held / self.nexts, _SURE)

    @property
    def risk(self) -> float:
        """Probability that no token of a draft holds, estimated high while little is known."""
        return 1 - self.first_held / (self.firsts + _ASSUMED_FAILURES)

    @property
    def making_seconds(self) -> float:
        """Seconds that a drafted token takes to make."""
        if len(self.making) < 3:
            return min(self.making, default=0.0)
        return median(self.making)

    def learn_first(self, held: bool, memory: float) -> None:
        self.first_held = self.first_held * memory + held
        self.firsts = self.firsts * memory + 1
        self.best.clear()

    def learn_next(self, held: int, failed: bool, memory: float) -> None:
        """`held` tokens after the first held; `failed`: and the one after them did not."""
        self.next_held = self.next_held * memory + held
        self.nexts = self.nexts * memory + held + failed
        self.best.clear()


@dataclass(frozen=True)
class _Best:
    """The best length for a draft: tokens, estimated speed-up, plain steps lost if all fails."""

    length: int
    speedup: float
    loss: float


class Gate:
    """Decides for each draft how much of it to verify, from what forwards cost and drafts gave.

    The estimated speed-up of a draft is what the forward commits over what it costs, in plain
    steps: (1 + expected accepted tokens) / cost(1 + drafted rows) where there is one row without
    it; beside forced rows, which are paid for anyway, only the added cost counts. It is estimated
    per kind of draft (see Outlook), so that long copies are used while short matches are off.

    A kind is used from a speed-up of `on`, until it is under `off`. A draft that was left out
    teaches too, where it is compared with what was committed (see UnverifiedDrafts). A kind that is
    off and not compared is probed with a few tokens, after `first_wait` steps, then ever more
    rarely until a probe pays; one that is compared, only when no forward with drafts was timed for
    long. Of drafts nearly equally good the shortest is taken: it risks least.

    A balance over all kinds holds what drafts gained and lost, in plain steps. Once losses reach
    their allowance (`share` of all steps and `grant`), nothing is drafted until the allowance has
    grown again, so that drafting costs little whatever the text. A draft left out for that reason
    is unaffordable; the gain that it would have had counts by `unaffordable_weight`, and can raise
    the balance to zero: a text that turns into copying is drafted again soon.

    Nothing here reads a clock or draws a number: the same calls give the same answers.
    """

    def __init__(self, settings: GateSettings | None = None) -> None:
        self.settings = settings or GateSettings()
        self.costs = CostModel()
        self._kinds: dict[str, _Kind] = {}
        self._steps = 0
        self._since_plain = 0
        self._timed = -self.settings.longest_wait  # step of the last forward with drafts
        self._balance = 0.0
        self._confidence = 1.0  # in the gains that unaffordable drafts would have had
        self._raised = False  # by such gains, since the last verified draft
        self._probes = 0

    def budget(self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1) -> int:
        """How many tokens of a draft to verify: 0 to `limit`.

        A source that drafts for free is asked first, and its draft then cut to this; for one whose
        drafts cost time, ask this first. Asking changes no decision.

        Args:
            limit: tokens of the draft, or that a draft could have.
            outlook: of the draft; a certain one is exempt and gets `limit`.
            rows, logit_rows: what the forward holds without the draft.
        """
        if limit <= 0:
            return 0
        if outlook.first >= 1 and outlook.then >= 1:
            return limit
        settings = self.settings
        if rows == 1 and self._since_plain and self._since_plain % settings.refresh == 0:
            return 0
        kind = self._kind(outlook)
        best = self._best(kind, limit, rows, logit_rows)
        wanted = self._wanted(kind)
        if best.speedup >= wanted:
            affordable = self._affordable(kind)
            if best.loss > affordable:
                best = self._compute(kind, limit, rows, logit_rows, affordable)
            return best.length if best.speedup >= wanted else 0
        if self._steps < kind.probe_at:
            return 0
        if kind.on and self._best(kind, _USUAL, rows, logit_rows).speedup >= wanted:
            return 0  # worth it, but not for so few tokens
        if kind.unverified >= _UNVERIFIED and self._steps - self._timed < settings.longest_wait:
            return 0  # how it holds is known, and what its rows cost
        probe = self._best(kind, min(limit, settings.probe), rows, logit_rows)
        return probe.length if self._allowance() >= probe.loss else 0

    def unaffordable(
        self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
    ) -> int:
        """How much of a draft `budget` left out only because losses have used up the allowance.

        Arguments are those of `budget`, which gave 0. What would have become of these tokens goes
        to `settle_unaffordable`.
        """
        kind = self._kind(outlook)
        best = self._best(kind, limit, rows, logit_rows)
        pays = best.speedup >= self._wanted(kind)
        return best.length if pays and best.loss > self._affordable(kind) else 0

    def record(self, rows: int, logit_rows: int, seconds: float) -> None:
        """Learn from a forward: its rows, those with logits, and the seconds it took.

        Call it once per forward that decodes, drafts or none (sampling excluded); prompts may be
        left out.
        """
        self.costs.record(rows, logit_rows, seconds)
        self._steps += 1
        if logit_rows > 1:
            self._timed = self._steps
        self._since_plain = 0 if rows == 1 else self._since_plain + 1

    def settle(
        self,
        drafted: int,
        accepted: int,
        outlook: Outlook,
        *,
        rows: int = 1,
        logit_rows: int = 1,
        seconds: float = 0.0,
    ) -> None:
        """Learn what became of a draft, after `record` of its forward; nothing for one of 0 tokens.

        Args:
            drafted, accepted: tokens verified, and those that held.
            outlook: as given to `budget`.
            rows, logit_rows: as given to `budget`.
            seconds: that making the draft took.
        """
        if drafted <= 0 or (outlook.first >= 1 and outlook.then >= 1):
            return
        settings, kind = self.settings, self._kind(outlook)
        longest = max(drafted, _USUAL)
        on = kind.on or self._best(kind, longest, rows, logit_rows).speedup >= settings.on
        self._probes += not on
        gain = self._gain(kind, drafted, accepted, rows, logit_rows)
        self._balance = min(self._balance + gain, settings.credit)
        if gain > 0:
            self._confidence = min(2 * self._confidence, 1.0)
        elif self._raised:
            self._confidence /= 2
        self._raised = False
        if seconds > 0:
            kind.making.append(seconds / drafted)
        kind.learn_first(accepted > 0, settings.memory)
        if accepted > 0 and drafted > 1:
            kind.learn_next(accepted - 1, accepted < drafted, settings.memory)
        speedup = self._best(kind, longest, rows, logit_rows).speedup
        if speedup >= (settings.off if on else settings.on):
            kind.on, kind.wait = True, settings.first_wait
        elif gain > 0 and not on:
            # Earlier failures still outweigh this success: probe again at once, not ever later.
            kind.wait, kind.probe_at = settings.first_wait, self._steps
        else:
            kind.on = False
            kind.probe_at = self._steps + kind.wait
            kind.wait = min(2 * kind.wait, settings.longest_wait)

    def settle_unaffordable(
        self, drafted: int, held: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1
    ) -> None:
        """Count what `drafted` `unaffordable` tokens, `held` of them right, would have gained.

        It never raises the balance above zero: only gains of verified drafts can be spent again.
        Where drafts verified thereafter fail, such gains count ever less.
        """
        gain = self._gain(self._kind(outlook), drafted, held, rows, logit_rows)
        balance = self._balance + self.settings.unaffordable_weight * self._confidence * gain
        if gain <= 0:
            self._balance = balance
        elif self._balance < 0:
            self._balance = min(balance, 0.0)
            self._raised = True

    def learn_first(self, outlook: Outlook, held: bool) -> None:
        """Learn whether the first token of a draft that was not verified would have held."""
        kind = self._kind(outlook)
        kind.unverified += 1
        kind.learn_first(held, self.settings.memory)

    def learn_next(self, outlook: Outlook, held: int, failed: bool) -> None:
        """Learn that `held` more tokens of such a draft would have, and whether the next not."""
        self._kind(outlook).learn_next(held, failed, self.settings.memory)

    def state(self) -> dict[str, Any]:
        """For the record: what is on, what is known of costs and kinds; plain JSON values."""
        plain = self.costs.plain_seconds
        return {
            "steps": self._steps,
            "plain_ms": None if plain is None else round(plain * 1e3, 4),
            "cost": {rows: round(cost, 3) for rows, cost in self.costs.measured().items()},
            "balance": round(self._balance, 3),
            "probes": self._probes,
            "kinds": {
                name: {
                    "on": kind.on,
                    "first": round(kind.first, 3),
                    "then": round(kind.then, 3),
                    "speedup": round(self._best(kind, _USUAL, 1, 1).speedup, 3),
                }
                for name, kind in self._kinds.items()
            },
        }

    def _kind(self, outlook: Outlook) -> _Kind:
        kind = self._kinds.get(outlook.kind)
        if kind is None:
            kind = self._kinds[outlook.kind] = _Kind(outlook, self.settings.first_wait)
        return kind

    def _wanted(self, kind: _Kind) -> float:
        """Estimated speed-up from which drafts of a kind are used."""
        return self.settings.off if kind.on else self.settings.on

    def _allowance(self) -> float:
        """Plain steps that may be lost now."""
        return self.settings.grant + self.settings.share * self._steps + self._balance

    def _affordable(self, kind: _Kind) -> float:
        """Plain steps that a draft of a kind may cost, so that the likely loss is allowed."""
        return self._allowance() / max(kind.risk, _LEAST_RISK)

    def _gain(self, kind: _Kind, drafted: int, held: int, rows: int, logit_rows: int) -> float:
        """Plain steps that a draft of `drafted` tokens gains when `held` of them hold."""
        return held * self._value(logit_rows) - self._loss(kind, drafted, rows, logit_rows)

    def _value(self, logit_rows: int) -> float:
        """Plain steps that a token is worth: what it would cost in a forward without drafts."""
        return self.costs.cost(logit_rows, logit_rows) / logit_rows

    def _loss(self, kind: _Kind, length: int, rows: int, logit_rows: int) -> float:
        """What a draft of `length` tokens adds to the cost of a forward."""
        added = self.costs.cost(rows + length, logit_rows + length)
        added -= self.costs.cost(rows, logit_rows)
        return max(added, 0.0) + length * self._making(kind)

    def _making(self, kind: _Kind) -> float:
        """Plain steps that a drafted token takes to make."""
        seconds = kind.making_seconds
        return seconds / (self.costs.plain_seconds or 1.0) if seconds else 0.0

    def _best(self, kind: _Kind, limit: int, rows: int, logit_rows: int) -> _Best:
        if kind.best_version != self.costs.version:
            kind.best.clear()
            kind.best_version = self.costs.version
        key = (limit, rows, logit_rows)
        best = kind.best.get(key)
        if best is None:
            best = kind.best[key] = self._compute(kind, limit, rows, logit_rows, math.inf)
        return best

    def _compute(
        self, kind: _Kind, limit: int, rows: int, logit_rows: int, most_loss: float
    ) -> _Best:
        first, then = kind.first, kind.then
        value, base = self._value(logit_rows), self.costs.cost(rows, logit_rows)
        making = self._making(kind)
        found: list[_Best] = []
        for length in (*(n for n in _LENGTHS if n < limit), limit):
            added = self.costs.cost(rows + length, logit_rows + length) - base
            loss = max(added, 0.0) + length * making
            if loss > most_loss:
                break
            held = first * (1 - then**length) / (1 - then)
            speedup = (base + held * value) / (base + loss)
            found.append(_Best(length, speedup, loss))
        enough = _NEAR_BEST * max((best.speedup for best in found), default=0.0)
        return next((best for best in found if best.speedup >= enough), _Best(0, 0.0, 0.0))
