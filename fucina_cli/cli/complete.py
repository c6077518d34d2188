"""The main job: one prompt in, one answer out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fucina_cli import conversation
from fucina_cli.cli import asking, output, report, session
from fucina_cli.cli.compiling import Compiled, Compiler
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.validation import Verdict
from fucina_cli.conversation import Answer, Request
from fucina_cli.decoding.reply import Channel
from fucina_cli.families.family import Family
from fucina_cli.llama.context import Context
from fucina_cli.llama.exactness import probe
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.timing import Stopwatch

if TYPE_CHECKING:
    from fucina_cli.drafting.speculation import Speculation


def run(family: Family, options: Options) -> int:
    """Answer the prompt: text as it is produced, or one JSON record; the exit code."""
    reader = TextReader()
    texts = session.read_texts(options, reader)
    speculate = None
    if options.speculation_flag:
        from fucina_cli.cli import drafting  # 10 ms that only drafts pay

        speculate = drafting.prepare(options, reader)
    prepared = session.prepare_grammar(options, texts.source)
    if options.prompt_flag is None:
        raise FlagError("MODEL", "nothing to do; give --chat, --prompt, TOKEN_IDS or --info")
    tokens_out = None if options.tokens_out is None else _open_for_ids(options.tokens_out)
    watch = Stopwatch()
    model = session.load_model(options, family)
    question = asking.ask(options, family, model, texts)
    context = session.make_context(options, model, question.prompt, gen=options.gen)
    made_by = speculate(model)(context) if speculate else None
    load_s = watch.lap()
    compiled = Compiler(family, model).compile(options, prepared)
    request = asking.constrained(question, family, model, compiled)
    exactness = None
    with session.blame_first_forward(options):
        if options.json:
            exactness = probe(context)
    run = _Run(options, context, compiled, made_by)
    answer, verdict, sampling = _answer(run, question.prompt, request)
    if options.json:
        output.record(
            report.record(answer, sampling, compiled, verdict, load_s, exactness, made_by)
        )
    elif not answer.text.endswith("\n"):
        output.answer("\n")
    if tokens_out is not None:
        _write_ids(tokens_out, answer.tokens)
    if made_by is not None and not options.quiet:
        drafts = report.Drafting()
        drafts.add(answer)
        drafts.tell(answer.counts.forwards, made_by)
    if options.verbose:
        report.tell_timing(answer, load_s, compiled)
    return report.tell_outcome(options, context.n_ctx, answer, compiled, verdict)


@dataclass(frozen=True)
class _Run:
    options: Options
    context: Context
    compiled: Compiled | None
    speculation: Speculation | None


def _answer(run: _Run, prompt: Prompt, request: Request) -> tuple[Answer, Verdict, SamplingConfig]:
    """An answer, the verdict on it, and the sampling that led to it.

    Where the grammar enforces less than the schema asks for, a sampled answer that turns out not to
    be valid is drawn again with the next seed; it is shown only at the end, then.
    """
    options = run.options
    again = asking.may_draw_again(request, run.compiled)
    for left in reversed(range(asking.ATTEMPTS if again else 1)):
        answer = _decode(run, prompt, request, shown=not again and not options.json)
        verdict = asking.judge(run.compiled, answer)
        if not left or not asking.wants_another(answer, verdict):
            break
        if not options.quiet:
            output.note(asking.not_valid(request, verdict))
        request = asking.with_next_seed(request, run.compiled)
    if again and not options.json:
        output.answer(answer.text)
    return answer, verdict, request.sampling


def _decode(run: _Run, prompt: Prompt, request: Request, *, shown: bool) -> Answer:
    def show(text: str, channel: Channel) -> None:
        if channel == "thinking":
            if not run.options.quiet:
                output.thinking(text)
        elif shown:
            output.answer(text)

    with session.blame_first_forward(run.options), session.decoding_errors(run.options):
        return conversation.generate(
            run.context,
            prompt,
            request,
            speculation=run.speculation,
            on_text=show,
            on_first_forward=session.stop_blaming,
        )


def _open_for_ids(path: str) -> Path:
    """The path, proved writable before any work is done. Raises FlagError."""
    _write_ids(Path(path), [])
    return Path(path)


def _write_ids(path: Path, tokens: list[int]) -> None:
    """One id per line. Raises FlagError."""
    try:
        path.write_text("".join(f"{token}\n" for token in tokens))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FlagError("--tokens-out", f"can't write '{path}': {reason}") from None
