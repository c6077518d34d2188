"""How a stream ended, and its counters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StopReason = Literal["eos", "stop_token", "stop_sequence", "constraint", "length", "failed"]


@dataclass
class Counts:
    """Counters of a stream.

    `committed` counts reply tokens; a stop token is not one. `forced` of them needed no logits,
    `accepted` of the `drafted` ones were what the sampler chose.
    """

    forwards: int = 0
    committed: int = 0
    forced: int = 0
    drafted: int = 0
    accepted: int = 0
