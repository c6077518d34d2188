"""From a source to a compiled grammar, by llguidance.

Nothing here fails open: what can't be compiled raises. A schema that uses keywords beyond the
engine is relaxed step by step, each step reported as a warning, and the independent validator
has the last word on the answer.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from llguidance._lib import LLMatcher, LLParserLimits, LLTokenizer
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.diagnostics import one_line
from fucina_cli.constraint.source import GrammarError, Source
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.vocabulary import SPECIAL_PREFIX, Vocabulary
from fucina_cli.sampling.mask import pack_mask

#: What is relaxed, and how the user is told. Tried in order; the first that compiles is taken.
_RELAXATIONS: tuple[tuple[dict[str, bool], str], ...] = (
    ({}, ""),
    ({"coerce_one_of": True}, "`oneOf` is decoded as `anyOf`; the answer is validated afterwards"),
    (
        {"coerce_one_of": True, "lenient": True},
        "keywords beyond the grammar engine are not enforced while decoding; "
        "the answer is validated afterwards",
    ),
)
#: Fifty times what the engine would spend on a step, and four times the states it would keep:
#: copies of a matcher share their lexer and its budget, so that look-aheads of drafts draw on it
#: too. It has to be so large that no grammar which decodes alone fails for being looked ahead of.
_LIMITS = LLParserLimits(
    step_lexer_fuel=10_000_000, max_lexer_states=1_000_000, verbose_errors=False
)
_STRICT = {"coerce_one_of": False, "lenient": False}


@dataclass(frozen=True)
class Prepared:
    """A source in the engine's own notation, checked without a vocabulary.

    `relaxed` tells that the engine enforces less than the source asks for.
    """

    source: Source
    engine_text: str
    warnings: tuple[str, ...]
    relaxed: bool = False


def prepare(source: Source, *, json_whitespace: bool = False) -> Prepared:
    """Translate and check `source`; needs no model, so that a bad grammar fails at once.

    `json_whitespace` allows optional white space between JSON tokens; without it the JSON is
    compact. Raises GrammarError with the engine's diagnostic.
    """
    if source.kind == "json_schema":
        return _prepare_schema(source, json_whitespace)
    if source.kind == "lark":
        text = LLMatcher.grammar_from_lark(source.text)
    elif source.kind == "regex":
        text = LLMatcher.grammar_from_regex(_ascii_classes(source.text))
    else:
        text = LLMatcher.grammar_from_regex("|".join(_literal(c) for c in source.choices))
    failed, messages = LLMatcher.validate_grammar_with_warnings(text)
    if failed:
        raise GrammarError(one_line(messages[0]))
    return Prepared(source, text, tuple(one_line(m) for m in messages))


@dataclass(frozen=True)
class Tokens:
    """The engine's picture of a vocabulary, made once per model and stop token.

    `ordinary` is the packed set (uint32, ceil(n_vocab/32) words) of ids that a reply may hold:
    no control token, no marker, no padding; the stop token is in.
    """

    engine: LLTokenizer
    n_vocab: int
    stop_token: int
    ordinary: NDArray[np.uint32]


def build_tokens(vocabulary: Vocabulary, stop_token: int) -> Tokens:
    """Bridge `vocabulary` to the engine; about 0.15 s per 50,000 entries.

    Forced byte strings are tokenized canonically by the model's own tokenizer, called through its
    C function without the interpreter lock. Raises ModelError for a vocabulary that the engine
    can't work with.
    """
    table = vocabulary.trie_bytes()
    allowed = np.fromiter(
        (bool(data) and not data.startswith(SPECIAL_PREFIX) for data in table),
        dtype=np.bool_,
        count=len(table),
    )
    allowed[stop_token] = True
    make: Any = getattr(LLTokenizer, "from_llamacpp")  # noqa: B009  (absent from its stub file)
    try:
        engine = make(
            tokens=table,
            vocab_ptr=vocabulary.handle,
            tokenize_fptr=vocabulary.tokenize_function_address(),
            eos_token=stop_token,
            slices=LLTokenizer.json_slices(),
        )
    except ValueError as error:
        raise ModelError(f"its vocabulary can't be used under a constraint ({error})") from None
    return Tokens(engine, len(table), stop_token, pack_mask(allowed))


@dataclass(frozen=True)
class Grammar:
    """A compiled grammar. `constraint()` gives each stream its own state, in microseconds."""

    source: Source
    warnings: tuple[str, ...]
    initial: Constraint
    relaxed: bool = False

    def constraint(self) -> Constraint:
        """A fresh constraint at the start of the grammar, independent of all others."""
        return self.initial.fork()


def compile_grammar(prepared: Prepared, tokens: Tokens) -> Grammar:
    """Compile for a vocabulary. Raises GrammarError, also for a grammar without any answer."""
    matcher = LLMatcher(tokens.engine, prepared.engine_text, log_level=0, limits=_LIMITS)
    if matcher.is_error():
        raise GrammarError(one_line(matcher.get_error()))
    initial = Constraint(matcher, tokens.n_vocab, tokens.stop_token, tokens.ordinary)
    if matcher.is_stopped() and not matcher.is_accepting():
        raise GrammarError("the grammar is unsatisfiable: it allows no answer at all")
    try:
        words = initial.mask_words()
    except RuntimeError as error:
        raise GrammarError(one_line(str(error))) from None
    if not words.any():
        raise GrammarError("the grammar is unsatisfiable: it allows no first token")
    if np.array_equal(words, pack_mask(np.arange(tokens.n_vocab) == tokens.stop_token)):
        raise GrammarError("it allows only an empty answer")
    return Grammar(prepared.source, prepared.warnings, initial, prepared.relaxed)


def _prepare_schema(source: Source, whitespace: bool) -> Prepared:
    layout: dict[str, Any] = {
        "whitespace_flexible": whitespace,
        "item_separator": ",",
        "key_separator": ":",
    }
    schema, notes = _known_dialect(source.schema)
    if schema.get("not") in ({}, True):
        raise GrammarError("the schema is unsatisfiable: `not` forbids every value")
    first_failure = failure = ""
    for relaxed, warning in _RELAXATIONS:
        options = {**layout, **_STRICT, **relaxed}
        try:
            text = LLMatcher.grammar_from_json_schema(
                json.dumps(schema), overrides=cast(Any, options)
            )
        except (ValueError, RecursionError) as error:
            raise GrammarError(one_line(str(error))) from None
        failed, messages = LLMatcher.validate_grammar_with_warnings(text)
        if not failed:
            details = list(dict.fromkeys(one_line(m) for m in messages))
            if warning:
                details = [f"{warning} ({'; '.join(details) or first_failure})"]
            return Prepared(source, text, (*notes, *details), relaxed=bool(warning))
        failure = one_line(messages[0])
        first_failure = first_failure or failure
        if "nsatisfiable" in failure:
            break  # no relaxation makes an impossible schema possible
    raise GrammarError(failure)


#: `$schema` of every published draft, without what may differ in how people write it.
_DIALECTS = frozenset(
    f"json-schema.org/{name}"
    for name in (
        *(f"draft-0{n}/schema" for n in (3, 4, 6, 7)),
        *(f"draft/{year}/schema" for year in ("2019-09", "2020-12")),
    )
)


def _known_dialect(schema: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """`schema` without a `$schema` that the engine does not know, and a warning about it."""
    named = schema.get("$schema")
    if not isinstance(named, str) or re.sub(r"^https?://|#$", "", named) in _DIALECTS:
        return schema, []
    rest = {key: value for key, value in schema.items() if key != "$schema"}
    return rest, [f"unknown $schema '{named[:80]}'; the schema is read as draft 2020-12"]


def _literal(text: str) -> str:
    r"""A pattern for exactly `text`: all but plain letters and digits escaped as \x{…}."""
    return "".join(c if c.isascii() and c.isalnum() else f"\\x{{{ord(c):X}}}" for c in text)


_ASCII_CLASSES = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": r"[ \t\n\r\f\v]"}


def _ascii_classes(pattern: str) -> str:
    r"""`pattern` with \d, \w and \s as the ASCII sets that people mean by them.

    The engine's own are Unicode's, under which a model may write a date in Bengali digits. It
    already reads the patterns of a JSON schema this way. \D, \W and \S stay Unicode's, so that
    whatever is produced matches under either reading.
    """
    return re.sub(
        r"\\(.)",
        lambda match: _ASCII_CLASSES.get(match.group(1), match.group(0)),
        pattern,
        flags=re.DOTALL,
    )
