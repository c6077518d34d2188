"""What the corpus is made of: chats and plain texts, before any family's format."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Chat:
    """One exchange, perhaps after earlier ones.

    Args:
        user: the last message of the user.
        reply: what the assistant answers.
        thoughts: what it thinks before, when it is asked to think: one to three short sentences.
        system: the system text, None for none.
        earlier: messages before `user`, as (user, reply) pairs, oldest first.
    """

    user: str
    reply: str
    thoughts: str
    system: str | None = None
    earlier: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Text:
    """A raw completion: `prompt` is continued by `completion`, and then the text ends."""

    prompt: str
    completion: str


Document = Chat | Text
