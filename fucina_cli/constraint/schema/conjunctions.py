"""How the keys of open objects can be closed where the engine intersects several schemas.

The engine intersects what applies to the same value: a schema's own keywords, `allOf`, `$ref`, and
each branch of `anyOf` and `oneOf`. It can do so only if no two different patterns of the parts have
a key in common. So where a pattern is added, it must be the same for all parts, or there must be
one part only that has patterns in every combination of branches.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Any
from urllib.parse import unquote

from fucina_cli.constraint.schema.key_classes import clash
from fucina_cli.constraint.schema.shapes import ANNOTATIONS, allows_all, allows_none, types
from fucina_cli.constraint.schema.walk import MANY, NAMED, ONE, Schema, escaped

_APPLICATORS = frozenset({"$ref", "allOf", "anyOf", "oneOf"})


class Closing(enum.Enum):
    """What is done with an object whose undeclared keys are free."""

    ANY = "the pattern of all keys, which engine and every other part understand"
    ALL = "the same, although it declares no keys: other parts do"
    OWN = "a pattern of exactly those keys that are not declared and match no other pattern"
    NONE = "nothing: another part does it"
    DROP = "nothing, and its patterns are left out, which overlap those of another part"
    CLASH = "nothing, as another part has other patterns"


class Shape(enum.Enum):
    """What a schema, without what it applies in place, says about keys."""

    FREE = "nothing, or only of which schema the values of some keys are"
    SPLIT = "different things of keys that are not declared"
    CLOSED = "that there are no others"


def shape(schema: dict[str, Any]) -> Shape:
    """What a schema's own keywords say about keys."""
    if "object" not in types(schema):
        return Shape.CLOSED
    patterns = schema.get("patternProperties", {})
    rest = schema.get("additionalProperties", True)
    if allows_none(rest) and not patterns:
        return Shape.CLOSED
    if patterns or not allows_all(rest):
        return Shape.SPLIT
    return Shape.SPLIT if any(map(spelled_in_many_ways, names(schema))) else Shape.FREE


def names(schema: dict[str, Any]) -> list[str]:
    """The keys that a schema declares or requires."""
    return list(dict.fromkeys([*schema.get("properties", {}), *schema.get("required", [])]))


def spelled_in_many_ways(name: str) -> bool:
    r"""Whether the engine writes it in one way of several: `\\n` and `\\u000a`, by RFC 8259."""
    return any(char < " " or char == "\x7f" for char in name)


def leaks(schema: dict[str, Any]) -> bool:
    """Whether the engine lets an undeclared key spell a declared or patterned one by escapes."""
    if "object" not in types(schema):
        return False
    patterns = bool(schema.get("patternProperties"))
    if allows_none(schema.get("additionalProperties", True)):
        return patterns and any(map(spelled_in_many_ways, names(schema)))
    return patterns or bool(names(schema))


def closings(root: Schema) -> dict[str, Closing]:
    """For every schema in `root`, by JSON pointer, how its keys are closed."""
    plan = _Plan(root)
    while True:
        found = plan.attempt()
        clashing = {pointer for pointer, chosen in found.items() if len(chosen) > 1}
        if clashing <= plan.clashing:
            return {pointer: _chosen(pointer, plan) for pointer in found}
        plan.clashing |= clashing


def _chosen(pointer: str, plan: _Plan) -> Closing:
    chosen = plan.found[pointer]
    if Closing.DROP in chosen:
        return Closing.DROP
    return Closing.CLASH if pointer in plan.clashing else next(iter(chosen))


def companions(root: Schema) -> dict[str, list[str]]:
    """For every schema in `root`, the keys that all schemas of the same value declare."""
    return _Plan(root).companions()


#: Stands for a branch `true`.
_TRUE = "true"
_Choice = tuple[str, ...]


class _Plan:
    def __init__(self, root: Schema) -> None:
        self.schemas = dict(_inside(root, ""))
        self.parts = {pointer: self._parts(pointer) for pointer in self.schemas}
        self.clashing: set[str] = set()
        self.found: dict[str, set[Closing]] = {}
        self._most_splits: dict[str, int] = {}

        joined: set[str] = set()
        for pointer, parts in self.parts.items():
            if len(parts) > 1:
                joined |= self._members(pointer) - {pointer}
        alone = {
            target
            for pointer in self.schemas
            if pointer not in joined and len(self.parts[pointer]) < 2
            for target in [self._target(self.schemas[pointer])]
            if target is not None
        }
        self.wholes = [
            pointer for pointer in self.schemas if pointer not in joined or pointer in alone
        ]

    def attempt(self) -> dict[str, set[Closing]]:
        """Each schema's closing, or several where its places want different ones."""
        self.found = {}
        for pointer in self.wholes:
            members = self._members(pointer)
            if len(self.parts[pointer]) < 2:
                if (pointer,) in self.parts[pointer] and leaks(self.schemas[pointer]):
                    self._choose(pointer, Closing.OWN if self._split(pointer) else Closing.ANY)
            elif self._splits(pointer) > 1 and (dropped := self._overlapping(members)):
                self.clashing |= members
                for member in members:
                    self._choose(member, Closing.DROP if member in dropped else Closing.CLASH)
            elif self._closed(pointer) and not self._odd(members):
                for member in members if any(map(self._split, members)) else ():
                    self._choose(member, Closing.NONE)
            elif members & self.clashing or not self._cover(pointer, set()):
                self.clashing |= members
                for member in members:
                    self._choose(member, Closing.CLASH)
        return self.found

    def _choose(self, pointer: str, closing: Closing) -> None:
        self.found.setdefault(pointer, set()).add(closing)

    def _split(self, pointer: str) -> bool:
        return shape(self.schemas[pointer]) is Shape.SPLIT

    def _target(self, schema: dict[str, Any]) -> str | None:
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        pointer = unquote(reference[1:])
        return pointer if pointer in self.schemas else None

    def _parts(self, pointer: str) -> list[_Choice]:
        """What the engine intersects: each a choice of schemas; the schema itself may be one."""
        schema = self.schemas[pointer]
        parts: list[_Choice] = []
        if schema.keys() - ANNOTATIONS - _APPLICATORS:
            parts.append((pointer,))
        if "$ref" in schema:
            target = self._target(schema)
            parts.append(() if target is None else (target,))
        for keyword in ("allOf", "anyOf", "oneOf"):
            inside = tuple(
                _TRUE if part is True else f"{pointer}/{keyword}/{index}"
                for index, part in enumerate(schema.get(keyword, []))
                if part is not False
            )
            if keyword == "allOf":
                parts += [(part,) for part in inside if part != _TRUE]
            elif inside:
                parts.append(inside)
        return parts

    def _members(self, pointer: str) -> set[str]:
        """All schemas that apply to the same value as the one at `pointer`, it included."""
        seen = {pointer}
        todo = [pointer]
        while todo:
            for choice in self.parts[todo.pop()]:
                for part in choice:
                    if part != _TRUE and part not in seen:
                        seen.add(part)
                        todo.append(part)
        return seen

    def _splits(self, pointer: str) -> int:
        """The most parts with patterns of their own in any combination of branches, 2 for more."""
        if pointer == _TRUE:
            return 0
        if pointer not in self._most_splits:
            self._most_splits[pointer] = 0  # for a schema that applies itself in place
            total = 0
            for choice in self.parts[pointer]:
                if choice == (pointer,):
                    total += self._split(pointer)
                else:  # a reference that can't be followed may be anything
                    total += max((self._splits(part) for part in choice), default=2)
            self._most_splits[pointer] = min(total, 2)
        return self._most_splits[pointer]

    def _overlapping(self, members: set[str]) -> set[str]:
        """The members whose patterns the engine can't combine with those of the first one."""
        having = [
            pointer
            for pointer, schema in self.schemas.items()
            if pointer in members and schema.get("patternProperties")
        ]
        patterns = dict.fromkeys(
            pattern for pointer in having for pattern in self.schemas[pointer]["patternProperties"]
        )
        return set(having[1:]) if clash(patterns) else set()

    def _odd(self, members: set[str]) -> bool:
        """Whether a pattern of one member may spell a name that another one declares."""
        schemas = [self.schemas[member] for member in members]
        return any("patternProperties" in schema for schema in schemas) and any(
            spelled_in_many_ways(name) for schema in schemas for name in names(schema)
        )

    def _closed(self, pointer: str) -> bool:
        """Whether a part that always applies allows no undeclared keys."""
        seen = {pointer}
        todo = [pointer]
        while todo:
            here = todo.pop()
            schema = self.schemas[here]
            if "object" not in types(schema) or allows_none(
                schema.get("additionalProperties", True)
            ):
                return True
            always = [choice[0] for choice in self.parts[here] if len(choice) == 1]
            todo += [part for part in always if part not in seen and part != _TRUE]
            seen.update(always)
        return False

    def companions(self) -> dict[str, list[str]]:
        """For every schema, the keys that others declare that apply to the same value."""
        found: dict[str, dict[str, None]] = {}
        for pointer in self.wholes:
            members = self._members(pointer)
            declared = dict.fromkeys(
                name
                for other, schema in self.schemas.items()
                if other in members
                for name in schema.get("properties", {})
            )
            for member in members if len(members) > 1 else ():
                found.setdefault(member, {}).update(declared)
        return {pointer: list(declared) for pointer, declared in found.items()}

    def _cover(self, pointer: str, seen: set[str]) -> bool:
        """Close every combination once; False if that can't be had."""
        splits = self._splits(pointer)
        if splits > 1:
            return False
        if not splits:
            for member in self._members(pointer):
                self._choose(member, Closing.ANY)
            return True
        if pointer in seen:
            return True
        seen.add(pointer)
        for choice in self.parts[pointer]:
            if choice == (pointer,):
                self._choose(pointer, Closing.OWN if self._split(pointer) else Closing.NONE)
            elif any(self._splits(part) for part in choice):
                for part in choice:
                    if part == _TRUE:
                        return False
                    if not self._splits(part):
                        self._choose(part, Closing.ALL)
                        for member in self._members(part) - {part}:
                            self._choose(member, Closing.ANY)
                    elif not self._cover(part, seen):
                        return False
            else:
                for part in choice:
                    for member in self._members(part) if part != _TRUE else ():
                        self._choose(member, Closing.NONE)
        return True


def _inside(schema: Schema, pointer: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if not isinstance(schema, dict):
        return
    yield pointer, schema
    for key, value in schema.items():
        below = f"{pointer}/{escaped(key)}"
        if key in MANY and isinstance(value, list):
            for index, part in enumerate(value):
                yield from _inside(part, f"{below}/{index}")
        elif key in NAMED and isinstance(value, dict):
            for name, part in value.items():
                yield from _inside(part, f"{below}/{escaped(name)}")
        elif key in ONE:
            yield from _inside(value, below)
