"""`--bench`: how fast this model answers here, alone or in lockstep, and whether both agree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from fucina_cli import throughput
from fucina_cli.cli import asking, exits, output, session
from fucina_cli.cli.asking import Question
from fucina_cli.cli.compiling import Compiled, Compiler
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.values import TextReader
from fucina_cli.conversation import Request
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.families.family import Family
from fucina_cli.llama.context import Context
from fucina_cli.llama.exactness import Exactness, probe, spread_ids
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.draws import LIMIT
from fucina_cli.throughput import Difference, Pass

_GEN = 128  # tokens decoded unless --gen says otherwise, as llama-bench does
_PREFILL, _PREFILL_EACH = 512, 128  # ids of a prompt where none is given, alone and for streams
_MakeDrafts = Callable[[Context], Speculation | None]


def run(family: Family, options: Options) -> int:
    """Measure and show: a table, or a JSON object with --json; the exit code."""
    assert options.bench is not None
    reader = TextReader()
    texts = session.read_texts(options, reader)
    speculate = None
    if options.speculation_flag:
        from fucina_cli.cli import drafting

        speculate = drafting.prepare(options, reader)
    prepared = session.prepare_grammar(options, texts.source)
    model = session.load_model(options, family)
    make_drafts = speculate(model) if speculate else _nothing
    n = options.streams or 1
    options = replace(options, gen=_GEN if options.gen is None else options.gen)
    if options.prompt_flag is None:
        size = model.n_ctx_train if options.ctx is None else options.ctx
        room = size - session.answer_limit(options.gen) - 1
        if room < 1:
            raise FlagError(
                "--gen", f"{options.gen} tokens do not fit the context of {size} tokens"
            )
        ids = spread_ids(model.n_vocab, min(room, _PREFILL if n == 1 else _PREFILL_EACH))
        options = replace(options, token_ids=",".join(map(str, ids)))
        given = False
    else:
        given = True
    question = asking.ask(options, family, model, texts)
    compiled = Compiler(family, model).compile(options, prepared)
    bench = _Bench(options, family, model, question, compiled, make_drafts)
    with session.decoding_errors(options):
        return bench.alone(given) if n == 1 else bench.lockstep(n)


def _nothing(_context: Context) -> None:
    return None


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
    def __init__(
        self,
        options: Options,
        family: Family,
        model: Model,
        question: Question,
        compiled: Compiled | None,
        make_drafts: _MakeDrafts,
    ) -> None:
        self._options, self._family, self._model = options, family, model
        self._question, self._compiled, self._make_drafts = question, compiled, make_drafts
        self._rounds = options.bench or 1
        self._exactness: Exactness | None = None

    def alone(self, given: bool) -> int:
        """Prefill and decode of one answer at a time."""
        context = self._context(1)
        made_by = self._make_drafts(context)
        prompt = self._question.prompt
        # Without a prompt the two are measured apart, as llama-bench does: decoding from nothing.
        first = prompt if given else Prompt(prompt.tokens[:1])
        prefills, decodes = _Series(), _Series()
        with self._progress(self._rounds + 1) as step:
            for round in range(self._rounds + 1):
                if not given:
                    once = throughput.one_by_one(context, prompt, self._one_token, 1)
                whole = throughput.one_by_one(context, first, self._request, 1, made_by)
                if round:
                    prefills.passes.append(whole if given else once)
                    decodes.passes.append(whole)
                step()
        tokens = len(prompt.tokens)
        pp = prefills.of(lambda each: tokens / each.prefill_s)
        tg = decodes.of(lambda each: each.rate)
        counts = decodes.last.answers[0].counts
        names = (f"pp{tokens}", f"tg{decodes.last.decoded}")
        if self._options.json:
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
                        "gate": made_by.gate.state() if made_by else None,
                    },
                    "peak_memory_mb": _peak_memory_mb(),
                }
            )
            return exits.OK
        table = Table(title=self._title(f"{_times(self._rounds)}"))
        table.add_column("test")
        for heading in ("tokens/s\nmedian", "best", "worst", "tokens", "forwards"):
            table.add_column(heading, justify="right")
        table.add_row(names[0], *_cells(pp), str(tokens), "")
        table.add_row(names[1], *_cells(tg), str(decodes.last.decoded), str(decodes.last.forwards))
        output.table(table)
        if not decodes.last.decoded and not self._options.quiet:
            output.note("the answer is a single token: there is no decoding to time")
        self._tell_memory()
        return exits.OK

    def lockstep(self, n: int) -> int:
        """N streams side by side against one after another; exit 4 where they differ."""
        contexts = (self._context(n), self._context(1))
        drafts = tuple(self._make_drafts(context) for context in contexts)
        arms = {"lockstep": _Series(), "sequential": _Series()}
        runs = (throughput.side_by_side, throughput.one_by_one)
        prompt = self._question.prompt
        at = None
        with self._progress(2 * (self._rounds + 1)) as step:
            for round in range(self._rounds + 1):
                for series, context, made_by, measure in zip(
                    arms.values(), contexts, drafts, runs, strict=True
                ):
                    if round == 1:
                        series.passes.clear()  # that was warming up
                    series.passes.append(measure(context, prompt, self._request, n, made_by))
                    step()
                at = at or throughput.first_difference(
                    arms["lockstep"].last, arms["sequential"].last
                )
        difference = None
        if at is not None:
            difference = throughput.explain(at, contexts, prompt, self._request, n)
        if self._options.json:
            output.record(self._lockstep_record(n, arms, difference))
        else:
            self._show(n, arms, difference)
        if difference is None:
            return exits.OK
        output.error(f"--bench: {self._described(difference)}")
        return exits.MISMATCH

    # ----------------------------------------------------------------------------------------

    def _context(self, n: int) -> Context:
        tokens = self._question.prompt.tokens
        size = session.context_size(
            self._options, self._model, self._question.prompt, gen=self._limit
        )
        assert len(tokens) < size
        context = session.open_context(self._options, self._model, size, n_slots=n)
        with session.blame_first_forward(self._options):
            self._exactness = self._exactness or probe(context)
        return context

    @property
    def _limit(self) -> int:
        # The first token comes with the prefill.
        return session.answer_limit(self._options.gen) + (self._compiled is None)

    def _request(self, number: int) -> Request:
        """Of the stream `number`, from the start of its constraint."""
        request = asking.constrained(self._question, self._family, self._model, self._compiled)
        sampling = request.sampling
        return replace(
            request,
            limit=self._limit,
            endless=self._compiled is None,
            sampling=replace(sampling, seed=(sampling.seed + number) % LIMIT),
        )

    def _one_token(self, number: int) -> Request:
        return replace(self._request(number), limit=1, constraint=None)

    @contextmanager
    def _progress(self, total: int) -> Iterator[Callable[[], None]]:
        if self._options.quiet or sys.stderr is None or not sys.stderr.isatty():
            yield lambda: None
            return
        with Progress(console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("measuring", total=total)
            yield lambda: bar.advance(task)

    def _title(self, what: str) -> str:
        kind = f", {self._compiled.grammar.source.kind}" if self._compiled else ""
        return f"{self._model.quantization} weights{kind}, {what}"

    def _tell_memory(self) -> None:
        if not self._options.quiet:
            output.note(f"peak memory {_peak_memory_mb()} MB")

    def _settings(self) -> dict[str, Any]:
        sampling = self._question.request.sampling
        return {
            "model": self._options.model,
            "quantization": self._model.quantization,
            "rounds": self._rounds,
            "prompt_tokens": len(self._question.prompt.tokens),
            "constraint": self._compiled.grammar.source.kind if self._compiled else None,
            "seed": sampling.seed,
            "sampling": {k: v for k, v in sampling.as_dict().items() if k != "seed"},
            "spec": self._options.speculation_flag is not None,
            "exact": self._exactness.exact if self._exactness else None,
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
                f"{median(series.of(lambda p: p.prefill_s)):.3f}",
                f"{median(series.of(lambda p: p.decode_s)):.3f}",
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
        return "(the end)" if token is None else self._model.vocabulary.text(token)


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


def _speedup(arms: dict[str, _Series], seconds: Callable[[Pass], float]) -> float:
    lockstep = median(arms["lockstep"].of(seconds))
    return median(arms["sequential"].of(seconds)) / lockstep if lockstep > 0 else 0.0


def _figures(values: list[float], digits: int = 3) -> dict[str, Any]:
    if not values:
        return {"median": None, "min": None, "max": None, "all": []}
    return {
        "median": round(median(values), digits),
        "min": round(min(values), digits),
        "max": round(max(values), digits),
        "all": [round(value, digits) for value in values],
    }


def _cells(rates: list[float]) -> tuple[str, str, str]:
    return f"{median(rates):.1f}", f"{max(rates):.1f}", f"{min(rates):.1f}"


def _spread(values: list[float]) -> str:
    if not values:
        return ""
    return f"{median(values):.1f} ({min(values):.1f} to {max(values):.1f})"


def _times(rounds: int) -> str:
    return "once" if rounds == 1 else f"{rounds} times"


def _peak_memory_mb() -> int | None:
    """The most memory that this process has held; None on a system that does not tell."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10))
