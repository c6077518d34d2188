"""Documents in a family's format: what the network is trained to continue, and where."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import jinja2

from fucina_cli.families.family import Thinking
from fucina_cli.families.gemma4 import GEMMA4
from fucina_cli.families.qwen3 import QWEN3
from fucina_cli.tiny.corpus.document import Chat, Document, Text

#: Token types of the GGUF format (gguf.TokenType) that the formats use.
NORMAL, CONTROL, USER_DEFINED, BYTE = 1, 3, 4, 6


@dataclass(frozen=True)
class Format:
    """How a family writes documents.

    Args:
        name: of the family; its template is `<name>.jinja` beside this file.
        specials: (token, type) of everything that structures a text, in the order of their ids.
        turn_end: ends the assistant's turn.
        text_end: ends a text without turns.
        bos: starts every text; "" for none.
        thinking: the markers around thoughts.
    """

    name: str
    specials: tuple[tuple[str, int], ...]
    turn_end: str
    text_end: str
    bos: str
    thinking: Thinking
    _render: Callable[..., str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
        object.__setattr__(self, "_render", environment.from_string(self.template).render)

    @cached_property
    def template(self) -> str:
        """The chat template, as the GGUF holds it."""
        return (Path(__file__).parent / f"{self.name}.jinja").read_text(encoding="utf-8").rstrip()

    def prompt(self, chat: Chat, thinks: bool) -> str:
        """What stands before the assistant's turn."""
        messages = [] if chat.system is None else [{"role": "system", "content": chat.system}]
        for user, reply in chat.earlier:
            messages.append({"role": "user", "content": user})
            messages.append({"role": "assistant", "content": reply})
        messages.append({"role": "user", "content": chat.user})
        return self._render(
            messages=messages,
            add_generation_prompt=True,
            enable_thinking=thinks,
            bos_token=self.bos,
        )

    def written(self, document: Document, thinks: bool) -> tuple[str, str]:
        """`document` as (what is given, what the network shall write, stop token included)."""
        if isinstance(document, Text):
            return self.bos + document.prompt, document.completion + self.text_end
        reply = document.reply + self.turn_end
        if thinks:
            marks = self.thinking
            gap = "\n" if not marks.label else ""
            after = "\n\n" if not marks.label else ""
            thoughts = f"{marks.opens}{marks.label or gap}{document.thoughts}\n{marks.closes}"
            reply = thoughts + after + reply
        return self.prompt(document, thinks), reply

    def pieces(self, text: str) -> list[str]:
        """`text` cut into specials and what stands between them."""
        return [piece for piece in self._special.split(text) if piece]

    @cached_property
    def _special(self) -> re.Pattern[str]:
        texts = sorted((text for text, _ in self.specials), key=len, reverse=True)
        return re.compile("(" + "|".join(map(re.escape, texts)) + ")")


def _thinking(thinking: Thinking | None) -> Thinking:
    assert thinking is not None
    return thinking


_QWEN3 = Format(
    name="qwen3",
    specials=(
        ("<|endoftext|>", CONTROL),
        ("<|im_start|>", CONTROL),
        ("<|im_end|>", CONTROL),
        ("<tool_call>", USER_DEFINED),
        ("</tool_call>", USER_DEFINED),
        ("<tool_response>", USER_DEFINED),
        ("</tool_response>", USER_DEFINED),
        ("<think>", USER_DEFINED),
        ("</think>", USER_DEFINED),
    ),
    turn_end="<|im_end|>",
    text_end="<|im_end|>",  # the EOS of the file, as in Qwen3's own chat models
    bos="",
    thinking=_thinking(QWEN3.thinking),
)
_GEMMA4 = Format(
    name="gemma4",
    specials=(
        ("<pad>", CONTROL),
        ("<eos>", CONTROL),
        ("<bos>", CONTROL),
        ("<unk>", CONTROL),
        ("<mask>", CONTROL),
        ("<|tool>", CONTROL),
        ("<tool|>", CONTROL),
        ("<|tool_call>", USER_DEFINED),
        ("<tool_call|>", USER_DEFINED),
        ("<|tool_response>", USER_DEFINED),
        ("<tool_response|>", USER_DEFINED),
        ('<|"|>', USER_DEFINED),
        ("<|think|>", CONTROL),
        ("<|channel>", USER_DEFINED),
        ("<channel|>", USER_DEFINED),
        ("<|turn>", CONTROL),
        ("<turn|>", CONTROL),
    ),
    turn_end="<turn|>",
    text_end="<eos>",
    bos="<bos>",
    thinking=_thinking(GEMMA4.thinking),
)
FORMATS = {made.name: made for made in (_QWEN3, _GEMMA4)}
