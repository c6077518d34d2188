"""What the grammar of a JSON schema accepts, byte for byte, and what the schema says."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import jsonschema
from llguidance import LLTokenizer, TokenizerWrapper
from llguidance._lib import LLMatcher

from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.translation import translated


class _Bytes:
    """A vocabulary of the 256 bytes and an end."""

    eos_token_id = 256
    bos_token_id = None

    def __init__(self) -> None:
        self.tokens = [*(bytes([byte]) for byte in range(256)), b"\xff<end>"]
        self.special_token_ids = [256]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_ENGINE = LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=257)


class Engine:
    """The grammar that the tool makes of a schema. Raises GrammarError."""

    def __init__(self, schema: Any) -> None:
        self.prepared: Prepared = translated(document.loads(json.dumps(schema)), whitespace=False)
        self._start = LLMatcher(_ENGINE, self.prepared.engine_text, log_level=0)
        assert not self._start.is_error(), self._start.get_error()

    @classmethod
    def if_possible(cls, schema: Any) -> Engine | None:
        """None for a schema that is refused because no value fits it."""
        try:
            return cls(schema)
        except GrammarError as error:
            if "nsatisfiable" in str(error) or "is greater than" in str(error):
                return None
            raise

    @property
    def relaxed(self) -> bool:
        """Whether a warning says that the grammar is wider than the schema."""
        return self.prepared.relaxed

    def accepts(self, text: str) -> bool:
        """Whether this very text is an answer."""
        matcher = self._start.deep_copy()
        data = list(text.encode())
        return matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting()

    def accepts_value(self, value: Any) -> bool:
        """Whether a value is an answer with its keys in some order."""
        return any(self.accepts(text) for text in orders(value))


def orders(value: Any) -> Iterator[str]:
    """The compact text of a value, for an object with its keys in every order."""
    if not isinstance(value, dict):
        yield compact(value)
        return
    for items in itertools.permutations(value.items()):
        yield compact(dict(items))


def compact(value: Any) -> str:
    """JSON as the grammars write it."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def valid(schema: Any, value: Any) -> bool:
    """Whether the package jsonschema calls a value valid, by the schema's own draft."""
    kind = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    return bool(kind(schema).is_valid(value))
