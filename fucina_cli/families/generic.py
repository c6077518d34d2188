"""Any other chat model: the file's own sampling defaults, or common ones."""

from __future__ import annotations

from fucina_cli.families.family import Advice, Family, Metadata, Thinking, from_metadata


def _sampling(_thinking: bool, metadata: Metadata) -> Advice:
    return from_metadata(metadata, {"temperature": 0.8, "top_k": 40, "top_p": 0.95})


GENERIC = Family(
    name="generic",
    command="fucina-run",
    architectures=frozenset(),
    stop_texts=(),
    # Used where the vocabulary has these as single tokens (DeepSeek-R1 and similar models).
    thinking=Thinking(opens="<think>", closes="</think>", on_by_default=False),
    markers=frozenset(),
    sampling=_sampling,
)
