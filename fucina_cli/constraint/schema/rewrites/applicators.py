"""`not`, `if`, `dependencies` and their like and `oneOf`, written with `anyOf` and `allOf`.

These are the keywords in which a schema stands that need not hold. After this rewrite every schema
inside holds wherever it applies, so that a later rewrite may relax it: that only widens the whole.
It works from the top down for that reason. What can't be written exactly is left out at its place,
with a note; the rest is still enforced.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.facts import facts, of_property
from fucina_cli.constraint.schema.ground import Ground
from fucina_cli.constraint.schema.negation import MOST, all_of, negated
from fucina_cli.constraint.schema.rewrites import (
    conditionals,
    dependencies,
    enumerations,
    one_of,
    unevaluated,
)
from fucina_cli.constraint.schema.walk import Note, Schema, Scope, each_inside, escaped

#: What this rewrite takes out of a schema.
_TAKEN = frozenset({"not", "oneOf", *conditionals.KEYWORDS, *dependencies.KEYWORDS})


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The whole schema without these keywords; other places are left alone."""
    return schema if scope.pointer else _Applicators(Ground(schema), scope).of(schema, [])


class _Applicators:
    def __init__(self, ground: Ground, scope: Scope) -> None:
        self._ground = ground
        self._scope = scope

    def of(self, schema: Schema, context: list[Schema], *, at: str = "") -> Schema:
        """`schema`, whose place is `at` below the present one, where `context` also holds."""
        if not isinstance(schema, dict):
            return schema
        here = self._scope.pointer
        self._scope.pointer += at
        try:
            found = enumerations.rewrite(schema, self._ground)
            if not isinstance(found, dict):
                return found
            # Here: it looks at what stands in place as it was given, where a schema must hold.
            found = unevaluated.rewrite(found, self._scope)
            return self._expressed(found, context)
        finally:
            self._scope.pointer = here

    def _expressed(self, schema: dict[str, Any], context: list[Schema]) -> Schema:
        rest = {key: value for key, value in schema.items() if key not in _TAKEN}
        around = [*context, rest]
        result = self._inside(rest, context)
        fixed: list[Schema] = []
        choices: list[tuple[str, list[Schema]]] = []
        if "not" in schema and self._ground.asserts("not"):
            fixed.append(self._not(schema["not"], around))
        choice = conditionals.choice(schema, around, self._ground)
        if choice is not None:
            choices.append(("if", self._conditional(schema, choice, around)))
        for keyword in dependencies.KEYWORDS:
            choices += self._dependencies(schema, keyword, around)
        if "oneOf" in schema and self._ground.asserts("oneOf"):
            choices.append(("oneOf", self._one_of(schema["oneOf"], around)))
        if False in fixed:
            return False
        fixed = [part for part in fixed if part is not True]
        if not fixed and not choices:
            return result
        return self._joined(result, fixed, choices, around)

    def _inside(self, rest: dict[str, Any], context: list[Schema]) -> dict[str, Any]:
        """`rest` with the schemas inside it rewritten, each with what else holds for its values."""
        result: dict[str, Any] = {}
        known = facts([*context, rest], self._ground.root) or []
        for key, value in rest.items():
            if key == "properties" and isinstance(value, dict):
                result[key] = {
                    name: self.of(
                        part,
                        [other for other in of_property(known, name) if other is not part],
                        at=f"/properties/{escaped(name)}",
                    )
                    for name, part in value.items()
                }
            elif key in ("allOf", "anyOf") and isinstance(value, list):
                others = {k: v for k, v in rest.items() if k != key}
                result[key] = [
                    self.of(
                        part,
                        [
                            *context,
                            others,
                            *(p for p in value if key == "allOf" and p is not part),
                        ],
                        at=f"/{key}/{index}",
                    )
                    for index, part in enumerate(value)
                ]
            else:
                inside = each_inside({key: value}, lambda part: self.of(part, []), self._scope)
                result[key] = inside[key]
        return result

    def _not(self, schema: Schema, around: list[Schema]) -> Schema:
        other = negated(schema, around, self._ground)
        if other is None:
            self._left_out("not")
            return True
        return self.of(other, around, at="/not")

    def _conditional(
        self, schema: dict[str, Any], choice: conditionals.Choice, around: list[Schema]
    ) -> list[Schema]:
        if not choice.exact:
            self._left_out("if")
        options: list[Schema] = []
        for condition, keyword in ((choice.holds, "then"), (choice.fails, "else")):
            follows = schema.get(keyword, True)
            parts = [
                self.of(condition, [*around, follows], at="/if"),
                self.of(follows, [*around, condition], at=f"/{keyword}"),
            ]
            options.append(all_of(parts))
        return options

    def _dependencies(
        self, schema: dict[str, Any], keyword: str, around: list[Schema]
    ) -> list[tuple[str, list[Schema]]]:
        needed = schema.get(keyword)
        if not isinstance(needed, dict) or not self._ground.asserts(keyword):
            return []
        found = []
        for name, part in needed.items():
            present = {"required": [name]}
            inside = (
                self.of(part, [*around, present], at=f"/{keyword}/{escaped(name)}")
                if isinstance(part, dict)
                else part
            )
            found.append((keyword, dependencies.options(name, inside)))
        return found

    def _one_of(self, given: list[Schema], around: list[Schema]) -> list[Schema]:
        options = one_of.options(given, around, self._ground)
        if not all(option.exact for option in options):
            self._note("`oneOf` is decoded as `anyOf`")
        written: list[Schema] = []
        for option in options:
            place = f"/oneOf/{option.index}"
            parts = [self.of(option.schema, [*around, *option.without], at=place)]
            beside = [*around, option.schema]
            parts += [self.of(other, beside, at=place) for other in option.without]
            written.append(all_of(parts))
        return written

    def _joined(
        self,
        result: dict[str, Any],
        fixed: list[Schema],
        choices: list[tuple[str, list[Schema]]],
        around: list[Schema],
    ) -> Schema:
        """All of it together: the choices multiplied out, without impossible combinations."""
        if isinstance(result.get("anyOf"), list) and choices:
            choices = [("anyOf", result["anyOf"]), *choices]
        ways: list[list[Schema]] = [[]]
        beside: list[Schema] = [*fixed]
        for keyword, options in sorted(choices, key=lambda each: len(each[1])):
            longer = [
                [*way, option]
                for way in ways
                for option in options
                if option is not False
                and (len(choices) < 2 or not self._ground.impossible([*around, *way, option]))
            ]
            if len(longer) <= max(MOST, len(options)) and len(ways) * len(options) <= MOST * MOST:
                ways = longer
            elif keyword == "anyOf":
                beside.append({"anyOf": options})
            else:
                self._left_out(keyword)
        if not ways:
            return False
        # At the end: the engine writes properties in the order in which it meets them.
        joined = {key: value for key, value in result.items() if key != "anyOf" or not choices}
        written = [all_of(way) for way in ways]
        if True not in written:
            if len(written) == 1:
                beside.append(written[0])
            elif "anyOf" in joined:
                beside.append({"anyOf": written})
            else:
                joined["anyOf"] = written
        if beside:
            joined["allOf"] = [*joined.pop("allOf", []), *beside]
        return joined

    def _left_out(self, keyword: str) -> None:
        self._note(f"`{keyword}` is not enforced while decoding")

    def _note(self, text: str) -> None:
        """Noted once for each place: a schema may be written in several options."""
        if Note(text, self._scope.pointer) not in self._scope.notes:
            self._scope.note(text)
