"""The keywords of JSON Schema per draft, and what the world writes in their place.

Sources: the specifications and meta-schemas of drafts 3, 4, 6, 7, 2019-09 and 2020-12; OpenAPI
3.0 (schema object); JSON Type Definition (RFC 8927); the keywords of Ajv's plug-ins and of VS Code.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

#: Drafts by number; those from 2019 on are named by year and month.
DRAFT_3, DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019, DRAFT_2020 = 3, 4, 6, 7, 2019, 2020

#: `$schema` of each, without scheme and a final `#`, which vary.
DIALECTS: Mapping[str, int] = {
    **{f"json-schema.org/draft-0{n}/schema": n for n in (DRAFT_3, DRAFT_4, DRAFT_6, DRAFT_7)},
    "json-schema.org/draft/2019-09/schema": DRAFT_2019,
    "json-schema.org/draft/2020-12/schema": DRAFT_2020,
}
DRAFT_NAMES: Mapping[int, str] = {
    **{n: f"draft {n}" for n in (DRAFT_3, DRAFT_4, DRAFT_6, DRAFT_7)},
    DRAFT_2019: "draft 2019-09",
    DRAFT_2020: "draft 2020-12",
}


@dataclass(frozen=True)
class Keyword:
    """A keyword.

    Attributes:
        takes: what its value is, in the newest draft that has it.
        since: its first draft.
        until: its last one.
        constrains: whether it can make a document invalid, or is needed to find what does.
    """

    takes: str
    since: int = DRAFT_3
    until: int = DRAFT_2020
    constrains: bool = True


_SCHEMA = "a schema, which is an object, true or false"
_SCHEMAS = "a list of at least one schema"
_NAMED = "an object from names to schemas"
_NAMES = "a list of different names"
_COUNT = "a whole number from 0"
_NUMBER = "a number"
_TEXT = "text"
_FLAG = "true or false"

KEYWORDS: Mapping[str, Keyword] = {
    # Which schema it is, and others that it refers to.
    "$schema": Keyword("text, the URI of a draft", constrains=False),
    "id": Keyword(_TEXT, until=DRAFT_4, constrains=False),
    "$id": Keyword(_TEXT, DRAFT_6, constrains=False),
    "$anchor": Keyword(_TEXT, DRAFT_2019, constrains=False),
    "$dynamicAnchor": Keyword(_TEXT, DRAFT_2020, constrains=False),
    "$recursiveAnchor": Keyword(_FLAG, DRAFT_2019, DRAFT_2019, constrains=False),
    "$vocabulary": Keyword("an object", DRAFT_2019, constrains=False),
    "$ref": Keyword('text, such as "#/$defs/name"'),
    "$dynamicRef": Keyword(_TEXT, DRAFT_2020),
    "$recursiveRef": Keyword(_TEXT, DRAFT_2019, DRAFT_2019),
    "$defs": Keyword(_NAMED, DRAFT_2019),
    "definitions": Keyword(_NAMED),
    # Any value.
    "type": Keyword("the name of a type, or a list of them"),
    "enum": Keyword("a list of values"),
    "const": Keyword("a value", DRAFT_6),
    "allOf": Keyword(_SCHEMAS, DRAFT_4),
    "anyOf": Keyword(_SCHEMAS, DRAFT_4),
    "oneOf": Keyword(_SCHEMAS, DRAFT_4),
    "not": Keyword(_SCHEMA, DRAFT_4),
    "if": Keyword(_SCHEMA, DRAFT_7),
    "then": Keyword(_SCHEMA, DRAFT_7),
    "else": Keyword(_SCHEMA, DRAFT_7),
    "disallow": Keyword("the name of a type, or a list of them", until=DRAFT_3),
    "extends": Keyword("a schema, or a list of schemas", until=DRAFT_3),
    # Objects.
    "properties": Keyword(_NAMED),
    "patternProperties": Keyword("an object from patterns to schemas"),
    "additionalProperties": Keyword(_SCHEMA),
    "unevaluatedProperties": Keyword(_SCHEMA, DRAFT_2019),
    "propertyNames": Keyword(_SCHEMA, DRAFT_6),
    "required": Keyword(_NAMES),
    "minProperties": Keyword(_COUNT, DRAFT_4),
    "maxProperties": Keyword(_COUNT, DRAFT_4),
    "dependencies": Keyword("an object from names to schemas or lists of names", until=DRAFT_7),
    "dependentRequired": Keyword("an object from names to lists of names", DRAFT_2019),
    "dependentSchemas": Keyword(_NAMED, DRAFT_2019),
    # Arrays.
    "items": Keyword(_SCHEMA),
    "prefixItems": Keyword(_SCHEMAS, DRAFT_2020),
    "additionalItems": Keyword(_SCHEMA, until=DRAFT_2019),
    "unevaluatedItems": Keyword(_SCHEMA, DRAFT_2019),
    "contains": Keyword(_SCHEMA, DRAFT_6),
    "minContains": Keyword(_COUNT, DRAFT_2019),
    "maxContains": Keyword(_COUNT, DRAFT_2019),
    "minItems": Keyword(_COUNT),
    "maxItems": Keyword(_COUNT),
    "uniqueItems": Keyword(_FLAG),
    # Numbers.
    "minimum": Keyword(_NUMBER),
    "maximum": Keyword(_NUMBER),
    "exclusiveMinimum": Keyword(_NUMBER),
    "exclusiveMaximum": Keyword(_NUMBER),
    "multipleOf": Keyword("a number above 0", DRAFT_4),
    "divisibleBy": Keyword("a number above 0", until=DRAFT_3),
    # Strings.
    "minLength": Keyword(_COUNT),
    "maxLength": Keyword(_COUNT),
    "pattern": Keyword("a regular expression, as text"),
    "format": Keyword("the name of a format, as text"),
    "contentEncoding": Keyword(_TEXT, DRAFT_7, constrains=False),
    "contentMediaType": Keyword(_TEXT, DRAFT_7, constrains=False),
    "contentSchema": Keyword(_SCHEMA, DRAFT_2019, constrains=False),
    # For readers.
    "title": Keyword(_TEXT, constrains=False),
    "description": Keyword(_TEXT, constrains=False),
    "default": Keyword("a value", constrains=False),
    "examples": Keyword("a list of values", DRAFT_6, constrains=False),
    "deprecated": Keyword(_FLAG, DRAFT_2019, constrains=False),
    "readOnly": Keyword(_FLAG, constrains=False),
    "writeOnly": Keyword(_FLAG, DRAFT_7, constrains=False),
    "$comment": Keyword(_TEXT, DRAFT_7, constrains=False),
}

#: Where an older draft's keyword went.
SUCCESSORS: Mapping[str, str] = {
    "$recursiveRef": '"$dynamicRef"',
    "dependencies": '"dependentRequired" or "dependentSchemas"',
    "additionalItems": '"items", beside "prefixItems"',
    "divisibleBy": '"multipleOf"',
    "disallow": '"not"',
    "extends": '"allOf"',
}

#: Annotations that tools add and that constrain nothing; they are common in published schemas.
ANNOTATIONS = frozenset(
    {
        # Hyper-Schema and draft 3's relatives.
        "base", "links", "media", "fragmentResolution", "pathStart", "rel", "targetSchema",
        # OpenAPI.
        "discriminator", "example", "externalDocs", "xml", "collectionFormat",
        # Editors.
        "allowComments", "allowTrailingCommas", "defaultSnippets", "deprecationMessage",
        "doNotSuggest", "enumDeprecated", "enumDescriptions", "enumDetails",
        "errorMessage", "errorMessages", "enumItemLabels", "enumSortTexts",
        "markdownDeprecationMessage", "markdownDescription", "markdownEnumDescriptions",
        "patternErrorMessage", "scope", "order", "suggestSortText", "intellij",
        # Form builders.
        "enumNames", "enumTitles", "enum_titles", "fieldset", "help", "helpText", "hint",
        "icon", "inputType", "label", "options", "placeholder", "propertyOrder", "ui", "uiSchema",
        "widget", "headerTemplate", "hidden", "readonly", "readOnlyReason", "watch", "template",
        # Generators and catalogues.
        "author", "authors", "category", "comment", "comments", "copyright", "created", "date",
        "existingJavaType", "customAnnotations", "faker", "generated", "group", "javaEnumNames",
        "javaInterfaces", "javaName", "javaType", "license", "meta", "metadata", "modified", "name",
        "namespace", "notes", "note", "originalType", "precision", "see", "self", "since",
        "source", "status", "tags", "text", "tooltip", "tsEnumNames", "tsType", "typeName", "unit",
        "units", "uri", "url", "version", "$version", "$author", "$date", "displayName",
    }
)  # fmt: skip

#: Keywords of other notations and tools that a reader takes for constraints, and the way out.
ELSEWHERE: Mapping[str, str] = {
    "all": 'write "allOf"',
    "allOptional": 'leave the names out of "required"',
    "allRequired": 'name the properties in "required"',
    "allowedValues": 'write "enum"',
    "any": 'write "anyOf"',
    "anyRequired": 'write "anyOf" of schemas with "required"',
    "attributes": 'write "properties"',
    "choices": 'write "enum"',
    "constant": 'write "const"',
    "elements": 'write "items"',
    "enumeration": 'write "enum"',
    "exclusiveRange": 'write "exclusiveMinimum" and "exclusiveMaximum"',
    "fields": 'write "properties"',
    "formatMaximum": "JSON Schema has no bounds of formats",
    "formatMinimum": "JSON Schema has no bounds of formats",
    "int32": 'write "minimum" and "maximum"',
    "length": 'write "minLength" and "maxLength"',
    "mapping": 'write "oneOf" of schemas with a "const" each',
    "match": 'write "pattern"',
    "max": 'write "maximum" (of text "maxLength")',
    "maxLen": 'write "maxLength"',
    "maxSize": 'write "maxItems" or "maxLength"',
    "maxValue": 'write "maximum"',
    "min": 'write "minimum" (of text "minLength")',
    "minLen": 'write "minLength"',
    "minSize": 'write "minItems" or "minLength"',
    "minValue": 'write "minimum"',
    "optional": 'a property is optional unless "required" names it',
    "optionalProperties": 'write "properties" and leave the names out of "required"',
    "parameters": "put the keywords of that schema here",
    "patternRequired": "JSON Schema can't ask for a name by its pattern",
    "possibleValues": 'write "enum"',
    "props": 'write "properties"',
    "range": 'write "minimum" and "maximum"',
    "regex": 'write "pattern"',
    "regexp": 'write "pattern"',
    "schema": "put the keywords of that schema here",
    "size": 'write "minItems" and "maxItems", or "minLength" and "maxLength"',
    "strict": 'write "additionalProperties": false to close the object',
    "typeof": 'write "type"',
    "uniqueItemProperties": 'JSON Schema has only "uniqueItems"',
    "values": 'write "enum", or "additionalProperties" for the values of any key',
}

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")

#: Names of types elsewhere, and ours.
TYPE_NAMES: Mapping[str, str] = {
    "bool": "boolean",
    "char": "string",
    "decimal": "number",
    "dict": "object",
    "double": "number",
    "enum": "string",
    "float": "number",
    "int": "integer",
    "int32": "integer",
    "int64": "integer",
    "list": "array",
    "long": "integer",
    "map": "object",
    "nil": "null",
    "none": "null",
    "set": "array",
    "str": "string",
    "struct": "object",
    "text": "string",
    "tuple": "array",
}


def draft_of(schema: object) -> int:
    """The draft that the `$schema` of a schema names; 2020-12 where it names none that is known."""
    named = schema.get("$schema") if isinstance(schema, dict) else None
    return dialect(named) or DRAFT_2020


def dialect(uri: object) -> int | None:
    """The draft of a value of `$schema`; None for one that is not known."""
    if not isinstance(uri, str):
        return None
    return DIALECTS.get(uri.removeprefix("http://").removeprefix("https://").removesuffix("#"))
