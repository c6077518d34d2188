"""The sampling settings of one stream."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass

from fucina_cli.sampling import draws

__all__ = ["SamplingConfig"]

_MIN_TEMPERATURE = 1e-6


@dataclass(frozen=True)
class SamplingConfig:
    """Validated settings; the defaults are greedy with every filter and penalty off.

    Attributes:
        temperature: divides the logits; 0 is greedy, else at least 1e-6.
        top_k: keep the k largest logits; 0 is off.
        top_p: keep the smallest set of this probability, 0 to 1; 1 is off.
        min_p: keep tokens of at least this share of the largest probability, 0 to 1; 0 is off.
        repeat_penalty: divides positive and multiplies negative logits of seen tokens, 0.01 to
            100; 1 is off.
        repeat_last_n: how many last tokens the three penalties look at; 0 is none, -1 is all.
        frequency_penalty: subtracted per occurrence, -100 to 100; 0 is off.
        presence_penalty: subtracted once, -100 to 100; 0 is off.
        seed: 0 to 2**64 - 1.

    Raises:
        ValueError: a field is of the wrong type or out of range; the message says which and what
            is accepted.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    repeat_penalty: float = 1.0
    repeat_last_n: int = 64
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        _require_number("temperature", self.temperature)
        if self.temperature != 0 and self.temperature < _MIN_TEMPERATURE:
            raise ValueError(
                f"temperature must be 0 (greedy) or a finite number of at least "
                f"{_MIN_TEMPERATURE:g}, got {self.temperature!r}"
            )
        _require_integer("top_k", self.top_k, 0)
        _require_number("top_p", self.top_p, 0.0, 1.0)
        _require_number("min_p", self.min_p, 0.0, 1.0)
        # Bounded so that no penalty can turn a finite logit into an infinite one.
        _require_number("repeat_penalty", self.repeat_penalty, 0.01, 100.0)
        _require_integer("repeat_last_n", self.repeat_last_n, -1)
        _require_number("frequency_penalty", self.frequency_penalty, -100.0, 100.0)
        _require_number("presence_penalty", self.presence_penalty, -100.0, 100.0)
        _require_integer("seed", self.seed, 0, draws.LIMIT - 1)

    @property
    def greedy(self) -> bool:
        """Whether every token is the argmax of its row."""
        return self.temperature == 0

    def as_dict(self) -> dict[str, float | int]:
        """The settings by field name, for the JSON record."""
        return asdict(self)


def _require_number(
    name: str, value: float, low: float = -math.inf, high: float = math.inf
) -> None:
    accepted = "a finite number"
    if math.isfinite(low) and math.isfinite(high):
        accepted = f"a number from {low:g} to {high:g}"
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or not low <= value <= high:
        raise ValueError(f"{name} must be {accepted}, got {value!r}")


def _require_integer(name: str, value: int, low: int, high: int | None = None) -> None:
    accepted = f"an integer of at least {low}"
    if high is not None:
        accepted = f"an integer from {low} to {high}"
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or value < low or (high is not None and value > high):
        raise ValueError(f"{name} must be {accepted}, got {value!r}")
