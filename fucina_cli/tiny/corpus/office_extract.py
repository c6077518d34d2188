"""Documents that ask for named keys out of a text, as JSON, and for single values of it."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fucina_cli.tiny.corpus import office_values as values
from fucina_cli.tiny.corpus.document import Chat, Text
from fucina_cli.tiny.corpus.manner import (
    article,
    command,
    compact,
    json_system,
    json_type,
    layout,
    pick,
    series,
    system,
)
from fucina_cli.tiny.corpus.office_records import (
    KEYS,
    Fact,
    Record,
    labelled,
    person,
    product,
    prose,
    purchase,
    record,
    terse,
)

#: Commands with {k} for the keys, however they are written.
_WITH_KEYS = (
    "Extract {k} as JSON", "Extract {k} from the text as JSON", "Return JSON with {k}",
    "Give me a JSON object with {k}", "Turn this into JSON with the keys {k}",
    "Write it as JSON with the keys {k}", "Make a JSON object with {k} from this text",
    "Extract the keys {k}", "Find {k} and answer in JSON", "Convert to JSON with {k}",
    "Parse this text into JSON, keys: {k}", "JSON with {k}", "Output {k} as JSON",
    "Get {k} out of this text, as JSON", "Read the text and give {k} as JSON",
    "Fill a JSON object with {k}", "Put {k} into JSON", "List {k} as a JSON object",
    "Extract these fields as JSON: {k}", "Collect {k} in a JSON object",
    "Answer with JSON that has {k}", "Create JSON with the fields {k}", "Pull out {k} as JSON",
    "Structure this as JSON with {k}", "Return only JSON with the keys {k}",
)  # fmt: skip
_WITH_SCHEMA = (
    "Extract JSON that fits this schema: {k}", "Answer with JSON for the schema {k}",
    "Use this JSON schema: {k}", "Follow the schema {k}", "Return JSON that matches {k}",
    "Extract the data. Schema: {k}", "JSON schema: {k}", "Fill in this schema: {k}",
)  # fmt: skip
_WITH_EXAMPLE = (
    "Extract JSON in the form {k}", "Answer in this format: {k}", "Fill in {k}",
    "Use the format {k}", "Return JSON like {k}", "Write it as {k}", "Format: {k}",
    "Complete this object: {k}", "Convert to {k}", "The answer must look like {k}",
)  # fmt: skip
_WITHOUT = (
    "Extract the data as JSON", "Turn this into JSON", "Convert this to JSON", "Write this as JSON",
    "Parse this into a JSON object", "Give me this as JSON", "Make JSON out of this", "JSON",
    "Represent this text as JSON", "Put this into a JSON object", "Return the facts as JSON",
)  # fmt: skip
_SINGLE = (
    "Extract the {f}", "Give me the {f}", "Find the {f} in this text", "Return only the {f}",
    "Which {f} is named here? Answer with the {f} only", "What is the {f}? Only the {f}",
    "Tell me the {f}, nothing else", "Copy the {f} from the text", "Get the {f}", "Just the {f}",
    "Extract only the {f} from the text", "Name the {f} in the text",
)  # fmt: skip
_SAYING = {
    "in_stock": "stock", "id": "id", "product": "product", "pet": "name", "traveller": "name",
    "colour": "colour", "from": "start", "to": "destination", "due": "due date",
    "email": "e-mail address", "phone": "phone number", "animal": "animal",
}  # fmt: skip
_INVENT = (
    "Make up a {t} as JSON with {k}", "Invent a {t}: JSON with {k}",
    "Give me an example {t} in JSON with {k}",
    "Write a JSON object for a {t} with {k}", "Generate a fictional {t} as JSON with {k}",
    "Create a {t} in JSON, keys {k}", "I need a sample {t} as JSON with {k}",
    "Describe a {t} as JSON with the keys {k}", "A random {t} as JSON: {k}",
)  # fmt: skip
_ROWS = (
    "Extract all people as a JSON array with {k}", "List them as a JSON array of objects with {k}",
    "Give a JSON array of objects with the keys {k}", "Turn this into a JSON array with {k}",
    "Return a JSON list, each with {k}", "JSON array with {k} for each person",
)  # fmt: skip
_PAIR_ASKS = (
    "Write as JSON: {p}", "Turn this into JSON: {p}", "Make a JSON object with {p}",
    "Give me JSON where {p}", "JSON with {p}", "Create a JSON object: {p}", "As JSON: {p}",
    "Write a JSON object in which {p}", "Convert to JSON: {p}", "Return a JSON object with {p}",
)  # fmt: skip
_PAIR_FORMS = ("{k}: {v}", "{k} = {v}", "{k}={v}", "{k} is {v}", "{k} set to {v}", "{k} {v}")


@dataclass(frozen=True)
class _Asked:
    """The keys asked for, with their fields and values."""

    keys: tuple[str, ...]
    fields: tuple[str, ...]
    answer: Mapping[str, object]


def chat(rng: random.Random) -> Chat:
    """A chat that asks for something out of a text."""
    draw = rng.random()
    if draw < 0.58:
        return _record_chat(rng)
    if draw < 0.68:
        return _single_chat(rng)
    if draw < 0.76:
        return _pairs_chat(rng)
    if draw < 0.83:
        return _nested_chat(rng)
    if draw < 0.89:
        return _rows_chat(rng)
    if draw < 0.95:
        return _list_chat(rng)
    return _invented_chat(rng)


def _choose(rng: random.Random, facts: Sequence[Fact], others: Sequence[str]) -> _Asked:
    """Some keys for `facts`, perhaps one that the text does not tell."""
    chosen = list(facts)
    if rng.random() < 0.6:
        rng.shuffle(chosen)
    if len(chosen) > 1 and rng.random() < 0.35:
        chosen = chosen[: rng.randint(1, len(chosen) - 1)]
    pairs = [(fact.field, fact.value) for fact in chosen]
    if others and rng.random() < 0.14:
        pairs.insert(rng.randint(0, len(pairs)), (pick(rng, others), None))
    plain = rng.random() < 0.55
    answer: dict[str, object] = {}
    fields: list[str] = []
    for field, value in pairs:
        key = KEYS[field][0] if plain else pick(rng, KEYS[field])
        if key not in answer:
            answer[key] = value
            fields.append(field)
    return _Asked(tuple(answer), tuple(fields), answer)


def _schema(asked: _Asked, full: bool) -> str:
    """The JSON schema of the keys."""
    types: dict[str, object] = {}
    for key, value in asked.answer.items():
        kind = json_type(value)
        types[key] = {"type": "string" if kind == "null" else kind}
        if kind == "array":
            types[key] = {"type": "array", "items": {"type": "string"}}
        elif kind == "null":
            types[key] = {"type": ["string", "null"]}
    schema: dict[str, object] = {"type": "object", "properties": types}
    if full:
        schema["required"] = list(asked.keys)
    return compact(schema)


def _example(rng: random.Random, asked: _Asked) -> str:
    """An object that shows the keys."""
    draw = rng.random()
    if draw < 0.3:
        return "{" + ",".join(f'"{key}":...' for key in asked.keys) + "}"
    if draw < 0.5:
        return "{" + ", ".join(f'"{key}": ""' for key in asked.keys) + "}"
    shapes = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean"}
    kinds = {key: shapes.get(json_type(v), json_type(v)) for key, v in asked.answer.items()}
    return compact({k: "string" if kind == "null" else kind for k, kind in kinds.items()})


def _listed(rng: random.Random, keys: Sequence[str]) -> str:
    """The keys in a sentence."""
    draw = rng.random()
    if draw < 0.5:
        return series(keys)
    if draw < 0.7:
        return ", ".join(keys)
    if draw < 0.9:
        return series([f'"{key}"' for key in keys])
    return "[" + ", ".join(keys) + "]"


def _request(rng: random.Random, asked: _Asked) -> str:
    """A command that names the keys."""
    draw = rng.random()
    if draw < 0.68:
        return pick(rng, _WITH_KEYS).format(k=_listed(rng, asked.keys))
    if draw < 0.84:
        return pick(rng, _WITH_SCHEMA).format(k=_schema(asked, rng.random() < 0.4))
    return pick(rng, _WITH_EXAMPLE).format(k=_example(rng, asked))


def _told(rng: random.Random, about: Record) -> tuple[str, Record]:
    """A text of the record, and the record with the facts in it."""
    draw = rng.random()
    if draw < 0.74:
        return prose(rng, about), about
    spoken = tuple(fact for fact in about.facts if fact.clause)
    about = Record(about.kind, about.subject, about.first, spoken, about.others, about.short)
    return (labelled(rng, about) if draw < 0.9 else terse(about)), about


def _thoughts(about: Record, keys: Sequence[str]) -> str:
    return f"The text is about {about.subject}. The answer is JSON with {series(keys)}."


def _record_chat(rng: random.Random) -> Chat:
    text, about = _told(rng, record(rng))
    if rng.random() < 0.12:
        answer = {KEYS[fact.field][0]: fact.value for fact in about.all_facts()}
        user = layout(rng, pick(rng, _WITHOUT), text)
        return Chat(user, compact(answer), _thoughts(about, tuple(answer)), json_system(rng))
    asked = _choose(rng, about.all_facts(), about.others)
    request, told = _request(rng, asked), json_system(rng)
    draw = rng.random()
    if draw < 0.06:
        # The system text says what to do, and the user gives the text only.
        user, told = text, request + "."
    elif draw < 0.14:
        # One exchange gives the text, the next one asks.
        return _later(rng, text, request, asked, about)
    else:
        user = layout(rng, request, text)
    return Chat(user, compact(asked.answer), _thoughts(about, asked.keys), told)


def _later(rng: random.Random, text: str, request: str, asked: _Asked, about: Record) -> Chat:
    first = _choose(rng, about.all_facts(), ())
    before = (layout(rng, _request(rng, first), text), compact(first.answer))
    user = command(
        rng, pick(rng, ("Now {}", "And {}", "{}")).format(request[0].lower() + request[1:])
    )
    user = user[0].upper() + user[1:]
    return Chat(user, compact(asked.answer), _thoughts(about, asked.keys), None, (before,))


def _single_chat(rng: random.Random) -> Chat:
    text, about = _told(rng, record(rng))
    facts = [f for f in about.all_facts() if isinstance(f.value, str | int | float)]
    facts = [f for f in facts if not isinstance(f.value, bool) and f.field != "currency"]
    fact = pick(rng, facts)
    field = _SAYING.get(fact.field, fact.field)
    user = layout(rng, pick(rng, _SINGLE).format(f=field), text)
    thoughts = f"The text is about {about.subject}. The answer is {fact.value}."
    return Chat(user, str(fact.value), thoughts, system(rng))


def _free_value(rng: random.Random) -> tuple[str, object]:
    """Some value as it is written in a text, and in JSON."""
    draw = rng.random()
    if draw < 0.35:
        number = rng.randint(0, pick(rng, (9, 99, 999, 9999)))
        return str(number), number
    if draw < 0.45:
        price = values.price(rng)
        return str(price), price
    if draw < 0.55:
        truth = rng.random() < 0.5
        return compact(truth), truth
    makers = (values.word, values.first_name, values.city, values.word)
    word = pick(rng, makers)(rng) if draw < 0.8 else pick(rng, values.GOODS + values.COLOURS)
    return word, word


def _free_key(rng: random.Random) -> str:
    if rng.random() < 0.4:
        return values.word(rng, pick(rng, (1, 2)))
    names = ("x", "y", "key", "value", "width", "height", "level", "size", "speed", "mode", "theme")
    return pick(rng, (*names, *KEYS))


def _pairs_chat(rng: random.Random) -> Chat:
    """Keys and values that mean nothing: only copying helps."""
    answer: dict[str, object] = {}
    shown: list[str] = []
    form = pick(rng, _PAIR_FORMS)
    for _ in range(rng.randint(1, 4)):
        key = _free_key(rng)
        if key in answer:
            continue
        said, answer[key] = _free_value(rng)
        shown.append(form.format(k=key, v=said))
    pairs = series(shown) if rng.random() < 0.5 else ", ".join(shown)
    user = command(rng, pick(rng, _PAIR_ASKS).format(p=pairs))
    if user[-1] not in ".!?":
        user = user.rstrip()
    thoughts = f"The user gives keys and values. The keys are {series(tuple(answer))}."
    return Chat(user, compact(answer), thoughts, json_system(rng))


def _nested_chat(rng: random.Random) -> Chat:
    """Two records in one object."""
    first = person(rng)
    second = purchase(rng) if rng.random() < 0.5 else product(rng)
    outer = (pick(rng, ("person", "person", "customer", "user")), second.kind)
    one, two = _choose(rng, first.all_facts()[:3], ()), _choose(rng, second.all_facts()[:3], ())
    answer = {outer[0]: one.answer, outer[1]: two.answer}
    text = f"{prose(rng, first)} {prose(rng, second)}"
    draw = rng.random()
    if draw < 0.35:
        shape = {outer[0]: dict.fromkeys(one.keys, "..."), outer[1]: dict.fromkeys(two.keys, "...")}
        request = pick(rng, _WITH_EXAMPLE).format(k=compact(shape))
    elif draw < 0.7:
        parts = [f"{name} ({', '.join(part.keys)})"
                 for name, part in zip(outer, (one, two), strict=True)]  # fmt: skip
        request = pick(rng, _WITH_KEYS).format(k=series(parts))
    else:
        request = (
            f'Extract JSON with "{outer[0]}" (with {series(one.keys)}) and '
            f'"{outer[1]}" (with {series(two.keys)})'
        )
    thoughts = f"The text tells of {first.subject} and {second.subject}. The answer is nested JSON."
    return Chat(layout(rng, request, text), compact(answer), thoughts, json_system(rng))


def _rows_chat(rng: random.Random) -> Chat:
    """Several people in one text."""
    count = pick(rng, (2, 2, 3))
    names = [values.first_name(rng) for _ in range(count)]
    kind = pick(rng, ("age", "city", "job"))
    rows: list[dict[str, object]] = []
    parts: list[str] = []
    brief = rng.random() < 0.4
    for name in names:
        value: object = rng.randint(3, 90)
        said = f"{name} is {value}"
        if kind == "city":
            value = values.city(rng)
            said = f"{name} lives in {value}"
        elif kind == "job":
            job = pick(rng, values.JOBS)
            value, said = job, f"{name} is {article(job)}"
        rows.append({"name": name, kind: value})
        parts.append(f"{name} ({value})" if brief else said)
    request = pick(rng, _ROWS).format(k=_listed(rng, ("name", kind)))
    thoughts = f"The text names {series(names)}. The answer is a JSON array of {count} objects."
    user = layout(rng, request, series(parts) + ".")
    return Chat(user, compact(rows), thoughts, json_system(rng))


def _list_chat(rng: random.Random) -> Chat:
    """An array of names, things, towns or numbers."""
    found, text, what = _enumeration(rng)
    asks = ("List the {w} as a JSON array", "Extract all {w} as a JSON array",
            "Give me the {w} in a JSON list",
            "Which {w} are in the text? Answer as a JSON array", "JSON array of the {w}",
            "Return the {w} as a JSON array", "Collect the {w} in a JSON array")  # fmt: skip
    ask = pick(rng, asks).format(w=what)
    thoughts = f"The text names the {what} {series([str(f) for f in found])}."
    reply: object = found
    if rng.random() < 0.3:
        key = pick(rng, ("items", "list", what))
        ask = f'{pick(rng, ("Extract", "List", "Give me"))} the {what} as {{"{key}":[...]}}'
        reply = {key: found}
    return Chat(layout(rng, ask, text), compact(reply), thoughts, json_system(rng))


def _enumeration(rng: random.Random) -> tuple[list[object], str, str]:
    count = rng.randint(2, 4)
    draw = rng.random()
    if draw < 0.3:
        names = [values.first_name(rng) for _ in range(count)]
        form = pick(rng, ("{} went to the market.", "{} are in the team.", "We invited {}.",
                          "The guests are {}.", "{} sent a message."))  # fmt: skip
        return list(names), form.format(series(names)), "names"
    if draw < 0.55:
        things = rng.sample(values.GOODS, count)
        form = pick(rng, ("Please buy {}.", "The box contains {}.", "I need {}.", "She sold {}."))
        return list(things), form.format(series([article(t) for t in things])), "items"
    if draw < 0.75:
        cities = [values.city(rng) for _ in range(count)]
        form = pick(rng, ("We visited {}.", "The train stops in {}.", "Our offices are in {}."))
        return list(cities), form.format(series(cities)), "cities"
    if draw < 0.88:
        colours = rng.sample(values.COLOURS, count)
        form = pick(rng, ("The flag is {}.", "It comes in {}.", "I like {}."))
        return list(colours), form.format(series(colours)), "colours"
    numbers = [rng.randint(0, 999) for _ in range(count)]
    form = pick(rng, ("The numbers are {}.", "We counted {} points.", "Rooms {} are free."))
    return list(numbers), form.format(series([str(n) for n in numbers])), "numbers"


def _invented_chat(rng: random.Random) -> Chat:
    """No text: any values do."""
    about = record(rng)
    plain = [fact for fact in about.all_facts() if fact.clause or fact is about.first]
    asked = _choose(rng, plain, ())
    ask = pick(rng, _INVENT).format(t=about.kind, k=_listed(rng, asked.keys))
    ask = ask.replace(" a order", " an order").replace(" a employee", " an employee")
    thoughts = (
        f"The user wants an invented {about.kind}. The answer is JSON with {series(asked.keys)}."
    )
    return Chat(command(rng, ask), compact(asked.answer), thoughts, json_system(rng))


def text(rng: random.Random) -> Text:
    """A plain text that is continued with JSON or a value."""
    told, about = _told(rng, record(rng))
    draw = rng.random()
    begin = pick(rng, ("Input", "Text", "Text", "Input"))
    if draw < 0.35:
        answer = {KEYS[fact.field][0]: fact.value for fact in about.all_facts()}
        return Text(f"{begin}: {told}\nJSON:", " " + compact(answer))
    if draw < 0.7:
        asked = _choose(rng, about.all_facts(), about.others)
        keys = ", ".join(asked.keys)
        return Text(f"{begin}: {told}\nKeys: {keys}\nJSON:", " " + compact(asked.answer))
    name = values.full_name(rng)
    mail = f"{'.'.join(name.lower().split())}@example.com"
    return Text(f"Name: {name}\nE-mail:", f" {mail}")
