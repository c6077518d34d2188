"""A loaded model and what jobs need of it: plans, compiled constraints, contexts, engines."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from fucina_cli import loading
from fucina_cli.answer import Answer
from fucina_cli.constraint.compiler import Compiled, Compiler
from fucina_cli.constraint.guard import Guard
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.engine import Engine
from fucina_cli.errors import InputError
from fucina_cli.families.family import Family
from fucina_cli.job import Job
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.llama.exactness import Exactness, probe
from fucina_cli.planning import Planner
from fucina_cli.request import Request
from fucina_cli.runtime import Blame, Runtime, no_blame
from fucina_cli.text import one_line

#: Receives a message: "warning" or "note", the part of the input that it is about or None, one
#: sentence, and the job that it is about or None for all.
OnMessage = Callable[[str, str | None, str, Job | None], None]


class Host:
    """Serves the jobs of one model.

    Args:
        name: path of the model, or the name of the built-in one.
        family: None for the family of the file's architecture.
        runtime: how the model runs.
        texts: documents to draft from, by name.
        probes: probe each context for exactness, which takes a few forwards.
        blame: attributes a crash of native code to a part of the input.
        on_message: receives warnings and notes; None drops them.
        guard: prepares constraints and judges answers; closed with the host.

    Raises InputError for a model or an option that can't be used.
    """

    def __init__(
        self,
        name: str,
        family: Family | None,
        runtime: Runtime,
        *,
        texts: Mapping[str, str],
        probes: bool = True,
        blame: Blame = no_blame,
        on_message: OnMessage | None = None,
        guard: Guard | None = None,
    ) -> None:
        begin = time.perf_counter()
        self._probes, self._blame, self._on_message = probes, blame, on_message
        self.runtime = runtime
        self.model, self.family = loading.load_model(name, family, runtime, blame=blame)
        #: Makes requests of jobs.
        self.planner = Planner(self.model, self.family, runtime, f"'{name}'")
        #: The current engine; replaced where jobs need a larger context or other slots.
        self.engine: Engine | None = None
        #: Result of the last probe; None before the first.
        self.exactness: Exactness | None = None
        self._keeps_system: bool | None = None  # whether the chat template does, once known
        self._guard = guard or Guard(runtime.compile_timeout)
        self._compiler = Compiler(self.model.vocabulary, self._guard)
        self._contexts: list[Context] = []
        self._finished_forwards = self._probe_forwards = 0
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
        self.load_s = time.perf_counter() - begin

    @property
    def forwards(self) -> int:
        """Forwards without those of probes; one over several requests counts once."""
        if self.engine is None:
            return self._finished_forwards
        now = self.engine.context.total_forwards - self._probe_forwards
        return self._finished_forwards + now

    def plan(self, job: Job) -> Request:
        """A request for a job, its constraint checked but not yet compiled. Raises InputError."""
        if job.constraint is not None:
            try:
                self._guard.prepare(job.constraint)
            except GrammarError as error:
                raise InputError("constraint", *error.message) from None
            except Exception as error:  # a defect of the kind's code ends this job and no other
                text = one_line(f"internal error: {type(error).__name__}: {error}")
                raise InputError("constraint", f"{text}; please report it") from error
        request = self.planner.plan(job)
        if job.think and not self.planner.thinks(job, request.prompt):
            why = "the model has no markers of thoughts" if job.is_chat else "only chats have them"
            self._say("warning", "think", f"has no effect: {why}", job)
        if job.has_system and self._keeps_system is None:
            self._keeps_system = self.planner.keeps_system(job)
            if not self._keeps_system:
                self._say("warning", "system", "the model's chat template leaves it out", job)
        return request

    def is_checked(self, job: Job, seconds: float) -> bool:
        """Whether `plan` need not wait for a job's constraint.

        If checking it begins now, it gets `seconds` for that.
        """
        return job.constraint is None or self._guard.is_ready(job.constraint, seconds)

    def is_compiled(self, request: Request, seconds: float) -> bool:
        """Whether `compile` need not wait. If compiling begins now, it gets `seconds` for that.

        Raises InputError.
        """
        job = request.job
        if job is None or job.constraint is None:
            return True
        stop = self.planner.stop_token(chat=job.is_chat)
        with self._constraint_errors():
            return self._compiler.is_ready(job.constraint, stop, seconds)

    def compile(self, request: Request) -> None:
        """Set a request's constraint; equal ones are compiled once. Raises InputError."""
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
            # A thinking block before the answer must not contain them.
            vocabulary = self.model.vocabulary
            own = (stop, vocabulary.eos, vocabulary.eot)
            request.forbidden_while_thinking = tuple(sorted({t for t in own if t is not None}))

    def open_context(self, size: int, n_slots: int = 1) -> Context:
        """A context of `n_slots` slots of `size` tokens each. Raises InputError."""
        ctx, trained = self.runtime.ctx, self.model.n_ctx_train
        kinds = loading.cache_types(self.runtime)
        try:
            with self._blame(self.planner.part):
                context = Context(
                    self.model,
                    n_ctx=size,
                    n_slots=n_slots,
                    cache_type=kinds,
                    threads=self.runtime.threads,
                )
        except ModelError as error:
            raise InputError("ctx" if ctx else self.planner.part, str(error)) from None
        self._contexts.append(context)
        if size > trained:
            self._say("warning", "ctx", f"{size} tokens; the model was trained for {trained}")
        return context

    def probe(self, context: Context) -> Exactness:
        """Whether this model on this machine is exact; empties the context. Raises InputError."""
        try:
            return probe(context)
        except ModelError as error:
            raise InputError(self.planner.part, str(error)) from None

    def make_engine(self, least: int, most: int, n_slots: int) -> Engine:
        """Replace the engine by one with slots of `most` tokens, of `least` where memory is short.

        The option `ctx` overrides `most`. Raises InputError when no context can be made.
        """
        self._free_contexts()
        if self.runtime.ctx is not None:
            most = self.runtime.ctx
        else:
            most = max(least, min(most, self.model.n_ctx_train))
        try:
            self.engine = self.engine_in(self.open_context(most, n_slots))
        except InputError:
            self._free_contexts()
            if most == least:
                raise
            self.engine = self.engine_in(self.open_context(least, n_slots))
        return self.engine

    def engine_in(self, context: Context) -> Engine:
        """An engine in a context, with the drafts of the runtime's options. Raises InputError."""
        if self._probes:
            self.exactness = self.probe(context)
        self._probe_forwards = context.total_forwards
        speculation = self._drafting.of(context) if self._drafting else None
        if speculation is not None and speculation.draft_context is not None:
            self._contexts.append(speculation.draft_context)
        return Engine(
            context,
            speculation=speculation,
            on_retry=self._retried,
            recompile=self._recompile,
        )

    def advance(self) -> list[Answer]:
        """One forward for all requests of the engine; the answers that are final.

        Raises InputError when llama.cpp can't compute.
        """
        if self.engine is None or not self.engine.running:
            return []
        try:
            return [self._finished(answer) for answer in self.engine.advance()]
        except (ModelError, ContextFull) as error:
            raise InputError(self.planner.part, str(error)) from None

    def interrupt(self) -> list[Answer]:
        """End all requests of the engine where they are; their answers so far."""
        if self.engine is None:
            return []
        return [self._finished(answer) for answer in self.engine.interrupt()]

    def close(self) -> None:
        """Free the model and all contexts that were opened for it."""
        self._free_contexts()
        if self._drafting is not None:
            self._drafting.close()
        self.model.close()
        self._guard.close()

    # ----------------------------------------------------------------------------------------

    def _finished(self, answer: Answer) -> Answer:
        """An answer of the engine, completed by load time, exactness and error."""
        answer.load_s = self.load_s
        answer.exact = self.exactness.exact if self.exactness else None
        if answer.failure is not None:
            assert answer.job is not None
            answer.error = self.planner.fault(answer.job, answer.failure)
        return answer

    def _free_contexts(self) -> None:
        self._finished_forwards, self.engine = self.forwards, None
        for context in self._contexts:
            context.close()
        self._contexts.clear()

    def _say(self, kind: str, part: str | None, text: str, job: Job | None = None) -> None:
        if self._on_message is not None:
            self._on_message(kind, part, text, job)

    def _retried(self, request: Request, why: str) -> None:
        seed = request.sampling.seed
        text = f"the answer of seed {seed} is not valid ({why}); trying the next seed"
        self._say("note", None, text, request.job)

    def _recompile(self, request: Request) -> Compiled:
        assert request.job is not None
        stop = self.planner.stop_token(chat=request.job.is_chat)
        return self._compiled(request.job, stop, anew=True)

    def _compiled(self, job: Job, stop: int, *, anew: bool = False) -> Compiled:
        assert job.constraint is not None
        with self._constraint_errors():
            return self._compiler.compile(job.constraint, stop, anew=anew)

    @contextmanager
    def _constraint_errors(self) -> Iterator[None]:
        try:
            with self._blame("constraint"):
                yield
        except GrammarError as error:
            raise InputError("constraint", *error.message) from None
        except ModelError as error:
            raise InputError(self.planner.part, str(error)) from None
