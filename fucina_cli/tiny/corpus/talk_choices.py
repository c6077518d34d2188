"""Lists of things, yes-or-no questions and choices."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fucina_cli.tiny.corpus import talk_data as data
from fucina_cli.tiny.corpus.document import Chat, Text
from fucina_cli.tiny.corpus.talk_wording import (
    a,
    cap,
    compact,
    is_format,
    json_extra,
    listing,
    number,
    request,
    system,
    word_extra,
)

_LIST_CORES = (
    "! name {n} {s}",
    "! name {n} {s}",
    "! list {n} {s}",
    "! list {n} {s}",
    "! give me {n} {s}",
    "! give me {n} {s}",
    "! tell me {n} {s}",
    "! write {n} {s}",
    "! write down {n} {s}",
    "! show me {n} {s}",
    "! say {n} {s}",
    "! find {n} {s}",
    "! think of {n} {s}",
    "! give me a list of {n} {s}",
    "! make a list of {n} {s}",
    "! write a list with {n} {s}",
    "! list the names of {n} {s}",
    "! give {n} examples of {s}",
    "! give me the names of {n} {s}",
    "! I need {n} {s}",
    "! I want {n} {s}",
    "! I would like {n} {s}",
    "! {n} {s}",
    "! {n} different {s}",
    "! a list of {n} {s}",
    "what are {n} {s}",
    "which {n} {s} do you know",
    "can you name {n} {s}",
    "can you list {n} {s}",
    "could you give me {n} {s}",
    "do you know {n} {s}",
    "what are the names of {n} {s}",
)
_ARRAY_EXTRAS = (
    ("tail", "as a JSON array"),
    ("tail", "as a JSON list"),
    ("tail", "as JSON"),
    ("tail", "as JSON"),
    ("tail", "as json"),
    ("tail", "in JSON"),
    ("tail", "as an array of strings"),
    ("tail", "as a JSON array of strings"),
    ("tail", "in a JSON array"),
    ("tail", "(JSON array)"),
    ("said", "Answer as a JSON array."),
    ("said", "JSON array only."),
    ("said", "Return a JSON array."),
    ("said", "Output JSON."),
    ("said", "Answer with JSON only."),
    ("said", "Use a JSON list."),
    ("said", "JSON, please."),
    ("head", "As a JSON array"),
    ("head", "As JSON"),
    ("head", "JSON"),
)
_YES_NO_EXTRAS = (
    ("tail", "yes or no"),
    ("tail", "- yes or no"),
    ("tail", "(yes or no)"),
    ("said", "Answer yes or no."),
    ("said", "Yes or no?"),
    ("said", "Yes or no."),
    ("said", "Only yes or no."),
    ("said", "Just say yes or no."),
    ("said", "Answer only with yes or no."),
    ("said", "Answer in one word."),
    ("head", "Yes or no"),
    ("head", "Answer yes or no"),
)
_TRUE_FALSE = (
    "true or false: {}",
    "is this true or false: {}",
    "{}: true or false",
    "is the sentence '{}' true or false",
    "{}, true or false",
    "answer true or false: {}",
    "decide if this is true or false: {}",
)
_TRUE_QUESTIONS = (
    "is it true that {}",
    "is it right that {}",
    "is it correct that {}",
    "do you think that {}",
    "can you say that {}",
    "would you say that {}",
    "is this right: {}",
    "is this true: {}",
    "is it a fact that {}",
)
_PICKS = (
    "pick one: {}",
    "pick one of {}",
    "pick one of these: {}",
    "choose one: {}",
    "choose: {}",
    "choose between {}",
    "choose one of {}",
    "select one: {}",
    "which one do you take: {}",
    "which do you like best: {}",
    "what do you prefer: {}",
    "I cannot decide: {}",
    "one of these, please: {}",
    "{}: which one",
    "{}",
    "take one: {}",
    "decide: {}",
)
_LABEL_CORES = (
    "choose the best label for '{t}' from: {o}",
    "choose the best label for '{t}': {o}",
    "which label fits '{t}': {o}",
    "what is the topic of '{t}': {o}",
    "classify '{t}' as {o}",
    "classify this text as {o}: {t}",
    "label this text with {o}: {t}",
    "is this about {o}: {t}",
    "is the text '{t}' about {o}",
    "pick the label for this text: '{t}' Labels: {o}",
    "text: {t} - labels: {o}",
    "{t} - is this {o}",
    "choose from {o}: '{t}'",
    "find the right topic, {o}, for: {t}",
    "select the category ({o}) of this text: {t}",
    "which of {o} is this text about: {t}",
)
_MOOD_CORES = (
    "is this positive, negative or neutral: {t}",
    "is '{t}' positive, negative or neutral",
    "is '{t}' positive or negative",
    "is this review positive or negative: {t}",
    "classify the sentiment of '{t}'",
    "what is the sentiment of '{t}'",
    "what is the mood of this text: {t}",
    "sentiment: {t}",
    "label the sentiment: {t}",
    "classify as positive, negative or neutral: {t}",
    "choose positive, negative or neutral for this text: {t}",
    "how does this sound, positive, negative or neutral: {t}",
)
_BY_KIND = {kind: members for _, kind, members in data.SETS}
_CLASSED: tuple[tuple[str, str], ...] = tuple(
    (kind, member)
    for kind in (
        "fruit",
        "vegetable",
        "bird",
        "insect",
        "flower",
        "tree",
        "sport",
        "vehicle",
        "instrument",
        "tool",
        "job",
        "colour",
        "metal",
        "planet",
        "day",
        "month",
        "drink",
    )
    for member in _BY_KIND[kind]
)
_KINDS = tuple({kind: None for kind, _ in _CLASSED})
_BARE = frozenset(("sport", "colour", "metal", "planet", "day", "month", "drink"))


def _take(rng: random.Random, members: Sequence[str], count: int) -> tuple[str, ...]:
    """`count` of `members` in their own order, from somewhere on."""
    start = rng.randrange(len(members))
    return tuple(members[(start + i) % len(members)] for i in range(count))


def sample_list(rng: random.Random) -> Chat:
    """A request for some things of a kind."""
    plural, singular, members = rng.choice(data.SETS)
    count = rng.choice((1, 2, 2, 3, 3, 3, 3, 4, 4, 5))
    items = _take(rng, members, count)
    form = rng.choices(("plain", "array", "object", "comma", "lines"), (44, 24, 22, 6, 4))[0]
    said = system(rng, "json" if form == "array" else "")
    core, question = _list_core(rng, plural, singular, count)
    key = singular.replace(" ", "_") if count == 1 else plural.replace(" ", "_")
    if form == "object" and rng.random() < 0.25:
        key = rng.choice(("items", "list", "answer", "names", "things", "result"))
    extra, how = _list_extra(rng, form, key, is_format(said))
    reply = _list_reply(form, key, items)
    thoughts = f"The user asks for {number(count)} {plural if count > 1 else singular}{how}."
    thoughts += f" I know {listing(items)}."
    if form in ("plain", "array") and rng.random() < 0.12:
        return _list_follow_up(rng, plural, members, items, form, said)
    return Chat(request(rng, core, question, extra), reply, thoughts, said)


def _list_core(rng: random.Random, plural: str, singular: str, count: int) -> tuple[str, bool]:
    text: str = rng.choice(_LIST_CORES)
    said = number(count) if rng.random() < 0.65 else str(count)
    if count == 1:
        text = rng.choice(("! name {n} {s}", "! give me {n} {s}", "! tell me {n} {s}", "! {n} {s}"))
        said = rng.choice(("one", "a", "any"))
        if said == "a":
            said = a(singular).split(" ")[0]
        plural = singular
    elif count == 3 and rng.random() < 0.2:
        said = "some"
    core = text.format(n=said, s=plural)
    return (core[2:], False) if core.startswith("! ") else (core, True)


def _list_extra(
    rng: random.Random, form: str, key: str, given: bool
) -> tuple[tuple[str, str] | None, str]:
    if form == "array":
        return (None if given else rng.choice(_ARRAY_EXTRAS)), " as a JSON array"
    if form == "object":
        return json_extra(rng, (key,)), f" as JSON with the key {key}"
    if form == "comma":
        texts = ("separated by commas", "with commas", "as a comma separated list")
        return ("tail", rng.choice(texts)), " with commas"
    if form == "lines":
        places = ("one per line", "each on its own line", "on separate lines", "line by line")
        return ("tail", rng.choice(places)), " one per line"
    return None, ""


def _list_reply(form: str, key: str, items: Sequence[str]) -> str:
    if form == "array":
        return compact(items)
    if form == "object":
        return compact({key: items[0] if len(items) == 1 and key[-1] != "s" else items})
    if form == "comma":
        return ", ".join(items)
    return "\n".join(items) if form == "lines" else f"{cap(listing(items))}."


def _list_follow_up(
    rng: random.Random,
    plural: str,
    members: tuple[str, ...],
    items: tuple[str, ...],
    form: str,
    said: str | None,
) -> Chat:
    """More of the same, or the same as JSON, or of another kind."""
    earlier_form = "plain" if not is_format(said) else "array"
    first = request(rng, f"name {number(len(items))} {plural}", False)
    if len(items) == 1:
        first = f"Name one of the {plural}."
    earlier = ((first, _list_reply(earlier_form, "", items)),)
    if form == "array" and not is_format(said):
        user = rng.choice(("As a JSON array.", "As JSON, please.", "Now as JSON.", "as json array"))
        return Chat(user, compact(items), "The user wants the same list as JSON.", said, earlier)
    if rng.random() < 0.5 and len(items) <= 3:
        start = members.index(items[-1]) + 1
        more = tuple(members[(start + i) % len(members)] for i in range(2))
        user = rng.choice(("Two more.", "And two more?", "two more please", "Give me two more."))
        thoughts = f"The user asks for two more {plural}. I know {listing(more)}."
        return Chat(user, _list_reply(earlier_form, "", more), thoughts, said, earlier)
    plural, _, members = rng.choice(data.SETS)
    count = rng.randint(2, 4)
    more = _take(rng, members, count)
    user = rng.choice(("And {} {}?", "and {} {}", "What about {} {}?", "Now {} {}, please."))
    user = user.format(number(count), plural)
    thoughts = f"The user now asks for {number(count)} {plural}. I know {listing(more)}."
    return Chat(user, _list_reply(earlier_form, "", more), thoughts, said, earlier)


def _statement(rng: random.Random) -> tuple[str, str, bool, str]:
    """A question, the same as a statement, whether it is so, and the reason."""
    draw = rng.randrange(9)
    if draw < 3:
        return _class_statement(rng)
    if draw == 3:
        thing, colour = rng.choice(data.COLOURS)
        other = rng.choice((colour, rng.choice(data.COLOURS)[1]))
        right = f"{thing} is {colour}"
        return f"is {thing} {other}", f"{thing} is {other}", colour == other, right
    if draw == 4:
        i, j = rng.sample(range(len(data.SIZES)), 2)
        x, y = a(data.SIZES[i]), a(data.SIZES[j])
        big, small = (x, y) if i > j else (y, x)
        right = f"{big} is bigger than {small}"
        return f"is {x} bigger than {y}", f"{x} is bigger than {y}", i > j, right
    if draw == 5:
        able = rng.random() < 0.5
        verb, whos = rng.choice(data.CAN if able else data.CANNOT)
        who = a(rng.choice(whos.split(", ")))
        right = f"{who} can {verb}" if able else f"{who} cannot {verb}"
        return f"can {who} {verb}", f"{who} can {verb}", able, right
    if draw == 6:
        animal, legs = rng.choice(data.LEGS)
        other = rng.choice((legs, rng.choice(("2", "4", "6", "8"))))
        said = "no" if legs == "0" else number(int(legs))
        claim = "no" if other == "0" else number(int(other))
        right = f"{a(animal)} has {said} legs"
        ask = f"does {a(animal)} have {claim} legs"
        return ask, f"{a(animal)} has {claim} legs", legs == other, right
    if rng.random() < 0.5:
        right = rng.choice(data.TRUE)
        return rng.choice(_TRUE_QUESTIONS).format(right), right, True, right
    wrong, right = rng.choice(data.FALSE)
    return rng.choice(_TRUE_QUESTIONS).format(wrong), wrong, False, right


def _named(kind: str, member: str) -> str:
    return member if kind in _BARE else a(member)


def _class_statement(rng: random.Random) -> tuple[str, str, bool, str]:
    kind, member = rng.choice(_CLASSED)
    claim = kind if rng.random() < 0.5 else rng.choice(_KINDS)
    if claim != kind and member in _BY_KIND[claim]:
        claim = kind
    who = _named(kind, member)
    right = f"{who} is {a(kind)}"
    return f"is {who} {a(claim)}", f"{who} is {a(claim)}", claim == kind, right


def sample_yes_no(rng: random.Random) -> Chat:
    """A question whose answer is yes or no, or true or false."""
    ask, claim, so, right = _statement(rng)
    yes = "yes" if so else "no"
    thoughts = f"The user asks if {claim}. {cap(right)}, so the answer is {yes}."
    roll = rng.random()
    if roll < 0.45:
        core = ask if rng.random() < 0.8 else rng.choice(_TRUE_QUESTIONS).format(claim)
        user = request(rng, core, True)
        return Chat(user, f"{cap(yes)}, {right}.", thoughts, system(rng), _yes_no_before(rng))
    if roll < 0.62:
        return Chat(request(rng, ask, True, rng.choice(_YES_NO_EXTRAS)), yes, thoughts, system(rng))
    if roll < 0.76:
        user = request(rng, rng.choice(_TRUE_FALSE).format(claim), True)
        thoughts = f"The user asks if this is true. {cap(right)}, so it is {str(so).lower()}."
        return Chat(user, str(so).lower(), thoughts, system(rng))
    return _yes_no_json(rng, ask, so, right, thoughts)


def _yes_no_before(rng: random.Random) -> tuple[tuple[str, str], ...]:
    if rng.random() < 0.8:
        return ()
    ask, _, so, right = _statement(rng)
    return ((request(rng, ask, True), f"{'Yes' if so else 'No'}, {right}."),)


def _yes_no_json(rng: random.Random, ask: str, so: bool, right: str, thoughts: str) -> Chat:
    said = system(rng, "json")
    form = rng.randrange(4)
    keys: tuple[str, ...] = (rng.choice(("answer", "answer", "result", "reply")),)
    value: dict[str, object] = {keys[0]: "yes" if so else "no"}
    extra = json_extra(rng, keys)
    if form == 0:
        extra = ("", "") if is_format(said) else json_extra(rng)
        value = {"answer": "yes" if so else "no"}
    elif form == 1:
        keys = ("answer", "reason")
        value = {"answer": "yes" if so else "no", "reason": f"{cap(right)}."}
        extra = json_extra(rng, keys)
    elif form == 2:
        key = rng.choice(("answer", "true", "correct", "result", "yes"))
        place, text = json_extra(rng, (key,))
        extra = (place, f"{text.rstrip('.')} (true or false)")
        value = {key: so}
    return Chat(request(rng, ask, True, extra), compact(value), thoughts, said)


def _choice(rng: random.Random) -> tuple[str, bool, str, str, str]:
    """A request, whether it is a question, the answer as a word and a sentence, and thoughts."""
    draw = rng.randrange(12)
    if draw < 2:
        kind, member = rng.choice(_CLASSED)
        other = rng.choice([k for k in _KINDS if k != kind and member not in _BY_KIND[k]])
        left, right = rng.sample((kind, other), 2)
        who = _named(kind, member)
        ask = f"is {who} {a(left)} or {a(right)}"
        return ask, True, kind, f"{cap(who)} is {a(kind)}.", f"{cap(who)} is {a(kind)}."
    if draw == 2:
        thing, colour = rng.choice(data.COLOURS)
        other = rng.choice([c for _, c in data.COLOURS[:9] if c != colour])
        left, right = rng.sample((colour, other), 2)
        said = f"{cap(thing)} is {colour}."
        return f"is {thing} {left} or {right}", True, colour, said, said
    if draw == 3:
        return _size_choice(rng)
    if draw == 4:
        kind, member = rng.choice(_CLASSED)
        others = [m for k, m in rng.sample(_CLASSED, 4) if k != kind][:2]
        options = rng.sample([member, *others], len(others) + 1)
        form = rng.choice(("which of these is {}: {}", "which is {}: {}", "find {}: {}"))
        ask = form.format(a(kind), listing(options, "or"))
        said = f"{cap(_named(kind, member))} is {a(kind)}."
        return ask, not ask.startswith("find"), member, said, said
    if draw == 5:
        return _odd_choice(rng)
    if draw < 8:
        return _pick(rng)
    return _label(rng, draw)


def _size_choice(rng: random.Random) -> tuple[str, bool, str, str, str]:
    i, j = rng.sample(range(len(data.SIZES)), 2)
    small, big = sorted((i, j))
    word = rng.choice(("bigger", "smaller"))
    x, y = data.SIZES[i], data.SIZES[j]
    good, bad = (big, small) if word == "bigger" else (small, big)
    said = f"{cap(a(data.SIZES[good]))} is {word} than {a(data.SIZES[bad])}."
    ask = rng.choice(("which is {}, {} or {}", "what is {}: {} or {}", "which one is {}, {} or {}"))
    return ask.format(word, a(x), a(y)), True, data.SIZES[good], said, said


def _odd_choice(rng: random.Random) -> tuple[str, bool, str, str, str]:
    _, kind, members = rng.choice(data.SETS[:13])
    other, odd = rng.choice([pair for pair in rng.sample(_CLASSED, 3) if pair[1] not in members])
    options = [*rng.sample(members, 3), odd]
    rng.shuffle(options)
    form = rng.choice(
        (
            "which word does not belong: {}",
            "find the odd one out: {}",
            "odd one out: {}",
            "which one does not fit: {}",
            "which of these is different: {}",
        )
    )
    ask = form.format(rng.choice((listing(options), ", ".join(options))))
    said = f"{cap(_named(other, odd))} is not {a(kind)}."
    return ask, ask.startswith("which"), odd, f"{cap(odd)}, it is not {a(kind)}.", said


def _pick(rng: random.Random) -> tuple[str, bool, str, str, str]:
    members = rng.choice(data.SETS)[2] if rng.random() < 0.8 else data.NAMES
    options = rng.sample(members, rng.choice((2, 2, 3, 3, 3, 4, 5)))
    taken = rng.choice(options)
    joined = listing(options, rng.choice(("or", "or", "and")))
    core = rng.choice(_PICKS).format(joined if rng.random() < 0.75 else ", ".join(options))
    question = core.startswith(("which", "what")) or core.endswith("which one")
    reply = f"{cap(taken)}."
    return core, question, taken, reply, f"The user wants one of these. I take {taken}."


def _label(rng: random.Random, draw: int) -> tuple[str, bool, str, str, str]:
    table = data.MOODS if draw == 8 else data.LABELS
    label, texts = rng.choice(table)
    text = rng.choice(texts.split(", ")).replace("{n}", rng.choice(data.NAMES))
    text = cap(text) if rng.random() < 0.7 else text
    if draw == 8:
        core = rng.choice([c for c in _MOOD_CORES if label != "neutral" or "or negative" not in c])
        core = core.format(t=text)
        said = f"It is {label}."
    else:
        others = rng.sample([name for name, _ in table if name != label], rng.choice((1, 2, 2, 3)))
        options = rng.sample([label, *others], len(others) + 1)
        joined = listing(options, "or") if rng.random() < 0.6 else ", ".join(options)
        core = rng.choice(_LABEL_CORES).format(t=text, o=joined)
        said = f"It is about {label}."
    question = core.startswith(("is ", "what", "which", "how"))
    return core, question, label, label, f"The user wants a label. {cap(said)}"


def sample_choice(rng: random.Random) -> Chat:
    """A choice between things named in the prompt."""
    core, question, word, sentence, thoughts = _choice(rng)
    if not thoughts.startswith("The user"):
        thoughts = f"The user asks me to choose. {thoughts}"
    roll = rng.random()
    if roll < 0.55:
        return Chat(request(rng, core, question), sentence, thoughts, system(rng))
    if roll < 0.75:
        said = system(rng, "word")
        extra = None if is_format(said) else word_extra(rng)
        return Chat(request(rng, core, question, extra), word, thoughts, said)
    said = system(rng, "json")
    key = rng.choice(("answer", "choice", "label", "result", "pick"))
    named = rng.random() < 0.5
    given = is_format(said) and not named
    extra = None if given else json_extra(rng, (key,) if named else ())
    reply = compact({key if named else "answer": word})
    form = f" I answer as JSON with the key {key if named else 'answer'}."
    return Chat(request(rng, core, question, extra), reply, thoughts + form, said)


def text_list(rng: random.Random) -> Text:
    """A list as a completion."""
    plural, _, members = rng.choice(data.SETS)
    count = rng.choice((2, 3, 3, 3, 4))
    items = _take(rng, members, count)
    roll = rng.random()
    if roll < 0.35:
        return Text(f"{cap(plural)}:", f" {listing(_take(rng, members, 3))}.")
    if roll < 0.6:
        form = rng.choice(("{} {}:", "{} {} are", "A list of {} {}:", "I know {} {}:"))
        return Text(cap(form.format(number(count), plural)), f" {listing(items)}.")
    if roll < 0.7:
        return Text(f"{cap(plural)}:\n-", " " + "\n- ".join(_take(rng, members, 3)))
    if roll < 0.85:
        left, right = rng.sample(data.OPPOSITES, 2)
        arrow = rng.choice((" -> ", ": ", " = ", " - "))
        shown = f"{left[0]}{arrow}{left[1]}\n{right[0]}{arrow}".rstrip(" ")
        return Text(shown, f" {right[1]}")
    key = plural.replace(" ", "_")
    return Text(f'{{"{key}":', compact(_take(rng, members, 3)) + "}")
