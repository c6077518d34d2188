"""A GBNF grammar as one of the grammar engine."""

from __future__ import annotations

from fucina_cli.constraint.gbnf.lexemes import cut
from fucina_cli.constraint.gbnf.notation import NOTHING, ROOT
from fucina_cli.constraint.gbnf.reading import Grammar
from fucina_cli.constraint.gbnf.regular import productive, regular, unrolled
from fucina_cli.constraint.gbnf.writing import written
from fucina_cli.constraint.kind import GrammarError


def translated(grammar: Grammar) -> str:
    """The same sentences in the engine's dialect of Lark.

    Raises GrammarError where no text of finite length is one.
    """
    rules = productive(grammar.rules)
    if rules[ROOT] == NOTHING:
        raise GrammarError(f"no answer ends: every text of `{ROOT}` has to go on for ever")
    rules = productive(unrolled(rules))
    return written(cut(rules, regular(rules)))
