"""Progress of a batch: a bar on stderr, where that is a terminal."""

from __future__ import annotations

import sys
import time
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar


class Progress:
    """Counts requests; shows a bar on a terminal's stderr unless `quiet`."""

    def __init__(self, total: int | None, *, quiet: bool) -> None:
        self._tokens = self._done = self._failed = 0
        self._begin = time.perf_counter()
        self._bar: Bar | None = None
        if quiet or sys.stderr is None or not sys.stderr.isatty():
            return
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
            redirect_stdout=False,  # records are written past it
        )
        self._task = self._bar.add_task("", total=total, figures="")

    def __enter__(self) -> Progress:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def answered(self, tokens: int) -> None:
        """Count an answer of `tokens` tokens."""
        self._done += 1
        self._tokens += tokens
        self._show()

    def failed(self) -> None:
        """Count a failure."""
        self._failed += 1
        self._show()

    def skip(self) -> None:
        """Count a request that an earlier run has done."""
        self._show()

    def _show(self) -> None:
        if self._bar is None:
            return
        seconds = time.perf_counter() - self._begin
        rate = self._tokens / seconds if seconds > 0 else 0.0
        figures = f"{self._done} done, {self._failed} failed, {rate:.0f} tokens/s"
        self._bar.update(self._task, advance=1, figures=figures)
