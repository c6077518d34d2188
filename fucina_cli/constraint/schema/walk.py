"""The places of a schema that hold schemas, and rewriting all of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

#: Keywords whose value is a schema, a list of schemas, or an object of schemas. `items` may be
#: a list in older drafts, and a property of `dependencies` may be a list of names.
ONE = frozenset(
    {
        "additionalItems", "additionalProperties", "contains", "contentSchema", "else", "if",
        "items", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
    }
)  # fmt: skip
MANY = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
NAMED = frozenset(
    {
        "$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties",
        "properties",
    }
)  # fmt: skip

Schema = Any  # a dict or a bool


@dataclass(frozen=True)
class Note:
    """What the grammar leaves to the judge, or what the user should know.

    Attributes:
        text: one line; names the keyword.
        pointer: JSON pointer of the schema that it is about, "" for the root.
        relaxed: whether the grammar then accepts answers that the schema does not.
        impossible: whether it is about a schema that no value satisfies.
    """

    text: str
    pointer: str
    relaxed: bool = True
    impossible: bool = False


@dataclass
class Scope:
    """Where a rewrite works.

    Attributes:
        root: the whole schema, for references; already rewritten in part.
        pointer: JSON pointer of the schema being rewritten.
        notes: what was noted so far, in order.
    """

    root: Schema
    pointer: str = ""
    notes: list[Note] = field(default_factory=list)

    def note(self, text: str, *, relaxed: bool = True) -> None:
        """Note something about the schema being rewritten."""
        self.notes.append(Note(text, self.pointer, relaxed))

    def impossible(self, text: str) -> Schema:
        """`false` in place of the schema being rewritten, which no value satisfies, and why."""
        self.notes.append(Note(text, self.pointer, relaxed=False, impossible=True))
        return False


Rewrite = Callable[[dict[str, Any], Scope], Schema]


def rewritten(schema: Schema, rewrite: Rewrite, scope: Scope) -> Schema:
    """`schema` with every schema inside it, then itself, replaced by what `rewrite` returns.

    Values that are not schemas (of `enum`, `const`, `default`, unknown keywords) are left alone.
    `schema` itself is not changed. Raises RecursionError.
    """
    if not isinstance(schema, dict):
        return schema
    here = scope.pointer
    result: dict[str, Any] = {}
    for key, value in schema.items():
        result[key] = _inside(key, value, rewrite, scope, f"{here}/{escaped(key)}")
    scope.pointer = here
    return rewrite(result, scope)


def _inside(key: str, value: Any, rewrite: Rewrite, scope: Scope, pointer: str) -> Any:
    scope.pointer = pointer
    if key in MANY and isinstance(value, list):
        changed = []
        for index, part in enumerate(value):
            scope.pointer = f"{pointer}/{index}"
            changed.append(rewritten(part, rewrite, scope))
        return changed
    if key in NAMED and isinstance(value, dict):
        named = {}
        for name, part in value.items():
            scope.pointer = f"{pointer}/{escaped(name)}"
            named[name] = rewritten(part, rewrite, scope)
        return named
    if key in ONE:
        return rewritten(value, rewrite, scope)
    return value


def escaped(name: str) -> str:
    """A key as part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
