"""How people put a request: polite, terse, lower case; and the forms an answer can have."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from fucina_cli.tiny.corpus.document import Chat

_T = TypeVar("_T")

_GENERIC = (
    "You are a helpful assistant.",
    "You are a concise assistant.",
    "Be brief.",
    "Answer briefly and correctly.",
    "You are a friendly office assistant.",
    "Give short answers.",
    "You answer questions in plain English.",
    "You help with small tasks.",
    "Follow the user's instructions exactly.",
    "Do what the user asks.",
)
_JSON_SYSTEMS = (
    "Answer with JSON only.",
    "You reply in JSON.",
    "Always answer in JSON.",
    "Respond with a single JSON object and nothing else.",
    "You are an assistant that writes JSON.",
    "Output JSON, no prose.",
    "Every reply is valid compact JSON.",
)
_BARE_SYSTEMS = (
    "Answer with the {noun} only.",
    "Reply with just the {noun}.",
    "Give only the {noun}, no sentence.",
    "Output the {noun} and nothing else.",
)
_ORDERS = (
    "Can you {}",
    "Could you {}",
    "Could you please {}",
    "Would you {}",
    "I need you to {}",
    "I would like you to {}",
    "Kindly {}",
    "Hi, {}",
    "Hello, please {}",
    "Now {}",
    "Your task: {}",
    "Task: {}",
    "Try to {}",
    "Help me {}",
)
_QUESTIONS = (
    "Tell me, {}?",
    "Quick question: {}?",
    "Hi, {}?",
    "Please tell me: {}?",
    "Question: {}?",
    "Hello, {}?",
    "I wonder, {}?",
    "So {}?",
    "Can you tell me, {}?",
    "{}? Thanks",
    "{}, please?",
)
_QUESTION_WORDS = ("What ", "Which ", "How ", "Is ", "Does ", "Who ")
_BARE = (
    "Just the {noun}.",
    "Just the {noun}",
    "Only the {noun}.",
    "only the {noun} please",
    "Answer with the {noun} only.",
    "Answer with a {noun} only.",
    "Give just the {noun}.",
    "Reply with the {noun} only.",
    "Reply only with the {noun}.",
    "No sentence, just the {noun}.",
    "The {noun} alone, please.",
    "{Noun} only.",
    "Nothing but the {noun}.",
)
_YES_NO = (
    "Yes or no?",
    "yes or no",
    "Answer yes or no.",
    "Reply with yes or no only.",
    "Just yes or no, please.",
    "Answer with yes or no.",
    "One word: yes or no.",
)
_TRUE_FALSE = (
    "True or false?",
    "true or false",
    "Answer true or false.",
    "Reply with true or false only.",
    "Just true or false, please.",
    "Is that true or false?",
)
_AS_JSON = (
    "Answer as JSON with the key {key}.",
    'Answer as JSON with the key "{key}".',
    'Answer in JSON, key "{key}".',
    "as json, key {key}",
    "Give a JSON object with {key}.",
    "Give JSON with one key, {key}.",
    'Use the form {{"{key}": ...}}.',
    'Reply with {{"{key}": ...}}.',
    'Format: {{"{key}":<{noun}>}}',
    "Return JSON ({key}).",
    "Reply with a JSON object that has the key {key}.",
    "Output JSON with the field {key}.",
    "I want JSON with {key} in it.",
    "JSON only, with the key {key}.",
    'Schema: {{"type":"object","properties":{{"{key}":{{"type":"{type}"}}}}}}',
)
_AS_FULL_JSON = (
    "Answer as JSON with {keys}.",
    "Answer as JSON with the keys {keys}.",
    "Give a JSON object with the keys {keys}.",
    "JSON with {keys}",
    "json, keys {keys}",
    "Return JSON, keys: {keys}.",
    "Reply in JSON with the fields {keys}.",
    "Use the JSON keys {keys}.",
)
_PLAIN_JSON = (
    "Answer as JSON.",
    "as json",
    "In JSON, please.",
    "JSON only.",
    "Reply in JSON.",
    "Give me JSON.",
    "Format: JSON",
    "Use JSON.",
    "Return a JSON object.",
    "I need it as JSON.",
)

_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


def compact(value: object) -> str:
    """`value` as compact JSON."""
    return _encode(value)


def split(words: str) -> tuple[str, ...]:
    """The words of `words`."""
    return tuple(words.split())


def pick(rng: random.Random, options: Sequence[_T]) -> _T:
    """One of `options`."""
    return options[int(rng.random() * len(options))]


def low(text: str) -> str:
    """`text` with a small first letter, except where it begins with the word I."""
    return text if text[:2] in ("I ", "I'") else text[:1].lower() + text[1:]


def high(text: str) -> str:
    """`text` with a capital first letter."""
    return text[:1].upper() + text[1:]


def series(words: Sequence[str], last: str = "and") -> str:
    """`words` as a list in a sentence: "a, b and c"."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} {last} {words[-1]}"


def article(noun: str) -> str:
    """`noun` with its a or an."""
    return f"an {noun}" if noun[0].lower() in "aeiou" else f"a {noun}"


def system(rng: random.Random, specific: Sequence[str] = ()) -> str | None:
    """A system text for a quarter of the chats, one of the `specific` ones in half of those."""
    if rng.random() < 0.75:
        return None
    return pick(rng, specific if specific and rng.random() < 0.5 else _GENERIC)


def json_system(rng: random.Random) -> str | None:
    """A system text for an answer in JSON, or none."""
    return system(rng, _JSON_SYSTEMS)


def order(rng: random.Random, text: str) -> str:
    """The command `text`, said in some tone, without a final punctuation mark."""
    draw = rng.random()
    if text.startswith(_QUESTION_WORDS):
        return text if draw < 0.7 else low(text)
    if draw < 0.55:
        return text
    if draw < 0.73:
        return low(text)
    if draw < 0.85:
        return f"{pick(rng, ('Please ', 'please ', 'Please, '))}{low(text)}"
    return pick(rng, _ORDERS).format(low(text))


def command(rng: random.Random, text: str) -> str:
    """The command `text` (given without its full stop) as a whole message."""
    said = order(rng, text)
    draw = rng.random()
    if said.startswith(("Can", "Could", "Would")):
        return said + ("?" if draw < 0.8 else "")
    if draw < 0.5:
        return said + "."
    if draw < 0.6 and "lease" not in said:
        return said + pick(rng, (", please.", " please", ", please", ". Thank you.", "!"))
    return said


def question(rng: random.Random, text: str) -> str:
    """The question `text` (given without its question mark) as a whole message."""
    draw = rng.random()
    if draw < 0.5:
        return text + "?"
    if draw < 0.6:
        return text
    if draw < 0.85:
        return low(text) + ("?" if draw < 0.68 else "")
    said = pick(rng, _QUESTIONS)
    return said.format(text if said.startswith("{") else low(text))


def layout(rng: random.Random, asked: str, data: str) -> str:
    """One message of the command `asked` (no full stop) and the `data` it is about."""
    said = order(rng, asked)
    mark = "?" if asked.startswith(_QUESTION_WORDS) and "?" not in asked else "."
    draw = rng.random()
    if draw < 0.3:
        return f"{said}{pick(rng, (':', '?')) if mark == '?' else ':'} {data}"
    if draw < 0.48:
        return f"{said}:\n{data}"
    if draw < 0.56:
        return f"{said}{mark}\n\n{data}"
    if draw < 0.62:
        return f"{said}{mark}\nText: {data}"
    if draw < 0.70:
        return f'{said}: "{data}"' if '"' not in data else f"{said}: {data}"
    stop = "" if data.endswith((".", "?", "!")) else "."
    if draw < 0.8:
        return f"{data}\n{high(said)}{mark}"
    if draw < 0.88:
        return f"{data}\n\n{high(said)}"
    if draw < 0.95 and "\n" not in data:
        return f"{data}{stop} {high(said)}{mark}"
    return f"Text: {data}\n\n{said}{mark}"


@dataclass(frozen=True)
class Item:
    """Something that can be asked, and its answer in every form.

    Args:
        ask: the request, without its final punctuation mark.
        sentence: the answer where no form is asked for.
        value: the answer as a JSON value.
        about: the first thoughts: what is asked, and what comes out.
        noun: what kind of thing the value is: a "number", a "date"; "boolean" for yes and no.
        keys: the JSON keys that fit the value, the usual one first.
        full: a larger JSON object of the answer, if there is one.
        command: whether `ask` is a command, and no question.
        raw: whether `ask` is to be left as it is.
    """

    ask: str
    sentence: str
    value: object
    about: str
    noun: str = "number"
    keys: tuple[str, ...] = ("answer",)
    full: Mapping[str, object] = field(default_factory=dict)
    command: bool = False
    raw: bool = False


def chat_of(rng: random.Random, item: Item) -> Chat:
    """A chat which asks for `item`, in a sentence, bare, or in JSON."""
    draw = rng.random()
    if draw < 0.48:
        return Chat(_asked(rng, item), item.sentence, item.about, system(rng))
    if draw < 0.7:
        return _bare_chat(rng, item)
    return _json_chat(rng, item)


def _asked(rng: random.Random, item: Item) -> str:
    if item.raw:
        return item.ask
    return command(rng, item.ask) if item.command else question(rng, item.ask)


def _with(rng: random.Random, item: Item, form: str) -> str:
    """The request with the `form` of the answer: after it, or before it."""
    draw = rng.random()
    asked = _asked(rng, item)
    if draw < 0.08:
        return f"{form.rstrip('.')}: {asked}"
    if draw < 0.2:
        return f"{form} {asked}" if form.endswith(".") else f"{asked} ({form})"
    if draw < 0.35:
        return f"{asked}\n{form}"
    if asked[-1] not in ".?!=":
        asked += "," if form[0].islower() else ("." if item.command else "?")
    return f"{asked} {form}"


def _bare_chat(rng: random.Random, item: Item) -> Chat:
    if item.noun == "boolean":
        truth = rng.random() < 0.4
        words = ("true", "false") if truth else ("yes", "no")
        reply = words[0] if item.value else words[1]
        user = _with(rng, item, pick(rng, _TRUE_FALSE if truth else _YES_NO))
        return Chat(user, reply, f"{item.about} One word is wanted.", system(rng))
    reply = item.value if isinstance(item.value, str) else compact(item.value)
    thoughts = f"{item.about} Only the {item.noun} is wanted."
    if rng.random() < 0.08:
        told = pick(rng, _BARE_SYSTEMS).format(noun=item.noun)
        return Chat(_asked(rng, item), reply, thoughts, told)
    form = pick(rng, _BARE).format(noun=item.noun, Noun=high(item.noun))
    return Chat(_with(rng, item, form), reply, thoughts, system(rng))


def json_type(value: object) -> str:
    """The JSON schema type of `value`."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    if value is None:
        return "null"
    return "object" if isinstance(value, Mapping) else "array"


def _json_chat(rng: random.Random, item: Item) -> Chat:
    draw = rng.random()
    if item.full and draw < 0.4:
        form = pick(rng, _AS_FULL_JSON).format(keys=series(tuple(item.full)))
        thoughts = f"{item.about} The answer is JSON with {series(tuple(item.full))}."
        return Chat(_with(rng, item, form), compact(item.full), thoughts, json_system(rng))
    if draw < 0.65:
        key = pick(rng, item.keys)
        form = pick(rng, _AS_JSON)
        form = form.format(key=key, noun=item.noun, type=json_type(item.value))
        told = json_system(rng)
        user = _with(rng, item, form)
    else:
        key = item.keys[0]
        in_system = rng.random() < 0.3
        told = pick(rng, _JSON_SYSTEMS) if in_system else json_system(rng)
        user = _asked(rng, item) if in_system else _with(rng, item, pick(rng, _PLAIN_JSON))
    return Chat(
        user, compact({key: item.value}), f"{item.about} The answer is JSON with {key}.", told
    )


def after_earlier(
    rng: random.Random, chat: Chat, draw: Callable[[random.Random], Chat], share: float = 0.08
) -> Chat:
    """`chat`, in a `share` of the cases after one or two other exchanges that `draw` makes."""
    if chat.earlier or rng.random() >= share or chat.system not in (None, *_GENERIC):
        return chat
    others = [draw(rng) for _ in range(1 if rng.random() < 0.65 else 2)]
    # What the system text of an earlier exchange demanded is not known here: only free ones stay.
    return replace(chat, earlier=tuple((o.user, o.reply) for o in others if o.system is None))
