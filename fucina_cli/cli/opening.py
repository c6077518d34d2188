"""A Runner for a command line: crashes and warnings are reported with the names of its flags."""

from __future__ import annotations

from collections.abc import Callable

from fucina_cli.cli import jobs
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.modelnames import check_model
from fucina_cli.cli.process import output
from fucina_cli.cli.process.supervisor import BOARD
from fucina_cli.host import Host
from fucina_cli.job import Job
from fucina_cli.llama import native
from fucina_cli.loading import check_references
from fucina_cli.runner import Runner

#: The beginning of a message about a job or None, and about a part of the input or None.
Prefix = Callable[[Job | None, str | None], str]


def references(line: CommandLine) -> dict[str, str]:
    """The documents to draft from, by name. Raises FlagError and InputError for bad ones."""
    names = line["spec_ref"] or ()
    if names:
        check_references(names)
    return {name: line.reader.file("--spec-ref", name) for name in names}


def start_native(line: CommandLine) -> None:
    """Load llama.cpp for this process, and receive its messages.

    Raises FlagError for a model that is no file.
    """
    check_model(line.model)
    native.LOG.verbose = line.given("verbose")
    with BOARD.blaming(f"'{line.model}'"):
        native.library(exact=line.runtime.exact)
        native.on_abort(BOARD.record_message)


def open_runner(
    line: CommandLine,
    texts: dict[str, str] | None = None,
    *,
    probes: bool,
    prefix: Prefix | None = None,
) -> Runner:
    """Load the model of a command line; `texts` are its `references`.

    `prefix` begins messages about one of many jobs. Raises InputError for what can't be loaded.
    """

    def show(kind: str, part: str | None, text: str, job: Job | None) -> None:
        if line.quiet:
            return
        about = prefix(job, part) if prefix else line.about(part)
        (output.warning if kind == "warning" else output.note)(f"{about}{text}")

    start_native(line)
    jobs.check(line)  # began when the command line was read
    host = Host(
        line.model,
        line.family,
        line.runtime,
        texts=texts or {},
        probes=probes,
        blame=lambda part: BOARD.blaming(line.names(part)),
        on_message=show,
        guard=line.guard,
    )
    return Runner(host)
