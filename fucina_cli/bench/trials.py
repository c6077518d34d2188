"""Tries one schema: compiles it, walks its grammar, and feeds it documents."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from fucina_cli.bench.cases import Case, Instance, texts
from fucina_cli.bench.walks import Walker
from fucina_cli.constraint import grammar
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.grammar import Grammar
from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.kinds.json_schema import JsonSchema
from fucina_cli.llama.model import Model

Status = Literal["given", "relaxed", "refused"]


@dataclass(frozen=True)
class Walked:
    """A walk that ended: its answer and the judge's verdict."""

    text: str
    valid: bool | None
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Fed:
    """A document for the schema.

    Attributes:
        text: as it was fed.
        valid: what the Test Suite says.
        accepted: what the grammar says, None without one.
        judged: what the judge says.
        errors: why the judge says so.
    """

    description: str
    text: str
    valid: bool
    accepted: bool | None
    judged: bool | None
    errors: tuple[str, ...]


@dataclass
class Trial:
    """What came of a schema.

    Attributes:
        status: compiled as given, relaxed, or refused.
        reason: why it was refused.
        warnings: of the compiled one.
        seconds: that compiling took, or refusing.
        walks: how many there were.
        unended: walks that did not end within their length.
        ended: the others.
        failures: why walks failed.
        fed: documents.
    """

    status: Status
    reason: str = ""
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0
    walks: int = 0
    unended: int = 0
    ended: list[Walked] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    fed: list[Fed] = field(default_factory=list)


@dataclass(frozen=True)
class Trying:
    """Makes what tries cases, in a process of its own.

    Attributes:
        model: path of a GGUF file, for its vocabulary.
        walks: for each schema.
        most: tokens of a walk.
        seed: of the walks.
    """

    model: Path
    walks: int
    most: int
    seed: int

    def __call__(self) -> Callable[[Case, Callable[[Trial], None]], Trial]:
        """What tries a case; it says what it has so far from time to time."""
        vocabulary = Model(self.model, vocab_only=True).vocabulary
        tokens = grammar.build_tokens(vocabulary, vocabulary.eos or 0)
        walker = Walker(vocabulary, self.most)
        warm_up = JsonSchema({})  # else the first case would take the time of imports
        warm_up.prepare()
        warm_up.judge("1")

        def compiled(spec: JsonSchema, trial: Trial) -> Grammar | None:
            begin = time.perf_counter()
            try:
                prepared = spec.prepare()
                made = grammar.compile_grammar(prepared, tokens)
            except GrammarError as error:
                trial.status, trial.reason = "refused", str(error)
                return None
            finally:
                trial.seconds = time.perf_counter() - begin
            trial.status = "relaxed" if prepared.relaxed else "given"
            trial.warnings = prepared.warnings
            return made

        def tried(case: Case, say: Callable[[Trial], None]) -> Trial:
            trial = Trial("refused")
            try:
                spec = JsonSchema(case.schema)
            except GrammarError as error:
                trial.reason = str(error)
                return trial
            made = compiled(spec, trial)
            say(trial)
            for instance in case.instances:
                trial.fed.append(fed(spec, made, case, instance))
                say(trial)
            for number in range(self.walks if made is not None else 0):
                assert made is not None
                trial.walks += 1
                try:
                    walk = walker.walk(made.constraint(), self.seed + number)
                except ConstraintError as error:
                    trial.failures.append(str(error))
                    continue
                if not walk.ended:
                    trial.unended += 1
                    continue
                text = walk.text.decode("utf-8", "replace")
                verdict = spec.judge(text)
                trial.ended.append(Walked(text, verdict.valid, verdict.errors))
                say(trial)
            return trial

        def fed(spec: JsonSchema, made: Grammar | None, case: Case, instance: Instance) -> Fed:
            schema = json.loads(case.schema)
            likeliest, *others = texts(instance.data, schema)
            accepted = None if made is None else False
            text = likeliest
            if made is not None:
                for each in (likeliest, *others):
                    if accepts(made, each):
                        accepted, text = True, each
                        break
            verdict = spec.judge(text)
            return Fed(
                instance.description, text, instance.valid, accepted, verdict.valid, verdict.errors
            )

        def accepts(made: Grammar, text: str) -> bool:
            constraint = made.constraint()
            with contextlib.suppress(ConstraintError):
                ids = vocabulary.tokenize(text)
                return constraint.valid_prefix_len(ids) == len(ids) and _complete(constraint, ids)
            return False

        return tried


def _complete(constraint: Constraint, ids: list[int]) -> bool:
    for token in ids:
        constraint.commit(token)
    return constraint.complete
