"""From text, ids or messages to the tokens that a reply starts from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fucina_cli.decoding.reply import ThinkingTokens
from fucina_cli.families.family import Family
from fucina_cli.job import Message
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.prompts.errors import TemplateError


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
    """One user turn in the model's own chat format; see `messages_prompt`."""
    messages: list[Message] = [{"role": "system", "content": system}] if system is not None else []
    messages.append({"role": "user", "content": user})
    return messages_prompt(model, family, messages, thinking=thinking)


def messages_prompt(
    model: Model, family: Family, messages: Sequence[Message], *, thinking: bool | None
) -> Prompt:
    """A conversation in the model's own chat format, up to where the assistant begins.

    Raises TemplateError when the file has no chat template, or one that can't render it.
    """
    template = model.chat_template
    if template is None:
        raise TemplateError("the file has no chat template; use a raw completion instead")
    from fucina_cli.prompts.template import Marker, render  # Jinja, which only chats need

    vocabulary = model.vocabulary
    markers = vocabulary.marker_ids(template, family.markers)
    rendered = render(
        template,
        messages,
        markers=markers,
        thinking=thinking,
        bos="" if vocabulary.bos is None else vocabulary.text(vocabulary.bos),
        eos="" if vocabulary.eos is None else vocabulary.text(vocabulary.eos),
    )
    parts = [markers[p.text] if isinstance(p, Marker) else p for p in rendered.parts]
    tokens = vocabulary.encode(parts, markers)
    bos = vocabulary.bos
    if vocabulary.adds_bos and bos is not None and tokens[:1] != [bos]:
        tokens.insert(0, bos)
    ids = thinking_tokens(model, family)
    inside = _ends_inside(tokens, ids)
    if inside and ids and thinking is False:
        # The template opens a block although thinking is off, so it is closed here.
        tokens += [ids.closes, *vocabulary.tokenize("\n\n")]
        inside = False
    return Prompt(tokens, ids, inside_thinking=inside)


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

    Where the family names none, it is the one of EOT and EOS that the file's chat template writes.
    Raises ModelError when the vocabulary has none.
    """
    vocabulary = model.vocabulary
    if chat:
        for text in family.stop_texts:
            token = vocabulary.marker_id(text)
            if token is not None:
                return token
        template = model.chat_template or ""
        for token in (vocabulary.eot, vocabulary.eos):
            if token is not None and vocabulary.text(token) in template:
                return token
        if vocabulary.eot is not None and "eos_token" not in template:
            return vocabulary.eot
    for token in (vocabulary.eos, vocabulary.eot):
        if token is not None:
            return token
    raise ModelError("the vocabulary has no end-of-text token, which a constraint needs to end on")


def _ends_inside(tokens: Sequence[int], thinking: ThinkingTokens | None) -> bool:
    if thinking is None:
        return False
    for token in reversed(tokens):
        if token in (thinking.opens, thinking.closes):
            return token == thinking.opens
    return False
