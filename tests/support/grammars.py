"""Constraints of every kind, shared by the tests of masks and of decoding."""

from __future__ import annotations

from fucina_cli import Choice, JsonSchema, Lark, Regex
from fucina_cli.constraint.kind import Spec

TRIAGE = """{"type": "object", "properties": {
  "category": {"enum": ["bug", "billing", "how_to", "feature_request", "account_access"]},
  "priority": {"enum": ["low", "normal", "high", "urgent"]},
  "escalate": {"type": "boolean"}},
  "required": ["category", "priority", "escalate"], "additionalProperties": false}"""

DEEP = """{"type": "object", "additionalProperties": false, "required": ["a"], "properties": {
  "a": {"type": "object", "additionalProperties": false, "required": ["list", "n"], "properties": {
    "list": {"type": "array", "minItems": 1, "maxItems": 3, "items": {
      "type": "object", "additionalProperties": false, "required": ["k", "v"], "properties": {
        "k": {"enum": ["left", "right", "l\\"q"]}, "v": {"type": ["integer", "null"],
        "minimum": -5, "maximum": 120}}}},
    "n": {"type": "number", "minimum": 0, "maximum": 1}}}}}"""

FREE_STRING = """{"type": "object", "additionalProperties": false, "required": ["title", "ok"],
  "properties": {"title": {"type": "string", "maxLength": 24}, "ok": {"const": true}}}"""

RECURSIVE = r"""
start: expr
expr: term (("+" | "-") term)*
term: NUMBER | "(" expr ")"
NUMBER: /[0-9]{1,3}/
"""

SOURCES: dict[str, Spec] = {
    "triage": JsonSchema(TRIAGE),
    "deep": JsonSchema(DEEP),
    "free string": JsonSchema(FREE_STRING),
    "regex with repeats": Regex(r"[A-Z]{2,4}-\d{1,5}(\.[a-f]{2}){0,3}"),
    "unicode regex": Regex("(è|日本|🎉|naïve café){1,3}!"),
    "recursive lark": Lark(RECURSIVE),
    "choices sharing prefixes": Choice(
        ["bug", "bug report", "bugs", "billing", "how_to", "日本", "日本語", 'say "hi"', "a\\b\n"]
    ),
}
