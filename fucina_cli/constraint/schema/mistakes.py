"""What happened to a text that was to be JSON and is not."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"^\s*(//|/\*|#)", re.MULTILINE)
_PYTHON = re.compile(r"[:\[,]\s*(True|False|None)\b")
_TRAILING_COMMA = re.compile(r",\s*[}\]]")


def way_out(text: str) -> str:
    """What most likely went wrong with a text that is not JSON, and the way out; "" if unclear."""
    plain = text.strip()
    if not plain:
        return "the text is empty"
    if plain[0] in "{[" and plain[-1] in "}]" and '"' not in plain:
        if "'" in plain:
            return "JSON takes double quotes"
        return (
            "it has no quotes, which a shell takes away; put single quotes around the whole, "
            "or write it to a file and give @FILE"
        )
    if plain[0] == "'" and plain[-1] == "'":
        return (
            "it is in single quotes, which this shell leaves; put double quotes around it and \\ "
            "before each inner one, or give @FILE"
        )
    if plain[0] == "`" and "{" in plain:
        return "leave out the code fence around it"
    if _COMMENT.search(text):
        return "JSON has no comments"
    if _PYTHON.search(plain):
        return "JSON writes true, false and null"
    if _TRAILING_COMMA.search(plain):
        return "JSON has no comma after the last element"
    if plain[0] == "<" or re.match(r"\w+\s*:", plain):
        return "a schema is written in JSON"
    return ""
