"""Qwen3, dense and mixture of experts: ChatML turns, `<think>` blocks on by default."""

from __future__ import annotations

from fucina_cli.families.family import Advice, Family, Metadata, Thinking


def _sampling(thinking: bool, _metadata: Metadata) -> Advice:
    """The model card's recommendation: a lower temperature when it thinks."""
    if thinking:
        return {"temperature": 0.6, "top_k": 20, "top_p": 0.95}
    return {"temperature": 0.7, "top_k": 20, "top_p": 0.8}


QWEN3 = Family(
    name="qwen3",
    command="fucina-qwen3",
    architectures=frozenset({"qwen3", "qwen3moe"}),
    stop_texts=("<|im_end|>", "<|endoftext|>"),
    thinking=Thinking(opens="<think>", closes="</think>", on_by_default=True),
    markers=frozenset(
        {
            "<think>",
            "</think>",
            "<tool_call>",
            "</tool_call>",
            "<tool_response>",
            "</tool_response>",
        }
    ),
    sampling=_sampling,
)
