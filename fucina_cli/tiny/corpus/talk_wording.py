"""How the chats of `talk` are worded: requests in many forms, JSON and lists in a few."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
_AN_EXCEPTIONS = ("uni", "uku", "use", "eur", "one")

_OPENERS = (
    "Hi, ",
    "Hello, ",
    "Hey, ",
    "So, ",
    "Tell me: ",
    "Please tell me: ",
    "Quick question: ",
    "One question: ",
    "I have a question: ",
    "Question: ",
    "A small question: ",
    "I wonder, ",
    "Maybe you know: ",
    "Now, ",
    "And now: ",
)
_COMMANDS = (
    "can you {}?",
    "could you {}?",
    "could you {}, please?",
    "can you please {}?",
    "would you {}?",
    "please {}.",
    "please {}.",
    "please {}.",
    "{}, please.",
    "{} please",
    "{}!",
    "I want you to {}.",
    "I would like you to {}.",
    "now {}.",
    "hi, {}.",
    "you should {}.",
    "will you {}?",
    "help me: {}.",
)
_NOUN_COMMANDS = ("{}, please.", "{} please", "{}!", "please: {}.", "hi, {}.", "quickly: {}.")
_VERBS = frozenset(
    (
        "add",
        "answer",
        "choose",
        "classify",
        "compose",
        "create",
        "decide",
        "define",
        "describe",
        "draft",
        "explain",
        "find",
        "generate",
        "give",
        "imagine",
        "invent",
        "label",
        "list",
        "make",
        "mix",
        "name",
        "output",
        "pick",
        "print",
        "produce",
        "repeat",
        "return",
        "say",
        "select",
        "send",
        "show",
        "tell",
        "think",
        "translate",
        "write",
        "take",
        "echo",
        "type",
        "build",
    )
)
_WORD_EXTRAS = (
    ("tail", "in one word"),
    ("tail", "with one word"),
    ("tail", "(one word)"),
    ("tail", "in a single word"),
    ("said", "Answer in one word."),
    ("said", "Answer with one word."),
    ("said", "One word."),
    ("said", "One word only."),
    ("said", "Just the word."),
    ("said", "Only the word, please."),
    ("said", "Only one word."),
    ("said", "Reply with a single word."),
    ("said", "Give only the answer."),
    ("said", "No sentence, just the word."),
    ("said", "Keep it to one word."),
    ("head", "In one word"),
    ("head", "One word"),
    ("head", "Answer in one word"),
)
_NUMBER_EXTRAS = (
    ("tail", "as a number"),
    ("tail", "in digits"),
    ("said", "Answer with a number."),
    ("said", "Just the number."),
    ("said", "Only the number, please."),
    ("said", "Number only."),
    ("said", "Reply with a number only."),
    ("said", "Give only the number."),
    ("head", "As a number"),
    ("head", "Number only"),
)
_JSON_EXTRAS = (
    ("tail", "as JSON"),
    ("tail", "as JSON"),
    ("tail", "in JSON"),
    ("tail", "in JSON format"),
    ("tail", "as a JSON object"),
    ("tail", "as json"),
    ("tail", "(JSON)"),
    ("said", "Answer as JSON."),
    ("said", "Answer in JSON."),
    ("said", "Answer with JSON."),
    ("said", "Reply with JSON only."),
    ("said", "JSON only."),
    ("said", "JSON, please."),
    ("said", "Use JSON."),
    ("said", "Return JSON."),
    ("said", "Output JSON."),
    ("said", "Respond with a JSON object."),
    ("said", "I need JSON."),
    ("head", "As JSON"),
    ("head", "In JSON"),
    ("head", "JSON"),
    ("head", "Answer as JSON"),
)
_KEY_EXTRAS = (
    ("tail", "as JSON with {k}"),
    ("tail", "as JSON with the keys {k}"),
    ("tail", "as JSON with keys {k}"),
    ("tail", "in JSON with {k}"),
    ("tail", "as a JSON object with {k}"),
    ("tail", "as a JSON object with the fields {k}"),
    ("tail", "as JSON, keys {k}"),
    ("tail", "as json with {k}"),
    ("tail", "with {k} as JSON"),
    ("tail", "with {k}, as JSON"),
    ("tail", "as {b}"),
    ("tail", "as JSON {b}"),
    ("tail", "in the form {b}"),
    ("said", "Answer as JSON with the keys {k}."),
    ("said", "Answer in JSON with {k}."),
    ("said", "JSON with {k}."),
    ("said", "Use JSON with the keys {k}."),
    ("said", "Return JSON with the fields {k}."),
    ("said", "JSON keys: {k}."),
    ("said", "Reply as JSON {b}."),
    ("said", "Use this form: {b}"),
    ("head", "As JSON with {k}"),
    ("head", "JSON with the keys {k}"),
)
_SYSTEMS = (
    "You are a helpful assistant.",
    "You are a helpful assistant.",
    "You are a small model for trying a tool.",
    "You are a friendly assistant.",
    "Be brief.",
    "Answer briefly.",
    "Answer the question of the user.",
    "Answer in plain English.",
    "You are the model inside a command line tool.",
    "Give short answers.",
)
_WORD_SYSTEMS = ("Answer in one word.", "Answer with a single word.", "One word answers only.")
_JSON_SYSTEMS = (
    "Answer with JSON only.",
    "Answer in JSON.",
    "Reply with JSON.",
    "You always answer with JSON.",
    "Respond only with JSON.",
    "Your output is JSON.",
)


def compact(value: object) -> str:
    """`value` as JSON without spaces."""
    return _ENCODER.encode(value)


def cap(text: str) -> str:
    """`text` with a capital at its start."""
    return text[:1].upper() + text[1:]


def uncap(text: str) -> str:
    """`text` with a small letter at its start, except where the word is all capitals or "I"."""
    first = text.split(" ", 1)[0]
    return text if first.rstrip(",.:").isupper() else text[:1].lower() + text[1:]


def a(noun: str) -> str:
    """`noun` with its indefinite article."""
    vowel = noun[:1].lower() in "aeiou" and not noun.startswith(_AN_EXCEPTIONS)
    return f"{'an' if vowel else 'a'} {noun}"


def number(value: int) -> str:
    """`value` as it stands in a sentence."""
    return NUMBER_WORDS[value] if value < len(NUMBER_WORDS) else str(value)


def listing(items: Sequence[str], word: str = "and") -> str:
    """`items` as words: "a, b and c"."""
    if len(items) == 1:
        return items[0]
    return f"{', '.join(items[:-1])} {word} {items[-1]}"


def key_text(rng: random.Random, keys: Sequence[str]) -> str:
    """`keys` as a prompt names them."""
    roll = rng.random()
    if roll < 0.5:
        return listing(keys)
    if roll < 0.8:
        return ", ".join(keys)
    if roll < 0.9:
        return listing([f'"{key}"' for key in keys])
    return ",".join(keys)


def _brace_text(rng: random.Random, keys: Sequence[str]) -> str:
    form = rng.choice(('"{}":"..."', '"{}": "..."', '"{}": ...', '"{}"', "{}"))
    comma = rng.choice((",", ", "))
    return "{" + comma.join(form.format(key) for key in keys) + "}"


def word_extra(rng: random.Random) -> tuple[str, str]:
    """The part of a request that asks for one word."""
    return rng.choice(_WORD_EXTRAS)


def number_extra(rng: random.Random) -> tuple[str, str]:
    """The part of a request that asks for a number."""
    return rng.choice(_NUMBER_EXTRAS)


def json_extra(rng: random.Random, keys: Sequence[str] = ()) -> tuple[str, str]:
    """The part of a request that asks for JSON, with the named `keys` if there are any."""
    if not keys:
        return rng.choice(_JSON_EXTRAS)
    place, text = rng.choice(_KEY_EXTRAS)
    if "{b}" in text:
        return place, text.replace("{b}", _brace_text(rng, keys))
    if len(keys) == 1:
        text = text.replace("keys {k}", "key {k}").replace("fields {k}", "field {k}")
    return place, text.replace("{k}", key_text(rng, keys))


def request(
    rng: random.Random,
    core: str,
    question: bool,
    extra: tuple[str, str] | None = None,
) -> str:
    """A whole message from `core`, a question or a command without its stop."""
    place, text = extra or ("", "")
    core = f"{core} {text}" if place == "tail" else core
    roll = rng.random()
    if roll < 0.3:
        return _terse(rng, core, question, place, text)
    if place == "head":
        return f"{text}: {core}{'?' if question else '.'}"
    if roll < 0.45:
        said = _dressed(rng, core, question)
    else:
        said = core + ("?" if question else rng.choice((".", ".", "")))
    if place == "said":
        joint = " " if said[-1] in ".?!" else ". "
        said = f"{said}{joint}{text}"
    return cap(said)


def _terse(rng: random.Random, core: str, question: bool, place: str, text: str) -> str:
    """The message as it is typed in a hurry."""
    core = uncap(core) if rng.random() < 0.6 else cap(core)
    if question and rng.random() < 0.35:
        core += "?"
    if place == "head":
        return f"{uncap(text)}: {core}"
    if place == "said":
        joint = " " if core.endswith("?") else rng.choice((", ", ", ", " - ", ". "))
        return f"{core}{joint}{uncap(text).rstrip('.')}"
    return core


def _dressed(rng: random.Random, core: str, question: bool) -> str:
    """The message with a polite or chatty frame."""
    if not question:
        verb = core.split(" ", 1)[0].lower() in _VERBS
        return rng.choice(_COMMANDS if verb else _NOUN_COMMANDS).format(core)
    if rng.random() < 0.2:
        return f"{core}, please?"
    opener = rng.choice(_OPENERS)
    return f"{opener}{core}?"


def system(rng: random.Random, mode: str = "") -> str | None:
    """A system text or none: `mode` is "word" or "json" where the reply is one."""
    if rng.random() < 0.7:
        return None
    if mode and rng.random() < 0.5:
        return rng.choice(_WORD_SYSTEMS if mode == "word" else _JSON_SYSTEMS)
    return rng.choice(_SYSTEMS)


def is_format(system_text: str | None) -> bool:
    """Whether `system_text` asks for the format itself, so that the message need not."""
    return system_text in _WORD_SYSTEMS or system_text in _JSON_SYSTEMS
