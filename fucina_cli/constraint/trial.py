"""A grammar built without a model, to find out whether the engine can."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from llguidance._lib import LLMatcher, LLParserLimits, LLTokenizer
from llguidance._tokenizer import TokenizerWrapper

from fucina_cli.constraint.diagnostics import diagnosis
from fucina_cli.constraint.kind import GrammarError, Prepared

#: Fifty times the engine's default per step, and four times its default of states: copies of a
#: matcher share their lexer and its budget, so look-aheads of drafts use it too. No grammar that
#: decodes without drafts may fail with them. A hundred times and ten times the default of items:
#: where terminals are single characters, a mask takes some for every byte of the vocabulary.
LIMITS = LLParserLimits(
    step_lexer_fuel=10_000_000,
    max_lexer_states=1_000_000,
    step_max_items=5_000_000,
    max_items_in_row=20_000,
    verbose_errors=False,
)


def tried(text: str) -> tuple[str, list[str]]:
    """The engine's error, empty for none, and its warnings about a grammar in its notation.

    What may take long in the engine depends little on the vocabulary: the automata of the lexer
    are built, and the first mask is computed, for the vocabulary of all bytes.
    """
    matcher = LLMatcher(_bytes(), text, log_level=0, limits=LIMITS)
    if not matcher.is_error() and not matcher.is_stopped():
        matcher.compute_bitmask()
    return matcher.get_error(), matcher.get_grammar_warnings()


def checked(text: str) -> Prepared:
    """A grammar in the engine's notation, checked without a vocabulary. Raises GrammarError."""
    failed, messages = tried(text)
    if failed:
        raise GrammarError(diagnosis(failed))
    return Prepared(text, tuple(diagnosis(m) for m in messages))


class _Bytes:
    """The vocabulary of all bytes and an end, as the engine wants it."""

    tokens = (*(bytes([byte]) for byte in range(256)), b"<end>")
    special_token_ids = (256,)
    bos_token_id = None
    eos_token_id = 256

    def __call__(self, text: str | bytes) -> Sequence[int]:
        return list(text.encode() if isinstance(text, str) else text)


@functools.cache
def _bytes() -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes()), slices=LLTokenizer.json_slices())
