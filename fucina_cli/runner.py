"""A loaded model that answers jobs: the seam between whoever asks and the decode core."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fucina_cli.answer import Answer
from fucina_cli.batching import Batch, Iterated, JobSource, OnJobText
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.decoding.reply import Channel
from fucina_cli.errors import InputError
from fucina_cli.families.family import Family
from fucina_cli.families.registry import families, family_named
from fucina_cli.job import Job
from fucina_cli.llama.errors import ModelError
from fucina_cli.runtime import Blame, Runtime, nobody
from fucina_cli.text import reason
from fucina_cli.timing import Stopwatch

if TYPE_CHECKING:
    from fucina_cli.constraint.compiler import Compiled
    from fucina_cli.engine import Engine
    from fucina_cli.llama.context import Context
    from fucina_cli.llama.exactness import Exactness
    from fucina_cli.request import Request

#: Told of what is worth knowing: "warning" or "note", the part of the input that it is about or
#: None, one sentence, and the job that it is about or None for all.
Tell = Callable[[str, str | None, str, Job | None], None]


class RunnerError(RuntimeError):
    """A Runner was used in a way that it can't be: closed, busy, or in a forked process."""


class Runner:
    """A loaded model, its contexts and compiled constraints; answers jobs.

    One call at a time, in the process that opened it. Close it, or use it in a `with` statement:
    it holds native memory.
    """

    def __init__(
        self,
        name: str,
        family: Family | None,
        runtime: Runtime,
        *,
        texts: Mapping[str, str],
        probes: bool = True,
        blame: Blame = nobody,
        tell: Tell | None = None,
    ) -> None:
        """Load a model; `open` is the door for everybody outside of this package.

        Args:
            name: a path, or that of the built-in model.
            family: None for the one that the file names.
            texts: documents to draft from, by name.
            probes: find out whether each context is exact, which takes a few forwards.
            blame: told what a crash of native code would be the fault of.
            tell: takes warnings and notes; None leaves them unsaid.

        Raises InputError for a model or an option that can't be used.
        """
        from fucina_cli import loading
        from fucina_cli.constraint.compiler import Compiler
        from fucina_cli.planning import Planner

        watch = Stopwatch()
        loading.check_references(texts)
        self._cache_types, self._probes = loading.cache_types(runtime), probes
        self._blame, self._tell = blame, tell
        self.runtime = runtime
        self.model, self.family = loading.load_model(name, family, runtime, blame=blame)
        #: What jobs mean for this model.
        self.planner = Planner(self.model, self.family, runtime, f"'{name}'")
        self._compiler = Compiler(self.model.vocabulary)
        self._exactness: Exactness | None = None
        self._finished_forwards = self._probe_forwards = 0
        self._pid, self._lock = os.getpid(), threading.Lock()
        self._closed = False
        #: What decodes now; its context is made, and made anew, as jobs need it.
        self.engine: Engine | None = None
        self._drafting: loading.Drafting | None = None
        if runtime.drafts:
            try:
                self._drafting = loading.Drafting(self.model, runtime, texts, blame)
            except InputError:
                self.model.close()
                raise
            if not self._drafting.possible:
                text = "this model's state can't be rewound, so nothing is drafted"
                self._say("warning", runtime.drafts, text)
        self.load_s = watch.lap()

    @classmethod
    def open(
        cls, model: str | os.PathLike[str], *, family: str | None = None, **runtime: Any
    ) -> Runner:
        """Load a model.

        Args:
            model: path of a .gguf file, or "tiny" for the built-in model of a family.
            family: "qwen3", "gemma4" or "generic"; found from the file unless given.
            runtime: options by keyword, such as `ctx=4096`, `spec=True`, `spec_ref=["notes.txt"]`,
                `draft_model="small.gguf"`, `threads=4`, `exact=False`; see `options()`.

        Raises InputError for a model or an option that can't be used.
        """
        chosen = None if family is None else family_named(family)
        if family is not None and chosen is None:
            names = ", ".join(each.name for each in families())
            raise InputError("family", f"'{family}' is not one of {names}")
        unknown = sorted(runtime.keys() - Runtime.__dataclass_fields__.keys())
        if unknown:
            raise InputError(unknown[0], "there is no such option")
        references = runtime.get("spec_ref", ())
        if isinstance(references, str):
            references = runtime["spec_ref"] = (references,)
        return cls(
            os.fspath(model),
            chosen,
            Runtime(**runtime),
            texts={str(name): _read(str(name)) for name in references},
        )

    # -- answers -----------------------------------------------------------------------------

    def answer(self, job: Job) -> Answer:
        """Answer a job. Raises InputError where it can't be answered."""
        answer = next(iter(self.answers([job])))
        if answer.error is not None:
            raise answer.error
        return answer

    def stream(self, job: Job) -> Iterator[str]:
        """The answer's text as it is produced, without thoughts. Raises as `answer`.

        Where an answer may be drawn again it comes whole, at the end.
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
        its `error`. Jobs are taken as there is room for them.
        """
        with self.batch(Iterated(jobs), streams=streams) as batch:
            for answers in self._steps(batch):
                yield from answers

    @contextmanager
    def batch(
        self, source: JobSource, *, streams: int = 1, on_text: OnJobText | None = None
    ) -> Iterator[Batch]:
        """Jobs of a source, to be advanced step by step; at the end what runs is given up.

        Raises RunnerError when the runner is closed, at work already, or in a forked process.
        """
        if not isinstance(streams, int) or streams < 1:
            raise InputError("streams", f"must be a whole number from 1 on, not {streams!r}")
        with self._working():
            batch = Batch(self, source, streams, on_text)
            try:
                yield batch
            finally:
                if not self._closed and os.getpid() == self._pid:
                    batch.interrupt()

    def _steps(self, batch: Batch) -> Iterator[list[Answer]]:
        while True:
            self._check_open()  # before anything is looked at that may have been freed
            if batch.done:
                return
            yield batch.step()

    # -- what others build on ----------------------------------------------------------------

    def compile(self, request: Request) -> None:
        """Give a request its constraint, compiled once for equal ones. Raises InputError."""
        job = request.job
        if job is None or job.constraint is None:
            return
        stop = self.planner.stop_token(chat=job.is_chat)
        new = self._compiler.known(job.constraint, stop) is None
        compiled = self._compiled(job, stop)
        if new:
            for text in compiled.warnings:
                self._say("warning", "constraint", text, job)
        request.compiled, request.constraint = compiled, compiled.grammar.initial
        if job.is_chat and self.planner.thinks(job, request.prompt):
            # What a thinking block before the answer must not contain.
            vocabulary = self.model.vocabulary
            own = (stop, vocabulary.eos, vocabulary.eot)
            request.forbidden_while_thinking = tuple(sorted({t for t in own if t is not None}))

    def open_context(self, size: int, n_slots: int = 1) -> Context:
        """A context of `n_slots` slots of `size` tokens each. Raises InputError."""
        from fucina_cli.llama.context import Context

        ctx, trained = self.runtime.ctx, self.model.n_ctx_train
        try:
            with self._blame(self.planner.part):
                context = Context(
                    self.model,
                    n_ctx=size,
                    n_slots=n_slots,
                    cache_type=self._cache_types,
                    threads=self.runtime.threads,
                )
        except ModelError as error:
            raise InputError("ctx" if ctx else self.planner.part, str(error)) from None
        if size > trained:
            self._say("warning", "ctx", f"{size} tokens; the model was trained for {trained}")
        return context

    def probe(self, context: Context) -> Exactness:
        """Whether this model on this machine is exact; empties the context. Raises InputError."""
        from fucina_cli.llama.exactness import probe

        try:
            return probe(context)
        except ModelError as error:
            raise InputError(self.planner.part, str(error)) from None

    def make_engine(self, least: int, most: int, n_slots: int) -> Engine:
        """Replace the engine by one of up to `most` tokens for each slot, of `least` if need be.

        Raises InputError when not even that can be had.
        """
        self._drop_engine()
        if self.runtime.ctx is not None:
            most = self.runtime.ctx
        else:
            most = max(least, min(most, self.model.n_ctx_train))
        try:
            self.engine = self.engine_in(self.open_context(most, n_slots))
        except InputError:
            if most == least:
                raise
            self.engine = self.engine_in(self.open_context(least, n_slots))
        return self.engine

    def engine_in(self, context: Context, *, probes: bool | None = None) -> Engine:
        """An engine in a context, with the drafts that were asked for. Raises InputError."""
        from fucina_cli.engine import Engine

        if self._probes if probes is None else probes:
            self._exactness = self.probe(context)
        self._probe_forwards = context.total_forwards
        return Engine(
            context,
            speculation=self._drafting.of(context) if self._drafting else None,
            on_retry=self._retried,
            recompile=self._recompile,
        )

    @property
    def exactness(self) -> Exactness | None:
        """What the last probe found; None before one."""
        return self._exactness

    @property
    def forwards(self) -> int:
        """Forwards that decoded something, common ones counted once."""
        if self.engine is None:
            return self._finished_forwards
        now = self.engine.context.total_forwards - self._probe_forwards
        return self._finished_forwards + now

    def finished(self, answer: Answer) -> Answer:
        """An answer of the engine, completed by what only the runner knows."""
        answer.load_s = self.load_s
        answer.exact = self._exactness.exact if self._exactness else None
        if answer.failure is not None:
            assert answer.job is not None
            answer.error = self.planner.fault(answer.job, answer.failure)
        return answer

    # -- closing -----------------------------------------------------------------------------

    def close(self) -> None:
        """Free model and contexts; a second call does nothing. Not in a forked process."""
        if self._closed or os.getpid() != self._pid:
            return
        self._closed = True
        self._drop_engine()
        if self._drafting is not None:
            self._drafting.close()
        self.model.close()

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

    def _drop_engine(self) -> None:
        if self.engine is None:
            return
        self._finished_forwards = self.forwards
        engine, self.engine = self.engine, None
        engine.context.close()
        if engine.speculation is not None and engine.speculation.draft_context is not None:
            engine.speculation.draft_context.close()

    def _say(self, kind: str, part: str | None, text: str, job: Job | None = None) -> None:
        if self._tell is not None:
            self._tell(kind, part, text, job)

    def _retried(self, request: Request, why: str) -> None:
        seed = request.sampling.seed
        text = f"the answer of seed {seed} is not valid ({why}); trying the next seed"
        self._say("note", None, text, request.job)

    def _recompile(self, request: Request) -> Compiled:
        assert request.job is not None
        return self._compiled(
            request.job, self.planner.stop_token(chat=request.job.is_chat), anew=True
        )

    def _compiled(self, job: Job, stop: int, *, anew: bool = False) -> Compiled:
        assert job.constraint is not None
        try:
            with self._blame("constraint"):
                return self._compiler.compile(job.constraint, stop, anew=anew)
        except GrammarError as error:
            raise InputError("constraint", str(error)) from None
        except ModelError as error:
            raise InputError(self.planner.part, str(error)) from None


def _read(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError("spec_ref", f"can't read '{name}': {reason(error)}") from None
