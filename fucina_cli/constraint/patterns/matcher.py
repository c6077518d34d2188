"""Whether a text matches, as the judge sees it.

By `regress`, an engine of ECMA-262, which reads the pattern as it stands. It searches by
backtracking, so that some patterns would take it for ever or, where it repeats what may be empty,
all memory; those are followed by derivatives, in time linear in the text.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from fucina_cli.constraint.patterns import ecma, rust, writing
from fucina_cli.constraint.patterns.derivatives import Machine, State
from fucina_cli.constraint.patterns.errors import PatternError, TooComplexError
from fucina_cli.constraint.patterns.tree import (
    Backreference,
    Chars,
    Choice,
    End,
    Look,
    Node,
    Repeat,
    Sequence,
    Start,
    nodes,
    plain,
)

Matches = Callable[[str], bool]
#: More endless repetitions than these, and backtracking takes longer than a cube of the text.
_MOST_ENDLESS = 3
_MOST_STATES = 5000


@functools.lru_cache(maxsize=1024)
def ecma_matcher(pattern: str) -> Matches:
    """Whether a pattern of ECMA-262 is found in a text.

    Patterns that the standard allows under the flag `u` are read by `regress` itself, others as
    `ecma.parse` reads them. Raises PatternError for one that neither can read.
    """
    strict = _compiled(pattern)
    try:
        return _matcher(ecma.parse(pattern), strict)
    except PatternError:
        if strict is None:
            raise
        return functools.partial(_found, strict)


@functools.lru_cache(maxsize=64)
def rust_matcher(pattern: str) -> Matches:
    """Whether a pattern in Rust's syntax matches the whole of a text. Raises PatternError."""
    return _matcher(Sequence((Start(), rust.parse(pattern), End())), None)


def _matcher(tree: Node, strict: Any | None) -> Matches:
    try:
        return _quick_matcher(tree, strict)
    except RecursionError:
        raise PatternError("it is nested too deeply") from None


def _quick_matcher(tree: Node, strict: Any | None) -> Matches:
    referring = any(isinstance(node, Backreference) for node in nodes(tree))
    if not referring and not _safe(tree):
        try:
            return _Followed(plain(tree))
        except TooComplexError:
            pass  # look-arounds of a form that only regress knows
    compiled = strict or _compiled(writing.ecma(tree))
    if compiled is None:
        raise PatternError("it can't be written as ECMA-262")
    return functools.partial(_found, compiled)


def _safe(tree: Node) -> bool:
    """Whether backtracking is quick: nothing inside of a repetition can be had in several ways."""
    repeats = [node for node in nodes(tree) if isinstance(node, Repeat)]
    if sum(node.most is None for node in repeats) > _MOST_ENDLESS:
        return False
    bodies = [node.body for node in repeats if node.most is None or node.most > 1]
    return all(
        any(isinstance(node, Chars) for node in nodes(body))
        and not any(isinstance(node, Repeat | Choice | Look) for node in nodes(body))
        for body in bodies
    )


def _compiled(pattern: str) -> Any | None:
    import regress

    try:
        return regress.Regex(pattern, "u")
    except (regress.RegressError, UnicodeEncodeError):
        return None


def _found(compiled: Any, text: str) -> bool:
    return compiled.find(_scalar(text)) is not None


def _scalar(text: str) -> str:
    """The text without halves of surrogate pairs.

    JSON can spell them (RFC 8259, 8.2), but they are no characters of UTF-8.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Followed:
    """A plain tree that is searched for by its derivatives, each computed once.

    Raises TooComplexError for trees that `Machine` does not take.
    """

    def __init__(self, tree: Node) -> None:
        self._machine = Machine(tree)
        self._after: dict[State, dict[int, State]] = {}

    def __call__(self, text: str) -> bool:
        state = self._machine.start
        for code in map(ord, _scalar(text)):
            if state.settled is not None:
                return state.settled
            row = self._after.setdefault(state, {})
            if code not in row:
                if len(self._after) > _MOST_STATES:
                    self._after.clear()
                row[code] = self._next(state, code)
            state = row[code]
        return self._machine.accepts(state)

    def _next(self, state: State, code: int) -> State:
        try:
            return self._machine.after(state, code)
        except RecursionError:
            raise PatternError("it is nested too deeply") from None
