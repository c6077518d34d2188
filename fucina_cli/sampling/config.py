"""The sampling settings of one stream, each declared once."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import ClassVar

from fucina_cli.options import check_options, option
from fucina_cli.sampling import draws

__all__ = ["SamplingConfig"]

_FILE = "general.sampling."
_MOST = 10_000_000


@dataclass(frozen=True)
class SamplingConfig:
    """Validated settings; the defaults are greedy with every filter and penalty off.

    Raises InputError for a field of the wrong type or out of range.
    """

    PANEL: ClassVar = "Sampling (defaults: the family's in a chat, greedy otherwise)"

    temperature: float = option(
        0.0, "Temperature, 0 for greedy.", "T", flag="--temp", metadata=_FILE + "temp",
        within=(0, 100), least=(1e-6, "0 for greedy"),
    )  # fmt: skip
    top_k: int = option(
        0, "Keep the K likeliest, 0 off.", "K", metadata=_FILE + "top_k",
        within=(0, _MOST), unit="tokens",
    )  # fmt: skip
    top_p: float = option(
        1.0, "Keep the likeliest of total probability P, 1 off.", "P", metadata=_FILE + "top_p",
        within=(0, 1),
    )  # fmt: skip
    min_p: float = option(
        0.0, "Keep those at least P times as likely as the likeliest, 0 off.", "P",
        metadata=_FILE + "min_p", within=(0, 1),
    )  # fmt: skip
    # Penalties are bounded so that none can turn a finite logit into an infinite one.
    repeat_penalty: float = option(
        1.0, "Divide the logits of recent tokens, 1 off.", "R", within=(0.01, 100)
    )
    repeat_last_n: int = option(
        64, "How many recent tokens penalties see (64), -1 all, 0 none.", "N",
        within=(-1, _MOST), unit="tokens",
    )  # fmt: skip
    frequency_penalty: float = option(
        0.0, "Subtracted for each recent occurrence, 0 off.", "F", flag="--freq-penalty",
        within=(-100, 100), unit="logits",
    )  # fmt: skip
    presence_penalty: float = option(
        0.0, "Subtracted once from recent tokens, 0 off.", "F", within=(-100, 100), unit="logits"
    )
    seed: int = option(
        0, "Seed of the draws; random when not given, see --json.", "S",
        within=(0, draws.LIMIT - 1), elsewhere=((-1, "leave it out for a random one"),),
    )  # fmt: skip

    def __post_init__(self) -> None:
        check_options(self)

    @property
    def greedy(self) -> bool:
        """Whether every token is the argmax of its row."""
        return self.temperature == 0

    def as_dict(self) -> dict[str, float | int]:
        """The settings by field name, for the JSON record."""
        return asdict(self)
