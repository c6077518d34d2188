"""Which rules of a grammar are regular, after rewriting those that only look recursive."""

from __future__ import annotations

from collections.abc import Iterator

from fucina_cli.constraint.gbnf.notation import (
    EMPTY,
    NOTHING,
    ROOT,
    Alt,
    Chars,
    Expr,
    Ref,
    Repeat,
    Seq,
    alt,
    inside,
    references,
    repeat,
    seq,
)

Rules = dict[str, Expr]


def productive(rules: Rules) -> Rules:
    """The rules that `root` reaches, without options that no finite text satisfies."""
    ending: set[str] = set()
    before = -1
    while len(ending) != before:
        before = len(ending)
        ending.update(name for name in rules if _ends(rules[name], ending))
    kept: Rules = {}
    todo = [ROOT]
    while todo:
        name = todo.pop()
        if name not in kept:
            kept[name] = _pruned(rules[name], ending)
            todo += references(kept[name])
    return kept


def _ends(expr: Expr, ending: set[str]) -> bool:
    """Whether a text satisfies `expr`, where the rules `ending` have one."""
    if isinstance(expr, Ref):
        return expr.name in ending
    if isinstance(expr, Alt):
        return any(_ends(option, ending) for option in expr.options)
    if isinstance(expr, Repeat):
        return expr.least == 0 or _ends(expr.part, ending)
    return all(_ends(part, ending) for part in inside(expr))


def _pruned(expr: Expr, ending: set[str]) -> Expr:
    if isinstance(expr, Ref):
        return expr if expr.name in ending else NOTHING
    if isinstance(expr, Seq):
        return seq(_pruned(part, ending) for part in expr.parts)
    if isinstance(expr, Alt):
        pruned = (_pruned(option, ending) for option in expr.options)
        return alt(option for option in pruned if option != NOTHING)
    if isinstance(expr, Repeat):
        return repeat(_pruned(expr.part, ending), expr.least, expr.most)
    return expr


def unrolled(rules: Rules) -> Rules:
    """Rules that call themselves at their end only, as loops: `a ::= x a | y` is `x* y`."""
    made = {}
    for name, expr in rules.items():
        parts = _tail(expr, name) if name in references(expr) else None
        made[name] = expr if parts is None else seq([repeat(parts[0], 0, None), parts[1]])
    return made


def _tail(expr: Expr, name: str) -> tuple[Expr, Expr] | None:
    """X and Y, both without the rule `name`, where `expr` is `X name | Y`; None where it isn't."""
    if expr == Ref(name):
        return EMPTY, NOTHING
    if name not in references(expr):
        return NOTHING, expr
    if isinstance(expr, Alt):
        options = [_tail(option, name) for option in expr.options]
        if None in options:
            return None
        found = [option for option in options if option is not None]
        return _choice(x for x, _ in found), _choice(y for _, y in found)
    if isinstance(expr, Repeat) and (expr.least, expr.most) == (0, 1):
        last = _tail(expr.part, name)
        return last and (last[0], _choice([last[1], EMPTY]))
    if isinstance(expr, Seq) and name not in references(Seq(expr.parts[:-1])):
        last = _tail(expr.parts[-1], name)
        first = expr.parts[:-1]
        return last and (seq([*first, last[0]]), seq([*first, last[1]]))
    return None


def _choice(options: Iterator[Expr] | list[Expr]) -> Expr:
    return alt(option for option in options if option != NOTHING)


def regular(rules: Rules) -> set[str]:
    """Names of the rules that are not recursive and mention only such rules."""
    users: dict[str, list[str]] = {name: [] for name in rules}
    missing: dict[str, int] = {}
    for name, expr in rules.items():
        mentioned = set(references(expr))
        missing[name] = len(mentioned)
        for other in mentioned:
            users[other].append(name)
    found = [name for name, count in missing.items() if not count]
    for name in found:  # grows
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                found.append(user)
    return set(found)


class NonEmpty:
    """Expressions without the empty text, for regular rules.

    The rules that this takes are added to `rules` under names that no user can write.
    """

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._nullable: dict[Expr, bool] = {}

    def nullable(self, expr: Expr) -> bool:
        """Whether the empty text satisfies a regular expression."""
        known = self._nullable.get(expr)
        if known is None:
            known = self._nullable[expr] = self._is_nullable(expr)
        return known

    def _is_nullable(self, expr: Expr) -> bool:
        if isinstance(expr, Chars):
            return False
        if isinstance(expr, Ref):
            return self.nullable(self._rules[expr.name])
        if isinstance(expr, Repeat):
            return expr.least == 0 or self.nullable(expr.part)
        nullable = map(self.nullable, inside(expr))
        return any(nullable) if isinstance(expr, Alt) else all(nullable)

    def of(self, expr: Expr) -> Expr:
        """`expr` without the empty text."""
        if not self.nullable(expr):
            return expr
        if isinstance(expr, Ref):
            name = f"{expr.name}'"
            if name not in self._rules:
                self._rules[name] = self.of(self._rules[expr.name])
            return Ref(name) if self._rules[name] != NOTHING else NOTHING
        if isinstance(expr, Alt):
            return _choice(list(map(self.of, expr.options)))
        if isinstance(expr, Repeat):
            return repeat(self.of(expr.part), 1, expr.most)
        # The first part that isn't empty, and what follows it.
        return _choice(
            [
                seq([self.of(part), *inside(expr)[at + 1 :]])
                for at, part in enumerate(inside(expr))
                if self.of(part) != NOTHING
            ]
        )
