"""Constraints are compiled and answers judged where neither can take this process down.

A schema, pattern or grammar may crash the engine, take hours or eat all memory; so may judging an
answer. So each is first built for a vocabulary of single bytes, and each answer judged, by a worker
process, under limits of time and memory. What passes there is then compiled here for the model's
vocabulary, which takes about as long.
"""

from __future__ import annotations

import contextlib
import io
import pickle
import re
import signal
import time
from typing import Any

from fucina_cli.constraint import serving
from fucina_cli.constraint.kind import GrammarError, Prepared, Spec, Verdict
from fucina_cli.constraint.recent import Recent
from fucina_cli.constraint.serving import Outcome
from fucina_cli.constraint.worker import Died, TooLong, Worker, available, may_fork
from fucina_cli.errors import Part
from fucina_cli.limits import TimeLimit, time_limit
from fucina_cli.text import one_line, printable

#: Seconds that judging an answer may take.
JUDGE_SECONDS = 10.0
#: Most seconds until a worker has started and imported what it needs.
_START_SECONDS = 60.0
#: Workers that a request may lose at the start, or to a kill from outside, before it is given up.
_ATTEMPTS = 2


class JudgeFailed(Exception):
    """An answer could not be judged; the text says why."""


class Guard:
    """Prepares constraints, each once, and judges answers, in a worker that is started when needed.

    One call at a time. Where there can be no worker (Windows; constraints of a class that another
    process can't import), the work is done here, under a limit of time alone.

    Args:
        seconds: that preparing a constraint may take.
    """

    def __init__(self, seconds: float) -> None:
        #: Seconds that preparing a constraint may take.
        self.seconds = seconds
        self._known: Recent[Prepared | GrammarError] = Recent()
        self._idle: list[Worker] = []
        self._begun: _Task | None = None

    def start(self) -> None:
        """Start a worker early, by a fork where that is safe: it then costs next to nothing.

        Only for a process that runs a command; a library must not fork.
        """
        if not self._idle and self._begun is None and available() and may_fork():
            self._idle.append(Worker(fork=True))

    def begin(self, spec: Spec) -> None:
        """Begin to prepare a constraint, and return; one at a time. `prepare` gets the result."""
        if self._known.get(spec.identity) is None and self._begun is None:
            self._begun = self._preparing(spec)

    def finish(self) -> None:
        """Wait for what was begun. Raises as `prepare`."""
        if self._begun is not None:
            self.prepare(self._begun.spec)

    def is_ready(self, spec: Spec, seconds: float) -> bool:
        """Whether `prepare` will return at once; if it is begun now, it gets `seconds` for that."""
        begun = self._begun
        if begun is not None and begun.spec.identity != spec.identity:
            if not begun.is_done(0):
                return False
            with contextlib.suppress(Exception):  # it is raised where that one is prepared
                self.finish()
        self.begin(spec)
        return self._begun is None or self._begun.is_done(0 if self._begun is begun else seconds)

    def prepare(self, spec: Spec) -> Prepared:
        """A constraint translated, and built without a model's vocabulary.

        Raises GrammarError, also for one that exceeds the limits or makes the engine crash, and
        whatever a defect in the code of its kind raises.
        """
        known = self._known.get(spec.identity)
        if known is None:
            task = self._begun
            if task is not None and task.spec.identity == spec.identity:
                self._begun = None
            else:
                task = self._preparing(spec)
            try:
                known = self._prepared(task)
            except GrammarError as error:
                known = error
            self._known.put(spec.identity, known)
        if isinstance(known, GrammarError):
            raise known.with_traceback(None)
        return known

    def judge(self, spec: Spec, text: str) -> Verdict:
        """The verdict on an answer. Raises JudgeFailed."""
        too_slow = f"the validator did not finish within {JUDGE_SECONDS:.0f} s"
        try:
            outcome = _Task(self._idle, spec, "judge", (text,), JUDGE_SECONDS).wait()
        except TooLong:
            raise JudgeFailed(too_slow) from None
        except Died as died:
            raise JudgeFailed(_killed(died) or f"the validator crashed ({_detail(died)})") from None
        if outcome.kind == "unreadable":
            try:
                with time_limit(JUDGE_SECONDS):
                    return spec.judge(text)
            except TimeLimit:
                raise JudgeFailed(too_slow) from None
        if outcome.kind == "value":
            verdict: Verdict = outcome.value
            return verdict
        raise JudgeFailed(f"the validator failed: {_failure(outcome)}")

    def close(self) -> None:
        """End what runs; the guard starts another worker when it is used again."""
        task, self._begun = self._begun, None
        if task is not None:
            task.cancel()
        while self._idle:
            self._idle.pop().kill()

    # ----------------------------------------------------------------------------------------

    def _preparing(self, spec: Spec) -> _Task:
        return _Task(self._idle, spec, "prepare", (), self.seconds)

    def _prepared(self, task: _Task) -> Prepared:
        try:
            outcome = task.wait()
        except TooLong:
            raise too_long(self.seconds) from None
        except Died as died:
            raise GrammarError(
                _killed(died)
                or f"native code crashed on it ({_detail(died)}); "
                "it is hostile, or the engine has a bug"
            ) from None
        if outcome.kind == "unreadable":
            try:
                with time_limit(self.seconds):
                    return task.spec.prepare()
            except TimeLimit:
                raise too_long(self.seconds) from None
        if outcome.kind == "refused":
            raise GrammarError(*outcome.value)
        if outcome.kind == "raised":
            error, trace = outcome.value
            raise error from _Remote(trace)
        if outcome.kind != "value":
            raise GrammarError(_failure(outcome))
        prepared: Prepared = outcome.value
        return prepared


def too_long(seconds: float) -> GrammarError:
    """The error for a constraint that exceeds the limit of time."""
    return GrammarError(
        f"it takes longer than {seconds:g} s to compile; simplify it, or raise ",
        Part("compile_timeout"),
    )


class _Remote(Exception):
    """The traceback of an exception in the worker, as its cause."""

    def __str__(self) -> str:
        return f"\n{self.args[0]}"


class _Task:
    """A request, and the worker that has it.

    Args:
        idle: workers to take one from, and to give it back to.
        spec: the constraint that does the work.
        work: its method.
        arguments: of the method.
        seconds: that the work may take.
    """

    def __init__(
        self, idle: list[Worker], spec: Spec, work: str, arguments: tuple[Any, ...], seconds: float
    ) -> None:
        self.spec = spec
        self._idle, self._seconds = idle, seconds
        self._worker: Worker | None = None
        self._outcome: Outcome | Died | TooLong | None = None
        self._losses = 0
        self._until: float | None = None  # by the monotonic clock, once the work has begun
        packed = _packed(spec) if available() else None
        if packed is None:
            self._outcome = Outcome("unreadable")
        else:
            self._data = pickle.dumps((seconds, work, spec.kind, packed, arguments))
            self._submit()

    def is_done(self, seconds: float) -> bool:
        """Whether `wait` will return at once; waits for that up to `seconds`."""
        until = time.monotonic() + seconds
        while self._outcome is None:
            self._advance(max(0.0, until - time.monotonic()))
            if time.monotonic() >= until:
                break
        return self._outcome is not None

    def wait(self) -> Outcome:
        """What came of it. Raises Died and TooLong."""
        while self._outcome is None:
            self._advance(None)
        if isinstance(self._outcome, Outcome):
            return self._outcome
        raise self._outcome

    def cancel(self) -> None:
        """Give it up, with its worker."""
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()

    # ----------------------------------------------------------------------------------------

    def _submit(self) -> None:
        """Send the request to a worker; without one the work is left to this process."""
        self._until = None
        try:
            self._worker = self._idle.pop() if self._idle else Worker(fork=False)
            self._worker.send(self._data, _START_SECONDS)
        except OSError:
            self._outcome = Outcome("unreadable")
        except TooLong:
            self._lost(Died(0, ""))
        except Died as died:
            self._lost(died)

    def _advance(self, seconds: float | None) -> None:
        """Take the worker's next frame, if it comes within `seconds`; None: within the limit."""
        assert self._worker is not None
        left = _START_SECONDS if self._until is None else self._until - time.monotonic()
        wait = left if seconds is None else min(left, seconds)
        try:
            data = self._worker.receive(wait, kills=wait == left)
        except TooLong as error:
            self._outcome = error
            return
        except Died as died:
            self._lost(died)
            return
        except BaseException:  # an interrupt: it has killed the worker
            self._worker = None
            raise
        if data is None:
            return
        if self._until is None:
            self._until = time.monotonic() + self._seconds
            if data == b"":
                return
        outcome: Outcome = pickle.loads(data)
        self._outcome, worker = outcome, self._worker
        self._worker = None
        if outcome.last:
            worker.kill()
        else:
            self._idle.append(worker)

    def _lost(self, died: Died) -> None:
        """The worker ended: try another, unless the work is to blame."""
        self._losses += 1
        begun, self._worker = self._until is not None, None
        if begun and died.number == signal.SIGALRM:  # its own, should this process not look
            self._outcome = TooLong()
        elif begun and died.number != signal.SIGKILL:
            self._outcome = died
        elif self._losses < _ATTEMPTS:
            self._submit()
        else:
            self._outcome = died if begun else Outcome("unreadable")


def _packed(spec: Spec) -> bytes | None:
    """A constraint for another process; None where it can't be sent.

    Raises GrammarError for one nested too deeply.
    """
    file = io.BytesIO()
    try:
        _Pickler(file).dump(spec)
    except RecursionError:
        raise GrammarError("it is nested too deeply") from None
    except Exception:  # pickle raises whatever the parts of a value raise
        return None
    return file.getvalue()


class _Pickler(pickle.Pickler):
    """Leaves out classes that a schema was taken from: only `value` needs them."""

    def reducer_override(self, value: Any) -> Any:
        if isinstance(value, type) and hasattr(value, "model_json_schema"):
            return type(None), ()
        return NotImplemented


def _failure(outcome: Outcome) -> str:
    """Why there is no value, in words."""
    if outcome.kind == "memory":
        return _out_of_memory()
    if outcome.kind == "raised":
        error, _ = outcome.value
        return one_line(f"{type(error).__name__}: {error}")
    if outcome.kind == "refused":
        return str(GrammarError(*outcome.value))
    words = one_line(printable(str(outcome.value)))
    return f"the engine failed on it ({words}), which is a bug of the engine"


def _killed(died: Died) -> str:
    """Why a worker ended that was not to blame itself; empty where it crashed."""
    if "memory allocation of" in died.words:
        return _out_of_memory()
    if died.number == signal.SIGKILL:
        return "the system killed the process that works on it, most likely for lack of memory"
    return ""


def _out_of_memory() -> str:
    return f"it takes more than {serving.most_bytes() / 2**30:.3g} GB of memory; simplify it"


def _detail(died: Died) -> str:
    """The engine's last words, or the name of the signal."""
    words = re.sub(r"\S*/", "", one_line(died.words))
    names = {number.value: number.name for number in signal.Signals}
    return printable(words) or names.get(died.number, "it exited")
