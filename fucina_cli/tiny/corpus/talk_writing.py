"""Things to write: sentences, notes and tiny stories, and invented people and things as JSON."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

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
)

_CREATURES = (
    *("fox", "dog", "cat", "horse", "wolf", "bear", "rabbit", "owl", "mouse", "lion", "frog"),
    *("duck", "sheep", "goat", "cow", "elephant", "tiger", "monkey", "penguin", "parrot", "snail"),
    *("squirrel", "hedgehog", "turtle", "dragon", "robot", "child", "girl", "boy", "king", "queen"),
    *("farmer", "baker", "pilot", "sailor", "teacher", "doctor", "painter", "knight", "wizard"),
    *("gardener", "cook", "ghost", "giant", "bird", "pirate", "princess", "astronaut", "crow"),
)
_THINGS = (
    *(
        "house",
        "tree",
        "car",
        "book",
        "table",
        "chair",
        "lamp",
        "boat",
        "train",
        "bicycle",
        "river",
    ),
    *("mountain", "garden", "bridge", "clock", "key", "door", "window", "letter", "apple", "cake"),
    *(
        "flower",
        "computer",
        "phone",
        "piano",
        "guitar",
        "hat",
        "coat",
        "box",
        "ball",
        "cup",
        "city",
    ),
    *("village", "forest", "lake", "cloud", "star", "moon", "stone", "bag", "picture", "map"),
    *("kite", "rose", "bus", "ship", "castle", "tower", "bell", "ring", "mirror", "candle"),
)
_PLACES = (
    *("forest", "garden", "village", "house by the sea", "castle", "city", "valley", "cave"),
    *("small town", "desert", "field", "tower", "market", "harbour", "school", "library"),
)
_ACTS = (
    *("runs through the forest", "sleeps under a tree", "looks at the moon", "walks to the river"),
    *("sits by the window", "waits at the door", "plays in the garden", "eats a red apple"),
)
_STATES = (
    *(
        "is old but beautiful",
        "stands near the river",
        "is new and very clean",
        "is small and blue",
    ),
    *("belongs to my friend", "is the best I have seen", "shines in the sun", "is full of light"),
)
_LOST = (
    "key",
    "hat",
    "ball",
    "map",
    "book",
    "ring",
    "lamp",
    "bag",
    "letter",
    "song",
    "golden coin",
)
_HELPERS = ("an old owl", "a friend", "a kind baker", "a small mouse", "the wind", "a clever child")
_TOPICS = (
    *("meeting", "party", "lunch", "dinner", "trip", "concert", "report", "project", "lesson"),
    *("exam", "garden", "book", "new house", "birthday", "holiday", "match", "film", "letter"),
    *("visit", "picnic", "invoice", "computer", "car", "recipe", "class", "workshop", "game"),
    *("walk", "appointment", "interview", "phone call", "package", "training", "schedule", "plan"),
)
_EVENTS = (*_TOPICS[:6], "lesson", "match", "picnic", "workshop", "walk", "interview", "training")
_GIFTS = (
    "book",
    "cake",
    "flowers",
    "help",
    "letter",
    "present",
    "advice",
    "dinner",
    "map",
    "visit",
)
_WRITE = ("write", "write", "write", "compose", "draft", "make", "give me", "create", "I need")
_NOTE_KINDS = ("note", "short note", "message", "short message", "text message", "letter", "line")
_SENTENCE_CORES = (
    "{w} a sentence about {x}",
    "{w} a sentence about {x}",
    "{w} one sentence about {x}",
    "{w} a short sentence about {x}",
    "{w} a sentence with the word {n}",
    "{w} a sentence with {n}",
    "{w} a simple sentence about {x}",
    "tell me something about {x}",
    "say something about {x}",
    "{w} an example sentence with {n}",
    "use the word {n} in a sentence",
    "use {n} in a sentence",
    "a sentence about {x}",
    "one sentence about {x}",
    "sentence: {n}",
)
_STORY_CORES = (
    "{w} a story about {x}",
    "{w} a short story about {x}",
    "{w} a tiny story about {x}",
    "{w} a little story about {x}",
    "tell me a story about {x}",
    "tell a story about {x}",
    "tell me a short story with {x}",
    "tell me about {x} in a story",
    "a story about {x}",
    "a short story about {x}",
    "{w} a three sentence story about {x}",
    "invent a story about {x}",
    "{w} a fairy tale about {x}",
    "{w} a bedtime story about {x}",
)


def sample_sentence(rng: random.Random) -> Chat:
    """A sentence about a thing."""
    alive = rng.random() < 0.5
    noun = rng.choice(_CREATURES if alive else _THINGS)
    if rng.random() < 0.2:
        return _two_words(rng, noun)
    core = rng.choice(_SENTENCE_CORES)
    said = rng.choice((a(noun), a(noun), f"the {noun}"))
    core = core.format(w=rng.choice(_WRITE), x=said, n=noun)
    reply = f"The {noun} {rng.choice(_ACTS if alive else _STATES)}."
    thoughts = f"The user wants a sentence about {a(noun)}. I write one short sentence."
    return _maybe_json(rng, core, reply, thoughts, ("sentence", "text", "answer"))


def _two_words(rng: random.Random, noun: str) -> Chat:
    other = rng.choice(_THINGS)
    core = rng.choice(
        (
            "write a sentence with {x} and {y}",
            "write a sentence with the words {x} and {y}",
            "use {x} and {y} in a sentence",
            "make a sentence from {x} and {y}",
            "one sentence with {x} and {y}",
            "write a sentence about {ax} and {ay}",
        )
    )
    core = core.format(x=noun, y=other, ax=a(noun), ay=a(other))
    reply = f"The {noun} is next to the {other}."
    thoughts = f"The user wants a sentence with {noun} and {other}."
    return _maybe_json(rng, core, reply, thoughts, ("sentence", "text"))


def _maybe_json(
    rng: random.Random, core: str, reply: str, thoughts: str, keys: Sequence[str]
) -> Chat:
    if rng.random() < 0.85:
        return Chat(request(rng, core, False), reply, thoughts, system(rng))
    key = rng.choice(keys)
    said = system(rng, "json")
    user = request(rng, core, False, json_extra(rng, (key,)))
    form = f" I answer as JSON with the key {key}."
    return Chat(user, compact({key: reply}), thoughts + form, said)


def _story(rng: random.Random) -> tuple[str, str, str, str, str]:
    """How the prompt names the hero, the hero, the place, the lost thing and the text."""
    named = rng.random() < 0.35
    hero = rng.choice(data.NAMES if named else _CREATURES)
    asked, who, again = (hero, hero, hero) if named else (a(hero), a(hero), f"the {hero}")
    place, lost = rng.choice(_PLACES), rng.choice(_LOST)
    text = (
        f"Once upon a time, {who} lived in {a(place)}. One day, {again} lost {a(lost)}. "
        f"{cap(rng.choice(_HELPERS))} found the {lost}, and {again} was happy again."
    )
    return asked, hero, place, lost, text


def sample_story(rng: random.Random) -> Chat:
    """A story of three sentences."""
    asked, hero, place, lost, text = _story(rng)
    thoughts = f"The user wants a story about {asked}. I write three sentences."
    roll = rng.random()
    if roll < 0.15:
        forms = (
            "tell me a story",
            "tell a story",
            "write a short story",
            "a story",
            "write a tale",
        )
        core = rng.choice((*forms, "tell me a short tale", "I want a story", "write a tiny story"))
        thoughts = "The user wants a story. I write three sentences."
        return Chat(request(rng, core, False), text, thoughts, system(rng))
    core = rng.choice(_STORY_CORES).format(w=rng.choice(_WRITE), x=asked)
    if roll < 0.3:
        core += f" in {a(place)}"
    elif roll < 0.42:
        core += f" and {a(lost)}"
    elif roll < 0.52:
        core += f" that {rng.choice(('lost', 'loses'))} {a(lost)}"
    elif roll < 0.66:
        values = {
            "title": f"The {cap(lost)}",
            "hero": hero,
            "place": place,
            "problem": f"lost {lost}",
        }
        values["text"] = values["story"] = text
        keys = rng.choice((("title", "text"), ("title", "hero", "place"), ("title", "story")))
        user = request(rng, core, False, json_extra(rng, keys))
        reply = compact({key: values[key] for key in keys})
        form = f" I answer as JSON with the keys {listing(keys)}."
        return Chat(user, reply, thoughts.replace(" I write three sentences.", form), None)
    return Chat(request(rng, core, False), text, thoughts, system(rng))


def sample_note(rng: random.Random) -> Chat:
    """A note to somebody about something."""
    name, topic = rng.choice(data.NAMES), rng.choice(_TOPICS)
    day, hour = rng.choice(data.DAYS), rng.randint(7, 21)
    kind, w = rng.choice(_NOTE_KINDS), rng.choice(_WRITE)
    draw = rng.randrange(7)
    forms: tuple[str, ...]
    if draw < 2:
        forms = ("{w} {k} to {n} about the {t}", "{w} {n} {k} about the {t}")
        forms += ("{w} {k} for {n} about the {t}", "{k} to {n} about the {t}")
        text = f"Dear {name}, I am writing about the {topic}. Please tell me what you think."
    elif draw == 2:
        topic = rng.choice(_EVENTS)
        forms = ("invite {n} to the {t} on {d}", "{w} an invitation to {n} for the {t} on {d}")
        forms += ("{w} {k} that invites {n} to the {t} on {d}", "ask {n} to come to the {t} on {d}")
        text = f"Dear {name}, please come to the {topic} on {day}. I hope to see you there."
    elif draw == 3:
        topic = rng.choice(_GIFTS)
        forms = ("thank {n} for the {t}", "{w} a thank you note to {n} for the {t}")
        forms += ("{w} {k} to thank {n} for the {t}", "say thanks to {n} for the {t}")
        text = f"Dear {name}, thank you very much for the {topic}. It made me very happy."
    elif draw == 4:
        forms = ("remind {n} of the {t} on {d} at {h}", "{w} a reminder to {n}: {t} on {d} at {h}")
        forms += ("{w} {k} to {n}: the {t} is on {d} at {h}", "tell {n} the {t} is on {d} at {h}")
        text = f"Dear {name}, the {topic} is on {day} at {hour}. Please do not forget it."
    elif draw == 5:
        forms = ("say sorry to {n} about the {t}", "{w} an apology to {n} about the {t}")
        forms += ("{w} {k} to {n} to say sorry for the {t}", "apologise to {n} for the {t}")
        text = f"Dear {name}, I am sorry about the {topic}. I will do better next time."
    else:
        topic = "birthday"
        forms = ("{w} a birthday note to {n}", "wish {n} a happy birthday")
        forms += ("{w} {k} to {n} for the birthday", "{w} a birthday card for {n}")
        text = f"Dear {name}, happy birthday! I wish you a wonderful year."
    core = rng.choice(forms).format(w=w, k=a(kind), n=name, t=topic, d=day, h=hour)
    thoughts = f"The user wants a note to {name} about the {topic}. I keep it short."
    if rng.random() < 0.82:
        return Chat(request(rng, core, False), text, thoughts, system(rng))
    body = text.split(", ", 1)[1]
    values = {"to": name, "name": name, "subject": topic, "topic": topic, "text": cap(body)}
    values["message"] = values["text"]
    keys = rng.choice((("to", "subject", "text"), ("to", "text"), ("name", "topic", "message")))
    user = request(rng, core, False, json_extra(rng, keys))
    form = f" I answer as JSON with the keys {listing(keys)}."
    return Chat(user, compact({key: values[key] for key in keys}), thoughts + form, None)


Maker = Callable[[random.Random], object]


def _of(*values: object) -> Maker:
    return lambda rng: rng.choice(values)


def _between(low: int, high: int, step: int = 1) -> Maker:
    return lambda rng: rng.randrange(low, high + 1, step)


def _some(count: tuple[int, int], *values: str) -> Maker:
    return lambda rng: rng.sample(values, rng.randint(*count))


def _decimal(low: int, high: int) -> Maker:
    return lambda rng: rng.randint(low, high) + rng.choice((0.5, 0.25, 0.99, 0.9, 0.75))


def _full(rng: random.Random) -> str:
    return f"{rng.choice(data.NAMES)} {rng.choice(data.SURNAMES)}"


_NAME = _of(*data.NAMES)
_JOB = _of(*(job for _, job in data.JOBS))
_CITY = _of("Lisbon", "Oslo", "Turin", "Vienna", "Prague", "Lyon", "Dublin", "Athens", "Riga")
_COUNTRY = _of("Italy", "Norway", "Spain", "Japan", "Chile", "Kenya", "Canada", "Greece", "India")
_COLOUR = _of("red", "green", "blue", "yellow", "black", "white", "brown", "grey")
_HOBBIES = ("chess", "football", "reading", "music", "hiking", "painting", "cooking", "swimming")
_BOOK_TITLES = tuple(
    f"The {x} {y}"
    for x in ("Silent", "Golden", "Last", "Little", "Blue", "Lost")
    for y in ("River", "Garden", "Star", "House", "Key", "Winter", "Letter")
)
_GENRES = ("mystery", "fantasy", "comedy", "adventure", "romance", "drama", "science fiction")
_SKILLS = ("magic", "cooking", "swimming", "singing", "climbing", "reading maps", "healing")

#: Kinds of invented things: words for it, default keys, and the values of all the keys.
_KINDS: tuple[tuple[tuple[str, ...], tuple[str, ...], dict[str, Maker]], ...] = (
    (
        ("person", "person", "user", "customer", "student", "friend", "profile", "user profile"),
        ("name", "age", "job"),
        {
            "name": _NAME,
            "age": _between(18, 80),
            "job": _JOB,
            "city": _CITY,
            "country": _COUNTRY,
            "email": lambda rng: f"{rng.choice(data.NAMES).lower()}@example.com",
            "hobby": _of(*_HOBBIES),
            "hobbies": _some((2, 3), *_HOBBIES),
            "surname": _of(*data.SURNAMES),
            "full_name": _full,
            "active": _of(True, False),
            "id": _between(1, 999),
            "height": _between(150, 200),
            "married": _of(True, False),
        },
    ),
    (
        ("character", "hero", "fantasy character", "story character", "game character", "villain"),
        ("name", "age", "job"),
        {
            "name": _NAME,
            "age": _between(12, 90),
            "job": _JOB,
            "class": _of("wizard", "knight", "archer", "thief", "healer", "druid"),
            "race": _of("elf", "dwarf", "human", "giant", "goblin"),
            "level": _between(1, 20),
            "health": _between(10, 100, 5),
            "strength": _between(1, 20),
            "skill": _of(*_SKILLS),
            "skills": _some((2, 3), *_SKILLS),
            "weapon": _of("sword", "bow", "staff", "axe", "spear"),
            "power": _of("fire", "ice", "wind", "light", "shadow"),
            "home": _of(*_PLACES),
        },
    ),
    (
        ("recipe", "recipe", "simple recipe", "dish", "meal"),
        ("title", "ingredients", "minutes"),
        {
            "title": _of("Apple Cake", "Tomato Soup", "Green Salad", "Rice Pudding", "Onion Pie"),
            "name": _of("Apple Cake", "Tomato Soup", "Green Salad", "Rice Pudding", "Onion Pie"),
            "ingredients": _some(
                (2, 4), "flour", "eggs", "milk", "butter", "sugar", "salt", "rice"
            ),
            "minutes": _between(10, 90, 5),
            "servings": _between(1, 8),
            "steps": _of(
                ["mix", "bake", "serve"], ["cut", "cook", "serve"], ["wash", "mix", "cool"]
            ),
            "difficulty": _of("easy", "medium", "hard"),
            "vegetarian": _of(True, False),
            "calories": _between(100, 900, 50),
        },
    ),
    (
        ("book", "book", "novel", "fantasy book"),
        ("title", "author", "year"),
        {
            "title": _of(*_BOOK_TITLES),
            "author": _full,
            "year": _between(1950, 2024),
            "pages": _between(80, 600, 10),
            "genre": _of(*_GENRES),
            "price": _decimal(5, 30),
            "language": _of("English", "Italian", "French", "Spanish", "German"),
            "rating": _between(1, 5),
            "available": _of(True, False),
        },
    ),
    (
        ("movie", "movie", "film", "short film"),
        ("title", "year", "genre"),
        {
            "title": _of(*_BOOK_TITLES),
            "year": _between(1950, 2024),
            "genre": _of(*_GENRES),
            "director": _full,
            "actors": lambda rng: [
                f"{n} {rng.choice(data.SURNAMES)}" for n in rng.sample(data.NAMES, 2)
            ],
            "rating": _between(1, 10),
            "minutes": _between(70, 180, 5),
            "duration": _between(70, 180, 5),
        },
    ),
    (
        ("product", "product", "item", "shop item"),
        ("name", "price", "stock"),
        {
            "name": _of("lamp", "chair", "mug", "backpack", "notebook", "clock", "umbrella", "pen"),
            "price": _decimal(2, 90),
            "stock": _between(0, 200),
            "quantity": _between(1, 20),
            "colour": _COLOUR,
            "color": _COLOUR,
            "category": _of("home", "office", "garden", "kitchen", "travel", "toys"),
            "in_stock": _of(True, False),
            "id": _between(1, 999),
            "sku": lambda rng: (
                f"{rng.choice('ABCDEF')}{rng.choice('KLMN')}-{rng.randint(100, 999)}"
            ),
            "tags": _some((2, 3), "new", "sale", "small", "green", "gift"),
            "weight": _between(1, 30),
            "rating": _between(1, 5),
        },
    ),
    (
        ("weather report", "weather report", "weather forecast", "weather record"),
        ("city", "temperature", "condition"),
        {
            "city": _CITY,
            "temperature": _between(-10, 35),
            "condition": _of("sunny", "rainy", "cloudy", "windy", "snowy", "foggy"),
            "humidity": _between(20, 95, 5),
            "wind": _between(0, 60, 5),
            "day": _of(*data.DAYS),
            "rain": _of(True, False),
            "unit": _of("celsius"),
        },
    ),
    (
        ("pet", "pet", "animal", "house pet"),
        ("name", "species", "age"),
        {
            "name": _of("Milo", "Luna", "Rex", "Bella", "Coco", "Max", "Nala", "Simba", "Rocky"),
            "species": _of("dog", "cat", "rabbit", "parrot", "hamster", "turtle"),
            "kind": _of("dog", "cat", "rabbit", "parrot", "hamster", "turtle"),
            "age": _between(1, 15),
            "colour": _COLOUR,
            "owner": _NAME,
            "weight": _between(1, 40),
            "food": _of("meat", "fish", "grass", "seeds", "carrots"),
        },
    ),
    (
        ("song", "song", "track"),
        ("title", "artist", "seconds"),
        {
            "title": _of(*_BOOK_TITLES),
            "artist": _full,
            "seconds": _between(120, 300, 5),
            "album": _of("First Light", "Night Train", "Blue Room", "Open Sea", "Slow Rain"),
            "genre": _of("rock", "pop", "jazz", "folk", "blues"),
            "year": _between(1960, 2024),
        },
    ),
    (
        ("event", "event", "party", "calendar event"),
        ("title", "day", "hour"),
        {
            "title": _of("Garden Party", "Team Lunch", "Book Club", "Chess Evening", "Music Night"),
            "day": _of(*data.DAYS),
            "hour": _between(8, 21),
            "place": _of("library", "park", "town hall", "school", "garden"),
            "guests": _between(2, 60),
            "host": _NAME,
        },
    ),
    (
        ("planet", "fantasy planet", "new planet"),
        ("name", "moons", "colour"),
        {
            "name": _of("Zorin", "Velta", "Oruma", "Kepra", "Lumis", "Tarko", "Nivia"),
            "moons": _between(0, 12),
            "colour": _COLOUR,
            "size": _of("small", "medium", "large"),
            "inhabited": _of(True, False),
        },
    ),
    (
        ("task", "to-do item", "quest"),
        ("title", "done", "priority"),
        {
            "title": _of(
                "Water the plants", "Clean the desk", "Buy bread", "Call Ana", "Fix the lamp"
            ),
            "done": _of(True, False),
            "priority": _of("low", "medium", "high"),
            "day": _of(*data.DAYS),
            "owner": _NAME,
            "minutes": _between(5, 60, 5),
        },
    ),
)
_INVENT = (
    *(
        "invent {}",
        "make up {}",
        "create {}",
        "generate {}",
        "imagine {}",
        "give me {}",
        "write {}",
    ),
    *(
        "invent {}",
        "make up {}",
        "create {}",
        "generate {}",
        "produce {}",
        "output {}",
        "return {}",
    ),
    *("think of {}", "I need {}", "describe {}", "build {}", "make {}", "show me {}", "{}", "{}"),
    *("print {}", "I want {}", "come up with {}", "design {}", "give me data for {}"),
    *("invent data for {}", "fill in {}", "write down {}", "send me {}", "I would like {}"),
)
_EXAMPLE = ("{}", "{}", "{}", "{}", "an example of {}", "the data of {}", "some details of {}")
_ADJECTIVES = ("", "", "", "", "", "", "random ", "new ", "fictional ", "made-up ", "simple ")


def sample_invented(rng: random.Random) -> Chat:
    """An invented person or thing as JSON."""
    words, defaults, makers = rng.choices(_KINDS, (26, 20, 9, 8, 7, 9, 7, 5, 3, 4, 2, 3))[0]
    word = rng.choice(words)
    if rng.random() < 0.08:
        return _several(rng, word, defaults, makers)
    named = rng.random() < 0.68
    keys = _keys(rng, defaults, makers) if named else defaults
    values = _agreeing({key: makers[key](rng) for key in keys})
    reply = compact(values)
    core = rng.choice(_EXAMPLE).format(a(rng.choice(_ADJECTIVES) + word))
    core = rng.choice(_INVENT).format(core) + _given(rng, values)
    said = system(rng, "json")
    extra = None if is_format(said) and not named else json_extra(rng, keys if named else ())
    user = request(rng, core, False, extra)
    thoughts = f"The user wants an invented {word} as JSON. The keys are {listing(keys)}."
    if rng.random() < 0.1 and named:
        first = request(rng, f"invent {a(word)}", False, json_extra(rng))
        before = compact({key: makers[key](rng) for key in defaults})
        forms = ("Another one with {}.", "And one with {}?", "Now with {}.", "another, with {}")
        user = rng.choice(forms).format(listing(keys))
        return Chat(user, reply, thoughts, said, ((first, before),))
    return Chat(user, reply, thoughts, said)


def _agreeing(values: dict[str, object]) -> dict[str, object]:
    """`values`, where those that say the same agree."""
    name = values.get("name")
    if name and "email" in values:
        values["email"] = f"{str(name).lower()}@example.com"
    if name and "full_name" in values:
        values["full_name"] = f"{name} {values.get('surname', 'Stone')}"
    if name and "title" in values:
        values["title"] = name
    for twin, key in (("color", "colour"), ("duration", "minutes"), ("kind", "species")):
        if twin in values and key in values:
            values[twin] = values[key]
    return values


def _keys(rng: random.Random, defaults: Sequence[str], makers: dict[str, Maker]) -> tuple[str, ...]:
    if rng.random() < 0.2:
        return tuple(defaults)
    names = list(makers)
    count = rng.choice((1, 2, 2, 3, 3, 3, 4, 4, 5))
    first = [names[0]] if rng.random() < 0.7 else []
    rest = rng.sample([n for n in names if n not in first], min(count, len(names) - 1))
    return tuple((first + rest)[: max(count, 1)])


def _given(rng: random.Random, values: dict[str, object]) -> str:
    """Details that the prompt fixes, copied from the values."""
    roll = rng.random()
    if roll < 0.22 and "name" in values:
        return f" {rng.choice(('named', 'called', 'with the name'))} {values['name']}"
    if roll < 0.22 and "title" in values:
        return f" {rng.choice(('called', 'titled', 'with the title'))} {values['title']}"
    if roll < 0.32 and "age" in values:
        return f" {rng.choice(('of age', 'who is', 'aged'))} {values['age']}"
    if roll < 0.4 and "job" in values:
        return f" who works as {a(str(values['job']))}"
    if roll < 0.46 and "city" in values:
        return f" {rng.choice(('from', 'in'))} {values['city']}"
    if roll < 0.46 and "year" in values:
        return f" from {values['year']}"
    return ""


def _several(
    rng: random.Random, word: str, defaults: Sequence[str], makers: dict[str, Maker]
) -> Chat:
    """Two or three of them in an array."""
    count, keys = rng.choice((2, 2, 3)), tuple(defaults[:2])
    plural = f"{word[:-1]}ies" if word.endswith("ty") else f"{word}s"
    plural = {"person": "people", "dish": "dishes", "hero": "heroes"}.get(word, plural)
    core = rng.choice(_INVENT).format(f"{number(count)} {plural}")
    user = request(rng, core, False, _array_extra(rng, keys))
    reply = compact([{key: makers[key](rng) for key in keys} for _ in range(count)])
    thoughts = f"The user wants {number(count)} invented {plural} as a JSON array."
    return Chat(user, reply, f"{thoughts} The keys are {listing(keys)}.", None)


def _array_extra(rng: random.Random, keys: Sequence[str]) -> tuple[str, str]:
    joined = listing(keys)
    return rng.choice(
        (
            ("tail", f"as a JSON array with {joined}"),
            ("tail", f"as a JSON list of objects with {joined}"),
            ("tail", f"with {joined} as a JSON array"),
            ("said", f"Answer as a JSON array of objects with {joined}."),
            ("said", f"JSON array, keys: {', '.join(keys)}."),
            ("tail", "as a JSON array of objects"),
        )
    )


def sample_portrait(rng: random.Random) -> Chat:
    """An invented person in a sentence."""
    word = rng.choice(("person", "character", "hero", "friend", "neighbour", "student"))
    name, age, job = rng.choice(data.NAMES), rng.randint(18, 80), rng.choice(data.JOBS)[1]
    core = rng.choice(_INVENT[:12]).format(a(word))
    roll = rng.random()
    if roll < 0.3:
        core += f" {rng.choice(('named', 'called'))} {name}"
    elif roll < 0.4:
        core += f" who works as {a(job)}"
    reply = f"{name} is {a(job)}, {age} years old."
    thoughts = f"The user wants an invented {word}. I invent {name}, {a(job)}."
    return Chat(request(rng, core, False), reply, thoughts, system(rng))


def text_story(rng: random.Random) -> Text:
    """The beginning of a story or of an object, to be completed."""
    if rng.random() < 0.5:
        text = _story(rng)[4]
        cut = rng.randint(4, 8)
        words = text.split(" ")
        return Text(" ".join(words[:cut]), " " + " ".join(words[cut:]))
    _, defaults, makers = rng.choice(_KINDS)
    whole = compact({key: makers[key](rng) for key in defaults})
    cut = whole.index(":") + 1
    cut = rng.choice((cut, whole.index(",", cut) + 1))
    return Text(whole[:cut], whole[cut:])
