"""Any other chat model: what its file says, and sober defaults."""

from __future__ import annotations

from fucina_cli.families.family import Advice, Family, Metadata, Thinking, from_metadata


def _sampling(_thinking: bool, metadata: Metadata) -> Advice:
    return from_metadata(metadata, {"temperature": 0.8, "top_k": 40, "top_p": 0.95})


GENERIC = Family(
    name="generic",
    command="fucina-run",
    architectures=frozenset(),
    stop_texts=(),
    # Where the vocabulary has these as tokens of their own (DeepSeek-R1 and its kin).
    thinking=Thinking(opens="<think>", closes="</think>", on_by_default=False),
    markers=frozenset(),
    sampling=_sampling,
)
