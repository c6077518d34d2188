"""Values that the figures and office documents are about: people, places, things, addresses."""

from __future__ import annotations

import random

from fucina_cli.tiny.corpus.manner import pick, split

FIRST_NAMES: tuple[str, ...] = split(
    "Ana Ben Carla David Elena Felix Greta Hugo Ines Jonas Karin Leo Maria Nils Olga Paul "
    "Rosa Samir Tina Umar Vera Walter Xenia Yusuf Zoe Adam Bianca Carlos Diana Emil Fatima "
    "Gino Hana Igor Julia Kofi Laura Marco Nadia Oscar Petra Quentin Rita Stefan Tara Ugo "
    "Viola Wanda Yara Zeno Amina Boris Clara Dario Esther Frank Gloria Henrik Irene Jamal "
    "Kira Luca Mina Noah Olivia Pedro Ruth Sofia Tomas Ursula Victor Willa Ayse Bruno Chiara "
    "Dmitri Edith Farid Giulia Harold Ida Jack Kenji Lina Miguel Nora Otto Priya Rafael Sara "
    "Theo Uma Vikram Wei Yuki Zara Alice Bob Cora Daniel Emma George Helen Ivan Jane Kate "
    "Liam Mary Nina Omar Peter Rachel Simon Tom Vincent Wendy Anton Lucy Max Eva Mei Raj John "
    "Anna Robin Grace Henry Isla Joan Keith Lena Mark Neil Oliver Pia Rosalind Sean"
)
_ONSETS: tuple[str, ...] = split(
    "b br c ch d dr f fr g gr h j k kl l m n p pr r s sch st t tr v w z"
)
_VOWELS = split("a a a e e e i i o o u ai ei ie oo au")
_ENDINGS: tuple[str, ...] = split(
    "er man son ez ski ini etti ano ley ton ford berg ova ic sen ard ell and ings by ham ito "
    "ura escu ides ian oglu ola elli ing well ow"
)
_COMMON_LASTS: tuple[str, ...] = split(
    "Ruiz Lopez Rossi Weber Novak Silva Khan Costa Meyer Larsen Okoye Sato Duarte Brown Moore "
    "Green Hill Wood Bauer Conti Dubois Evans Fischer Garcia Haas Ivanov Jensen Kowalski Lang "
    "Martin Nguyen Ortega Park Quinn Romano Santos Tanaka Urban Vogel Walsh Young Zimmer"
)
CITIES: tuple[str, ...] = (
    "Porto", "Lyon", "Madrid", "Rome", "Berlin", "Oslo", "Vienna", "Paris", "London", "Milan",
    "Turin", "Bologna", "Genoa", "Naples", "Lisbon", "Seville", "Dublin", "Cork", "Leeds",
    "Bristol",
    "Hamburg", "Munich", "Cologne", "Leipzig", "Prague", "Brno", "Warsaw", "Krakow", "Budapest",
    "Athens", "Zagreb", "Split", "Helsinki", "Turku", "Stockholm", "Malmö", "Bergen", "Ghent",
    "Antwerp", "Utrecht", "Rotterdam", "Geneva", "Zurich", "Basel", "Boston", "Chicago", "Denver",
    "Seattle", "Toronto", "Montreal", "Lima", "Quito", "Bogotá", "São Paulo", "Santiago", "Nairobi",
    "Accra", "Lagos", "Cairo", "Tunis", "Mumbai", "Delhi", "Kyoto", "Osaka", "Tokyo", "Seoul",
    "Hanoi", "Perth", "Sydney", "Auckland", "New York", "San Diego", "Cape Town", "Nice",
)  # fmt: skip
JOBS: tuple[str, ...] = (
    "nurse", "teacher", "baker", "engineer", "doctor", "lawyer", "painter", "pilot", "cook",
    "driver", "designer", "carpenter", "plumber", "writer", "farmer", "dentist", "gardener",
    "librarian", "electrician", "photographer", "programmer", "architect", "accountant", "waiter",
    "journalist", "tailor", "musician", "chemist", "translator", "mechanic", "manager", "florist",
    "barber", "biologist", "researcher", "student", "sailor", "vet", "judge", "singer",
)  # fmt: skip
THINGS: tuple[str, ...] = (
    "apple", "ticket", "seat", "book", "pencil", "stamp", "coin", "marble", "cookie", "orange",
    "card", "flower", "egg", "chair", "cup", "candle", "pear", "sticker", "balloon", "button",
    "key", "bottle", "lemon", "plate", "stone", "ring", "shell", "pen", "melon", "cake",
)  # fmt: skip
GOODS: tuple[str, ...] = (
    "lamp", "desk", "chair", "mug", "backpack", "notebook", "keyboard", "monitor", "kettle",
    "toaster", "scarf", "jacket", "umbrella", "bicycle", "helmet", "tent", "camera", "speaker",
    "printer", "mouse", "blanket", "pillow", "mirror", "vase", "clock", "watch", "wallet", "shirt",
    "hat", "table", "sofa", "rug", "knife", "pan", "blender", "guitar", "tripod", "charger",
    "suitcase", "shelf", "stool", "bench", "bowl", "teapot", "cable", "drill", "hammer", "bag",
)  # fmt: skip
COLOURS: tuple[str, ...] = (
    "red", "blue", "green", "black", "white", "grey", "yellow", "orange", "purple", "brown",
    "pink", "silver", "gold", "beige", "navy", "turquoise",
)  # fmt: skip
_DOMAINS: tuple[str, ...] = (
    "example.com", "example.com", "example.org", "mail.example", "office.example",
    "shop.example", "school.example", "lab.example", "post.example", "work.example",
    "studio.example", "garden.example", "clinic.example", "north.example", "blue.example",
)  # fmt: skip
_TITLES: tuple[str, ...] = (
    "River", "Winter", "Garden", "Lantern", "Harbour", "Mountain", "Letter", "Stone", "Orchard",
    "Clock", "Island", "Forest", "Mirror", "Bridge", "Window", "Storm", "Summer", "Road", "Tower",
    "Sparrow", "Lighthouse", "Market", "Shadow", "Field", "Train", "Kitchen", "Map", "Song",
)  # fmt: skip
_QUALITIES: tuple[str, ...] = (
    "Silent", "Last", "Golden", "Long", "Broken", "Little", "Northern", "Blue", "Hidden", "Old",
    "Empty", "Bright", "Second", "White", "Distant", "Secret", "Slow", "Warm", "First", "Red",
)  # fmt: skip


def word(rng: random.Random, syllables: int = 2) -> str:
    """A made-up lower-case word."""
    return "".join(pick(rng, _ONSETS) + pick(rng, _VOWELS) for _ in range(syllables)) + pick(
        rng, ("", "", "n", "r", "l", "s", "t", "x")
    )


def first_name(rng: random.Random) -> str:
    """A first name, now and then a made-up one."""
    return word(rng).capitalize() if rng.random() < 0.08 else pick(rng, FIRST_NAMES)


def last_name(rng: random.Random) -> str:
    """A last name, mostly made of syllables."""
    if rng.random() < 0.3:
        return pick(rng, _COMMON_LASTS)
    begin = pick(rng, _ONSETS) + pick(rng, _VOWELS) + pick(rng, _ONSETS)
    return (begin + pick(rng, _ENDINGS)).capitalize()


def full_name(rng: random.Random) -> str:
    """First name and last name."""
    return f"{first_name(rng)} {last_name(rng)}"


def city(rng: random.Random) -> str:
    """A town, now and then a made-up one."""
    return word(rng).capitalize() if rng.random() < 0.12 else pick(rng, CITIES)


def domain(rng: random.Random) -> str:
    """A domain for e-mail addresses."""
    return f"{word(rng)}.example" if rng.random() < 0.3 else pick(rng, _DOMAINS)


def email(rng: random.Random, name: str) -> str:
    """An e-mail address of the person called `name`."""
    parts = name.lower().split()
    draw = rng.random()
    if draw < 0.45:
        local = ".".join(parts)
    elif draw < 0.7:
        local = parts[0]
    elif draw < 0.85:
        local = parts[0][0] + parts[-1]
    else:
        local = f"{parts[0]}{rng.randint(1, 99)}"
    return f"{local}@{domain(rng)}"


def phone(rng: random.Random) -> str:
    """A made-up phone number."""
    last = f"{rng.randint(0, 199):04d}"
    return pick(rng, ("555-", "555 ", "+1 555 ", "030 555 ", "555-01 ")) + last


def title(rng: random.Random) -> str:
    """The title of a made-up book."""
    draw = rng.random()
    noun = pick(rng, _TITLES)
    if draw < 0.5:
        return f"The {pick(rng, _QUALITIES)} {noun}"
    if draw < 0.75:
        return f"{pick(rng, _QUALITIES)} {noun}"
    return f"The {noun} of {city(rng)}"


def price(rng: random.Random) -> int | float:
    """A price that is written the same way in a text and in JSON."""
    if rng.random() < 0.5:
        return rng.randint(1, 400)
    return rng.randint(1, 300) + pick(rng, (0.5, 0.99, 0.25, 0.75, 0.95, 0.49))
