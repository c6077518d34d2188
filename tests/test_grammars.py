"""The grammars that come with the tool: the built-in models' answers end and are valid."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fucina_cli import Choice, Job, JsonSchema, Lark, Regex, Runner

FOLDER = Path(__file__).resolve().parents[1] / "grammars"
KINDS: dict[str, Any] = {
    ".json": JsonSchema,
    ".regex": lambda text: Regex(text.strip()),
    ".lark": Lark,
    ".txt": lambda text: Choice(tuple(text.split())),
}
MESSAGES = ("Book a review with ana@example.com tomorrow at 10.", "What is (7 + 5) * 3 - 2?")


@pytest.fixture(scope="module", params=["qwen3", "gemma4"])
def runner(request: pytest.FixtureRequest) -> Iterator[Runner]:
    with Runner.open("tiny", family=request.param) as opened:
        yield opened


@pytest.mark.parametrize("path", sorted(FOLDER.iterdir()), ids=lambda path: path.name)
def test_answers_end_long_before_the_limit(runner: Runner, path: Path) -> None:
    constraint = KINDS[path.suffix](path.read_text(encoding="utf-8"))
    samplings: list[dict[str, Any]] = [{"greedy": True}]
    samplings += [{"temperature": 1.5, "seed": seed} for seed in range(3)]
    jobs = [
        Job.chat(message, constraint, gen=1000, **sampling)
        for message in MESSAGES
        for sampling in samplings
    ]
    for answer in runner.answers(jobs, streams=4):
        assert answer.complete, answer.text
        assert answer.stop_reason in ("constraint", "eos")
        assert answer.valid is (None if path.suffix == ".lark" else True), answer.errors
