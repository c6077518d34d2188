"""Questions about cities that are answered in sentences."""

from __future__ import annotations

import random

from fucina_cli.tiny.corpus import city_wordings as wordings
from fucina_cli.tiny.corpus.cities import CAPITALS, CITIES, City, country_phrase
from fucina_cli.tiny.corpus.city_prompts import EARLIER, ask, draw_city, draw_system, known
from fucina_cli.tiny.corpus.document import Chat, Document

_SENTENCE_SYSTEMS = (
    "Answer in one or two sentences.",
    "You answer questions about cities in plain sentences.",
    "You are a travel guide. Keep answers short.",
)


def people(city: City) -> str:
    """The population as sentences write it."""
    return f"{city.population:,}"


def _the_capital(city: City) -> str:
    return "the capital" if city.country in CAPITALS else "a capital"


def on_water(city: City) -> str:
    """What a sentence says of the water; empty where there is none."""
    return f" on {city.water}" if city.water else ""


def _overview(city: City) -> str:
    country = country_phrase(city.country)
    what = f"{_the_capital(city)} of {country}" if city.capital else f"a city in {country}"
    return f"{city.name} is {what}{on_water(city)}, known for {city.known_for}."


def _capital_or_not(city: City) -> str:
    of = f"{_the_capital(city)} of {country_phrase(city.country)}"
    if city.capital:
        return f"Yes, {city.name} is {of}."
    no = f"No, {city.name} is not {of}."
    seat = CAPITALS.get(city.country)
    return f"{no} The capital is {seat.name}." if seat else no


def _where(city: City) -> str:
    water = f", on {city.water}" if city.water else ""
    return f"{city.name} is in {country_phrase(city.country)}, in {city.continent}{water}."


def _at_water(city: City) -> str:
    if city.water:
        return f"{city.name} lies on {city.water}."
    return f"I know of no large river, lake or sea at {city.name}."


def answer(kind: str, city: City) -> str:
    """The sentences that answer a question of that kind."""
    if not known(city):
        return f"I have no facts about {city.name}, it is not in my small memory."
    country = country_phrase(city.country)
    if kind == "about":
        return f"{_overview(city)} About {people(city)} people live there."
    if kind == "one":
        return _overview(city)
    if kind == "guide":
        return f"{city.name} is a city in {country}{on_water(city)}. Come for {city.known_for}."
    if kind == "where":
        return _where(city)
    if kind == "capital":
        return _capital_or_not(city)
    if kind == "water":
        return _at_water(city)
    return {
        "known_for": f"{city.name} is known for {city.known_for}.",
        "country": f"{city.name} is in {country}.",
        "continent": f"{city.name} is in {city.continent}.",
        "population": f"About {people(city)} people live in {city.name}.",
        "language": f"People in {city.name} speak {city.language}.",
    }[kind]


_ASKED = {
    "about": "for some facts about {}",
    "one": "for one sentence about {}",
    "guide": "for a recommendation of {}",
    "known_for": "what {} is known for",
    "where": "where {} is",
    "country": "for the country of {}",
    "continent": "for the continent of {}",
    "population": "for the population of {}",
    "capital": "whether {} is a capital",
    "language": "for the language of {}",
    "water": "for the river or sea at {}",
}
_KINDS = tuple(wordings.SENTENCES)


def fact(city: City) -> str:
    """A thought about the city."""
    if not known(city):
        return f"I do not know {city.name}."
    return f"{city.name} is in {country_phrase(city.country)}."


def draw_kind(rng: random.Random) -> str:
    """A kind of question."""
    (kind,) = rng.choices(_KINDS, wordings.SENTENCE_WEIGHTS)
    return kind


def question_about(rng: random.Random, kind: str, city: City) -> str:
    """A question of that kind about the city."""
    country = city.country if known(city) else rng.choice(CITIES).country
    frames = wordings.SENTENCES[kind]
    return ask(rng, frames, name=city.name, country=country_phrase(country))


def sentence(rng: random.Random) -> Document:
    """A question about one city."""
    kind, city = draw_kind(rng), draw_city(rng)
    asked = _ASKED[kind].format(city.name)
    user = question_about(rng, kind, city)
    earlier: tuple[tuple[str, str], ...] = ()
    if rng.random() < EARLIER:
        earlier, kind, city, user = _after(rng, kind, city, user)
        asked = _ASKED[kind].format(city.name)
    thoughts = f"The user asks {asked}. {fact(city)}"
    system = draw_system(rng, _SENTENCE_SYSTEMS)
    return Chat(user, answer(kind, city), thoughts, system, earlier)


def _after(
    rng: random.Random, kind: str, city: City, user: str
) -> tuple[tuple[tuple[str, str], ...], str, City, str]:
    """What was said earlier, and what is asked now: its kind, its city and the question."""
    said = (user, answer(kind, city))
    manner = rng.random()
    if manner < 0.35:
        other = draw_city(rng)
        return (said,), kind, other, ask(rng, wordings.SAME_FOR, name=other.name)
    if manner < 0.75:
        follow = rng.choice(tuple(wordings.FOLLOW_UPS))
        return (said,), follow, city, ask(rng, wordings.FOLLOW_UPS[follow])
    other, other_kind = draw_city(rng), draw_kind(rng)
    before = (question_about(rng, other_kind, other), answer(other_kind, other))
    return (before,), kind, city, user


def comparison(rng: random.Random) -> Document:
    """A question which of two cities is larger, or smaller."""
    a, b = rng.sample(CITIES, 2)
    while a.population == b.population:
        a, b = rng.sample(CITIES, 2)
    larger = rng.random() < 0.65
    word = "larger" if larger else "smaller"
    user = ask(rng, wordings.LARGER if larger else wordings.SMALLER, a=a.name, b=b.name)
    first, second = (a, b) if (a.population > b.population) == larger else (b, a)
    reply = (
        f"{first.name} is {word}: about {people(first)} people live there, "
        f"and about {people(second)} in {second.name}."
    )
    thoughts = (
        f"The user asks which is {word}, {a.name} or {b.name}. "
        f"{a.name} has {people(a)} inhabitants, {b.name} has {people(b)}."
    )
    return Chat(user, reply, thoughts, draw_system(rng, _SENTENCE_SYSTEMS))


def capital(rng: random.Random) -> Document:
    """A question about the capital of a country."""
    city = rng.choice(tuple(CAPITALS.values()))
    country = country_phrase(city.country)
    if rng.random() < 0.7:
        user = ask(rng, wordings.CAPITAL_OF, country=country)
        reply = f"The capital of {country} is {city.name}."
        thoughts = f"The user asks for the capital of {country}. It is {city.name}."
    else:
        user = ask(rng, wordings.OF_WHICH, name=city.name)
        reply = f"{city.name} is the capital of {country}."
        thoughts = f"The user asks for the country of the capital {city.name}. It is {country}."
    earlier: tuple[tuple[str, str], ...] = ()
    if rng.random() < EARLIER and reply.startswith("The capital"):
        other = rng.choice(tuple(CAPITALS.values()))
        place = country_phrase(other.country)
        before = ask(rng, wordings.CAPITAL_OF, country=place)
        earlier = ((before, f"The capital of {place} is {other.name}."),)
        if rng.random() < 0.7:
            user = ask(rng, ("And of {country}?", "And {country}?"), country=country)
    return Chat(user, reply, thoughts, draw_system(rng, _SENTENCE_SYSTEMS), earlier)
