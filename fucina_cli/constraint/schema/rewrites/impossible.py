"""Schemas that no value satisfies become `false`, which the engine leaves out where it may.

The engine gives up on a whole schema where a definition is impossible, also when only an optional
property refers to it. It does not notice definitions that only infinite values satisfy.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.schema.emptiness import Emptiness
from fucina_cli.constraint.schema.instances import Instances
from fucina_cli.constraint.schema.references import DEFINITIONS, to_definition
from fucina_cli.constraint.schema.walk import Schema, Scope, each_inside, rewritten


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The whole schema with every impossible schema inside `false`; other places are left alone."""
    if scope.pointer:
        return schema
    emptiness = Emptiness(schema, Instances(schema))

    def pruned(part: dict[str, Any], _scope: Scope) -> Schema:
        return False if emptiness.impossible([part]) else _shorter(part)

    inside = each_inside(schema, lambda part: rewritten(part, pruned, scope), scope)
    return pruned(_without_false_definitions(inside), scope)


def refuted(root: dict[str, Any], keyword: str, name: str) -> dict[str, Any]:
    """`root` where one definition turned out to be impossible: what refers to it is `false`."""
    reference = to_definition(keyword, name)
    rest = {other: part for other, part in root[keyword].items() if other != name}

    def changed(part: dict[str, Any], _scope: Scope) -> Schema:
        return False if part.get("$ref") == reference else part

    without = {**root, keyword: rest}
    result = rewritten(without, changed, Scope(without))
    return result if isinstance(result, dict) else {"enum": []}


def _shorter(schema: dict[str, Any]) -> dict[str, Any]:
    options = schema.get("anyOf")
    if isinstance(options, list) and False in options:
        return {**schema, "anyOf": [option for option in options if option is not False]}
    return schema


def _without_false_definitions(root: dict[str, Any]) -> dict[str, Any]:
    """Nothing refers to a definition that is `false`, once the references are pruned."""
    kept = dict(root)
    for keyword in DEFINITIONS:
        if isinstance(named := kept.get(keyword), dict):
            kept[keyword] = {name: part for name, part in named.items() if part is not False}
    return kept
