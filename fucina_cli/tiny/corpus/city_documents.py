"""Documents about cities: sentences, JSON and raw completions."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fucina_cli.tiny.corpus import city_wordings as wordings
from fucina_cli.tiny.corpus.cities import CAPITALS, CITIES, City, country_phrase
from fucina_cli.tiny.corpus.city_json import (
    DEFAULT_KEYS,
    compact,
    json_array,
    json_names,
    json_object,
    properties,
    some_keys,
    value_of,
)
from fucina_cli.tiny.corpus.city_prompts import draw_city
from fucina_cli.tiny.corpus.city_sentences import (
    answer,
    capital,
    comparison,
    draw_kind,
    on_water,
    people,
    question_about,
    sentence,
)
from fucina_cli.tiny.corpus.document import Document, Text


def sample(rng: random.Random) -> Document:
    """A random document about a city or some."""
    kind = rng.random()
    if kind < 0.15:
        return _text(rng)
    if kind < 0.20:
        return comparison(rng)
    if kind < 0.28:
        return capital(rng)
    if kind < 0.59:
        return sentence(rng)
    if kind < 0.93:
        return json_object(rng)
    return json_array(rng) if kind < 0.98 else json_names(rng)


def held_out_prompts() -> tuple[str, ...]:
    """Prompts that ask for sentences, in wordings that `sample` never draws."""
    return _held_out(wordings.HELD_OUT, 0)


def held_out_json_prompts() -> tuple[str, ...]:
    """Prompts that ask for JSON, in wordings that `sample` never draws."""
    return _held_out(wordings.HELD_OUT_JSON, 1)


def _held_out(frames: Sequence[str], offset: int) -> tuple[str, ...]:
    count = 40
    return tuple(
        frames[i % len(frames)].format(
            name=CITIES[(i * len(CITIES) // count + offset) % len(CITIES)].name
        )
        for i in range(count)
    )


_LABELS = (
    ("Country", "country"),
    ("Population", "population"),
    ("Language", "language"),
    ("Continent", "continent"),
    ("Known for", "known_for"),
)


def _text(rng: random.Random) -> Text:
    city = draw_city(rng)
    kind = rng.random()
    if kind < 0.25:
        keys: tuple[str, ...] = DEFAULT_KEYS
        prompt = f"City: {city.name}\nJSON:"
        if rng.random() < 0.3:
            keys = some_keys(rng)
            prompt = f"City: {city.name}\nKeys: {', '.join(keys)}\nJSON:"
        return Text(prompt, " " + compact(properties(city, keys)))
    if kind < 0.5:
        return _labelled(rng, city)
    if kind < 0.7:
        asked = draw_kind(rng)
        q, a = rng.choice((("Question", "Answer"), ("Q", "A")))
        prompt = f"{q}: {question_about(rng, asked, city)}\n{a}:"
        return Text(prompt, " " + answer(asked, city))
    return _continued(rng, rng.choice(CITIES))


def _labelled(rng: random.Random, city: City) -> Text:
    """A line of a record of a city, perhaps after the same of another city."""
    label, key = rng.choice(_LABELS)
    before = ""
    if rng.random() < 0.3:
        other = rng.choice(CITIES)
        before = f"City: {other.name}\n{label}: {value_of(other, key)}\n"
    return Text(f"{before}City: {city.name}\n{label}:", f" {value_of(city, key)}")


def _continued(rng: random.Random, city: City) -> Text:
    """A sentence and how it goes on."""
    name, country = city.name, country_phrase(city.country)
    endings = [
        (f"{name} is a city in", f" {country}{on_water(city)}, known for {city.known_for}."),
        (f"{name} is known for", f" {city.known_for}."),
        (f"{name} is in", f" {country}."),
        (f"People in {name} speak", f" {city.language}."),
        (f"The population of {name} is about", f" {people(city)}."),
        (f"The city of {name} is on the continent of", f" {city.continent}."),
    ]
    if city.country in CAPITALS and city.capital:
        endings.append((f"{name} is the capital of", f" {country}."))
        endings.append((f"The capital of {country} is", f" {name}."))
    if city.water:
        endings.append((f"{name} lies on", f" {city.water}."))
    return Text(*rng.choice(endings))
