"""One question, from its options to a request for the decoder, and what to think of the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fucina_cli.cli import session
from fucina_cli.cli.compiling import Compiled
from fucina_cli.cli.options import Options
from fucina_cli.cli.session import Texts
from fucina_cli.constraint.validation import Verdict
from fucina_cli.conversation import Answer, Request
from fucina_cli.families.family import Family
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.draws import LIMIT

#: Answers drawn at most where the grammar alone can't make them valid.
ATTEMPTS = 4


@dataclass(frozen=True)
class Question:
    """A prompt and how to answer it; what its constraint needs is added by `constrained`."""

    options: Options
    prompt: Prompt
    request: Request
    thinks: bool  # whether thoughts precede the answer


def ask(options: Options, family: Family, model: Model, texts: Texts) -> Question:
    """The question that the options put to this model. Raises FlagError."""
    thinking = options.think
    if thinking is None and options.constraint_flag:
        thinking = False  # a constraint governs the whole reply
    prompt = session.make_prompt(options, family, model, texts, thinking=thinking)
    by_default = family.thinking is not None and family.thinking.on_by_default
    thinks = thinking if thinking is not None else by_default
    thinks = (thinks and prompt.thinking is not None) or prompt.inside_thinking
    stop_ids, stop_texts = session.stops(texts, model)
    request = Request(
        sampling=session.sampling_config(options, family, model, thinking=thinks),
        limit=session.answer_limit(options.gen),
        stop_ids=stop_ids,
        stop_texts=stop_texts,
        processors=session.logit_biases(options, model),
        forced_spans=options.forced_spans,
    )
    return Question(options, prompt, request, thinks)


def constrained(
    question: Question, family: Family, model: Model, compiled: Compiled | None
) -> Request:
    """The question's request with a constraint of its own, at its start."""
    if compiled is None:
        return question.request
    ends: tuple[int, ...] = ()
    if question.thinks and question.options.chat is not None:
        # What a thinking block before the answer must not contain.
        vocabulary = model.vocabulary
        stop = session.stop_for(question.options, family, model)
        own = (stop, compiled.grammar.initial.stop_token, vocabulary.eos, vocabulary.eot)
        ends = tuple(sorted({token for token in own if token is not None}))
    return replace(
        question.request,
        constraint=compiled.grammar.constraint(),
        forbidden_while_thinking=ends,
    )


def judge(compiled: Compiled | None, answer: Answer) -> Verdict:
    """The independent verdict on a complete answer; an incomplete one is not valid."""
    if compiled is None or answer.constraint is None:
        return Verdict(None)
    if not answer.complete or answer.stop_reason == "interrupted":
        why = answer.stop_reason.replace("_", " ")
        return Verdict(False, (f"the answer ended inside the grammar ({why})",))
    return compiled.judge.judge(answer.text)


def may_draw_again(request: Request, compiled: Compiled | None) -> bool:
    """Whether an invalid answer is drawn again: a sampled one that the grammar enforces in part."""
    return compiled is not None and compiled.grammar.relaxed and not request.sampling.greedy


def wants_another(answer: Answer, verdict: Verdict) -> bool:
    """Whether another draw may do better: not where the user, or a stop, cut the answer."""
    cut = answer.stop_reason in ("interrupted", "stop_token", "stop_sequence")
    return verdict.valid is False and not (cut and not answer.complete)


def not_valid(request: Request, verdict: Verdict) -> str:
    """Why another attempt is made, in words."""
    return (
        f"the answer of seed {request.sampling.seed} is not valid ({'; '.join(verdict.errors)}); "
        "trying the next seed"
    )


def with_next_seed(request: Request, compiled: Compiled | None) -> Request:
    """The same request for the next attempt, its constraint back at the start."""
    constraint = compiled.grammar.constraint() if compiled is not None else None
    seed = (request.sampling.seed + 1) % LIMIT
    return replace(request, constraint=constraint, sampling=replace(request.sampling, seed=seed))
