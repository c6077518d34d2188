"""What was probably meant by a path of a model at which there is no file."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

_HUB = re.compile(
    r"(?:hf:/+|(?:https?:/+)?(?:www\.)?(?:hf\.co|huggingface\.co)/)?"
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?P<tag>:[\w.-]+)?/?"
)
_OLLAMA = re.compile(r"[a-z0-9][\w.-]*:[\w.-]+", re.ASCII)
_SIMILAR = 0.75


def way_out(path: Path) -> str:
    """What to do about the path of a model at which there is no file."""
    name = str(path)  # of an address it has one slash after the colon
    near = _near(path)
    if near:
        return f"did you mean '{near}'?"
    hub = _HUB.fullmatch(name)
    if hub and not name.lower().endswith(".gguf") and not name.startswith((".", "~")):
        tag = f" '*{hub['tag'][1:]}*'" if hub["tag"] else " '*.gguf'"
        return (
            "that is a name on a hub, and nothing is downloaded; "
            f"get a file of it (hf download {hub['repo']} --include{tag} --local-dir .) "
            "and give its path"
        )
    if re.match(r"(https?|hf|s3):/", name):
        return "nothing is downloaded; get the file and give its path"
    if _OLLAMA.fullmatch(name):
        return "that is a name of Ollama's, and nothing is downloaded; give a .gguf file"
    if re.search(r"\s", name.strip()) and not name.lower().endswith(".gguf"):
        return "the model comes first, and a text after --chat or --prompt"
    if name.startswith("~"):
        return "the shell has not replaced ~; write the whole path"
    return "check the path"


def _near(path: Path) -> str:
    """A .gguf file in the same directory of nearly the same name; "" without one."""
    try:
        names = sorted(each for each in os.listdir(path.parent) if each.lower().endswith(".gguf"))
    except (OSError, ValueError):
        return ""
    found = difflib.get_close_matches(path.name[:100], names[:200], 1, _SIMILAR)
    return str(path.parent / found[0]) if found else ""
