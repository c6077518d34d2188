"""`--bench`: speed of this model on this machine, alone or in lockstep, and whether both agree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import jobs
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import SPEED, Mode
from fucina_cli.cli.process import exits, output
from fucina_cli.errors import InputError
from fucina_cli.job import Job
from fucina_cli.llama.errors import ModelError
from fucina_cli.options import Option
from fucina_cli.sampling.draws import LIMIT

if TYPE_CHECKING:
    from fucina_cli.engine import Engine
    from fucina_cli.host import Host
    from fucina_cli.request import Request
    from fucina_cli.throughput import Difference, Pass

_GEN = 128  # tokens decoded unless --gen says otherwise, as llama-bench does
_PREFILL, _PREFILL_EACH = 512, 128  # ids of a prompt where none is given, alone and for streams


def run(line: CommandLine) -> int:
    """Measure and show: a table, or a JSON object with --json; the exit code."""
    from fucina_cli.cli.opening import open_runner, references
    from fucina_cli.decoding.step import STREAM_FAILURES

    job, given = jobs.read(line)
    texts = references(line)
    with open_runner(line, texts, probes=True) as runner:
        host = runner.host
        gen = _GEN if line["gen"] is None else line["gen"]
        prompted = job is not None
        if job is None:
            job = Job.ids(_ids(line, host, gen), given.constraint, **given.settings)
        job = replace(job, settings={**job.settings, "gen": gen})
        try:
            bench = _Bench(line, host, job, gen)
            return bench.alone(prompted) if line.streams == 1 else bench.lockstep(line.streams)
        except (*STREAM_FAILURES, ModelError) as error:
            raise host.planner.fault(job, error) from None


def _ids(line: CommandLine, host: Host, gen: int) -> list[int]:
    """Built-in ids, as many as fit. Raises InputError where none does."""
    from fucina_cli.llama.exactness import spread_ids

    ctx, n_vocab = host.runtime.ctx, host.model.n_vocab
    size = host.model.n_ctx_train if ctx is None else ctx
    room = size - gen - 1
    if room < 1:
        raise InputError("gen", f"{gen} tokens do not fit the context of {size} tokens")
    return spread_ids(n_vocab, min(room, _PREFILL if line.streams == 1 else _PREFILL_EACH))


@dataclass
class _Series:
    """Passes of one arm."""

    passes: list[Pass] = field(default_factory=list)

    def of(self, figure: Callable[[Pass], float]) -> list[float]:
        return [figure(each) for each in self.passes]

    @property
    def last(self) -> Pass:
        return self.passes[-1]


class _Bench:
    def __init__(self, line: CommandLine, host: Host, job: Job, gen: int) -> None:
        self._line, self._host, self._job = line, host, job
        self._planned = host.planner.plan(job)
        host.compile(self._planned)
        self._constrained = self._planned.compiled is not None
        # The prefill yields the first token.
        self._limit = gen + (not self._constrained)
        self._prompt = self._planned.prompt
        self._rounds = line["bench"]

    def alone(self, given: bool) -> int:
        """Prefill and decode of one answer at a time."""
        from fucina_cli import throughput
        from fucina_cli.prompts import Prompt

        engine = self._engine(1)
        context, drafts = engine.context, engine.speculation
        prompt = self._prompt
        # Without a prompt the two are measured apart, as llama-bench does: decoding from nothing.
        first = prompt if given else Prompt(prompt.tokens[:1])
        prefills, decodes = _Series(), _Series()
        with self._progress(self._rounds + 1) as step:
            for round in range(self._rounds + 1):
                if not given:
                    once = throughput.one_by_one(context, self._one_token, 1)
                whole = throughput.one_by_one(
                    context, lambda number: replace(self._request(number), prompt=first), 1, drafts
                )
                if round:
                    prefills.passes.append(whole if given else once)
                    decodes.passes.append(whole)
                step()
        tokens = len(prompt.tokens)
        pp = prefills.of(lambda each: tokens / each.prefill_s)
        tg = decodes.of(lambda each: each.rate)
        counts = decodes.last.answers[0].counts
        names = (f"pp{tokens}", f"tg{decodes.last.decoded}")
        if self._line.json:
            output.record(
                {
                    **self._settings(),
                    "tests": {
                        names[0]: {"tokens": tokens, **_figures(pp)},
                        names[1]: {
                            "tokens": decodes.last.decoded,
                            "forwards": decodes.last.forwards,
                            **_figures(tg),
                        },
                    },
                    "decode": {
                        "committed": counts.committed,
                        "forced": counts.forced,
                        "drafted": counts.drafted,
                        "accepted": counts.accepted,
                        "stop_reason": decodes.last.answers[0].stop_reason,
                        "gate": drafts.gate.state() if drafts else None,
                    },
                    "peak_memory_mb": _peak_memory_mb(),
                }
            )
            return exits.OK
        from rich.table import Table

        table = Table(title=self._title(f"{_times(self._rounds)}"))
        table.add_column("test")
        for heading in ("tokens/s\nmedian", "best", "worst", "tokens", "forwards"):
            table.add_column(heading, justify="right")
        table.add_row(names[0], *_cells(pp), str(tokens), "")
        table.add_row(names[1], *_cells(tg), str(decodes.last.decoded), str(decodes.last.forwards))
        output.table(table)
        if not decodes.last.decoded and not self._line.quiet:
            output.note("the answer is a single token: there is no decoding to time")
        self._tell_memory()
        return exits.OK

    def lockstep(self, n: int) -> int:
        """N streams side by side against one after another; exit 4 where they differ."""
        from fucina_cli import throughput

        engines = (self._engine(n), self._engine(1))
        contexts = (engines[0].context, engines[1].context)
        arms = {"lockstep": _Series(), "sequential": _Series()}
        runs = (throughput.side_by_side, throughput.one_by_one)
        at = None
        with self._progress(2 * (self._rounds + 1)) as step:
            for round in range(self._rounds + 1):
                for series, engine, measure in zip(arms.values(), engines, runs, strict=True):
                    if round == 1:
                        series.passes.clear()  # of the warm-up round
                    series.passes.append(
                        measure(engine.context, self._request, n, engine.speculation)
                    )
                    step()
                at = at or throughput.first_difference(
                    arms["lockstep"].last, arms["sequential"].last
                )
        difference = None
        if at is not None:
            difference = throughput.explain(at, contexts, self._request, n)
        if self._line.json:
            output.record(self._lockstep_record(n, arms, difference))
        else:
            self._show(n, arms, difference)
        if difference is None:
            return exits.OK
        output.error(f"--bench: {self._described(difference)}")
        return exits.MISMATCH

    # ----------------------------------------------------------------------------------------

    def _engine(self, n: int) -> Engine:
        size = self._host.planner.context_size(len(self._prompt.tokens), self._limit)
        return self._host.engine_in(self._host.open_context(size, n))

    def _request(self, number: int) -> Request:
        """A fresh request for the stream `number`."""
        sampling = self._planned.sampling
        return replace(
            self._planned,
            limit=self._limit,
            endless=not self._constrained,
            sampling=replace(sampling, seed=(sampling.seed + number) % LIMIT),
            compiled=None,  # decoding is measured, not judging
        )

    def _one_token(self, number: int) -> Request:
        return replace(self._request(number), limit=1, constraint=None)

    @contextmanager
    def _progress(self, total: int) -> Iterator[Callable[[], None]]:
        if self._line.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield lambda: None
            return
        from rich.console import Console
        from rich.progress import Progress

        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("measuring", total=total)
            yield lambda: bar.advance(task)

    def _title(self, what: str) -> str:
        kind = f", {self._kind}" if self._kind else ""
        return f"{self._host.model.quantization} weights{kind}, {what}"

    def _tell_memory(self) -> None:
        if not self._line.quiet:
            output.note(f"peak memory {_peak_memory_mb()} MB")

    @property
    def _kind(self) -> str | None:
        return self._job.constraint.kind if self._job.constraint else None

    def _settings(self) -> dict[str, Any]:
        settings = self._planned.sampling.as_dict()
        exactness = self._host.exactness
        return {
            "model": self._line.model,
            "quantization": self._host.model.quantization,
            "rounds": self._rounds,
            "prompt_tokens": len(self._prompt.tokens),
            "constraint": self._kind,
            "seed": settings.pop("seed"),
            "sampling": settings,
            "spec": self._host.runtime.drafts is not None,
            "exact": exactness.exact if exactness else None,
        }

    def _lockstep_record(
        self, n: int, arms: dict[str, _Series], difference: Difference | None
    ) -> dict[str, Any]:
        return {
            **self._settings(),
            "streams": n,
            "arms": {name: _arm_record(series) for name, series in arms.items()},
            "speedup": {
                "decode": round(_speedup(arms, lambda p: p.decode_s), 4),
                "prefill": round(_speedup(arms, lambda p: p.prefill_s), 4),
                "total": round(_speedup(arms, lambda p: p.prefill_s + p.decode_s), 4),
            },
            "equal": difference is None,
            "difference": difference and self._difference_record(difference),
            "peak_memory_mb": _peak_memory_mb(),
        }

    def _show(self, n: int, arms: dict[str, _Series], difference: Difference | None) -> None:
        from rich.table import Table

        verdict = "the same tokens" if difference is None else "DIFFERENT tokens"
        table = Table(title=self._title(f"{n} streams, {_times(self._rounds)}: {verdict}"))
        table.add_column("")
        for heading in (
            "prefill s",
            "decode s",
            "tokens/s of all\nmedian (min to max)",
            "tokens/s of each\nmedian (min to max)",
            "tokens",
            "forwards",
            "rows per\nforward",
        ):
            table.add_column(heading, justify="right")
        for name, series in arms.items():
            last = series.last
            each = [rate for one in series.passes for rate in one.rates]
            table.add_row(
                name,
                f"{_median(series.of(lambda p: p.prefill_s)):.3f}",
                f"{_median(series.of(lambda p: p.decode_s)):.3f}",
                _spread(series.of(lambda p: p.rate)),
                _spread(each),
                str(last.decoded),
                str(last.forwards),
                f"{last.rows / last.forwards:.1f}" if last.forwards else "",
            )
        table.add_row(
            "speed-up",
            f"{_speedup(arms, lambda p: p.prefill_s):.2f}x",
            f"{_speedup(arms, lambda p: p.decode_s):.2f}x",
        )
        output.table(table)
        self._tell_memory()

    def _difference_record(self, difference: Difference) -> dict[str, Any]:
        return {
            "stream": difference.stream,
            "position": difference.position,
            "tokens": list(difference.tokens),
            "texts": [self._text(token) for token in difference.tokens],
            "logits": difference.logits and [list(pair) for pair in difference.logits],
            "noise": difference.noise,
            "within_noise": difference.within_noise,
        }

    def _described(self, difference: Difference) -> str:
        ours, theirs = difference.tokens
        text = (
            f"stream {difference.stream} differs at its token {difference.position}: lockstep "
            f"chose {self._text(ours)!r} ({ours}), alone {self._text(theirs)!r} ({theirs})"
        )
        if difference.logits is None:
            if difference.noise is not None:
                text += f"; the arms' logits differ there by up to {difference.noise:.3g}"
            return text
        (a, b), (c, d) = difference.logits
        text += f"; their logits are {a:.4f} and {b:.4f} in lockstep, {c:.4f} and {d:.4f} alone"
        if not difference.greedy:
            return (
                f"{text}; the arms' logits differ there by up to {difference.noise:.3g}, and any "
                "difference can make a draw fall on another token (--greedy tells more)"
            )
        within = "within" if difference.within_noise else "beyond"
        return f"{text}, {within} the noise between the arms ({difference.noise:.3g})"

    def _text(self, token: int | None) -> str:
        return "(the end)" if token is None else self._host.model.vocabulary.text(token)


def _arm_record(series: _Series) -> dict[str, Any]:
    last = series.last
    return {
        "prefill_s": _figures(series.of(lambda p: p.prefill_s), digits=6),
        "decode_s": _figures(series.of(lambda p: p.decode_s), digits=6),
        "tokens_per_s": _figures(series.of(lambda p: p.rate)),
        "tokens_per_s_of_each": _figures([rate for one in series.passes for rate in one.rates]),
        "tokens": last.decoded,
        "forwards": last.forwards,
        "rows_per_forward": round(last.rows / last.forwards, 4) if last.forwards else None,
        "streams": [
            {
                "tokens": answer.tokens,
                "stop_reason": answer.stop_reason,
                "forwards": answer.counts.forwards,
                "forced": answer.counts.forced,
                "drafted": answer.counts.drafted,
                "accepted": answer.counts.accepted,
            }
            for answer in last.answers
        ],
    }


def _median(values: list[float]) -> float:
    from statistics import median  # slow to load

    return median(values)


def _speedup(arms: dict[str, _Series], seconds: Callable[[Pass], float]) -> float:
    lockstep = _median(arms["lockstep"].of(seconds))
    return _median(arms["sequential"].of(seconds)) / lockstep if lockstep > 0 else 0.0


def _figures(values: list[float], digits: int = 3) -> dict[str, Any]:
    if not values:
        return {"median": None, "min": None, "max": None, "all": []}
    return {
        "median": round(_median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "all": [round(value, digits) for value in values],
    }


def _cells(rates: list[float]) -> tuple[str, str, str]:
    return f"{_median(rates):.1f}", f"{max(rates):.1f}", f"{min(rates):.1f}"


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    return f"{_median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _times(rounds: int) -> str:
    return "once" if rounds == 1 else f"{rounds} times"


def _peak_memory_mb() -> int | None:
    """Peak memory of this process in MiB; None where the system does not report it."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))


BENCH = Mode(
    run=run,
    option=Option(
        "bench",
        "Measure R times: prefill and decode, or with --streams lockstep against one "
        "after another.",
        "R",
        type=int,
        panel=SPEED,
        rank=70,
        within=(1, 10_000),
    ),
    prompt="optional",
    answers="many",
)
