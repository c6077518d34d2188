"""Compiles constraints for a model's vocabulary, each once."""

from __future__ import annotations

import time
from collections.abc import Hashable
from dataclasses import dataclass

from fucina_cli.constraint import grammar
from fucina_cli.constraint.apart import Apart
from fucina_cli.constraint.grammar import Grammar, Tokens
from fucina_cli.constraint.guard import Guard
from fucina_cli.constraint.judge import Judge
from fucina_cli.constraint.kind import Spec
from fucina_cli.constraint.recent import Recent
from fucina_cli.llama.vocabulary import Vocabulary


@dataclass(frozen=True)
class Compiled:
    """A constraint compiled for one model, the seconds that it took, and its judge."""

    spec: Spec
    grammar: Grammar
    warnings: tuple[str, ...]
    seconds: float
    judge: Judge


class Compiler:
    """Compiles for one vocabulary; the last 64 grammars are kept, so equal ones compile once."""

    def __init__(self, vocabulary: Vocabulary, guard: Guard) -> None:
        self._vocabulary, self._guard = vocabulary, guard
        self._tokens: dict[int, Tokens] = {}
        self._compiled: Recent[Compiled] = Recent()
        self._begun: dict[Hashable, Apart[tuple[Grammar, float]]] = {}  # at most one

    def known(self, spec: Spec, stop_token: int) -> Compiled | None:
        """The kept result of `compile` for an equal constraint, if any."""
        return self._compiled.get((spec.identity, stop_token))

    def is_ready(self, spec: Spec, stop_token: int, seconds: float) -> bool:
        """Whether `compile` will return at once; if it is begun now, it gets `seconds` for that.

        Raises as `compile`.
        """
        key = (spec.identity, stop_token)
        if self.known(spec, stop_token) is not None:
            return True
        if key in self._begun:
            return self._begun[key].is_done(0)
        self._begun = {key: self._compiling(spec, stop_token)}  # another is no longer wanted
        return self._begun[key].is_done(seconds)

    def compile(self, spec: Spec, stop_token: int, *, anew: bool = False) -> Compiled:
        """The grammar of a constraint that ends on `stop_token`.

        `anew` compiles even where a result is kept: copies of one grammar share their engine's
        budget, so after a failure of one its copies may fail too. Raises GrammarError, and
        ModelError for a vocabulary that the engine can't work with.
        """
        known = self.known(spec, stop_token)
        if known is not None and not anew:
            return known
        key = (spec.identity, stop_token)
        work = self._begun.pop(key, None) or self._compiling(spec, stop_token)
        compiled, seconds = work.value()
        judge = known.judge if known is not None else Judge(spec, self._guard)
        warnings = self._guard.prepare(spec).warnings
        made = Compiled(spec, compiled, warnings, seconds, judge)
        self._compiled.put(key, made)
        return made

    def _compiling(self, spec: Spec, stop_token: int) -> Apart[tuple[Grammar, float]]:
        checked = self._guard.prepare(spec)
        begin = time.perf_counter()
        tokens = self._tokens.get(stop_token)
        if tokens is None:
            tokens = self._tokens[stop_token] = grammar.build_tokens(self._vocabulary, stop_token)

        def work() -> tuple[Grammar, float]:
            compiled = grammar.compile_grammar(checked, tokens)
            return compiled, time.perf_counter() - begin

        return Apart(work, self._guard.seconds)
