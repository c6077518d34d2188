"""README and RUNNING-MODELS say what the command line does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer.main

from fucina_cli import Choice, JsonSchema, Lark, Regex
from fucina_cli.cli.command import build
from fucina_cli.constraint.kind import Spec
from fucina_cli.families.registry import families

ROOT = Path(__file__).resolve().parents[1]


def _flags() -> set[str]:
    found: set[str] = set()
    for family in families():
        command = typer.main.get_command(build(family, lambda _line: 0))
        for parameter in command.params:
            found.update(o for o in parameter.opts if o.startswith("-"))
            found.update(o for o in parameter.secondary_opts if o.startswith("-"))
    return found


def test_running_models_mentions_every_flag() -> None:
    text = (ROOT / "RUNNING-MODELS.md").read_text()
    flags = _flags()
    assert len(flags) > 35
    missing = {f for f in flags if not re.search(rf"(?<![\w-]){re.escape(f)}(?![\w-])", text)}
    assert not missing


@pytest.mark.parametrize("name", ["README.md", "RUNNING-MODELS.md"])
def test_documents_mention_no_flag_that_does_not_exist(name: str) -> None:
    text = (ROOT / name).read_text()
    commands = [
        line for line in text.splitlines() if re.search(r"fucina-(run|qwen3|gemma4) ", line)
    ]
    used = {flag for line in commands for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]+", line)}
    assert used <= _flags()


def test_the_top_level_holds_only_what_it_should() -> None:
    allowed = {
        *("pyproject.toml", "fucina_cli", "tests", "grammars"),
        *("RUNNING-MODELS.md", "README.md", "LICENSE"),
    }
    built = {"build", "dist"}
    names = {p.name for p in ROOT.iterdir() if not p.name.startswith(".")}
    assert {n for n in names - built if not n.endswith(".egg-info")} == allowed


@pytest.mark.parametrize("path", sorted((ROOT / "grammars").iterdir()), ids=lambda p: p.name)
def test_every_example_grammar_compiles_without_a_warning(path: Path) -> None:
    text = path.read_text()
    readers: dict[str, Callable[[str], Spec]] = {
        ".json": JsonSchema,
        ".lark": Lark,
        ".regex": lambda t: Regex(t.strip()),
        ".txt": lambda t: Choice(t.splitlines()),
    }
    given = readers[path.suffix](text)
    assert given.prepare().warnings == ()
