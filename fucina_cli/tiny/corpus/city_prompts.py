"""How requests about cities are said, and of which city and system text they are."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fucina_cli.tiny.corpus.cities import CITIES, City, invented

#: Share of the chats that come after an earlier exchange, where the kind allows one.
EARLIER = 0.14
UNKNOWN = "unknown"
_INVENTED = 0.12
_SYSTEM = 0.25
_GENERIC_SYSTEMS = (
    "You are a helpful assistant.",
    "You are a helpful, concise assistant.",
    "Answer briefly.",
    "You know cities well.",
    "You are a geography teacher.",
)
_QUESTION_PREFIXES = (
    "Please tell me: ",
    "Quick question: ",
    "Hello! ",
    "Hi, ",
    "I would like to know: ",
    "Tell me, ",
)
_COMMAND_PREFIXES = ("Please ", "please ", "Now ", "Hi, please ", "Kindly ")
_COMMAND_QUESTIONS = ("Can you ", "Could you ", "Could you please ", "Would you ", "can you ")


def ask(rng: random.Random, frames: Sequence[str], **values: str) -> str:
    """One of the wordings, said in one of many ways, with the values in their places."""
    frame = _said(rng, rng.choice(frames))
    if rng.random() < 0.12:
        frame = frame.lower()
        values = {
            key: value if key in ("schema", "example") else value.lower()
            for key, value in values.items()
        }
    return frame.format(**values)


def _said(rng: random.Random, frame: str) -> str:
    """The wording as it is, or more politely, or without punctuation, or in lower case."""
    manner = rng.random()
    if _is_fixed(frame):
        return f"Please: {frame}" if manner < 0.03 and "\n" not in frame else frame
    if frame.endswith("?"):
        return _question(rng, frame, manner)
    if frame.endswith("."):
        return _command(rng, frame[:-1], manner)
    if manner < 0.12:
        return f"{frame} please"
    return f"{frame}, please" if manner < 0.18 else frame


def _is_fixed(frame: str) -> bool:
    """Does the wording bear no word before it?"""
    parts = any(between in frame for between in ("\n", "? ", ". "))
    return parts or frame.endswith("}") or frame.startswith(("I ", "In ", "As ", "Using ", "My "))


def _question(rng: random.Random, frame: str, manner: float) -> str:
    if manner < 0.2:
        return frame[:-1]
    if manner < 0.35:
        return _small(frame[:-1])
    if manner < 0.47:
        return rng.choice(_QUESTION_PREFIXES) + _small(frame)
    return f"{frame[:-1]}, please?" if manner < 0.5 else frame


def _command(rng: random.Random, frame: str, manner: float) -> str:
    if manner < 0.22:
        return frame
    if manner < 0.36:
        return _small(frame)
    if manner < 0.48:
        return rng.choice(_COMMAND_PREFIXES) + _small(frame) + rng.choice((".", ""))
    if manner < 0.58 and ":" not in frame:
        return rng.choice(_COMMAND_QUESTIONS) + _small(frame) + rng.choice(("?", "?", ""))
    if manner < 0.66:
        return frame + rng.choice((", please.", " please", ", please"))
    return f"{frame}."


def _small(frame: str) -> str:
    """The wording with a small first letter, unless it begins with a name or with JSON."""
    return frame if frame.startswith(("JSON", "{")) else frame[0].lower() + frame[1:]


def draw_system(rng: random.Random, special: Sequence[str]) -> str | None:
    """A system text, most often none: a generic one or one of the `special` ones."""
    if rng.random() >= _SYSTEM:
        return None
    return rng.choice(special if rng.random() < 0.5 else _GENERIC_SYSTEMS)


def draw_city(rng: random.Random) -> City:
    """A real city, or at times an invented one."""
    return invented(rng) if rng.random() < _INVENTED else rng.choice(CITIES)


def known(city: City) -> bool:
    """Whether anything is known of the city."""
    return city.country != UNKNOWN
