"""Schemas inside the wrappers that APIs and tools put them into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fucina_cli.constraint.kind import GrammarError
from fucina_cli.constraint.schema.keywords import KEYWORDS, TYPES
from fucina_cli.constraint.schema.walk import escaped

#: Keys under which a wrapper holds a schema or another wrapper, the first that is there counts.
_HOLDING = (
    "response_format", "responseFormat", "json_schema", "jsonSchema", "structured_outputs",
    "guided_json", "response_schema", "responseSchema", "responseJsonSchema",
    "response_json_schema", "generationConfig", "generation_config", "output_config",
    "output_format", "outputSchema", "output_schema", "input_schema", "inputSchema", "function",
    "parameters", "toolSpec", "text", "format", "schema", "json", "tools", "functions",
)  # fmt: skip
#: Values of `type` that name a kind of wrapper.
_KINDS = frozenset({"json_schema", "json_object", "function", "custom"})
#: Keys that stand beside the schema in a wrapper; `model` and what follows, in whole requests.
_BESIDE = frozenset(
    {
        "name", "description", "title", "strict", "type", "version", "uid", "annotations",
        "response_mime_type", "responseMimeType", "cache_control", "$schema", "id", "$id",
        "model", "messages", "input", "contents", "temperature", "max_tokens", "stream",
        "max_output_tokens", "max_completion_tokens", "top_p", "tool_choice", "instructions",
        "prompt", "system", "options", "seed", "verbosity",
    }
)  # fmt: skip
_DEEPEST = 6


def unwrapped(value: Any) -> tuple[Any, str]:
    """The schema inside the wrappers of APIs around it, and its JSON pointer within `value`.

    What is no wrapper is returned as it is, with "". A wrapper is an object that says nothing as
    a schema and has a schema under one of the keys that APIs use: OpenAI's response_format and
    tools, tools of Anthropic and MCP, Gemini's generation config, Ollama's format, vLLM's guided
    decoding. Raises GrammarError for a list of several tools.
    """
    pointer = ""
    for _ in range(_DEEPEST):
        if isinstance(value, list) and (pointer or _are_tools(value)):
            value, pointer = _only(value, pointer), f"{pointer}/0"
        key = _held(value)
        if key is None:
            return value, pointer
        value, pointer = value[key], f"{pointer}/{escaped(key)}"
    return value, pointer


def _held(value: Any) -> str | None:
    """The key of a wrapper under which the wrapped stands; None where `value` is no wrapper."""
    if not isinstance(value, Mapping) or _says_something(value):
        return None
    for key in _HOLDING:
        if key in value and _is_wrapped(key, value[key]) and _beside(value, key):
            return key
    return None


def _says_something(value: Mapping[str, Any]) -> bool:
    """Whether an object constrains anything when it is read as a schema."""
    known = (key for key in value if key in KEYWORDS and KEYWORDS[key].constrains)
    return any(
        not (key == "type" and _is_kind(value[key]))
        and not (key == "format" and isinstance(value[key], dict))
        for key in known
    )


def _is_kind(named: object) -> bool:
    return isinstance(named, str) and named in _KINDS and named not in TYPES


def _is_wrapped(key: str, value: object) -> bool:
    if key in ("tools", "functions"):
        return isinstance(value, list) and bool(value) and isinstance(value[0], dict)
    return isinstance(value, dict)


def _beside(value: Mapping[str, Any], held: str) -> bool:
    return all(key == held or key in _BESIDE or key in _HOLDING for key in value)


def _are_tools(value: list[Any]) -> bool:
    return bool(value) and all(_held(tool) is not None for tool in value)


def _only(tools: list[Any], pointer: str) -> Any:
    if len(tools) == 1:
        return tools[0]
    raise GrammarError(
        f"{len(tools)} tools (at {pointer or 'the top'}), each with a schema of its own; "
        "give the schema of one of them"
    )
