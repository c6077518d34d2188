"""Whether a text matches, as the judge sees it: by `regress`, an engine of ECMA-262.

It searches by backtracking, without a limit of time; the caller sets one.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from fucina_cli.constraint.patterns import ecma, rust, writing
from fucina_cli.constraint.patterns.errors import PatternError

Matches = Callable[[str], bool]


@functools.lru_cache(maxsize=1024)
def ecma_matcher(pattern: str) -> Matches:
    """Whether a pattern of ECMA-262 is found in a text.

    Patterns that the standard allows under the flag `u` are read by `regress` itself, others as
    `ecma.parse` reads them. Raises PatternError for one that neither can read.
    """
    strict = _compiled(pattern)
    if strict is None:
        strict = _compiled(writing.ecma(ecma.parse(pattern)))
    if strict is None:
        raise PatternError("it can't be written as ECMA-262")
    return functools.partial(_found, strict)


@functools.lru_cache(maxsize=64)
def rust_matcher(pattern: str) -> Matches:
    """Whether a pattern in Rust's syntax matches the whole of a text. Raises PatternError."""
    whole = _compiled(f"^(?:{writing.ecma(rust.parse(pattern))})$")
    if whole is None:
        raise PatternError("it can't be written as ECMA-262")
    return functools.partial(_found, whole)


def _compiled(pattern: str) -> Any | None:
    import regress

    try:
        return regress.Regex(pattern, "u")
    except (regress.RegressError, UnicodeEncodeError):
        return None


def _found(compiled: Any, text: str) -> bool:
    # Half a surrogate pair, which JSON can spell (RFC 8259, 8.2), is no character of UTF-8.
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return compiled.find(clean) is not None
