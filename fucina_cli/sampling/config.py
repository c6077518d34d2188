"""The sampling settings of one stream, each declared once."""

from __future__ import annotations

import functools
from dataclasses import asdict, dataclass

from fucina_cli.options import Option, check_options, option, options_of
from fucina_cli.sampling import draws

__all__ = ["SamplingConfig", "sampling_options"]

_PANEL = "Sampling (defaults: the family's in a chat, greedy otherwise)"


@dataclass(frozen=True)
class SamplingConfig:
    """Validated settings; the defaults are greedy with every filter and penalty off.

    Raises:
        InputError: a field is of the wrong type or out of range.
    """

    temperature: float = option(
        0.0,
        flag="--temp",
        key="temp",
        metavar="T",
        help="Temperature, 0 for greedy.",
        low=0,
        high=100,
        least=1e-6,
        below="0 for greedy",
        metadata="general.sampling.temp",
        panel=_PANEL,
    )
    top_k: int = option(
        0,
        key="top_k",
        metavar="K",
        help="Keep the K likeliest, 0 off.",
        low=0,
        high=10_000_000,
        unit="tokens",
        metadata="general.sampling.top_k",
        panel=_PANEL,
    )
    top_p: float = option(
        1.0,
        key="top_p",
        metavar="P",
        help="Keep the likeliest of total probability P, 1 off.",
        low=0,
        high=1,
        metadata="general.sampling.top_p",
        panel=_PANEL,
    )
    min_p: float = option(
        0.0,
        key="min_p",
        metavar="P",
        help="Keep those at least P times as likely as the likeliest, 0 off.",
        low=0,
        high=1,
        metadata="general.sampling.min_p",
        panel=_PANEL,
    )
    # Penalties are bounded so that none can turn a finite logit into an infinite one.
    repeat_penalty: float = option(
        1.0,
        key="repeat_penalty",
        metavar="R",
        help="Divide the logits of recent tokens, 1 off.",
        low=0.01,
        high=100,
        panel=_PANEL,
    )
    repeat_last_n: int = option(
        64,
        key="repeat_last_n",
        metavar="N",
        help="How many recent tokens penalties see (64), -1 all, 0 none.",
        low=-1,
        high=10_000_000,
        unit="tokens",
        panel=_PANEL,
    )
    frequency_penalty: float = option(
        0.0,
        flag="--freq-penalty",
        key="freq_penalty",
        metavar="F",
        help="Subtracted for each recent occurrence, 0 off.",
        low=-100,
        high=100,
        unit="logits",
        panel=_PANEL,
    )
    presence_penalty: float = option(
        0.0,
        key="presence_penalty",
        metavar="F",
        help="Subtracted once from recent tokens, 0 off.",
        low=-100,
        high=100,
        unit="logits",
        panel=_PANEL,
    )
    seed: int = option(
        0,
        key="seed",
        metavar="S",
        help="Seed of the draws; random when not given, see --json.",
        low=0,
        high=draws.LIMIT - 1,
        panel=_PANEL,
    )

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def greedy(self) -> bool:
        """Whether every token is the argmax of its row."""
        return self.temperature == 0

    def as_dict(self) -> dict[str, float | int]:
        """The settings by field name, for the JSON record."""
        return asdict(self)


@functools.cache
def sampling_options() -> tuple[Option, ...]:
    """The options of SamplingConfig, in order."""
    return tuple(options_of(SamplingConfig))
