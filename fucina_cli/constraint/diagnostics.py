"""The grammar engine's messages, shortened to one line."""

from __future__ import annotations

import re

from fucina_cli.text import one_line


def diagnosis(message: str) -> str:
    """An engine diagnostic on one line, without source excerpts, states and stacks."""
    if "NoExtensionBias" in message:
        return "the grammar is unsatisfiable: it allows no answer at all"
    message = re.split(r"<(?:state|backtrace|grammar|warnings|non-verbose)\b", message)[0]
    parse_error = re.search(r"regex parse error:.*?^error: (.+?)$", message, re.DOTALL | re.M)
    if parse_error:
        return f"not a regular expression: {parse_error.group(1).strip()}"
    lines = [line.strip() for line in message.strip().splitlines()]
    kept = [line for line in lines if line and not re.fullmatch(r"[\^~\s]+|\d+ \|.*", line)]
    return one_line(" ".join(kept), 300)
