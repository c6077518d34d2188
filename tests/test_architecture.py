"""The rooms of the house, as the README lists them, against what the code really imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import fucina_cli

PACKAGE = Path(fucina_cli.__file__).parent
README = Path(__file__).resolve().parents[1] / "README.md"


def floors() -> list[list[str]]:
    """The rooms of the README, from the top: those of one line stand side by side."""
    section = README.read_text().split("## How it is built", 1)[1]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block is not None
    names = [re.split(r"\s{2,}", line.strip())[0] for line in block[1].splitlines()]
    return [line.split() for line in names if line]


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(PACKAGE.rglob("*.py")):
        yield ".".join(path.relative_to(PACKAGE).with_suffix("").parts), ast.parse(path.read_text())


def imported(tree: ast.Module) -> Iterator[str]:
    """Every module that is imported anywhere, for types too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_readme_names_every_room_once() -> None:
    rooms = [room for floor in floors() for room in floor]
    found = {
        path.stem
        for path in PACKAGE.iterdir()
        if (path.suffix == ".py" and path.stem != "__init__") or (path / "__init__.py").exists()
    }
    assert sorted(rooms) == sorted(found)


def test_every_import_leads_down_or_stays_on_its_floor() -> None:
    level = {room: i for i, floor in enumerate(floors()) for room in floor}
    upwards = []
    for name, tree in modules():
        room = name.split(".")[0]
        if room == "__init__":
            continue
        for target in imported(tree):
            parts = target.split(".")
            if parts[0] == "fucina_cli" and len(parts) > 1 and parts[1] in level:
                other = parts[1]
                if level[other] < level[room] or (level[other] == level[room] and other != room):
                    upwards.append(f"{name} -> {target}")
    assert not upwards


def test_only_one_room_touches_llama_cpp() -> None:
    touching = {
        name.split(".")[0]
        for name, tree in modules()
        for target in imported(tree)
        if target.split(".")[0] == "llama_cpp"
    }
    assert touching <= {"llama", "bench"}


def test_nothing_below_the_command_line_prints_or_knows_a_flag() -> None:
    above = {"cli", "bench", "tiny", "qwen3", "gemma4", "generic"}
    for name, tree in modules():
        if name.split(".")[0] in above:
            continue
        for node in ast.walk(tree):
            called = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
            assert not (called and node.func.id == "print"), name  # type: ignore[attr-defined]
        texts = [
            node.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        docstrings = {
            ast.get_docstring(node, clean=False)
            for node in ast.walk(tree)
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        }
        declared = {"options", "runtime", "job", "sampling.config", "constraint.kinds.json_schema"}
        for text in texts:
            if text in docstrings or name in declared:
                continue
            assert not re.search(r"(?<![\w-])--[a-z]", text), (name, text)
