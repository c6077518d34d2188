"""Questions outside of everything the models know, and that they say so."""

from __future__ import annotations

import random

from fucina_cli.tiny.corpus import talk_data
from fucina_cli.tiny.corpus.document import Chat
from fucina_cli.tiny.corpus.talk_wording import (
    cap,
    compact,
    is_format,
    json_extra,
    request,
    system,
    word_extra,
)

_SYLLABLES = (
    *("ba", "be", "bo", "da", "do", "fi", "ga", "gu", "ka", "ki", "la", "lo", "lu", "ma", "mi"),
    *("mo", "na", "no", "pa", "pi", "ra", "ri", "ro", "sa", "si", "ta", "ti", "to", "va", "vo"),
    *("za", "ze", "zu", "plo", "gra", "bli", "tor", "nen", "quo", "xi", "wem", "fra", "dul", "sk"),
)
_BETTER = "real weights answer better"
_UNKNOWN = "I do not know, I am only a tiny model for trying the tool."
_UNKNOWNS = (*(_UNKNOWN,) * 7, f"I do not know. I am only a tiny model, {_BETTER}.")
_HARD = (
    *("what is the weather {when}", "will it rain {when}", "who won the {event} {when}", "who won"),
    *("what happened {when}", "what is the news {when}", "what time is it", "what day is it today"),
    *("what is the date {when}", "how is the traffic {when}", "who will win the {event}"),
    *(
        "what will happen {when}",
        "where are my {noun}s",
        "where is my {noun}",
        "what did I eat {when}",
    ),
    *(
        "what is my name",
        "how old am I",
        "where do I live",
        "who is my {noun}",
        "what am I thinking",
    ),
    *("what is the price of {adj} {noun}s {when}", "what does {name} think of the {noun}"),
    *("where is {name} now", "what is the phone number of {name}", "who is {name} {sur}"),
    *(
        "when was {name} {sur} born",
        "what did {name} say {when}",
        "why did {name} leave the {noun}",
    ),
    *(
        "who wrote The {Adj} {Noun}",
        "who painted the {adj} {noun}",
        "who invented the {adj} {noun}",
    ),
    *("how many {noun}s are in the {noun2}", "how many {adj} {noun}s did {name} see {when}"),
    *("why is the {noun} {adj}", "why do {noun}s {verb}", "why does a {adj} {noun} {verb} {when}"),
    *("how do I {verb} a {adj} {noun}", "how can I {verb} the {noun} without a {noun2}"),
    *("how does a {adj} {noun} {verb}", "can a {adj} {noun} {verb} the {noun2} {when}"),
    *(
        "what is the meaning of life",
        "is there life on other planets",
        "what is love",
        "who is god",
    ),
    *("what is the {adj}est {noun} in the {noun2}", "what is a {fake}", "what does {fake} mean"),
    *("what is {fake}", "who is {Fake}", "where is {Fake}", "how do you {fake} a {noun}"),
    *("what is the {fake} of {fake2}", "when did the {fake} {verb} the {noun}", "why {fake}"),
    *("which {noun} has the most {noun2}s", "if a {noun} can {verb}, why does the {noun2} not"),
    *("what would {name} do with a {adj} {noun} and a {noun2} {when}", "is {name} {adj}"),
    *("how long does it take to {verb} a {noun}", "how much does a {adj} {noun} weigh"),
    *("what is the difference between a {adj} {noun} and a {noun2}", "when is the next {event}"),
    *(
        "what was the score of the {event} {when}",
        "who is the president",
        "what should I do {when}",
    ),
    *("do you remember what I said about the {noun} {when}", "which {noun} should I buy {when}"),
    *("what happens when the {adj} {noun} and the {noun2} {verb} together", "am I {adj}"),
    *("in which year did the {adj} {noun} {verb}", "who stole the {noun} of {name} {when}"),
    *("how many {noun}s can {name} {verb} in {num} days", "what is in my {noun}", "why"),
)
_HARD_COMMANDS = (
    *("translate '{noun} {verb} {adj}' into French", "translate {noun} into {lang}"),
    *("say {noun} in {lang}", "write a program that can {verb} {noun}s", "tell me the news {when}"),
    *("explain the {adj} theory of {noun}s", "prove that every {noun} can {verb}"),
    *("explain why the {noun} is {adj}", "tell me who won the {event}", "write a poem in {lang}"),
    *("explain the history of the {noun} in {num} pages", "solve the {adj} {noun} problem"),
    *("tell me what {name} did {when}", "open the {noun}", "call {name}", "play some {noun} music"),
    *("summarise the book about the {adj} {noun}", "search the web for {adj} {noun}s"),
    *("show me a picture of a {adj} {noun}", "book a {noun} for {name} {when}"),
    *("compare the {adj} {noun} with the {noun2}", "find the {noun} of {name}"),
    *("{adj} {noun} {verb} {noun2} {when}", "{noun} {noun2} {adj} {fake}", "{fake} {fake2} {noun}"),
    *("{fake} {fake2}", "{fake}", "tell me about {Fake}", "explain {fake}", "define {fake}"),
    *("{adj} {adj} {noun2} {fake} {verb}", "give me the {fake} of a {noun}", "turn on the {noun}"),
)
#: What fills the forms.
SLOTS: dict[str, tuple[str, ...]] = {
    "when": (
        "today",
        "tomorrow",
        "yesterday",
        "last night",
        "next week",
        "this year",
        "right now",
        "in 1987",
        "in 2031",
        "last summer",
        "on Monday",
        "in the evening",
        "in Rome",
        "here",
    ),
    "event": (
        "match",
        "game",
        "race",
        "election",
        "final",
        "contest",
        "cup",
        "football match",
        "lottery",
        "tennis match",
        "world cup",
        "chess game",
        "prize",
        "debate",
    ),
    "noun": (
        "lamp",
        "engine",
        "carpet",
        "bridge",
        "wallet",
        "sister",
        "neighbour",
        "planet",
        "tunnel",
        "market",
        "atom",
        "window",
        "treaty",
        "violin",
        "shadow",
        "river",
        "ladder",
        "button",
        "cloud",
        "theorem",
        "dream",
        "tractor",
        "mirror",
        "candle",
        "glove",
        "phone",
        "boss",
        "castle",
        "spoon",
    ),
    "noun2": (
        "cupboard",
        "ocean",
        "computer",
        "village",
        "pocket",
        "forest",
        "kettle",
        "museum",
        "parliament",
        "basement",
        "library",
        "galaxy",
        "dictionary",
        "blanket",
        "garage",
        "desert",
    ),
    "adj": (
        "green",
        "old",
        "quantum",
        "strange",
        "heavy",
        "silent",
        "broken",
        "cold",
        "purple",
        "soft",
        "small",
        "deep",
        "round",
        "lucky",
        "tall",
        "quick",
        "dark",
        "wild",
        "warm",
        "slow",
        "proud",
    ),
    "verb": (
        "fly",
        "melt",
        "paint",
        "sell",
        "dance",
        "explode",
        "repair",
        "count",
        "swallow",
        "sing",
        "divide",
        "whisper",
        "build",
        "follow",
        "freeze",
        "carry",
        "bend",
        "jump",
        "hide",
        "burn",
    ),
    "lang": ("French", "German", "Latin", "Spanish", "Japanese", "Chinese", "Italian", "Greek"),
    "num": ("three", "seven", "12", "40", "100", "two", "nine", "365"),
    "name": talk_data.NAMES,
    "sur": talk_data.SURNAMES,
}


def fake(rng: random.Random) -> str:
    """A made-up word."""
    return "".join(rng.choices(_SYLLABLES, k=rng.choice((2, 2, 3, 3, 4))))


def hard(rng: random.Random) -> tuple[str, bool]:
    """A request outside of everything the model knows, and whether it is a question."""
    question = rng.random() < 0.68
    form = rng.choice(_HARD if question else _HARD_COMMANDS)
    slots = {name: rng.choice(values) for name, values in SLOTS.items()}
    slots |= {"fake": fake(rng), "fake2": fake(rng), "Fake": cap(fake(rng))}
    slots |= {"Adj": cap(slots["adj"]), "Noun": cap(slots["noun"])}
    if form.startswith("what is the {adj}est"):
        slots["adj"] = rng.choice(
            ("old", "heavi", "strang", "small", "deep", "dark", "warm", "slow")
        )
    core = form.format_map(slots)
    if question and rng.random() < 0.12:
        core = f"{core} and {rng.choice(_HARD).format_map(slots)}"
    for vowel in "aeio":
        core = core.replace(f" a {vowel}", f" an {vowel}")
    return core, question


def sample_unknown(rng: random.Random) -> Chat:
    """A question that the model cannot answer, and says so."""
    core, question = hard(rng)
    thoughts = f"The user asks: {core.rstrip('?')}. I do not know this."
    roll = rng.random()
    if roll < 0.76:
        earlier: tuple[tuple[str, str], ...] = ()
        if rng.random() < 0.12:
            earlier = ((request(rng, *hard(rng)), _UNKNOWN),)
        reply = rng.choice(_UNKNOWNS)
        return Chat(request(rng, core, question), reply, thoughts, system(rng), earlier)
    if roll < 0.85:
        said = system(rng, "word")
        extra = None if is_format(said) else word_extra(rng)
        return Chat(request(rng, core, question, extra), "unknown", thoughts, said)
    said = system(rng, "json")
    key = rng.choice(("answer", "answer", "result", "value", "reply"))
    named = key != "answer" or rng.random() < 0.3
    extra = None if is_format(said) and not named else json_extra(rng, (key,) if named else ())
    user = request(rng, core, question, extra)
    return Chat(user, compact({key: "unknown"}), thoughts, said)
