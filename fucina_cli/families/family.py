"""The shape of a family. A family is data: one file, one `Family`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: Looks a numeric key up in the GGUF's metadata; None when it is absent.
Metadata = Callable[[str], float | None]


@dataclass(frozen=True)
class SamplingDefaults:
    """What a family's makers recommend for chat; flags override."""

    temperature: float
    top_k: int
    top_p: float
    min_p: float = 0.0


@dataclass(frozen=True)
class Thinking:
    """The markers around a model's thoughts, as the template and the model write them.

    `on_by_default` is what the family's template does when nobody says; `label` is the text after
    the opening marker that names the block and is no thought.
    """

    opens: str
    closes: str
    on_by_default: bool
    label: str = ""


@dataclass(frozen=True)
class Family:
    """Everything that a family knows.

    Args:
        name: short name, for messages and `--info`.
        command: the console script of the family.
        architectures: values of `general.architecture` that belong to it; empty for the family
            that takes whatever no other family claims.
        stop_texts: tokens that end a turn, most usual first; the GGUF's own EOS follows.
        thinking: its thought markers, None when it has none.
        markers: further tokens with a meaning of their own, which text can never spell.
        sampling: defaults from (is thinking on, metadata look-up).
    """

    name: str
    command: str
    architectures: frozenset[str]
    stop_texts: tuple[str, ...]
    thinking: Thinking | None
    markers: frozenset[str]
    sampling: Callable[[bool, Metadata], SamplingDefaults]


def from_metadata(metadata: Metadata, fallback: SamplingDefaults) -> SamplingDefaults:
    """The file's `general.sampling.*`, and `fallback` for the keys that it lacks."""
    temperature = metadata("general.sampling.temp")
    top_k = metadata("general.sampling.top_k")
    top_p = metadata("general.sampling.top_p")
    min_p = metadata("general.sampling.min_p")
    return SamplingDefaults(
        temperature=fallback.temperature if temperature is None else temperature,
        top_k=fallback.top_k if top_k is None else int(top_k),
        top_p=fallback.top_p if top_p is None else top_p,
        min_p=fallback.min_p if min_p is None else min_p,
    )
