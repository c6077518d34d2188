"""Random small schemas and documents, and the question whether engine and validator agree.

The engine writes the properties of an object in one order, which rewrites may choose: a document
counts as accepted where some order of its keys is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import permutations, product
from random import Random
from typing import Any

import jsonschema
import numpy as np
from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper
from llguidance.numpy import fill_next_token_bitmask

from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.schema import document
from fucina_cli.constraint.schema.translation import translated

_LONGEST = 150  # bytes of a walk
_LIKED = {*b'abcxyz0123-"{}[]:,ntfruels.', 256}
_CLOSING = {*b'"}]', 256}
KEYS = ("a", "b", "c")
_DRAFTS = {
    4: ("http://json-schema.org/draft-04/schema#", jsonschema.Draft4Validator),
    7: ("http://json-schema.org/draft-07/schema#", jsonschema.Draft7Validator),
    2020: (None, jsonschema.Draft202012Validator),
}


class _Bytes:
    """A vocabulary of single bytes."""

    eos_token_id, bos_token_id = 256, None

    def __init__(self) -> None:
        self.tokens = [*(bytes([value]) for value in range(256)), b"\xff<eos>"]
        self.special_token_ids = [256]

    def __call__(self, text: str | bytes) -> list[int]:
        return list(text.encode() if isinstance(text, str) else text)


_TOKENS = LLTokenizer(TokenizerWrapper(_Bytes()), n_vocab=257)


def prepared(schema: Any) -> Prepared | GrammarError:
    try:
        parsed = document.parse_schema(json.dumps(schema))
        return translated(parsed, whitespace=False)
    except GrammarError as error:
        return error


def accepts(grammar: str, value: Any) -> bool:
    """Whether the engine takes the document, with the keys of its objects in some order."""
    matcher = LLMatcher(_TOKENS, grammar, log_level=0)
    for text in _spelled(value):
        matcher.reset()
        data = list(text.encode())
        if matcher.try_consume_tokens(data) == len(data) and matcher.is_accepting():
            return True
    return False


def walked(grammar: str, random: Random) -> str | None:
    """A document as the engine lets it be written, byte by byte; None where it grows too long."""
    matcher = LLMatcher(_TOKENS, grammar, log_level=0)
    mask = np.zeros((1, (_TOKENS.vocab_size + 31) // 32), dtype=np.int32)
    written = bytearray()
    while len(written) < _LONGEST:
        fill_next_token_bitmask(matcher, mask, 0)
        bits = np.unpackbits(mask.view(np.uint8), bitorder="little")
        allowed = np.flatnonzero(bits[: _TOKENS.vocab_size]).tolist()
        if not allowed:
            raise AssertionError(f"stuck after {bytes(written)!r}")
        liked = [token for token in allowed if token in _LIKED]
        closing = [token for token in liked if token in _CLOSING]
        token = random.choice(closing if closing and random.random() < 0.4 else liked or allowed)
        if token == _Bytes.eos_token_id:
            return written.decode()
        matcher.consume_token(token)
        written.append(token)
    return None


def disagreement(
    schema: Any, values: list[Any], draft: int = 2020, walks: int = 0, seed: int = 0
) -> str | None:
    """The first document on which engine and validator differ, told; None where they agree.

    Of a relaxed schema only what the engine refuses is compared, of a refused one whether some
    document is valid.
    """
    named, kind = _DRAFTS[draft]
    full = {"$schema": named, **schema} if named else schema
    ready = prepared(full)
    validator = kind(full, format_checker=kind.FORMAT_CHECKER)
    for value in values:
        valid = validator.is_valid(value)
        if isinstance(ready, GrammarError):
            if valid and "nsatisfiable" in str(ready):
                return f"{json.dumps(value)} is valid, and refused at the start: {ready}"
            continue
        taken = accepts(ready.engine_text, value)
        if valid and not taken:
            return f"{json.dumps(value)} is valid, and refused"
        if taken and not valid and not ready.relaxed:
            return f"{json.dumps(value)} is not valid, and accepted"
    if isinstance(ready, Prepared) and not ready.relaxed:
        random = Random(seed)
        for _ in range(walks):
            text = walked(ready.engine_text, random)
            if text is not None and not validator.is_valid(json.loads(text)):
                return f"{text} is not valid, and written"
    return None


def values(random: Random, count: int) -> list[Any]:
    return [_value(random, 2) for _ in range(count)]


def _value(random: Random, depth: int) -> Any:
    kind = random.choice("nbiisf" + "aoooooo" * (depth > 0))
    if kind == "a":
        return [_value(random, 0) for _ in range(random.randint(0, 3))]
    if kind == "o":
        keys = random.sample((*KEYS, "z"), random.randint(0, depth + 1))
        return {key: _value(random, depth - 1) for key in keys}
    return {
        "n": None,
        "b": random.random() < 0.5,
        "i": random.randint(-1, 4),
        "s": random.choice(("", "x", "y", "xy")),
        "f": random.choice((0.5, 1.5, -0.5)),
    }[kind]


def schemas(random: Random, draft: int) -> Iterator[dict[str, Any]]:
    """Random schemas over applicators, without end."""
    while True:
        yield _Maker(random, draft).root()


class _Maker:
    def __init__(self, random: Random, draft: int) -> None:
        self._random = random
        self._draft = draft
        self._definitions = "$defs" if draft >= 2019 else "definitions"

    def root(self) -> dict[str, Any]:
        names = ["d", "e"] if self._random.random() < 0.6 else []
        self._names = names
        result = self._dict(2)
        if names:
            result[self._definitions] = {name: self._dict(1) for name in names}
        return result

    def _schema(self, depth: int, *, inner: bool = False) -> Any:
        if self._draft > 4 and self._random.random() < 0.07:
            return self._random.random() < 0.6
        return self._dict(depth, inner=inner)

    def _dict(self, depth: int, *, inner: bool = False) -> dict[str, Any]:
        """A schema; only one of an inner value may refer back."""
        pick = self._random.choice
        result: dict[str, Any] = {}
        if self._names and inner and self._random.random() < 0.3:
            result["$ref"] = f"#/{self._definitions}/{pick(self._names)}"
            if self._random.random() < 0.6:
                return result
        if self._random.random() < 0.55:
            types = ("object", "object", "object", "string", "integer", "number", "array")
            result["type"] = pick((*types, "boolean", "null", ["object", "null"]))
        for _ in range(self._random.randint(1, 2 if depth < 2 else 3)):
            keyword = pick(self._keywords(depth))
            result.setdefault(*self._pair(keyword, depth))
        return result

    def _keywords(self, depth: int) -> list[str]:
        simple = [
            "enum",
            "required",
            "minimum",
            "maximum",
            "minLength",
            "maxLength",
            "closed",
            "maxItems",
            "minItems",
        ]
        if self._draft > 4:
            simple += ["const", "exclusiveMinimum"]
        if depth <= 0:
            return simple
        deep = ["properties"] * 4 + ["allOf", "anyOf", "oneOf", "oneOf", "not", "items"]
        deep += ["additionalProperties", "patternProperties"]
        if self._draft > 4:
            deep += ["contains"]
        if self._draft >= 2019:
            deep += ["unevaluatedProperties", "unevaluatedItems"]
        deep += ["prefixItems"] if self._draft >= 2020 else ["tuple", "additionalItems"]
        if self._draft == 7:
            deep += ["if", "dependencies"]
        elif self._draft == 4:
            deep += ["dependencies"]
        else:
            deep += ["if", "dependentRequired", "dependentSchemas"]
        return simple + deep * 2

    def _pair(self, keyword: str, depth: int) -> tuple[str, Any]:
        random, less = self._random, depth - 1
        names = random.sample(KEYS, random.randint(1, 2))
        if keyword in ("allOf", "anyOf", "oneOf"):
            return keyword, [self._schema(less) for _ in range(random.randint(1, 3))]
        if keyword == "properties":
            return keyword, {name: self._schema(less, inner=True) for name in names}
        if keyword in ("prefixItems", "tuple"):
            parts = [self._schema(less, inner=True) for _ in range(random.randint(1, 2))]
            return "items" if keyword == "tuple" else keyword, parts
        if keyword == "patternProperties":
            return keyword, {random.choice(("^a", "^[bc]$", "z")): self._schema(less, inner=True)}
        if keyword in ("unevaluatedProperties", "unevaluatedItems"):
            return keyword, False if random.random() < 0.6 else self._schema(less)
        if keyword == "uniqueItems":
            return keyword, True
        if keyword in ("additionalProperties", "additionalItems", "contains"):
            return keyword, self._schema(less, inner=True)
        if keyword in ("not", "items"):
            return keyword, self._schema(less, inner=keyword == "items")
        if keyword == "if":
            return "allOf", [{key: self._schema(less) for key in ("if", "then", "else")}]
        if keyword == "dependencies":
            return keyword, {
                name: self._schema(less) if random.random() < 0.5 else [random.choice(KEYS)]
                for name in names
            }
        if keyword == "dependentSchemas":
            return keyword, {name: self._schema(less) for name in names}
        if keyword == "dependentRequired":
            return keyword, {name: [random.choice(KEYS)] for name in names}
        if keyword == "required":
            return keyword, names
        if keyword == "enum":
            listed = values(random, 3)
            return keyword, [v for i, v in enumerate(listed) if v not in listed[:i]]
        if keyword == "const":
            return keyword, _value(random, 1)
        if keyword == "closed":
            return "additionalProperties", False
        return keyword, random.randint(0, 3)


def _spelled(value: Any) -> Iterator[str]:
    """JSON texts of a value: compact, its keys in every order."""
    if isinstance(value, list):
        for parts in product(*(list(_spelled(part)) for part in value)):
            yield f"[{','.join(parts)}]"
    elif isinstance(value, dict):
        for keys in permutations(value):
            for parts in product(*(list(_spelled(value[key])) for key in keys)):
                pairs = zip(keys, parts, strict=True)
                yield "{" + ",".join(f"{json.dumps(key)}:{part}" for key, part in pairs) + "}"
    else:
        yield json.dumps(value, ensure_ascii=False)
