"""Run GGUF language models whose answers fit a JSON schema, regex, grammar or list of choices.

    from fucina_cli import Job, JsonSchema, Runner

    with Runner.open("model.gguf") as runner:
        answer = runner.answer(Job.chat("I was charged twice.", JsonSchema(schema)))
        print(answer.value)

Importing this package loads no native library.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fucina_cli.answer import Answer
    from fucina_cli.constraint.kind import GrammarError
    from fucina_cli.constraint.kinds.choice import Choice
    from fucina_cli.constraint.kinds.gbnf import Gbnf
    from fucina_cli.constraint.kinds.json_schema import JsonSchema
    from fucina_cli.constraint.kinds.lark import Lark
    from fucina_cli.constraint.kinds.regex import Regex
    from fucina_cli.errors import InputError
    from fucina_cli.job import Job
    from fucina_cli.runner import Runner, RunnerError

__all__ = [
    "Answer",
    "Choice",
    "Gbnf",
    "GrammarError",
    "InputError",
    "Job",
    "JsonSchema",
    "Lark",
    "Regex",
    "Runner",
    "RunnerError",
]

_WHERE = {
    "Answer": "answer",
    "GrammarError": "constraint.kind",
    "InputError": "errors",
    "Job": "job",
    "Runner": "runner",
    "RunnerError": "runner",
}


def __getattr__(name: str) -> Any:
    """Load what is asked for, and nothing before."""
    import importlib

    if name in _WHERE:
        return getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    if not name.startswith("_"):
        from fucina_cli.constraint.kind import kinds

        for kind in kinds():
            if kind.spec.__name__ == name:
                return kind.spec
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
