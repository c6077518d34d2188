"""All references of a schema made plain ones: to `#`, or to a definition of the root.

Base URIs (`$id`, `id`), anchors, pointers to any place, escapes and references to the drafts' own
meta-schemas are resolved (RFC 6901; JSON Schema core, section 8), by the package referencing, and
what is referred to is gathered under the root, so that later rewrites may change any other place.
Definitions that nothing refers to are left out.
"""

from __future__ import annotations

from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema.drafts import draft
from fucina_cli.constraint.schema.references import DEFINITIONS, target, to_definition
from fucina_cli.constraint.schema.walk import Schema, Scope, each_inside, escaped
from fucina_cli.text import one_line

#: Keywords that name places or hold definitions: of no use once references are plain.
_NAMING = frozenset({"$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", *DEFINITIONS})
#: Drafts in which `$ref` makes all keywords beside it void (draft 7 core, section 8.3).
_REF_ALONE = 7
_ROOT = "schema:"  # a base URI for a schema that names none


def rewrite(schema: dict[str, Any], scope: Scope) -> Schema:
    """The whole schema gathered; other places are left alone.

    Raises GrammarError for a reference that leads nowhere, outside, or back to itself.
    """
    if scope.pointer:
        return schema
    return _Gathering(_uniform(schema), scope).gathered()


class _Gathering:
    def __init__(self, root: dict[str, Any], scope: Scope) -> None:
        import jsonschema_specifications
        import referencing.jsonschema

        self._root = root
        self._scope = scope
        self._draft = draft(root)
        dialect = {
            3: "DRAFT3", 4: "DRAFT4", 6: "DRAFT6", 7: "DRAFT7",
            2019: "DRAFT201909", 2020: "DRAFT202012",
        }[self._draft]  # fmt: skip
        self._dialect: Any = getattr(referencing.jsonschema, dialect)
        resource = self._dialect.create_resource(root)
        registry: Any = jsonschema_specifications.REGISTRY
        base = resource.id() or _ROOT
        self._resolver = registry.with_resource(base, resource).crawl().resolver(base_uri=base)
        self._base = base
        #: Names of what was referred to, by the identity of the schema; it stays alive in `_kept`.
        self._names: dict[int, str] = {id(root): "#"}
        self._kept: list[tuple[str, str, Any, Any, str]] = []
        self._taken = {key: set(_definitions(root, key)) for key in DEFINITIONS}
        self._places = {
            id(part): (key, name)
            for key in DEFINITIONS
            for name, part in _definitions(root, key).items()
        }
        self._several = _embeds_resources(root)

    def gathered(self) -> Schema:
        result = self._plain(self._root, self._resolver)
        if not isinstance(result, dict):
            return result
        done: dict[str, dict[str, Any]] = {}
        while self._kept:
            keyword, name, part, resolver, pointer = self._kept.pop(0)
            self._scope.pointer = pointer
            done.setdefault(keyword, {})[name] = self._plain(part, resolver)
        self._scope.pointer = ""
        # In the order of the original, new ones last.
        for keyword in DEFINITIONS:
            if keyword in done:
                order = {name: i for i, name in enumerate(_definitions(self._root, keyword))}
                found = done[keyword]
                names = sorted(found, key=lambda name: order.get(name, len(order)))
                result[keyword] = {name: found[name] for name in names}
        return _without_bare_cycles(result)

    def _plain(self, schema: Schema, resolver: Any) -> Schema:
        if not isinstance(schema, dict):
            return schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and self._draft <= _REF_ALONE:
            void = [key for key in schema if key in _asserting()]
            if void:
                told = ", ".join(f"`{key}`" for key in void)
                self._scope.note(f"{told} beside `$ref`: ignored in this draft", relaxed=False)
            kept = ("$ref", "$schema", "title", "description")
            schema = {key: value for key, value in schema.items() if key in kept}
        elif schema is not self._root:
            resolver = resolver.in_subresource(self._dialect.create_resource(schema))
        named = {key: v for key, v in schema.items() if key not in _NAMING or not _names(key, v)}
        result = each_inside(named, lambda part: self._plain(part, resolver), self._scope)
        if isinstance(reference, str):
            leads_to = self._led(reference, resolver)
            if leads_to is False:
                return False
            if leads_to is True:
                del result["$ref"]
            else:
                result["$ref"] = leads_to
        for dynamic in ("$dynamicRef", "$recursiveRef"):
            if isinstance(result.get(dynamic), str):
                self._dynamic(result, dynamic, resolver)
        return result

    def _dynamic(self, result: dict[str, Any], keyword: str, resolver: Any) -> None:
        # Within one resource, a dynamic reference has one possible target (core 2020-12, 8.2.3.2).
        reference = result[keyword]
        if not self._several and "$ref" not in result:
            leads_to = self._led(reference, resolver)
            if isinstance(leads_to, str):
                changed = {("$ref" if k == keyword else k): v for k, v in result.items()}
                changed["$ref"] = leads_to
                result.clear()
                result.update(changed)
                return
        del result[keyword]
        self._scope.note(f"`{keyword}` is not enforced while decoding")

    def _led(self, reference: str, resolver: Any) -> str | bool:
        """The plain reference, or the boolean schema that `reference` leads to."""
        import referencing.exceptions

        where = self._scope.pointer or "the top"
        try:
            found = resolver.lookup(reference)
        except (referencing.exceptions.Unresolvable, ValueError, LookupError):
            shown = one_line(reference)[:200]
            inside = reference.startswith("#")
            raise GrammarError(
                f"`$ref` '{shown}' (at {where}) leads nowhere in this schema"
                if inside
                else f"`$ref` '{shown}' (at {where}) leads outside this schema, and nothing is "
                "fetched; put what it names under `$defs`"
            ) from None
        part = found.contents
        if isinstance(part, bool):
            return part
        if not isinstance(part, dict):
            raise GrammarError(f"`$ref` '{one_line(reference)[:200]}' (at {where}): not a schema")
        if id(part) not in self._names:
            self._names[id(part)] = self._kept_as(part, reference, found.resolver)
        return self._names[id(part)]

    def _kept_as(self, part: dict[str, Any], reference: str, resolver: Any) -> str:
        if id(part) in self._places:
            keyword, name = self._places[id(part)]
            pointer = f"/{keyword}/{escaped(name)}"
        else:
            keyword = "$defs"
            stem = reference.rstrip("#/").rsplit("/", 1)[-1].rsplit("#", 1)[-1] or "schema"
            name, count = stem, 1
            while name in self._taken[keyword]:
                count += 1
                name = f"{stem}-{count}"
            self._taken[keyword].add(name)
            pointer = reference[1:] if reference.startswith("#/") else f"/$defs/{escaped(name)}"
        self._kept.append((keyword, name, part, resolver, pointer))
        return to_definition(keyword, name)


def _uniform(root: dict[str, Any]) -> dict[str, Any]:
    """`root` with the lists of `dependencies` as schemas: referencing fails where both stand."""

    def uniform(schema: Schema) -> Schema:
        if not isinstance(schema, dict):
            return schema
        if isinstance(needed := schema.get("dependencies"), dict):
            required = {
                name: {"required": part} if isinstance(part, list) else part
                for name, part in needed.items()
            }
            schema = {**schema, "dependencies": required}
        return each_inside(schema, uniform, scope)

    scope = Scope(root)
    changed: dict[str, Any] = uniform(root)
    return changed


def _definitions(root: dict[str, Any], keyword: str) -> dict[str, Any]:
    found = root.get(keyword)
    return found if isinstance(found, dict) else {}


def _names(key: str, value: Any) -> bool:
    return isinstance(value, dict if key in DEFINITIONS else (str, bool))


def _asserting() -> frozenset[str]:
    import jsonschema

    return frozenset(jsonschema.Draft7Validator.VALIDATORS) - {"$ref"}


def _embeds_resources(root: dict[str, Any]) -> bool:
    """Whether a schema inside `root` names a base URI of its own."""
    found = False

    def look(part: Schema) -> Schema:
        nonlocal found
        if isinstance(part, dict):
            found = found or any(isinstance(part.get(key), str) for key in ("$id", "id"))
            each_inside(part, look, scope)
        return part

    scope = Scope(root)
    each_inside(root, look, scope)
    return found


def _without_bare_cycles(root: dict[str, Any]) -> dict[str, Any]:
    """`root`. Raises GrammarError where references lead back without anything in between."""
    clean: set[str] = set()

    def check(schema: Schema, trail: tuple[str, ...]) -> None:
        if not isinstance(schema, dict):
            return
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in clean:
            if reference in trail:
                raise GrammarError(f"`$ref` '{reference}' leads back to itself")
            check(target(reference, root), (*trail, reference))
            clean.add(reference)
        for key in ("allOf", "anyOf", "oneOf"):
            for part in schema.get(key, ()):
                check(part, trail)

    check(root, ("#",))
    for keyword in DEFINITIONS:
        for name, part in _definitions(root, keyword).items():
            check(part, (to_definition(keyword, name),))
    return root
