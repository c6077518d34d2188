"""Many jobs through the slots of a context that grows as they need."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from fucina_cli.answer import Answer
from fucina_cli.decoding.reply import Channel
from fucina_cli.errors import InputError
from fucina_cli.job import Job

if TYPE_CHECKING:
    from fucina_cli.engine import Engine
    from fucina_cli.host import Host
    from fucina_cli.request import Request

#: Receives text of a job's answer as it becomes certain.
OnJobText = Callable[[Job, str, Channel], None]

_AHEAD = 64  # jobs of a list that are looked at before they are answered
_GROWTH = 256  # tokens that a context grows by at least

#: Seconds that a constraint gets while others are decoded, and where they only wait to be: most
#: take less, and then its size is known before the context is made.
_MOMENT, _PAUSE = 0.005, 1.0


class JobSource(Protocol):
    """Where jobs come from, one by one."""

    @property
    def ahead(self) -> int:
        """How many jobs to plan ahead, so that the context can be sized for them."""
        ...

    @property
    def ended(self) -> bool:
        """Whether there are no more."""
        ...

    def take(self, *, wait: bool) -> Job | None:
        """The next job; None at the end, and where `wait` is False and none has come yet."""
        ...


class Iterated:
    """A JobSource of an iterable."""

    def __init__(self, jobs: Iterable[Job], slots: int = 1) -> None:
        self.ahead = _AHEAD if isinstance(jobs, Sequence) else slots
        self._jobs = iter(jobs)
        self.ended = False

    def take(self, *, wait: bool) -> Job | None:
        """The next job; waits for it whatever `wait` says."""
        job = next(self._jobs, None)
        self.ended = job is None
        return job


class Batch:
    """Answers the jobs of a source side by side, each as if alone.

    A job that can't be answered gives an answer with its `error`, and the others go on.

    Args:
        host: plans, compiles, and makes engines.
        source: of the jobs.
        slots: jobs that are decoded at a time.
        on_text: receives text as it comes.
    """

    def __init__(
        self, host: Host, source: JobSource, slots: int, on_text: OnJobText | None = None
    ) -> None:
        self._host, self._source = host, source
        self._slots, self._on_text = slots, on_text
        self._waiting: deque[Request] = deque()
        self._failed: list[Answer] = []
        self._count = 0
        self._checking: Job | None = None  # its constraint is being prepared

    @property
    def done(self) -> bool:
        """Whether every job was answered."""
        idle = not self._waiting and not self._failed and not self._running
        return idle and self._checking is None and self._source.ended

    def step(self) -> list[Answer]:
        """Take available jobs, begin those that there is room for, and run one forward for all.

        Returns the final answers, in the order in which they ended.
        """
        self._look_ahead()
        if self._failed:
            failed, self._failed = self._failed, []
            return failed
        self._admit()
        answers, self._failed = self._failed, []
        return answers + self._host.advance()

    def interrupt(self) -> list[Answer]:
        """End all jobs where they are; the answers so far of those that had begun."""
        self._waiting.clear()
        self._checking = None
        return self._host.interrupt()

    @property
    def _running(self) -> int:
        return 0 if self._host.engine is None else self._host.engine.running

    def _look_ahead(self) -> None:
        """Take the jobs that are available; wait for one only when there is nothing to do."""
        while len(self._waiting) < self._source.ahead:
            idle = not self._running and not self._waiting and not self._failed
            job, self._checking = self._checking, None
            if job is None:
                job = self._source.take(wait=idle)
            if job is None:
                return
            patience = _MOMENT if self._running else _PAUSE
            busy = self._running or self._waiting
            if busy and not self._host.is_checked(job, patience):
                self._checking = job  # decoding goes on meanwhile
                return
            index, self._count = self._count, self._count + 1
            try:
                request = self._host.plan(job)
            except InputError as error:
                self._failed.append(Answer(job, index, error=error))
                return  # told before the next job is asked for
            request.index = index
            if self._on_text is not None:
                request.on_text = self._text_of(job, self._on_text)
            self._waiting.append(request)

    @staticmethod
    def _text_of(job: Job, take: OnJobText) -> Callable[[str, Channel], None]:
        return lambda text, channel: take(job, text, channel)

    def _admit(self) -> None:
        """Begin waiting requests while there is room."""
        while self._waiting:
            request = self._waiting[0]
            engine = self._host.engine
            if engine is None or not engine.running:
                engine = self._fitting(engine)
            if engine is None:
                continue  # its request has failed
            if not engine.free or request.size > engine.context.n_ctx:
                return
            try:
                if engine.running and not self._host.is_compiled(request, _MOMENT):
                    return  # decoding goes on meanwhile
                self._host.compile(request)
                engine.submit(request)
            except InputError as error:
                self._fail(request, error)
            self._waiting.popleft()

    def _fitting(self, engine: Engine | None) -> Engine | None:
        """An engine with room for the first waiting request, if possible for each of them.

        None where memory does not allow even the first: its request has failed.
        """
        first = self._waiting[0].size
        if engine is not None and engine.context.n_slots == self._slots:
            if first <= engine.context.n_ctx:
                return engine
            least = engine.context.n_ctx + _GROWTH
        else:
            least = 0
        most = max(least, *(request.size for request in self._waiting))
        try:
            return self._host.make_engine(first, most, self._slots)
        except InputError as error:
            self._fail(self._waiting.popleft(), error)
            return None

    def _fail(self, request: Request, error: InputError) -> None:
        assert request.job is not None
        self._failed.append(Answer(request.job, request.index, error=error))
