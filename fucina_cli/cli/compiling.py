"""Constraints compiled for a model's vocabulary, each once."""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from fucina_cli.cli import output, session
from fucina_cli.cli.options import Options
from fucina_cli.constraint import grammar
from fucina_cli.constraint.grammar import Grammar, Prepared, Tokens
from fucina_cli.constraint.source import Source
from fucina_cli.constraint.validation import Judge
from fucina_cli.families.family import Family
from fucina_cli.llama.model import Model

_KEPT = 64  # grammars
_Value = TypeVar("_Value")


@dataclass(frozen=True)
class Compiled:
    """A grammar for one model, the seconds that it took, and who judges its answers."""

    grammar: Grammar
    seconds: float
    judge: Judge


class _Recent(Generic[_Value]):
    """The values last asked for, by their keys."""

    def __init__(self) -> None:
        self._values: OrderedDict[Hashable, _Value] = OrderedDict()

    def get(self, key: Hashable) -> _Value | None:
        if key in self._values:
            self._values.move_to_end(key)
        return self._values.get(key)

    def put(self, key: Hashable, value: _Value) -> None:
        self._values[key] = value
        self._values.move_to_end(key)
        if len(self._values) > _KEPT:
            self._values.popitem(last=False)


class Compiler:
    """Compiles for one model; the last 64 grammars are kept, so equal ones compile once."""

    def __init__(self, family: Family, model: Model) -> None:
        self._family, self._model = family, model
        self._tokens: dict[int, Tokens] = {}
        self._prepared: _Recent[Prepared] = _Recent()
        self._compiled: _Recent[Compiled] = _Recent()

    def prepare(self, options: Options, source: Source | None) -> Prepared | None:
        """As session.prepare_grammar, each source once. Raises FlagError."""
        if source is None:
            return None
        key = (_identity(source), options.json_whitespace)
        known = self._prepared.get(key)
        if known is None:
            known = session.prepare_grammar(options, source)
            if known is not None:
                self._prepared.put(key, known)
        return known

    def compile(
        self,
        options: Options,
        prepared: Prepared | None,
        *,
        anew: bool = False,
        source_name: str | None = None,
    ) -> Compiled | None:
        """The grammar that the options ask for, None for none; each warning is shown once.

        Warnings begin with `source_name`, or else with the flag. `anew` compiles whatever is kept:
        copies of one grammar share their engine's budget, and after a failure of one its copies may
        fail too. Raises FlagError.
        """
        flag = options.constraint_flag
        if prepared is None or flag is None:
            return None
        stop = session.stop_for(options, self._family, self._model)
        key = (_identity(prepared.source), prepared.engine_text, stop)
        known = self._compiled.get(key)
        if known is not None and not anew:
            return known
        begin = time.perf_counter()
        flag += session.file_of(options, flag)
        with session.blame(flag), session.grammar_errors(flag):
            tokens = self._tokens.get(stop)
            if tokens is None:
                tokens = self._tokens[stop] = grammar.build_tokens(self._model.vocabulary, stop)
            compiled = grammar.compile_grammar(prepared, tokens)
        if known is None and not options.quiet:
            for text in compiled.warnings:
                output.warning(f"{source_name or flag}: {text}")
        judge = known.judge if known is not None else Judge(prepared.source)
        made = Compiled(compiled, time.perf_counter() - begin, judge)
        self._compiled.put(key, made)
        return made


def _identity(source: Source) -> Hashable:
    if source.kind == "json_schema":
        # Not sorted: the order of properties is the order in which they are written.
        return source.kind, json.dumps(source.schema)
    return source.kind, source.text, source.choices
