"""Tokens of a reply to text: whole characters, thoughts apart, text stop sequences."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Channel = Literal["answer", "thinking"]
#: Called with each piece of text that can no longer change.
OnText = Callable[[str, Channel], None]


@dataclass(frozen=True)
class ThinkingTokens:
    """Ids of the tokens around a thinking block, and the text that names its channel."""

    opens: int
    closes: int
    label: str = ""


class Reply:
    """Collects the text of one reply as its tokens arrive.

    Text is handed on once it is certain: bytes of an unfinished UTF-8 character wait for the rest,
    and so does text that may be the start of a stop sequence. What is no UTF-8 becomes U+FFFD.

    Args:
        token_bytes: raw bytes of a token id.
        stops: text sequences that end the reply and are not part of it.
        thinking: markers of thinking blocks, None to take every token as answer.
        inside_thinking: whether the prompt ended within an open thinking block.
        keep_blank_lines: leave the blank lines between thoughts and answer in the answer.
        on_text: receives text as it becomes certain.
    """

    def __init__(
        self,
        token_bytes: Callable[[int], bytes],
        *,
        stops: Sequence[str] = (),
        thinking: ThinkingTokens | None = None,
        inside_thinking: bool = False,
        keep_blank_lines: bool = False,
        on_text: OnText | None = None,
    ) -> None:
        self._token_bytes = token_bytes
        self._stops = tuple(stops)
        self._thinking = thinking
        self._channel: Channel = "thinking" if thinking and inside_thinking else "answer"
        self._keep_blank_lines = keep_blank_lines
        self._after_thinking = False
        self._on_text = on_text
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._held = ""
        self._texts: dict[Channel, list[str]] = {"answer": [], "thinking": []}
        self._before_label = self._channel == "thinking"

    @property
    def text(self) -> str:
        """The answer so far, without thoughts."""
        return "".join(self._texts["answer"])

    @property
    def thinking(self) -> str:
        """The thoughts so far."""
        return "".join(self._texts["thinking"])

    def add(self, token: int) -> bool:
        """Take a token; True when it completes a stop sequence, and the reply is then over."""
        if self._thinking and token == self._thinking.opens and self._channel == "answer":
            self._switch("thinking")
            return False
        if self._thinking and token == self._thinking.closes and self._channel == "thinking":
            self._switch("answer")
            return False
        self._held += self._decoder.decode(self._token_bytes(token))
        self._drop_blank_lines()
        if self._channel == "thinking" or not self._stops:
            self._release(len(self._held))
            return False
        end = self._first_stop()
        if end is not None:
            self._release(end)
            self._held = ""
            self._decoder.reset()
            return True
        self._release(len(self._held) - self._possible_stop())
        return False

    def finish(self) -> None:
        """Hand on what was held back; the reply is over."""
        self._held += self._decoder.decode(b"", final=True)
        self._drop_blank_lines()
        self._release(len(self._held), final=True)

    def _switch(self, channel: Channel) -> None:
        self.finish()
        self._decoder.reset()
        self._channel = channel
        self._before_label = channel == "thinking"
        self._after_thinking = channel == "answer" and not self._keep_blank_lines

    def _first_stop(self) -> int | None:
        """Where the stop sequence begins that is complete first; of two, the longer one.

        So what the reply is does not depend on how its text was cut into tokens.
        """
        found = [(at + len(stop), at) for stop in self._stops if (at := self._held.find(stop)) >= 0]
        return min(found)[1] if found else None

    def _possible_stop(self) -> int:
        """Length of the longest end of the held text that begins a stop sequence."""
        longest = max(map(len, self._stops)) - 1
        for length in range(min(longest, len(self._held)), 0, -1):
            tail = self._held[-length:]
            if any(stop.startswith(tail) for stop in self._stops):
                return length
        return 0

    def _drop_blank_lines(self) -> None:
        """Take away the blank lines that part thoughts and answer."""
        if self._after_thinking and self._held:
            self._held = self._held.lstrip("\n")
            self._after_thinking = not self._held

    def _release(self, length: int, *, final: bool = False) -> None:
        """Hand on the first `length` characters of the held text."""
        if self._before_label and self._thinking:
            # The first line of a thinking channel is its name, not a thought.
            label = self._thinking.label
            if len(self._held) < len(label) and label.startswith(self._held) and not final:
                return
            self._before_label = False
            if label and self._held.startswith(label):
                self._held = self._held[len(label) :]
                length -= len(label)
        piece, self._held = self._held[:length], self._held[length:]
        if piece:
            self._texts[self._channel].append(piece)
            if self._on_text:
                self._on_text(piece, self._channel)
