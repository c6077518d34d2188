"""The main job: one prompt in, one answer out."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fucina_cli import conversation
from fucina_cli.cli import exits, output, session
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import Compiled
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.constraint.validation import Verdict, validate
from fucina_cli.conversation import Answer, Request
from fucina_cli.decoding.reply import Channel
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.families.family import Family
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.exactness import Exactness, probe
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
    references = session.read_references(options, reader)
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
        speculation=session.speculation(options, model, context, references),
    )
    exactness = None
    with session.blame_first_forward(options):
        if options.json:
            exactness = probe(context)
    answer, verdict, sampling = _answer(options, context, prompt, request, compiled)
    if options.json:
        drafting = _drafting(answer, request.speculation)
        output.record(_record(answer, sampling, compiled, verdict, load_s, exactness, drafting))
    elif not answer.text.endswith("\n"):
        output.answer("\n")
    if tokens_out is not None:
        _write_ids(tokens_out, answer.tokens)
    if request.speculation is not None and not options.quiet:
        _tell_drafting(answer, request.speculation)
    if options.verbose:
        _tell_timing(answer, load_s, compiled)
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


def _record(
    answer: Answer,
    sampling: SamplingConfig,
    compiled: Compiled | None,
    verdict: Verdict,
    load_s: float,
    exactness: Exactness | None,
    drafting: dict[str, Any],
) -> dict[str, Any]:
    counts, constraint = answer.counts, answer.constraint
    committed = counts.committed
    return {
        "text": answer.text,
        "thinking": answer.thinking or None,
        "tokens": answer.tokens,
        "stop_reason": answer.stop_reason,
        "prompt_tokens": answer.prompt_tokens,
        "seed": sampling.seed,
        "sampling": {k: v for k, v in sampling.as_dict().items() if k != "seed"},
        "timing": {
            "load_s": _rounded(load_s),
            "compile_s": _rounded(compiled.seconds) if compiled else None,
            "prefill_s": _rounded(answer.prefill_s),
            "decode_s": _rounded(answer.decode_s),
            "first_token_s": _rounded(answer.first_token_s),
            "tokens_per_s": _rate(committed, answer),
        },
        "constraint": None
        if compiled is None or constraint is None
        else {
            "kind": compiled.grammar.source.kind,
            "complete": constraint.complete,
            "valid": verdict.valid,
            "errors": list(verdict.errors),
            "mask_us_p50": _quantile(constraint.mask_seconds, 0.50),
            "mask_us_p99": _quantile(constraint.mask_seconds, 0.99),
        },
        "decode": {
            "forwards": counts.forwards,
            "committed": committed,
            "forced": counts.forced,
            "drafted": counts.drafted,
            "accepted": counts.accepted,
            "tokens_per_forward": _rounded(committed / counts.forwards)
            if counts.forwards
            else None,
            **drafting,
        },
        "exact": exactness.exact if exactness else None,
    }


def _drafting(answer: Answer, speculation: Speculation | None) -> dict[str, Any]:
    """What drafts came to, by source, and what the gate thinks."""
    sources: dict[str, dict[str, int]] = {
        name: {"drafted": drafted, "accepted": accepted}
        for name, (drafted, accepted) in answer.sources.items()
    }
    if speculation is not None and speculation.draft_context is not None:
        sources.setdefault("draft model", {})["masked"] = speculation.masked
    return {"sources": sources, "gate": speculation.gate.state() if speculation else None}


def _tell_drafting(answer: Answer, speculation: Speculation) -> None:
    counts, gate = answer.counts, speculation.gate.state()
    rate = counts.committed / counts.forwards if counts.forwards else 0.0
    sources = [f"{name} {a}/{d}" for name, (d, a) in answer.sources.items() if d]
    on = [name for name, kind in gate["kinds"].items() if kind["on"]]
    output.note(
        f"{counts.forwards} forwards, {rate:.2f} tokens per forward; {counts.forced} forced; "
        f"accepted/drafted: {', '.join(sources) or 'none'}; gate on: {', '.join(on) or 'nothing'}"
    )


def _tell_timing(answer: Answer, load_s: float, compiled: Compiled | None) -> None:
    counts = answer.counts
    rate = _rate(counts.committed, answer)
    output.note(
        f"load {load_s:.3f} s, "
        + (f"compile {compiled.seconds:.3f} s, " if compiled else "")
        + f"prefill {answer.prefill_s:.3f} s ({answer.prompt_tokens} tokens), "
        f"decode {answer.decode_s:.3f} s ({counts.committed} tokens"
        + (f", {rate:.1f} tokens/s" if rate else "")
        + f", {counts.forwards} forwards, {counts.forced} forced)"
    )


def _rate(committed: int, answer: Answer) -> float | None:
    """Tokens per second after the first forward, which belongs to the prefill."""
    if committed < 2 or answer.decode_s <= 0:
        return None
    return _rounded((committed - 1) / answer.decode_s)


def _quantile(seconds: list[float], share: float) -> float | None:
    """A quantile in microseconds."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e6, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


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
