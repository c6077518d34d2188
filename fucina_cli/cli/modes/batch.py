"""`--batch`: many requests from a file, side by side, each answered as if alone."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import jobs
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, OUTPUT, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.options import Option
from fucina_cli.text import counted

if TYPE_CHECKING:
    from fucina_cli.answer import Answer
    from fucina_cli.cli.batch.lines import LineJob
    from fucina_cli.cli.batch.results import Done, Name, Records
    from fucina_cli.job import Job

_AHEAD = 64  # requests of a file that are planned ahead
_MOST_HELD = 1000  # most records that wait for an earlier one before no more lines are taken


def run(line: CommandLine) -> int:
    """Answer every line; the exit code."""
    from fucina_cli.cli.batch import lines, results
    from fucina_cli.cli.batch.progress import Progress
    from fucina_cli.cli.opening import open_runner, references

    path, out = line["batch"], line["out"]
    _check_paths(line)
    _, given = jobs.read(line)
    line.guard.start()  # lines may have constraints
    jobs.check(line)
    if path == "-":
        line.reader.claim_stdin("--batch")
    texts = references(line)
    waiting = _Lines(path)
    done = results.resume(out) if line["resume"] and out else results.Done()
    with (
        results.Records(out, resumed=line["resume"], in_order=line["in_order"]) as records,
        Progress(lines.count_lines(path), quiet=line.quiet) as progress,
    ):
        tally = _Tally(line, records, progress, done)
        requests = _Requests(line, given, waiting, tally)
        with open_runner(line, texts, probes=True, prefix=requests.prefix) as runner:
            tally.begin()
            with runner.batch(requests, streams=line.streams) as batch:
                try:
                    while not batch.done:
                        for answer in batch.step():
                            tally.settle(answer)
                except KeyboardInterrupt:
                    tally.interrupted = True
                    records.interrupt()
            if line["resume"] and not tally.interrupted:  # else not every line was seen
                records.sort(requests.seen)
            tally.tell(runner.host.forwards)
    return tally.exit_code()


class _Requests:
    """A JobSource over the lines of a file; bad lines and those done before go to the tally."""

    def __init__(self, line: CommandLine, given: jobs.Given, lines: _Lines, tally: _Tally) -> None:
        self._line, self._given, self._lines, self._tally = line, given, lines, tally
        self._next = 0  # index of the next request
        #: Names of requests and the numbers of the lines that have them.
        self.seen: dict[Name, int] = {}

    @property
    def ahead(self) -> int:
        """Of a pipe no more than `streams`: its next line may come much later."""
        if self._tally.held >= _MOST_HELD:
            return 0
        return _AHEAD if self._lines.is_file else self._line.streams

    @property
    def ended(self) -> bool:
        """Whether the last line was taken."""
        return self._lines.ended

    def take(self, *, wait: bool) -> Job | None:
        """The job of the next line that is to be answered."""
        while (taken := self._lines.next(wait=wait or self._lines.is_file)) is not None:
            job = self._read(*taken)
            if job is not None:
                return job
        return None

    def prefix(self, job: Job | None, part: str | None) -> str:
        """The beginning of a message: of one about a request its line, and the key if about one.

        Of one about a flag that holds for all requests, the flag.
        """
        if job is None:
            return self._line.about(part)
        request: LineJob = job.id
        if part is not None and request.names(part) == self._line.names(part):
            return self._line.about(part)
        return f"line {request.number}: " + ("" if part is None else f"{request.names(part)}: ")

    def _read(self, number: int, raw: bytes | None) -> Job | None:
        from fucina_cli.cli.batch import lines

        index, self._next = self._next, self._next + 1
        try:
            job = lines.parse(number, raw, self._given, self._line.names, index)
            name = job.id.name
            first = self.seen.setdefault(name, number)
            if first != number:
                raise lines.BadLine(name, f'"id": line {first} has the same')
        except lines.BadLine as error:
            self._tally.fail(index, number, error.name, error.message)
            return None
        return None if self._tally.skips(index, name) else job


class _Tally:
    """Writes the records of a run, and counts for its summary and exit code."""

    def __init__(self, line: CommandLine, records: Records, progress: Any, done: Done) -> None:
        from fucina_cli.cli.outcome import Drafts

        self._line, self._records, self._progress, self._done = line, records, progress, done
        self._unsatisfied = done.unsatisfied
        self._errors = self._answers = self._skipped = self._tokens = self._unchecked = 0
        self._drafts = Drafts()
        self._drafted = False
        self._begin = time.perf_counter()
        self.interrupted = False

    @property
    def held(self) -> int:
        """Records that wait for an earlier one."""
        return self._records.held

    def begin(self) -> None:
        """Start the clock of the summary."""
        self._begin = time.perf_counter()

    def skips(self, index: int, name: Name) -> bool:
        """Whether a request was done by an earlier run; then it is counted as skipped."""
        if name not in self._done.names:
            return False
        self._skipped += 1
        self._progress.skip()
        self._records.skip(index)
        return True

    def settle(self, answer: Answer) -> None:
        """Write the record of an answer."""
        assert answer.job is not None
        request: LineJob = answer.job.id
        self._tokens += answer.counts.committed
        if answer.error is not None:
            message = answer.error.describe(request.names)
            self.fail(request.index, request.number, request.name, message, answer.text)
            return
        self._answers += 1
        self._drafts.add(answer)
        self._drafted |= answer.gate is not None
        if not answer.satisfied:
            self._unsatisfied += 1
        elif answer.valid is None and answer.errors:
            self._unchecked += 1
        self._progress.answered(answer.counts.committed)
        self._records.write(request.index, {**request.name.record(), **answer.record()})

    def fail(self, index: int, number: int, name: Name, message: str, text: str = "") -> None:
        """Write the record of an error."""
        self._errors += 1
        self._progress.failed()
        record: dict[str, Any] = {
            "id": name.id,
            "line": number,
            "error": f"line {number}: {message}",
        }
        if text:
            record["text"] = text
        self._records.write(index, record)

    def tell(self, forwards: int) -> None:
        """The summary as one line on stderr; another about drafts."""
        if self._line.quiet:
            return
        seconds = time.perf_counter() - self._begin
        parts = [counted(self._answers, "answer")]
        if self._unsatisfied:
            parts.append(f"{self._unsatisfied} not as constrained")
        if self._unchecked:
            parts.append(f"{self._unchecked} not checked by the validator")
        if self._errors:
            parts.append(counted(self._errors, "error"))
        if self._skipped:
            parts.append(f"{self._skipped} done before")
        parts.append(f"{counted(self._tokens, 'token')} in {seconds:.1f} s")
        if self._answers and seconds > 0:
            parts.append(f"{self._answers / seconds:.2f} requests/s")
            parts.append(f"{self._tokens / seconds:.1f} tokens/s")
        output.note(", ".join(parts))
        if self._drafted:
            self._drafts.tell(forwards)

    def exit_code(self) -> int:
        """The exit code of all answers."""
        return exits.worst(
            [exits.INTERRUPTED] * self.interrupted
            + [exits.BAD_INPUT] * bool(self._errors)
            + [exits.UNSATISFIED] * bool(self._unsatisfied)
        )


class _Lines:
    """Lines read by a thread, so that decoding goes on while waiting for the next."""

    def __init__(self, path: str) -> None:
        import queue
        import threading

        from fucina_cli.cli.batch.lines import read_lines

        self.is_file = path != "-" and Path(path).is_file()
        #: Whether the last line was taken.
        self.ended = False
        self._queue: queue.Queue[tuple[int, bytes | None] | BaseException | None]
        self._queue, self._empty = queue.Queue(maxsize=_AHEAD), queue.Empty
        lines = read_lines(path)

        def read() -> None:
            try:
                for line in lines:
                    self._queue.put(line)
                self._queue.put(None)
            except BaseException as error:
                self._queue.put(error)

        threading.Thread(target=read, daemon=True).start()

    def next(self, *, wait: bool) -> tuple[int, bytes | None] | None:
        """The next line; None at the end, and without `wait` where none has come yet.

        Raises FlagError when the file can't be read on.
        """
        if self.ended:
            return None
        try:
            line = self._queue.get(block=wait)
        except self._empty:
            return None
        if isinstance(line, BaseException):
            raise line
        if line is None:
            self.ended = True
        return line


def _check_paths(line: CommandLine) -> None:
    """Raise FlagError for files that can't be read or written because of their names."""
    path, out = line["batch"], line["out"]
    if path == "":
        raise FlagError("--batch", "the path is empty; give a .jsonl file, or - for stdin")
    if out == "":
        raise FlagError("--out", "the path is empty; give a file")
    if line["resume"] and out is None:
        raise FlagError("--resume", "needs --out: it goes on with the file written before")
    try:
        same = out is not None and os.path.samefile(path, out)
    except (OSError, ValueError):
        return
    if same:
        raise FlagError("--out", f"'{out}' is the file of --batch; name another file")


BATCH = Mode(
    run=run,
    option=Option(
        "batch",
        "Answer each line of a file, a JSON object with its prompt and settings; one "
        "record per request.",
        "FILE.jsonl|-",
        panel=MODES,
        rank=30,
    ),
    prompt="own",
    answers="many",
    more=(
        Option("out", "Write the records of a batch to this file.", "FILE", panel=OUTPUT, rank=60),
        Option(
            "resume",
            "Go on with the file of --out: what it holds is not done again.",
            type=bool,
            default=False,
            panel=OUTPUT,
            rank=61,
        ),
        Option(
            "in_order",
            "Write the records of a batch in the order of its lines.",
            type=bool,
            default=False,
            panel=OUTPUT,
            rank=62,
        ),
    ),
    about="it is about the records of a batch",
)
