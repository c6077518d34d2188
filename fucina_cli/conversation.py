"""A turn: prompt in, reply out. Renders, prefills, decodes; knows no flag and prints nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.decoding.reply import OnText, Reply, ThinkingTokens
from fucina_cli.decoding.step import step
from fucina_cli.decoding.stream import Counts, StopReason, Stream
from fucina_cli.families.family import Family
from fucina_cli.families.template import Marker, Rendered, TemplateError, render
from fucina_cli.llama.context import Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitProcessor, ProcessorChain
from fucina_cli.sampling.sampler import Sampler


@dataclass(frozen=True)
class Prompt:
    """Ids to start from.

    `thinking` names the markers of the reply's thinking blocks, None where it has none;
    `inside_thinking` tells that the prompt ends within an open one.
    """

    tokens: list[int]
    thinking: ThinkingTokens | None = None
    inside_thinking: bool = False


def text_prompt(model: Model, text: str) -> Prompt:
    """A raw completion of `text`: BOS if the model wants one, and the text as data."""
    vocabulary = model.vocabulary
    start = [vocabulary.bos] if vocabulary.adds_bos and vocabulary.bos is not None else []
    return Prompt(start + vocabulary.tokenize(text))


def chat_prompt(
    model: Model, family: Family, user: str, *, system: str | None, thinking: bool | None
) -> Prompt:
    """One user turn in the model's own chat format, up to where the assistant begins.

    Raises TemplateError when the file has no chat template, or a bad one.
    """
    template = model.chat_template
    if template is None:
        raise TemplateError("the file has no chat template; use a raw completion instead")
    messages = [{"role": "system", "content": system}] if system is not None else []
    messages.append({"role": "user", "content": user})
    rendered = render_messages(model, family, template, messages, thinking=thinking)
    tokens: list[int] = []
    markers = model.vocabulary.marker_ids(template, family.markers)
    for part in rendered.parts:
        if isinstance(part, Marker):
            tokens.append(markers[part.text])
        else:
            tokens.extend(model.vocabulary.tokenize(part))
    bos = model.vocabulary.bos
    if model.vocabulary.adds_bos and bos is not None and tokens[:1] != [bos]:
        tokens.insert(0, bos)
    ids = thinking_tokens(model, family)
    return Prompt(tokens, ids, inside_thinking=_ends_inside(tokens, ids))


def render_messages(
    model: Model,
    family: Family,
    template: str,
    messages: Sequence[dict[str, str]],
    *,
    thinking: bool | None,
) -> Rendered:
    """The messages through the file's template, markers apart from text."""
    vocabulary = model.vocabulary
    return render(
        template,
        messages,
        markers=vocabulary.marker_ids(template, family.markers),
        thinking=thinking,
        bos="" if vocabulary.bos is None else vocabulary.text(vocabulary.bos),
        eos="" if vocabulary.eos is None else vocabulary.text(vocabulary.eos),
    )


def thinking_tokens(model: Model, family: Family) -> ThinkingTokens | None:
    """Ids of the family's thought markers, None when the family or the vocabulary has none."""
    if family.thinking is None:
        return None
    opens = model.vocabulary.marker_id(family.thinking.opens)
    closes = model.vocabulary.marker_id(family.thinking.closes)
    if opens is None or closes is None:
        return None
    return ThinkingTokens(opens, closes, family.thinking.label)


def stop_token(model: Model, family: Family, *, chat: bool) -> int:
    """The token that ends a reply: the family's in a chat, EOS after a raw completion.

    Raises ModelError when the vocabulary has none.
    """
    vocabulary = model.vocabulary
    if chat:
        for text in family.stop_texts:
            token = vocabulary.marker_id(text)
            if token is not None:
                return token
        if vocabulary.eot is not None:
            return vocabulary.eot
    for token in (vocabulary.eos, vocabulary.eot):
        if token is not None:
            return token
    raise ModelError("the vocabulary has no end-of-text token, which a constraint needs to end on")


@dataclass(frozen=True)
class Request:
    """What to decode, apart from the prompt.

    `processors` apply to every row in order; `constraint` follows them and governs the answer.
    """

    sampling: SamplingConfig
    limit: int
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    processors: tuple[LogitProcessor, ...] = ()
    constraint: Constraint | None = None
    forbidden_while_thinking: tuple[int, ...] = ()


@dataclass
class Answer:
    """A reply and what it took. Times in seconds; `first_token_s` from the start of prefill."""

    text: str
    thinking: str
    tokens: list[int]
    stop_reason: StopReason | Literal["interrupted"]
    prompt_tokens: int
    counts: Counts
    prefill_s: float
    decode_s: float
    first_token_s: float | None
    constraint: Constraint | None


def generate(
    context: Context,
    prompt: Prompt,
    request: Request,
    *,
    on_text: OnText | None = None,
    on_first_forward: Callable[[], None] | None = None,
) -> Answer:
    """Decode one reply in the context's first stream, which is emptied first.

    An interrupt (Ctrl-C) ends it early; what was produced is in the answer all the same.
    """
    stream, constraint = _stream(context, prompt, request, on_text)
    context.clear(stream.slot)
    begin = time.perf_counter()
    prefilled = begin
    interrupted = False
    try:
        running = step(context, [stream])
        prefilled = time.perf_counter()
        if on_first_forward:
            on_first_forward()
        while running:
            running = step(context, [stream])
    except KeyboardInterrupt:
        interrupted = True
        stream.reply.finish()
    end = time.perf_counter()
    return Answer(
        text=stream.reply.text,
        thinking=stream.reply.thinking,
        tokens=stream.reply_tokens,
        stop_reason="interrupted" if interrupted or not stream.finished else stream.finished,
        prompt_tokens=stream.prompt_length,
        counts=stream.counts,
        prefill_s=prefilled - begin,
        decode_s=end - prefilled,
        first_token_s=prefilled - begin if stream.counts.committed else None,
        constraint=constraint,
    )


def _stream(
    context: Context, prompt: Prompt, request: Request, on_text: OnText | None
) -> tuple[Stream, Constraint | None]:
    vocabulary = context.model.vocabulary
    processors = list(request.processors)
    if request.constraint is not None:
        processors.append(_governing(request, request.constraint, prompt, context.model.n_vocab))
    processor: LogitProcessor | None = None
    if processors:
        single = len(processors) == 1
        processor = processors[0] if single else ProcessorChain(processors, context.model.n_vocab)
    reply = Reply(
        vocabulary.token_bytes,
        stops=request.stop_texts,
        thinking=prompt.thinking,
        inside_thinking=prompt.inside_thinking,
        on_text=on_text,
    )
    stream = Stream(
        slot=0,
        tokens=list(prompt.tokens),
        sampler=Sampler(request.sampling, processor=processor),
        reply=reply,
        is_end=vocabulary.is_end,
        stop_ids=request.stop_ids,
        limit=min(request.limit, context.n_ctx - len(prompt.tokens)),
    )
    return stream, request.constraint


def _governing(
    request: Request, constraint: Constraint, prompt: Prompt, n_vocab: int
) -> LogitProcessor:
    if not request.forbidden_while_thinking or prompt.thinking is None:
        return constraint
    return AfterThinking(
        constraint,
        opens=prompt.thinking.opens,
        closes=prompt.thinking.closes,
        inside=prompt.inside_thinking,
        forbidden=request.forbidden_while_thinking,
        n_vocab=n_vocab,
    )


def _ends_inside(tokens: Sequence[int], thinking: ThinkingTokens | None) -> bool:
    if thinking is None:
        return False
    for token in reversed(tokens):
        if token in (thinking.opens, thinking.closes):
            return token == thinking.opens
    return False
