"""A loaded model that answers jobs: the public API of the package."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fucina_cli.answer import Answer
from fucina_cli.batching import Batch, Iterated, JobSource, OnJobText
from fucina_cli.decoding.reply import Channel
from fucina_cli.errors import InputError
from fucina_cli.families.registry import families, family_named
from fucina_cli.job import Job
from fucina_cli.options import options_of
from fucina_cli.runtime import Runtime
from fucina_cli.text import reason

if TYPE_CHECKING:
    from fucina_cli.host import Host


class RunnerError(RuntimeError):
    """A Runner was used while closed, while busy, or in a forked process."""


class Runner:
    """A loaded model that answers jobs.

    One call at a time, in the process that opened it. Close it, or use it in a `with` statement:
    it holds native memory. Nothing is printed, and signals and processes are left alone.
    """

    def __init__(self, host: Host) -> None:
        """Answer with a loaded model; `open` loads one."""
        #: The model with its contexts and compiled constraints.
        self.host = host
        self._pid, self._lock, self._closed = os.getpid(), threading.Lock(), False

    @classmethod
    def open(
        cls, model: str | os.PathLike[str], *, family: str | None = None, **runtime: Any
    ) -> Runner:
        """Load a model.

        Args:
            model: path of a .gguf file, or "tiny" for the built-in model of a family.
            family: "qwen3", "gemma4" or "generic"; found from a file unless given.
            runtime: options by keyword, such as `ctx=4096`, `spec=True`, `spec_ref=["notes.txt"]`,
                `draft_model="small.gguf"`, `threads=4`, `exact=False`; see `fucina_cli.runtime`.

        Raises InputError for a model or an option that can't be used.
        """
        chosen = None if family is None else family_named(family)
        if family is not None and chosen is None:
            names = ", ".join(each.name for each in families())
            raise InputError("family", f"'{family}' is not one of {names}")
        known = {each.name for each in options_of(Runtime)}
        for name in runtime:
            if name not in known:
                raise InputError(
                    name, f"there is no such option; there are {', '.join(sorted(known))}"
                )
        if isinstance(runtime.get("spec_ref"), str | os.PathLike):
            runtime["spec_ref"] = (runtime["spec_ref"],)
        if runtime.get("draft_model") is not None:
            runtime["draft_model"] = os.fspath(runtime["draft_model"])
        settings = Runtime(**runtime)
        from fucina_cli import loading  # loads native libraries, as what follows
        from fucina_cli.host import Host

        loading.cache_types(settings)
        loading.check_references(settings.spec_ref)
        texts = {str(name): _read(str(name)) for name in settings.spec_ref}
        return cls(Host(os.fspath(model), chosen, settings, texts=texts))

    # -- answers -----------------------------------------------------------------------------

    def answer(self, job: Job) -> Answer:
        """Answer a job. Raises InputError where it can't be answered."""
        answer = next(iter(self.answers([job])))
        if answer.error is not None:
            raise answer.error
        return answer

    def stream(self, job: Job) -> Iterator[str]:
        """The answer's text as it is produced, without thoughts. Raises as `answer`.

        An answer that may be drawn again comes whole, at the end.
        """
        pieces: list[str] = []

        def take(_job: Job, text: str, channel: Channel) -> None:
            if channel == "answer":
                pieces.append(text)

        with self.batch(Iterated([job]), on_text=take) as batch:
            for answers in self._steps(batch):
                yield from pieces
                pieces.clear()
                if answers and answers[0].error is not None:
                    raise answers[0].error

    def answers(self, jobs: Iterable[Job], *, streams: int = 1) -> Iterator[Answer]:
        """Answer many jobs, `streams` at a time, in the order in which they end.

        Each gets the tokens that it gets alone. A job that can't be answered gives an answer with
        its `error`. Of a list up to 64 jobs are planned ahead; an iterator is asked as there is
        room. Raises as `batch`.
        """
        with self.batch(Iterated(jobs, streams), streams=streams) as batch:
            for answers in self._steps(batch):
                yield from answers

    @contextmanager
    def batch(
        self, source: JobSource, *, streams: int = 1, on_text: OnJobText | None = None
    ) -> Iterator[Batch]:
        """A Batch over a source, advanced by its `step`; leaving the block interrupts what runs.

        Raises InputError for `streams` below 1, and RunnerError when the runner is closed, busy, or
        in a forked process.
        """
        if not isinstance(streams, int) or streams < 1:
            raise InputError("streams", f"must be a whole number from 1 on, not {streams!r}")
        with self._working():
            batch = Batch(self.host, source, streams, on_text)
            try:
                yield batch
            finally:
                if not self._closed and os.getpid() == self._pid:
                    batch.interrupt()

    def _steps(self, batch: Batch) -> Iterator[list[Answer]]:
        while True:
            self._check_open()  # before using what may have been freed
            if batch.done:
                return
            yield batch.step()

    # -- closing -----------------------------------------------------------------------------

    def close(self) -> None:
        """Free model and contexts; a second call does nothing. Not in a forked process."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        self.host.close()

    def __enter__(self) -> Runner:
        self._check_open()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ----------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise RunnerError("the Runner is closed; open another")
        if os.getpid() != self._pid:
            raise RunnerError("the Runner was opened in another process; open one after the fork")

    @contextmanager
    def _working(self) -> Iterator[None]:
        self._check_open()
        if not self._lock.acquire(blocking=False):
            raise RunnerError(
                "the Runner is answering already; let that call, or the iteration over its "
                "answers, end first, or open a Runner of its own for each thread"
            )
        try:
            yield
        finally:
            self._lock.release()


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError("spec_ref", f"can't read '{name}': {reason(error)}") from None
