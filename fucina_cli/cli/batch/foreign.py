"""Keys of requests to APIs, and the way out in a line of a batch."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_GEN = 'did you mean "gen"?'
_SCHEMA = 'write the schema as "json_schema"'
_TOOLS = 'a tool is called by writing its arguments: give their schema as "json_schema"'
_THINK = 'write "think": true or false'
_ONE = "a line is one answer; write a line for each"

#: Unknown keys of OpenAI, Anthropic, Ollama, vLLM and llama.cpp.
KEYS: Mapping[str, str] = {
    "custom_id": 'did you mean "id"?',
    "request_id": 'did you mean "id"?',
    "body": 'write the keys of "body" into the line itself, and "custom_id" as "id"',
    "params": 'write the keys of "params" into the line itself, and "custom_id" as "id"',
    "request": 'write the keys of "request" into the line itself',
    "method": "leave it out: a line is the request itself",
    "url": "leave it out: a line is the request itself",
    "model": "leave it out: the model is the one of the command",
    "max_tokens": _GEN,
    "max_completion_tokens": _GEN,
    "max_output_tokens": _GEN,
    "max_new_tokens": _GEN,
    "n_predict": _GEN,
    "num_predict": _GEN,
    "temperature": 'did you mean "temp"?',
    "frequency_penalty": 'did you mean "freq_penalty"?',
    "repetition_penalty": 'did you mean "repeat_penalty"?',
    "response_format": _SCHEMA,
    "guided_json": _SCHEMA,
    "structured_outputs": _SCHEMA,
    "schema": _SCHEMA,
    "format": _SCHEMA,
    "tools": _TOOLS,
    "functions": _TOOLS,
    "tool_choice": _TOOLS,
    "grammar": 'write a Lark grammar as "lark"',
    "guided_grammar": 'write a Lark grammar as "lark"',
    "guided_regex": 'did you mean "regex"?',
    "pattern": 'did you mean "regex"?',
    "choice": 'write "choices", a list',
    "guided_choice": 'write "choices", a list',
    "enum": 'write "choices", a list',
    "input": 'write "chat" for a message, "prompt" for raw text',
    "text": 'write "chat" for a message, "prompt" for raw text',
    "question": 'did you mean "chat"?',
    "query": 'did you mean "chat"?',
    "message": 'did you mean "chat"?',
    "user": 'write "chat" for a message; of its name say nothing',
    "content": 'write "chat", or "messages": [{"role": …, "content": …}]',
    "role": 'write "chat", or "messages": [{"role": …, "content": …}]',
    "conversations": 'write "messages": [{"role": …, "content": …}]',
    "system_prompt": 'did you mean "system"?',
    "instruction": 'write "system" for what holds always, "chat" for the message',
    "instructions": 'did you mean "system"?',
    "stop_sequences": 'did you mean "stop"?',
    "stop_token_ids": 'did you mean "stop"?',
    "n": _ONE,
    "best_of": _ONE,
    "stream": "leave it out: records are written as answers end",
    "logprobs": "leave it out: records have no logits",
    "top_logprobs": "leave it out: records have no logits",
    "enable_thinking": _THINK,
    "reasoning_effort": _THINK,
    "reasoning": _THINK,
    "chat_template_kwargs": _THINK,
    "options": 'write the keys of "options" into the line itself',
    "metadata": 'write what you need to know again into "id"',
    "store": "leave it out",
    "service_tier": "leave it out",
}


def way_out(line: Collection[str], key: str) -> str:
    """What to do about a key that lines do not have; "" where that is not known."""
    if "custom_id" in line and "body" in line:
        return (
            'of a request to an API write "custom_id" as "id", and the keys of "body" into the '
            "line itself (jq -c '{id: .custom_id} + .body | del(.model)')"
        )
    return KEYS.get(key, "")
