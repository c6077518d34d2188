"""Gemma 4: `<|turn>` turns, thoughts in a channel, off unless asked for."""

from __future__ import annotations

from fucina_cli.families.family import Advice, Family, Metadata, Thinking, from_metadata


def _sampling(_thinking: bool, metadata: Metadata) -> Advice:
    return from_metadata(metadata, {"temperature": 1.0, "top_k": 64, "top_p": 0.95})


GEMMA4 = Family(
    name="gemma4",
    command="fucina-gemma4",
    architectures=frozenset({"gemma4"}),
    stop_texts=("<turn|>", "<eos>"),
    thinking=Thinking(
        opens="<|channel>", closes="<channel|>", on_by_default=False, label="thought\n"
    ),
    markers=frozenset(
        {
            "<|turn>",
            "<turn|>",
            "<|channel>",
            "<channel|>",
            "<|think|>",
            "<|tool>",
            "<tool|>",
            "<|tool_call>",
            "<tool_call|>",
            "<|tool_response>",
            "<tool_response|>",
            '<|"|>',
            "<|image|>",
            "<|audio|>",
            "<|video|>",
        }
    ),
    sampling=_sampling,
)
