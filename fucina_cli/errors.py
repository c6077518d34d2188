"""The error for input that can't be used.

The code that raises it knows which part of the input it is about, and not how that part was given:
by a flag, by a key of a line, by a keyword. So an error names parts, and the code that shows it
puts in the user's names for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

#: From a part of the input to the user's name for it, such as "top_k" to `--top-k`.
Names = Callable[[str], str]


@dataclass(frozen=True)
class Part:
    """A mention of another part of the input within a message."""

    name: str


_NOT_KEYWORDS = {
    "prompt": "the prompt",
    "raw prompt": "Job.prompt",
    "constraint": "the constraint",
}


class InputError(ValueError):
    """A part of the input can't be used.

    Args:
        part: what it is about: an option's name, "prompt", "constraint", or a file's quoted path.
        message: why it can't be used and what to do instead, as text and mentions of other parts.
    """

    def __init__(self, part: str, *message: str | Part) -> None:
        super().__init__(part, *message)
        self.part = part
        self._message = message

    def describe(self, names: Names) -> str:
        """One line, in the user's names for parts."""
        return f"{names(self.part)}: {self.reason(names)}"

    def reason(self, names: Names) -> str:
        """The message without the part that it is about."""
        return "".join(names(p.name) if isinstance(p, Part) else p for p in self._message)

    def __str__(self) -> str:
        return self.describe(keyword)


def keyword(part: str) -> str:
    """The name of a part in Python: an option is a keyword argument."""
    if part in _NOT_KEYWORDS or not part.isidentifier():
        return _NOT_KEYWORDS.get(part, part)
    return f"{part}="
