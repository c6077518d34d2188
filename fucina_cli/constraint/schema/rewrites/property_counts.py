"""minProperties and maxProperties of objects with optional declared names.

The engine counts only keys that are not declared, so which declared names are there is said by
alternatives: each requires some of them, or forbids some, and the engine counts the rest.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import Any

from fucina_cli.constraint.schema.conjunctions import companions
from fucina_cli.constraint.schema.shapes import allows_none, barring, conjoined, types, weight
from fucina_cli.constraint.schema.walk import Schema, Scope

_MAX_BRANCHES = 64
_MAX_WEIGHT = 3000


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """`schema` with counts that the engine can hold."""
    least, most = schema.get("minProperties", 0), schema.get("maxProperties")
    plain = {
        name: part
        for name, part in schema.items()
        if name not in ("minProperties", "maxProperties")
    }
    if (not least and most is None) or "object" not in types(schema):
        return plain
    required = set(schema.get("required", []))
    declared = schema.get("properties", {})
    closed = allows_none(schema.get("additionalProperties", True))
    others = scope.whole(companions).get(scope.pointer, [])
    names = dict.fromkeys(declared)
    if not closed or schema.get("patternProperties"):
        names.update(dict.fromkeys(others))
    optional = [
        name for name in names if name not in required and not allows_none(declared.get(name, True))
    ]
    counts = _Counts(
        names=len(optional),
        need=max(0, least - len(required)),
        room=None if most is None else most - len(required),
        more=not closed
        or not all(allows_none(part) for part in schema.get("patternProperties", {}).values()),
    )
    if counts.impossible:
        return barring(plain, "object", scope, "no object has as many properties")
    if not optional:
        return {**plain, **counts.bounds(len(required))} if counts.more else plain
    counts = counts.within(min(_MAX_BRANCHES, _MAX_WEIGHT // weight(plain)))
    for name, now, before in (
        ("minProperties", counts.need, max(0, least - len(required))),
        ("maxProperties", counts.room, None if most is None else most - len(required)),
    ):
        if now != before and (now is not None or counts.limits(before)):
            part = f"only up to {now + len(required)}" if now else "not"
            scope.note(f"`{name}` is {part} enforced while decoding: there are too many cases")
    if not counts.need and not counts.limits(counts.room):
        return plain
    kind: dict[str, Any] = {"type": "object"} if types(schema) == ["object"] else {}
    branches = []
    for case in counts.cases():
        branch = dict(kind)
        if case.present:
            branch["required"] = [optional[index] for index in case.present]
        if case.absent:
            branch["properties"] = {optional[index]: False for index in case.absent}
        if case.counted:
            branch.update(counts.bounds(len(required)))
        branches.append(branch)
    return conjoined(plain, branches)


@dataclass(frozen=True)
class _Case:
    """Declared names that are there, those that are not, and whether the engine counts the rest."""

    present: tuple[int, ...]
    absent: tuple[int, ...] = ()
    counted: bool = False


@dataclass(frozen=True)
class _Counts:
    """How many keys beside the required ones: of `names` declared ones, and others if `more`."""

    names: int
    need: int
    room: int | None
    more: bool

    @property
    def impossible(self) -> bool:
        return (self.room is not None and self.room < self.need) or (
            not self.more and self.need > self.names
        )

    def limits(self, room: int | None) -> bool:
        """Whether `room` forbids anything."""
        return room is not None and (self.more or room < self.names)

    def bounds(self, required: int) -> dict[str, int]:
        """The keywords that say the same where `required` keys are required."""
        found = {}
        if self.need:
            found["minProperties"] = self.need + required
        if self.room is not None:
            found["maxProperties"] = self.room + required
        return found

    def within(self, limit: int) -> _Counts:
        """These counts, weakened until there are at most `limit` cases."""
        if self.size() <= limit:
            return self
        weaker = _Counts(self.names, self.need, None, self.more)
        if weaker.size() > limit:
            for need in range(min(self.need - 1, self.names), -1, -1):
                weaker = _Counts(self.names, need, None, self.more)
                if weaker.size() <= limit:
                    break
        return weaker

    def _sizes(self) -> range:
        """How many declared names a case has, of those cases that name them all."""
        if self.limits(self.room):
            assert self.room is not None
            return range(0 if self.more else self.need, min(self.names, self.room) + 1)
        return range(min(self.need, self.names + 1) if self.more else 0)

    def size(self) -> int:
        """The number of cases."""
        if not self.more and self.room is not None and not self.need:
            return comb(self.names, min(self.room, self.names))
        listed = sum(comb(self.names, count) for count in self._sizes())
        return listed + (0 if self.limits(self.room) else comb(self.names, self.need))

    def cases(self) -> Iterator[_Case]:
        """What to say of the declared names, so that every object is in one case at least."""
        every = range(self.names)
        if self.limits(self.room) and not self.more and not self.need:
            assert self.room is not None
            for allowed in combinations(every, self.room):
                yield _Case((), tuple(index for index in every if index not in allowed))
            return
        for count in self._sizes():
            for present in combinations(every, count):
                absent = tuple(index for index in every if index not in present)
                yield _Case(present, absent, counted=self.more)
        if not self.limits(self.room):
            # Those that are there first: an object is in one case only, which keeps the
            # engine's parser small.
            for present in combinations(every, self.need):
                before = range(max(present, default=0))
                yield _Case(present, tuple(index for index in before if index not in present))
