"""What was probably meant by the name of a model that is no file."""

from __future__ import annotations

import difflib
import os
import re
from pathlib import Path

from fucina_cli import builtin
from fucina_cli.cli.process.exits import FlagError

_HUB = re.compile(
    r"(?:hf:/+|(?:https?:/+)?(?:www\.)?(?:hf\.co|huggingface\.co)/)?"
    r"(?P<repo>[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*)(?P<tag>:[\w.-]+)?/?"
)
_OLLAMA = re.compile(r"[a-z0-9][\w.-]*:[\w.-]+", re.ASCII)
_SIMILAR = 0.75


def check_model(name: str) -> None:
    """Raise FlagError for a model that is neither a file nor built in, with the way out."""
    try:
        missing = bool(name) and name != builtin.NAME and not os.path.lexists(name)
    except (OSError, ValueError):
        return
    if missing:
        raise FlagError(f"'{name}'", f"no such file; {way_out(name)}")


def way_out(name: str) -> str:
    """What to do about the name of a model for which there is no file."""
    if name.lower().removesuffix(".gguf") == builtin.NAME:
        return f"the built-in model is named {builtin.NAME}"
    near = _near(Path(name))
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
