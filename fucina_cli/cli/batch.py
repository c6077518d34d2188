"""Many requests from a file: each answered as if it were alone, many of them side by side."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import asking, batchfile, batchout, exits, output, report, session
from fucina_cli.cli.asking import Question
from fucina_cli.cli.batchfile import BadLine, BatchRequest
from fucina_cli.cli.batchout import Name
from fucina_cli.cli.batchprogress import Progress
from fucina_cli.cli.compiling import Compiler
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.many import Done, Many
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import Texts
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.grammar import Prepared
from fucina_cli.conversation import Conversations
from fucina_cli.families.family import Family
from fucina_cli.llama.context import Context
from fucina_cli.llama.exactness import Exactness, probe
from fucina_cli.llama.model import Model
from fucina_cli.timing import Stopwatch

if TYPE_CHECKING:
    from fucina_cli.drafting.speculation import Speculation

_AHEAD = 64  # requests of a file that are looked at before they are answered
_MOST_HELD = 1000  # records that wait for an earlier one, from which on nothing is begun
_GROWTH = 256  # tokens that a context grows by at least


def run(family: Family, options: Options) -> int:
    """Answer every line; the exit code."""
    reader = TextReader()
    texts = session.read_texts(options, reader)
    assert options.batch is not None
    if options.batch == "-":
        if reader.stdin_flag is not None:
            raise FlagError("--batch", f"standard input was already read for {reader.stdin_flag}")
        reader.stdin_flag = "--batch"
    speculate = None
    if options.speculation_flag:
        from fucina_cli.cli import drafting  # 10 ms that only drafts pay

        speculate = drafting.prepare(options, reader)
    session.prepare_grammar(options, texts.source)  # a bad one is the command line's fault
    _refuse_one_file(options)
    lines = _Lines(options.batch)
    done = batchout.resume(options.out) if options.resume and options.out else batchout.Done()
    with (
        batchout.Records(options.out, resumed=options.resume, in_order=options.in_order) as records,
        Progress(batchfile.count_lines(options.batch), quiet=options.quiet) as progress,
    ):
        watch = Stopwatch()
        model = session.load_model(options, family)
        make_drafts = speculate(model) if speculate else None

        def engine(size: int) -> _Engine:
            context = session.open_context(options, model, size, n_slots=options.streams or 1)
            with session.blame_first_forward(options):
                exactness = probe(context)
            made_by = make_drafts(context) if make_drafts else None
            conversations = Conversations(context, speculation=made_by)
            many = Many(family, model, compiler, conversations)
            return _Engine(context, exactness, many, made_by, context.total_forwards)

        compiler = Compiler(family, model)
        batch = _Batch(
            options, family, model, texts, compiler, engine, lines, records, progress, done
        )
        batch.load_s = watch.lap()
        try:
            batch.answer_all()
        except KeyboardInterrupt:
            batch.interrupted = True
            records.interrupt()
        if options.resume and not batch.interrupted:  # else not every line was seen
            records.sort(batch.lines_seen)
    batch.tell()
    return batch.exit_code()


@dataclass
class _Engine:
    """A context of one size, and what answers in it."""

    context: Context
    exactness: Exactness
    many: Many
    speculation: Speculation | None
    probed: int  # forwards that decoded nothing

    @property
    def forwards(self) -> int:
        """Forwards so far, common ones counted once."""
        return self.context.total_forwards - self.probed

    def close(self) -> None:
        """Free the caches."""
        self.context.close()
        if self.speculation is not None and self.speculation.draft_context is not None:
            self.speculation.draft_context.close()


@dataclass(frozen=True)
class _Waiting:
    """A request that is ready to be answered."""

    index: int
    line: int
    name: Name
    question: Question
    prepared: Prepared | None
    source: str | None  # what its constraint is called, where that is the line's own
    size: int  # tokens of context


class _Batch:
    """The state of a run."""

    def __init__(
        self,
        options: Options,
        family: Family,
        model: Model,
        texts: Texts,
        compiler: Compiler,
        engine: Callable[[int], _Engine],
        lines: _Lines,
        records: batchout.Records,
        progress: Progress,
        done: batchout.Done,
    ) -> None:
        self._options, self._family, self._model = options, family, model
        self._texts, self._compiler, self._make_engine = texts, compiler, engine
        self._lines, self._records, self._progress = lines, records, progress
        self._finished_before = done.names
        self._unsatisfied = done.unsatisfied
        self._engine: _Engine | None = None
        self._waiting: deque[_Waiting] = deque()
        #: Names of requests and the numbers of the lines that have them.
        self.lines_seen: dict[Name, int] = {}
        self._running: dict[int, _Waiting] = {}
        self._next = 0  # index of the next request
        self._drafting = report.Drafting()
        self._forwards = 0  # of the engines before this one
        self._errors = self._answers = self._skipped = self._tokens = self._unchecked = 0
        self.load_s = 0.0
        self.interrupted = False
        self._watch = Stopwatch()

    def answer_all(self) -> None:
        """Answer until no line is left."""
        self._watch.lap()
        while True:
            self._look_ahead()
            self._admit()
            if self._running:
                assert self._engine is not None
                for done in self._engine.many.advance():
                    self._settle(done)
            elif not self._waiting and self._lines.ended:
                return

    def tell(self) -> None:
        """One line on stderr: what it came to."""
        if self._options.quiet:
            return
        seconds = self._watch.lap()
        parts = [_count(self._answers, "answer")]
        if self._unsatisfied:
            parts.append(f"{self._unsatisfied} not as constrained")
        if self._unchecked:
            parts.append(f"{self._unchecked} not checked by the validator")
        if self._errors:
            parts.append(_count(self._errors, "error"))
        if self._skipped:
            parts.append(f"{self._skipped} done before")
        parts.append(f"{_count(self._tokens, 'token')} in {seconds:.1f} s")
        if self._answers and seconds > 0:
            parts.append(f"{self._answers / seconds:.2f} requests/s")
            parts.append(f"{self._tokens / seconds:.1f} tokens/s")
        output.note(", ".join(parts))
        engine = self._engine
        if engine is not None and engine.speculation is not None:
            self._drafting.tell(self._forwards + engine.forwards, engine.speculation)

    def exit_code(self) -> int:
        """Interrupted before bad input before an answer that is not as constrained."""
        if self.interrupted:
            return exits.INTERRUPTED
        if self._errors:
            return exits.BAD_INPUT
        return exits.UNSATISFIED if self._unsatisfied else exits.OK

    # ----------------------------------------------------------------------------------------

    def _look_ahead(self) -> None:
        """Read lines that can be read without waiting, and one at least where nothing is to do."""
        most = _AHEAD if self._lines.is_file else self._options.streams or 1
        while len(self._waiting) < most and self._records.held < _MOST_HELD:
            idle = not self._running and not self._waiting
            line = self._lines.next(wait=idle or self._lines.is_file)
            if line is None:
                return
            self._read(*line)

    def _read(self, number: int, raw: bytes | None) -> None:
        index = self._next
        self._next += 1
        try:
            request = batchfile.parse(number, raw, self._options, self._texts)
            first = self.lines_seen.setdefault(request.name, number)
            if first != number:
                raise BadLine(request.name, f'"id": line {first} has the same')
            if request.name in self._finished_before:
                self._skipped += 1
                self._progress.skip()
                self._records.skip(index)
                return
            self._waiting.append(self._ready(index, request))
        except BadLine as error:
            self._fail(index, number, error.name, error.message)

    def _ready(self, index: int, request: BatchRequest) -> _Waiting:
        texts = Texts(request.messages, request.prompt, request.source, request.stops)
        options = request.options
        try:
            prepared = self._compiler.prepare(options, request.source)
            question = asking.ask(options, self._family, self._model, texts)
            size = session.context_size(options, self._model, question.prompt, gen=options.gen)
        except FlagError as error:
            raise BadLine(request.name, batchfile.in_keys(str(error))) from None
        # Alone it would have a context of its own size, which may end the answer earlier.
        room = size - len(question.prompt.tokens)
        limited = replace(question.request, limit=min(question.request.limit, room))
        question = replace(question, request=limited)
        flag = options.constraint_flag
        own = None
        if flag is not None and request.source is not self._texts.source:
            own = f"line {request.line}: {batchfile.in_keys(flag)}"
        return _Waiting(index, request.line, request.name, question, prepared, own, size)

    def _admit(self) -> None:
        """Begin with waiting requests while there is room."""
        while self._waiting:
            engine = self._engine
            if engine is None or (
                not self._running and self._waiting[0].size > engine.context.n_ctx
            ):
                engine = self._grow()
                if engine is None:
                    continue
            waiting = self._waiting[0]
            if not engine.many.free or waiting.size > engine.context.n_ctx:
                return
            self._waiting.popleft()
            try:
                engine.many.submit(
                    waiting.index,
                    waiting.question,
                    waiting.prepared,
                    who=f"line {waiting.line}: ",
                    source_name=waiting.source,
                )
            except FlagError as error:
                self._fail_waiting(waiting, error)
                continue
            self._running[waiting.index] = waiting

    def _grow(self) -> _Engine | None:
        """A context for the first of those that wait, and if possible for all of them.

        None where even that can't be had: its request has failed.
        """
        first = self._waiting[0].size
        most = max(waiting.size for waiting in self._waiting)
        if self._engine is not None:
            most = max(most, self._engine.context.n_ctx + _GROWTH)
            self._forwards += self._engine.forwards
            self._engine.close()
            self._engine = None
        if self._options.ctx is None:
            most = max(first, min(most, self._model.n_ctx_train))
        else:
            most = self._options.ctx
        for size in dict.fromkeys((most, first)):
            try:
                self._engine = self._make_engine(size)
                return self._engine
            except FlagError as error:
                failure = error
        self._fail_waiting(self._waiting.popleft(), failure)
        return None

    def _settle(self, done: Done) -> None:
        assert isinstance(done.key, int)
        assert self._engine is not None
        waiting = self._running.pop(done.key)
        answer, options = done.answer, done.question.options
        self._tokens += answer.counts.committed
        if answer.failure is not None:
            error = session.decoding_error(options, answer.failure)
            self._fail_waiting(waiting, error, answer.text)
            return
        engine = self._engine
        record = report.record(
            answer,
            done.sampling,
            done.compiled,
            done.verdict,
            self.load_s,
            engine.exactness,
            engine.speculation,
        )
        self._answers += 1
        self._drafting.add(answer)
        constraint = record["constraint"]
        if constraint and (not constraint["complete"] or constraint["valid"] is False):
            self._unsatisfied += 1
        elif done.verdict.valid is None and done.verdict.errors:
            self._unchecked += 1
        self._progress.answered(answer.counts.committed)
        self._records.write(waiting.index, {**waiting.name.record(), **record})

    def _fail_waiting(self, waiting: _Waiting, error: FlagError, text: str | None = None) -> None:
        message = batchfile.in_keys(str(error))
        self._fail(waiting.index, waiting.line, waiting.name, message, text)

    def _fail(
        self, index: int, line: int, name: Name, message: str, text: str | None = None
    ) -> None:
        self._errors += 1
        self._progress.failed()
        record: dict[str, Any] = {"id": name.id, "line": line, "error": f"line {line}: {message}"}
        if text:
            record["text"] = text
        self._records.write(index, record)


class _Lines:
    """Lines read by a thread, so that answering goes on while none has come yet."""

    def __init__(self, path: str) -> None:
        self.is_file = path != "-" and Path(path).is_file()
        #: Whether the last one was taken.
        self.ended = False
        self._queue: queue.Queue[tuple[int, bytes | None] | BaseException | None] = queue.Queue(
            maxsize=_AHEAD
        )
        lines = batchfile.read_lines(path)

        def read() -> None:
            try:
                for line in lines:
                    self._queue.put(line)
                self._queue.put(None)
            except BaseException as error:
                self._queue.put(error)

        threading.Thread(target=read, daemon=True).start()

    def next(self, *, wait: bool) -> tuple[int, bytes | None] | None:
        """The next line; None where there is no more, or without `wait` none yet.

        Raises FlagError when the file can't be read on.
        """
        if self.ended:
            return None
        try:
            line = self._queue.get(block=wait)
        except queue.Empty:
            return None
        if isinstance(line, BaseException):
            raise line
        if line is None:
            self.ended = True
        return line


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _refuse_one_file(options: Options) -> None:
    try:
        same = options.out is not None and os.path.samefile(options.batch or "", options.out)
    except (OSError, ValueError):
        return
    if same:
        raise FlagError("--out", f"'{options.out}' is the file of --batch; name another file")
