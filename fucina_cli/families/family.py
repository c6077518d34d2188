"""What a family declares. A family is data: one file, one `Family`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from fucina_cli.options import options_of
from fucina_cli.sampling.config import SamplingConfig

#: Looks a numeric key up in the GGUF's metadata; None when it is absent.
Metadata = Callable[[str], float | None]


#: What a family's makers recommend for a chat, by the names of sampling options.
Advice = Mapping[str, float]


@dataclass(frozen=True)
class Thinking:
    """The markers around a model's thoughts, as the template and the model write them.

    `on_by_default`: whether the template lets the model think unless told; `label`: text after the
    opening marker that names the block and is not part of the thoughts.
    """

    opens: str
    closes: str
    on_by_default: bool
    label: str = ""


@dataclass(frozen=True)
class Family:
    """Everything that is specific to a family.

    Args:
        name: short name, for messages and `--info`.
        command: the console script of the family.
        architectures: values of `general.architecture` that belong to it; empty for the family
            of all models that no other family claims.
        stop_texts: tokens that end a turn, most usual first; without one the GGUF's own is used.
        thinking: its thought markers, None when it has none.
        markers: further tokens that structure a conversation, which text can never become.
        sampling: advice for a chat from (is thinking on, metadata look-up).
    """

    name: str
    command: str
    architectures: frozenset[str]
    stop_texts: tuple[str, ...]
    thinking: Thinking | None
    markers: frozenset[str]
    sampling: Callable[[bool, Metadata], Advice]


def from_metadata(metadata: Metadata, fallback: Advice) -> Advice:
    """The file's own advice (`general.sampling.*`), and `fallback` where it has none."""
    found = {
        each.name: each.type(value)
        for each in options_of(SamplingConfig)
        if each.metadata is not None and (value := metadata(each.metadata)) is not None
    }
    return {**fallback, **found}
