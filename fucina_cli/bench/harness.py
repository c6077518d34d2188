"""What the benchmarks share: command line, arms in turn, medians, table or JSON, clear errors."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.table import Table

from fucina_cli.answer import Answer
from fucina_cli.cli.process import exits, output
from fucina_cli.cli.process.parser import Parser, whole
from fucina_cli.decoding.step import STREAM_FAILURES
from fucina_cli.engine import Engine
from fucina_cli.errors import InputError
from fucina_cli.families.registry import family_of
from fucina_cli.host import Host
from fucina_cli.job import Job
from fucina_cli.llama import header
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.request import Request
from fucina_cli.runner import Runner
from fucina_cli.text import one_line

if TYPE_CHECKING:
    from fucina_cli.drafting.speculation import Speculation

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Report:
    """What a benchmark found.

    Attributes:
        record: what `--json` prints.
        title: of the table.
        columns: headings between "|", each with the format of its figures after ":".
        rows: of the table; None leaves a cell empty.
        notes: lines below the table.
    """

    record: dict[str, Any]
    title: str
    columns: str
    rows: Iterable[Sequence[object]]
    notes: Sequence[str] = ()


class Unfit(Exception):
    """A model can't serve a benchmark."""

    def __init__(self, path: Path, reason: str) -> None:
        name = f"'{path}': "
        super().__init__(name + reason.removeprefix(name))


class Mismatch(Exception):
    """Arms that have to decode the same tokens did not."""


# -- the command line ------------------------------------------------------------------------


def parser(description: str | None, rounds: int = 7, *, model: bool = True) -> Parser:
    """Takes a model's path unless `model` is off, `--rounds`, and `--json`."""
    made = Parser(description=description, formatter_class=argparse.RawTextHelpFormatter)
    if model:
        made.add_argument("model", type=model_file, help="path of a .gguf file")
    made.add_argument("--rounds", type=whole(1), default=rounds, metavar="N", help=f"({rounds})")
    made.add_argument("--json", action="store_true", help="a JSON object in place of the table")
    return made


def model_file(text: str) -> Path:
    """The path of a model file. Raises ArgumentTypeError, which argparse tells, for another."""
    path = Path(text)
    try:
        header.architecture(path)
    except ModelError as error:
        raise argparse.ArgumentTypeError(f"'{text}': {error}") from None
    return path


def run(parser: Parser, measure: Callable[[argparse.Namespace], Report]) -> None:
    """Measure and print.

    Ends the process with one line on stderr and the code of bad input for an argument or a model
    that can't be used, with that of a mismatch where arms disagree.
    """
    options = parser.parse_args()
    try:
        report = measure(options)
    except Unfit as error:
        parser.error(f"argument model: {error}")
    except Mismatch as error:
        output.error(str(error))
        raise SystemExit(exits.MISMATCH) from None
    if options.json:
        output.record(report.record)
        return
    table = Table(title=report.title)
    formats = []
    for column in report.columns.split("|"):
        heading, _, form = column.partition(":")
        table.add_column(heading, justify="right" if table.columns else "left")
        formats.append(form)
    for row in report.rows:
        cells = zip(row, formats, strict=True)
        table.add_row(*("" if cell is None else format(cell, form) for cell, form in cells))
    console = output.console()
    console.print(table)
    for note in report.notes:
        console.print(note, markup=False)


# -- arms ------------------------------------------------------------------------------------


def in_turn(
    arms: Mapping[str, Callable[[], _Result]], rounds: int, *, warm_up: int = 1
) -> dict[str, list[_Result]]:
    """What each arm gave in each of `rounds` rounds, after `warm_up` others.

    Every other round goes through the arms backwards (A B B A), so that a machine which changes its
    pace does so for all of them alike.
    """
    results: dict[str, list[_Result]] = {name: [] for name in arms}
    for number in range(warm_up + rounds):
        for name, arm in list(arms.items())[:: -1 if number % 2 else 1]:
            result = arm()
            if number >= warm_up:
                results[name].append(result)
    return results


def medians(
    results: Mapping[str, Iterable[_Result]], figure: Callable[[_Result], float]
) -> dict[str, float]:
    """The median of a figure, by arm."""
    return {name: statistics.median(map(figure, each)) for name, each in results.items()}


def check_same(answers: Iterable[Sequence[int]], otherwise: str) -> None:
    """Raise Mismatch with the text `otherwise` unless all have the same tokens."""
    if len(set(map(tuple, answers))) > 1:
        raise Mismatch(otherwise)


# -- what is measured ------------------------------------------------------------------------


@contextmanager
def opened(path: Path) -> Iterator[Host]:
    """A loaded model. Raises Unfit where it can't be loaded or does not serve the block."""
    try:
        with Runner.open(path) as runner:
            yield runner.host
    except (InputError, ModelError, ContextFull, *STREAM_FAILURES) as error:
        raise Unfit(path, str(error)) from None


def check_chats(host: Host, way_out: str = "") -> None:
    """Raise Unfit for a model without a chat template."""
    if host.model.chat_template is None:
        raise Unfit(host.model.path, f"the file has no chat template to ask by{way_out}")


def plan(host: Host, job: Job, **changes: Any) -> Request:
    """A fresh request for a job with a given `gen`, its constraint compiled once for all.

    `changes` are fields of the request. Raises InputError, and Unfit for a context that is too
    short for prompt and answer.
    """
    gen, trained = job.settings["gen"], host.model.n_ctx_train
    length = len(host.planner.prompt(job).tokens)
    if length + gen > trained:
        needed = f"a prompt of {length} and {gen} more"
        raise Unfit(host.model.path, f"its context of {trained} tokens is too short for {needed}")
    request = replace(host.planner.plan(job), **changes)
    host.compile(request)
    return request


def context_for(host: Host, jobs: Iterable[Job]) -> Context:
    """A context with room for any of the jobs, after a look at all of them. Raises as `plan`."""
    return host.open_context(max(plan(host, job).size for job in jobs))


def arm(
    host: Host,
    context: Context,
    job: Job,
    speculation: Callable[[], Speculation | None] = lambda: None,
    **changes: Any,
) -> Callable[[], Answer]:
    """Decodes the whole answer alone in an emptied context; `changes` are those of `plan`.

    It raises what `plan` raises and what makes the answer fail, Unfit where that ends with the
    prefill, so that there is no decoding to measure, and KeyboardInterrupt where Ctrl-C cut it off.
    """

    def answer() -> Answer:
        engine = Engine(context, speculation=speculation())
        made = engine.decode(plan(host, job, **changes))
        if made.stop_reason == "interrupted":
            raise KeyboardInterrupt
        if not made.decode_s:
            raise Unfit(host.model.path, "ends an answer at once; there is nothing to measure")
        return made

    return answer


def command(path: Path) -> tuple[str, list[str]]:
    """The command of the model's own family: its name, and how to run it with the model."""
    family = family_of(header.architecture(path) or "")
    return family.command, [sys.executable, "-m", f"fucina_cli.{family.name}", str(path)]


def process(path: Path, command: Sequence[str]) -> tuple[float, str]:
    """Seconds that a process with the model takes, and what it prints.

    Raises Unfit with the last line of its stderr where it fails.
    """
    begin = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    seconds = time.perf_counter() - begin
    if done.returncode:
        said = (done.stderr.strip() or f"exit code {done.returncode}").splitlines()[-1]
        raise Unfit(path, one_line(said.removeprefix("error: ")))
    return seconds, done.stdout
