"""The main job: one prompt in, one answer out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fucina_cli import conversation
from fucina_cli.cli import exits, output, report, session
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import Compiled
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.constraint.validation import Verdict, validate
from fucina_cli.conversation import Answer, Request
from fucina_cli.decoding.reply import Channel
from fucina_cli.families.family import Family
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import probe
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.draws import LIMIT
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.timing import Stopwatch

#: Answers drawn at most where the grammar alone can't make them valid.
_ATTEMPTS = 4


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
    thinking = _thinking(options, family)
    prompt = session.make_prompt(options, family, model, texts, thinking=thinking)
    thinks = thinking if thinking is not None else _by_default(family)
    thinks = (thinks and prompt.thinking is not None) or prompt.inside_thinking
    sampling = session.sampling_config(options, family, model, thinking=thinks)
    stop_ids, stop_texts = session.stops(texts, model)
    biases = session.logit_biases(options, model)
    context = session.make_context(options, model, prompt, gen=options.gen)
    made_by = speculate(model, context) if speculate else None
    load_s = watch.lap()
    compiled = session.compile_constraint(options, family, model, prepared)
    request = Request(
        sampling=sampling,
        limit=session.answer_limit(options.gen),
        stop_ids=stop_ids,
        stop_texts=stop_texts,
        processors=biases,
        forbidden_while_thinking=_turn_ends(options, family, model, compiled, thinks),
        forced_spans=options.forced_spans,
        speculation=made_by,
    )
    exactness = None
    with session.blame_first_forward(options):
        if options.json:
            exactness = probe(context)
    answer, verdict, sampling = _answer(options, context, prompt, request, compiled)
    if options.json:
        output.record(
            report.record(answer, sampling, compiled, verdict, load_s, exactness, made_by)
        )
    elif not answer.text.endswith("\n"):
        output.answer("\n")
    if tokens_out is not None:
        _write_ids(tokens_out, answer.tokens)
    if made_by is not None and not options.quiet:
        report.tell_drafting(answer, made_by)
    if options.verbose:
        report.tell_timing(answer, load_s, compiled)
    return _exit_code(options, context, answer, compiled, verdict)


def _thinking(options: Options, family: Family) -> bool | None:
    """`enable_thinking` of the template; None leaves it to the template.

    A constraint governs the whole reply, so with one the model does not think unless told to.
    """
    if options.think is None and options.constraint_flag:
        return False
    return options.think


def _by_default(family: Family) -> bool:
    return family.thinking is not None and family.thinking.on_by_default


def _turn_ends(
    options: Options, family: Family, model: Model, compiled: Compiled | None, thinks: bool
) -> tuple[int, ...]:
    """What a thinking block before a constrained answer must not contain; empty without one."""
    if compiled is None or not thinks or options.chat is None:
        return ()
    ends = {session.stop_for(options, family, model), compiled.grammar.initial.stop_token}
    ends.update(t for t in (model.vocabulary.eos, model.vocabulary.eot) if t is not None)
    return tuple(sorted(ends))


def _answer(
    options: Options,
    context: Context,
    prompt: Prompt,
    request: Request,
    compiled: Compiled | None,
) -> tuple[Answer, Verdict, SamplingConfig]:
    """An answer, the verdict on it, and the sampling that led to it.

    Where the grammar enforces less than the schema asks for, a sampled answer that turns out not to
    be valid is drawn again with the next seed; it is shown only at the end, then.
    """
    again = compiled is not None and compiled.grammar.relaxed and not request.sampling.greedy
    for left in reversed(range(_ATTEMPTS if again else 1)):
        if compiled is not None:
            request = replace(request, constraint=compiled.grammar.constraint())
        answer = _decode(options, context, prompt, request, shown=not again and not options.json)
        verdict = _judge(compiled, answer)
        if verdict.valid is not False or answer.stop_reason == "interrupted" or not left:
            break
        seed = request.sampling.seed
        if not options.quiet:
            reasons = "; ".join(verdict.errors)
            output.note(f"the answer of seed {seed} is not valid ({reasons}); trying the next seed")
        request = replace(request, sampling=replace(request.sampling, seed=(seed + 1) % LIMIT))
    if again and not options.json:
        output.answer(answer.text)
    return answer, verdict, request.sampling


def _decode(
    options: Options, context: Context, prompt: Prompt, request: Request, *, shown: bool
) -> Answer:
    def show(text: str, channel: Channel) -> None:
        if channel == "thinking":
            if not options.quiet:
                output.thinking(text)
        elif shown:
            output.answer(text)

    with session.blame_first_forward(options):
        settle = session.stop_blaming
        try:
            return conversation.generate(
                context, prompt, request, on_text=show, on_first_forward=settle
            )
        except AllTokensMasked:
            raise FlagError(
                "--logit-bias" if options.logit_bias else options.constraint_flag or "--stop",
                "leaves no token to choose from; loosen the bias or the constraint",
            ) from None
        except NonFiniteLogits:
            raise FlagError(
                f"'{options.model}'",
                "the model computes logits that are no numbers; the file is damaged",
            ) from None
        except ConstraintError as error:
            raise FlagError(options.constraint_flag or "constraint", str(error)) from None
        except ModelError as error:
            raise FlagError(f"'{options.model}'", str(error)) from None


def _judge(compiled: Compiled | None, answer: Answer) -> Verdict:
    """The independent verdict on a complete answer; an incomplete one is not valid."""
    if compiled is None or answer.constraint is None:
        return Verdict(None)
    if not answer.constraint.complete or answer.stop_reason == "interrupted":
        return Verdict(False, ("the answer ended inside the grammar",))
    return validate(compiled.grammar.source, answer.text)


def _exit_code(
    options: Options,
    context: Context,
    answer: Answer,
    compiled: Compiled | None,
    verdict: Verdict,
) -> int:
    if answer.stop_reason == "interrupted":
        return exits.INTERRUPTED
    if compiled is not None and answer.constraint is not None:
        flag = options.constraint_flag or "constraint"
        if not answer.constraint.complete:
            why = _ended_by(options, context, answer)
            output.error(f"{flag}: the answer is not complete: {why}")
            return exits.UNSATISFIED
        if verdict.valid is False:
            output.error(f"{flag}: the answer is not valid: {'; '.join(verdict.errors)}")
            return exits.UNSATISFIED
        if verdict.valid is None and verdict.errors and not options.quiet:
            output.warning(f"{flag}: the answer was not validated: {'; '.join(verdict.errors)}")
    elif answer.stop_reason == "length" and options.gen is None and not options.quiet:
        output.note(f"cut short: {_ended_by(options, context, answer)}")
    return exits.OK


def _ended_by(options: Options, context: Context, answer: Answer) -> str:
    if answer.stop_reason != "length":
        ended = answer.stop_reason.replace("_", " ")
        return f"the turn ended early, by {ended}" + (" (--stop)" if options.stop else "")
    spent = len(answer.tokens)
    if answer.prompt_tokens + spent >= context.n_ctx and spent < session.answer_limit(options.gen):
        return f"the context of {context.n_ctx} tokens is full (--ctx)"
    return f"the budget of {spent} tokens is used up (--gen)"


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
