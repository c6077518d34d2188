"""Requests about cities that are answered in JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

from fucina_cli.tiny.corpus import city_wordings as wordings
from fucina_cli.tiny.corpus.cities import CITIES, City, country_phrase
from fucina_cli.tiny.corpus.city_prompts import EARLIER, UNKNOWN, ask, draw_city, draw_system, known
from fucina_cli.tiny.corpus.city_sentences import answer, draw_kind, fact, question_about
from fucina_cli.tiny.corpus.document import Chat, Document

#: The keys of an object that is asked for without naming any.
DEFAULT_KEYS = ("name", "country", "population", "capital")
#: The properties of a city and their keys in JSON, the most usual first; and how often each is in.
_KEYS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("name", "name", "city"), 10),
    (("country",), 9),
    (("population",), 8),
    (("capital", "is_capital"), 5),
    (("continent",), 4),
    (("language",), 4),
    (("known_for", "known_for", "description"), 4),
    (("water", "river"), 3),
)
_TYPES = {"population": "integer", "capital": "boolean", "is_capital": "boolean"}
_COUNTS = {2: ("two", "2"), 3: ("three", "3")}
_JSON_SYSTEMS = (
    "Answer with JSON only.",
    "You return JSON and nothing else.",
    "Reply with valid JSON.",
    "You are a city database that answers in JSON.",
    "Output only compact JSON.",
)


def compact(value: object) -> str:
    """The value as compact JSON."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def value_of(city: City, key: str) -> str | int | bool:
    """What a key of a city's JSON object holds."""
    if key in ("name", "city"):
        return city.name
    if key in ("water", "river"):
        return city.water or "none"
    if key == "is_capital":
        return city.capital
    if key == "description":
        if not known(city):
            return UNKNOWN
        return f"A city in {country_phrase(city.country)} known for {city.known_for}."
    value: str | int | bool = getattr(city, key)
    return value


def properties(city: City, keys: Sequence[str]) -> dict[str, str | int | bool]:
    """The JSON object of a city with these keys."""
    return {key: value_of(city, key) for key in keys}


def some_keys(rng: random.Random, most: int = 6) -> tuple[str, ...]:
    """Random keys in a random order, most often with the name first."""
    (count,) = rng.choices((1, 2, 3, 4, 5, 6)[:most], (8, 26, 30, 20, 10, 6)[:most])
    # The smallest draws of rate w are a weighted choice without repetition.
    drawn = sorted(_KEYS, key=lambda entry: rng.expovariate(entry[1]))[:count]
    keys = [rng.choice(names) for names, _ in drawn]
    for name in ("name", "city"):
        if name in keys and rng.random() < 0.7:
            keys.remove(name)
            keys.insert(0, name)
    return tuple(keys)


def _named(rng: random.Random, keys: Sequence[str]) -> str:
    """The keys as a prompt names them."""
    manner = rng.random()
    if manner < 0.4 and len(keys) > 1:
        return f"{', '.join(keys[:-1])} and {keys[-1]}"
    if manner < 0.62:
        return ", ".join(keys)
    if manner < 0.70:
        return "/".join(keys)
    if manner < 0.75:
        return ",".join(keys)
    if manner < 0.80:
        return " ".join(keys)
    if manner < 0.88:
        return ", ".join(f'"{key}"' for key in keys)
    if manner < 0.94:
        return json.dumps(list(keys))
    return "{" + ", ".join(keys) + "}"


def _schema(rng: random.Random, keys: Sequence[str]) -> str:
    properties = {key: {"type": _TYPES.get(key, "string")} for key in keys}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if rng.random() < 0.5:
        schema["required"] = list(keys)
    return json.dumps(schema) if rng.random() < 0.5 else compact(schema)


def _example(rng: random.Random, keys: Sequence[str]) -> str:
    example = properties(rng.choice(CITIES), keys)
    if rng.random() < 0.5:
        return compact(example)
    return json.dumps(example, ensure_ascii=False)


def _json_request(rng: random.Random, city: City) -> tuple[str, tuple[str, ...]]:
    """A request for a JSON object about the city, and the keys it shall have."""
    kind = rng.random()
    if kind < 0.35:
        return ask(rng, wordings.JSON_DEFAULT, name=city.name), DEFAULT_KEYS
    keys = some_keys(rng)
    if kind < 0.45:
        schema = _schema(rng, keys)
        return ask(rng, wordings.JSON_SCHEMA, name=city.name, schema=schema), keys
    if kind < 0.50:
        example = _example(rng, keys)
        return ask(rng, wordings.JSON_EXAMPLE, name=city.name, example=example), keys
    return ask(rng, wordings.JSON_KEYS, name=city.name, keys=_named(rng, keys)), keys


def json_object(rng: random.Random) -> Document:
    """A request for a JSON object about a city."""
    city = draw_city(rng)
    if rng.random() < 0.04:  # Only the system text asks for JSON.
        user = ask(rng, wordings.SENTENCES["about"], name=city.name)
        return _json_chat(user, city, DEFAULT_KEYS, rng.choice(_JSON_SYSTEMS), ())
    user, keys = _json_request(rng, city)
    earlier: tuple[tuple[str, str], ...] = ()
    if rng.random() < EARLIER:
        if rng.random() < 0.6:
            earlier = ((user, compact(properties(city, keys))),)
            city = draw_city(rng)
            user = ask(rng, wordings.SAME_FOR, name=city.name)
        else:
            kind, keys = draw_kind(rng), DEFAULT_KEYS
            earlier = ((question_about(rng, kind, city), answer(kind, city)),)
            user = ask(rng, wordings.NOW_JSON)
    return _json_chat(user, city, keys, draw_system(rng, _JSON_SYSTEMS), earlier)


def _json_chat(
    user: str,
    city: City,
    keys: Sequence[str],
    system: str | None,
    earlier: tuple[tuple[str, str], ...],
) -> Chat:
    thoughts = (
        f"The user asks for JSON about {city.name} with the keys {', '.join(keys)}. {fact(city)}"
    )
    return Chat(user, compact(properties(city, keys)), thoughts, system, earlier)


def _listed(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}"


def json_array(rng: random.Random) -> Document:
    """A request for a JSON array of objects about two or three cities."""
    cities = [draw_city(rng) for _ in range(rng.choice((2, 2, 3)))]
    keys = some_keys(rng, most=3)
    names = _listed([city.name for city in cities])
    user = ask(rng, wordings.JSON_ARRAY, names=names, keys=_named(rng, keys))
    thoughts = f"The user asks for a JSON array about {names} with the keys {', '.join(keys)}."
    reply = compact([properties(city, keys) for city in cities])
    return Chat(user, reply, thoughts, draw_system(rng, _JSON_SYSTEMS))


def _places() -> dict[str, tuple[str, ...]]:
    """The countries and continents with three cities or more, and the names of these."""
    places: dict[str, list[str]] = {}
    for city in CITIES:
        for place in (country_phrase(city.country), city.continent):
            places.setdefault(place, []).append(city.name)
    return {place: tuple(names) for place, names in places.items() if len(names) > 2}


_PLACES = tuple(_places().items())


def json_names(rng: random.Random) -> Document:
    """A request for a JSON array of names."""
    place, names = rng.choice(_PLACES)
    count = rng.choice((2, 3, 3))
    user = ask(rng, wordings.JSON_NAMES, count=rng.choice(_COUNTS[count]), place=place)
    thoughts = f"The user asks for the names of {_COUNTS[count][0]} cities in {place} as JSON."
    return Chat(user, compact(names[:count]), thoughts, draw_system(rng, _JSON_SYSTEMS))
