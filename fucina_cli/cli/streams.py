"""Several answers to one prompt, decoded side by side and shown one after another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fucina_cli.cli import asking, exits, output, report, session
from fucina_cli.cli.asking import Question
from fucina_cli.cli.compiling import Compiler
from fucina_cli.cli.many import Done, Many
from fucina_cli.cli.options import Options
from fucina_cli.cli.values import TextReader
from fucina_cli.conversation import Conversations
from fucina_cli.decoding.reply import Channel, OnText
from fucina_cli.families.family import Family
from fucina_cli.llama.exactness import Exactness, probe
from fucina_cli.sampling.draws import LIMIT
from fucina_cli.timing import Stopwatch

if TYPE_CHECKING:
    from fucina_cli.drafting.speculation import Speculation


def run(family: Family, options: Options) -> int:
    """Answer the prompt N times: texts or records in the order of the streams; the exit code."""
    reader = TextReader()
    texts = session.read_texts(options, reader)
    speculate = None
    if options.speculation_flag:
        from fucina_cli.cli import drafting  # 10 ms that only drafts pay

        speculate = drafting.prepare(options, reader)
    prepared = session.prepare_grammar(options, texts.source)
    n = options.streams or 1
    watch = Stopwatch()
    model = session.load_model(options, family)
    question = asking.ask(options, family, model, texts)
    context = session.make_context(options, model, question.prompt, gen=options.gen, n_slots=n)
    made_by = speculate(model)(context) if speculate else None
    load_s = watch.lap()
    compiler = Compiler(family, model)
    compiler.compile(options, prepared)
    exactness = None
    with session.blame_first_forward(options):
        if options.json:
            exactness = probe(context)
    many = Many(family, model, compiler, Conversations(context, speculation=made_by))
    before = context.total_forwards
    shown = _InOrder(
        options,
        n,
        lambda done: _finish(options, context.n_ctx, load_s, exactness, made_by, done),
    )
    questions = [_with_seed(question, number) for number in range(n)]
    if not options.quiet:
        output.note(_seeds(questions))
    with session.blame_first_forward(options), session.decoding_errors(options):
        for number, each in enumerate(questions):
            on_text = shown.on_text(number)
            many.submit(number, each, prepared, on_text, who=f"stream {number}: ")
        try:
            shown.take(many.advance())
            session.stop_blaming()
            while many.running:
                shown.take(many.advance())
        except KeyboardInterrupt:
            shown.take(many.interrupt())
    if made_by is not None and not options.quiet:
        shown.drafting.tell(context.total_forwards - before, made_by)
    return shown.exit_code()


def _with_seed(question: Question, number: int) -> Question:
    sampling = question.request.sampling
    if sampling.greedy:
        return question
    seeded = replace(sampling, seed=(sampling.seed + number) % LIMIT)
    return replace(question, request=replace(question.request, sampling=seeded))


def _seeds(questions: list[Question]) -> str:
    first = questions[0].request.sampling
    if first.greedy:
        return f"{len(questions)} greedy answers, which are all the same; --temp makes them differ"
    last = questions[-1].request.sampling
    return f"{len(questions)} answers, of seeds {first.seed} to {last.seed}"


def _finish(
    options: Options,
    n_ctx: int,
    load_s: float,
    exactness: Exactness | None,
    made_by: Speculation | None,
    done: Done,
) -> int:
    """What comes after an answer's text, or its record; the exit code of that answer."""
    answer = done.answer
    if answer.failure is not None:
        error = session.decoding_error(options, answer.failure)
        output.error(f"stream {done.key}: {error}")
        return exits.BAD_INPUT
    if options.json:
        record = report.record(
            answer, done.sampling, done.compiled, done.verdict, load_s, exactness, made_by
        )
        output.record({"stream": done.key, **record})
    elif not answer.text.endswith("\n"):
        output.answer("\n")
    who = f"stream {done.key}: "
    return report.tell_outcome(options, n_ctx, answer, done.compiled, done.verdict, who=who)


class _InOrder:
    """Shows one stream as it comes, the first that is not over, and of the others what waits."""

    def __init__(self, options: Options, n: int, finish: Callable[[Done], int]) -> None:
        self._options, self._finish = options, finish
        self._n, self._at = n, 0
        self._texts = [""] * n
        self._live = [False] * n  # whether its text comes as it is made
        self._done: dict[int, Done] = {}
        self._codes: list[int] = []
        #: What drafting came to in all.
        self.drafting = report.Drafting()

    def on_text(self, number: int) -> OnText:
        """What takes the text of a stream."""

        def take(text: str, channel: Channel) -> None:
            self._live[number] = True
            if channel == "thinking":
                if number == self._at and not self._options.quiet:
                    output.thinking(text)
            elif self._options.json:
                pass
            elif number == self._at:
                output.answer(text)
            else:
                self._texts[number] += text

        return take

    def take(self, dones: list[Done]) -> None:
        """Streams that are over."""
        for done in dones:
            assert isinstance(done.key, int)
            self._done[done.key] = done
        while self._at in self._done:
            done = self._done.pop(self._at)
            if not self._options.json and not self._live[self._at]:
                output.answer(done.answer.text)  # drawn again, so not shown before
            self._codes.append(self._finish(done))
            self.drafting.add(done.answer)
            self._at += 1
            if self._at < self._n:
                output.answer(self._texts[self._at])
                self._texts[self._at] = ""

    def exit_code(self) -> int:
        """Interrupted before bad input before an answer that is not as constrained."""
        for code in (exits.INTERRUPTED, exits.BAD_INPUT, exits.UNSATISFIED):
            if code in self._codes:
                return code
        return exits.OK
