"""A grammar over terminals in the engine's dialect of Lark."""

from __future__ import annotations

from collections.abc import Iterable

from fucina_cli.constraint.gbnf.lexemes import Call, Choice, Cut, Loop, Node, Sequence, Terminal
from fucina_cli.constraint.gbnf.notation import ROOT, Alt, Chars, Expr, Ref, Repeat, Seq

_EMPTY = '""'


def written(made: Cut) -> str:
    """The grammar's text; its first rule is `start`."""
    writer = _Writer()
    lines = [f"{writer.rule(name)}: {writer.node(node)}" for name, node in made.parser.items()]
    return "\n".join([*lines, *writer.terminals(made)]) + "\n"


class _Writer:
    """Gives rules and terminals names of Lark, in the order in which they are met."""

    def __init__(self) -> None:
        self._rules = {ROOT: "start"}
        self._terminals: dict[Expr, str] = {}

    def rule(self, name: str) -> str:
        """The name of a rule of the parser."""
        return self._rules.setdefault(name, f"r{len(self._rules)}")

    def _terminal(self, expr: Expr) -> str:
        return self._terminals.setdefault(expr, f"T{len(self._terminals)}")

    def node(self, node: Node) -> str:
        """A node, in parentheses where it has several parts."""
        if isinstance(node, Terminal):
            return self._terminal(node.expr)
        if isinstance(node, Call):
            return self.rule(node.name)
        if isinstance(node, Loop):
            return f"({self.node(node.node)}){_times(node.least, node.most)}"
        if isinstance(node, Sequence):
            return _in_parentheses(map(self.node, node.nodes), " ")
        assert isinstance(node, Choice)
        return _in_parentheses(map(self.node, node.nodes), " | ")

    def terminals(self, made: Cut) -> Iterable[str]:
        """The definitions of all terminals that were named, and of those that they mention."""
        done = 0
        while done < len(self._terminals):
            expr, name = list(self._terminals.items())[done]
            rule = made.lexer[expr.name] if isinstance(expr, Ref) else expr
            yield f"{name}: {self._expr(rule)}"
            done += 1

    def _expr(self, expr: Expr) -> str:
        if isinstance(expr, Ref):
            return self._terminal(expr)
        if isinstance(expr, Repeat):
            return f"({self._expr(expr.part)}){_times(expr.least, expr.most)}"
        if isinstance(expr, Alt):
            return _in_parentheses(map(self._expr, expr.options), " | ")
        parts: list[str] = []
        joined = ""
        for part in expr.parts if isinstance(expr, Seq) else (expr,):
            if isinstance(part, Chars):
                joined += _set(part)
                continue
            parts += [f"/{joined}/"] if joined else []
            parts.append(self._expr(part))
            joined = ""
        parts += [f"/{joined}/"] if joined else []
        return _in_parentheses(parts, " ")


def _in_parentheses(texts: Iterable[str], between: str) -> str:
    parts = list(texts)
    if len(parts) < 2:
        return parts[0] if parts else _EMPTY
    return f"({between.join(parts)})"


def _times(least: int, most: int | None) -> str:
    short = {(0, None): "*", (1, None): "+", (0, 1): "?"}.get((least, most))
    return short or f"{{{least},{'' if most is None else most}}}"


def _set(chars: Chars) -> str:
    r"""A set of characters as a regular expression, all of them as \x{…}."""
    texts = [
        f"\\x{{{low:X}}}" if low == high else f"\\x{{{low:X}}}-\\x{{{high:X}}}"
        for low, high in chars.intervals
    ]
    text = "".join(texts)
    return text if len(texts) == 1 and "-" not in text else f"[{text}]"
