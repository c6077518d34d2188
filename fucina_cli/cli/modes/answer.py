"""The default mode: answers to one prompt, text as it is produced or one JSON record each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fucina_cli.cli import jobs, outcome
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import SPEED, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.errors import InputError
from fucina_cli.job import Job
from fucina_cli.options import Option
from fucina_cli.sampling.draws import LIMIT
from fucina_cli.text import reason

if TYPE_CHECKING:
    from fucina_cli.answer import Answer
    from fucina_cli.decoding.reply import Channel
    from fucina_cli.runner import Runner


def run(line: CommandLine) -> int:
    """Answer the prompt once or N times; the exit code."""
    job, _ = jobs.read(line)
    # Imported only now: meanwhile the constraint is prepared.
    from fucina_cli.batching import Iterated
    from fucina_cli.cli import opening

    if job is None:
        raise FlagError("MODEL", "nothing to do; give --chat, --prompt, TOKEN_IDS or --info")
    texts = opening.references(line)
    ids_file = None if line["tokens_out"] is None else Path(line["tokens_out"])
    if ids_file is not None:
        _write_ids(ids_file, [])  # fails before any work where it can't be written

    def prefix(job: Job | None, part: str | None) -> str:
        return _name(line, None if job is None else job.id) + line.about(part)

    with opening.open_runner(line, texts, probes=line.json, prefix=prefix) as runner:
        seeded = _seeded(line, runner, job)
        shown = _InOrder(line, len(seeded))
        jobs_of_all = Iterated(seeded)
        with runner.batch(jobs_of_all, streams=len(seeded), on_text=shown.on_text) as batch:
            try:
                while not batch.done:
                    shown.take(batch.step())
            except KeyboardInterrupt:
                shown.take(batch.interrupt())
                if not shown.any:
                    raise
        if ids_file is not None:
            _write_ids(ids_file, shown.last.tokens)
        if shown.last.gate is not None and not line.quiet:
            shown.drafts.tell(runner.host.forwards)
        return shown.exit_code()


def _seeded(line: CommandLine, runner: Runner, job: Job) -> list[Job]:
    """The job once for each stream: stream i has the seed S+i, where the seed matters."""
    n = line.streams
    if n == 1:
        return [job]
    sampling = runner.host.planner.plan(job).sampling
    step = 0 if sampling.greedy else 1
    seeds = [(sampling.seed + step * number) % LIMIT for number in range(n)]
    if not line.quiet:
        output.note(
            f"{n} greedy answers, which are all the same; --temp makes them differ"
            if sampling.greedy
            else f"{n} answers, of seeds {seeds[0]} to {seeds[-1]}"
        )
    return [
        replace(job, settings={**job.settings, "seed": seed}, id=number)
        for number, seed in enumerate(seeds)
    ]


def _name(line: CommandLine, number: int | None) -> str:
    """The beginning of messages about one of several answers."""
    return "" if line.streams == 1 or number is None else f"stream {number}: "


class _InOrder:
    """Shows the streams in order: the first unfinished one as it comes, the others buffered."""

    def __init__(self, line: CommandLine, n: int) -> None:
        self._line, self._n, self._at = line, n, 0
        self._texts = [""] * n
        self._answers: dict[int, Answer] = {}
        self._codes: list[int] = []
        self.drafts = outcome.Drafts()
        self.last: Answer

    def on_text(self, job: Job, text: str, channel: Channel) -> None:
        """Show or buffer text of a stream."""
        number = job.id or 0
        if channel == "thinking":
            if number == self._at and not self._line.quiet:
                output.thinking(text)
        elif self._line.json:
            pass
        elif number == self._at:
            output.answer(text)
        else:
            self._texts[number] += text

    def take(self, answers: list[Answer]) -> None:
        """Take answers of ended streams. Raises InputError for one that could not begin."""
        for answer in answers:
            if answer.error is not None and answer.failure is None:
                raise answer.error
            self._answers[answer.index] = answer
        while self._at in self._answers:
            self.last = self._answers.pop(self._at)
            self._codes.append(self._finish(self.last))
            self.drafts.add(self.last)
            self._at += 1
            if self._at < self._n:
                output.answer(self._texts[self._at])
                self._texts[self._at] = ""

    def _finish(self, answer: Answer) -> int:
        """Print the record, or what follows the text; the exit code of that answer."""
        many = self._n > 1
        if self._line.json:
            number = {"stream": answer.index} if many else {}
            output.record({**number, **answer.record()})
        elif not answer.text.endswith("\n") and (answer.text or answer.error is None):
            output.answer("\n")
        if self._line.given("verbose") and not many:
            outcome.tell_timing(answer)
        return outcome.tell(self._line, answer, _name(self._line, answer.index))

    @property
    def any(self) -> bool:
        """Whether there is an answer, or a part of one."""
        return bool(self._codes)

    def exit_code(self) -> int:
        """The exit code of all answers."""
        return exits.worst(self._codes)


def _write_ids(path: Path, tokens: list[int]) -> None:
    """One id per line. Raises InputError."""
    try:
        path.write_text("".join(f"{token}\n" for token in tokens))
    except (OSError, ValueError) as error:
        raise InputError("tokens_out", f"can't write '{path}': {reason(error)}") from None


ANSWER = Mode(
    run=run,
    name="an answer",
    prompt="needed",
    answers="one",
    more=(
        Option(
            "streams",
            "N answers side by side in common forwards (seeds S, S+1, …), or N "
            "requests of a batch.",
            "N",
            type=int,
            panel=SPEED,
            rank=60,
            within=(1, 64),
        ),
    ),
    chosen=lambda _line: True,
    rank=100,
)
