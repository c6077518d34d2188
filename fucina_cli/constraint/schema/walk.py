"""The places of a schema that hold schemas, and rewriting all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

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
T = TypeVar("T")


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
    _known: dict[Callable[[Schema], Any], tuple[Schema, Any]] = field(default_factory=dict)

    def whole(self, make: Callable[[Schema], T]) -> T:
        """What `make` says of the whole schema, worked out once for each state of it."""
        root, made = self._known.get(make, (None, None))
        if root is not self.root or root is None:
            made = make(self.root)
            self._known[make] = (self.root, made)
        return cast(T, made)

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
    inside = each_inside(schema, lambda part: rewritten(part, rewrite, scope), scope)
    return rewrite(inside, scope)


def each_inside(
    schema: dict[str, Any], change: Callable[[Schema], Schema], scope: Scope
) -> dict[str, Any]:
    """`schema` with the schemas directly inside it changed; `scope` points at each meanwhile."""
    here = scope.pointer
    result = {
        key: _inside(key, value, change, scope, f"{here}/{escaped(key)}")
        for key, value in schema.items()
    }
    scope.pointer = here
    return result


def parts(schema: Schema, pointer: str = "") -> list[tuple[str, Schema]]:
    """The schemas directly inside one, with their JSON pointers; `pointer` is its own."""
    found: list[tuple[str, Schema]] = []
    for key, value in schema.items() if isinstance(schema, dict) else ():
        here = f"{pointer}/{escaped(key)}"
        if key in MANY and isinstance(value, list):
            found += ((f"{here}/{index}", part) for index, part in enumerate(value))
        elif key in NAMED and isinstance(value, dict):
            found += ((f"{here}/{escaped(name)}", part) for name, part in value.items())
        elif key in ONE:
            found.append((here, value))
    return [each for each in found if isinstance(each[1], dict | bool)]


def subschemas(schema: Schema, pointer: str = "") -> Iterator[tuple[str, Schema]]:
    """`schema` and every schema inside it with their JSON pointers, outer ones first.

    Raises RecursionError.
    """
    yield pointer, schema
    for inner, part in parts(schema, pointer):
        yield from subschemas(part, inner)


def _inside(
    key: str, value: Any, change: Callable[[Schema], Schema], scope: Scope, pointer: str
) -> Any:
    if key in MANY and isinstance(value, list):
        changed = []
        for index, part in enumerate(value):
            scope.pointer = f"{pointer}/{index}"
            changed.append(change(part))
        return changed
    if key in NAMED and isinstance(value, dict):
        named = {}
        for name, part in value.items():
            scope.pointer = f"{pointer}/{escaped(name)}"
            # A property of `dependencies` may be a list of names.
            named[name] = change(part) if isinstance(part, (dict, bool)) else part
        return named
    if key in ONE and isinstance(value, (dict, bool)):
        scope.pointer = pointer
        return change(value)
    return value


def resolved(schema: Schema, pointer: str) -> Any:
    """The value at a JSON pointer. Raises LookupError and ValueError where there is none."""
    value: Any = schema
    for part in pointer.split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        value = value[int(name)] if isinstance(value, list) else value[name]
    return value


def escaped(name: str) -> str:
    """A key as part of a JSON pointer (RFC 6901)."""
    return name.replace("~", "~0").replace("/", "~1")
