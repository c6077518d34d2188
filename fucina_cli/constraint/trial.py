"""A grammar built without a model, to find out whether the engine can."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from llguidance._lib import LLMatcher, LLParserLimits, LLTokenizer
from llguidance._tokenizer import TokenizerWrapper

#: Fifty times the engine's default per step, and four times its default of states: copies of a
#: matcher share their lexer and its budget, so look-aheads of drafts use it too. No grammar that
#: decodes without drafts may fail with them.
LIMITS = LLParserLimits(
    step_lexer_fuel=10_000_000, max_lexer_states=1_000_000, verbose_errors=False
)


def tried(text: str) -> tuple[str, list[str]]:
    """The engine's error, empty for none, and its warnings about a grammar in its notation.

    What may take long in the engine depends little on the vocabulary: the automata of the lexer
    are built, and the first mask is computed, for the vocabulary of all bytes.
    """
    matcher = LLMatcher(_bytes(), text, log_level=0, limits=LIMITS)
    if not matcher.is_error() and not matcher.is_stopped():
        words = np.zeros(-(-_Bytes.n_vocab // 32), dtype=np.uint32)
        matcher.unsafe_compute_mask_ptr(words.ctypes.data, words.nbytes)
    return matcher.get_error(), matcher.get_grammar_warnings()


class _Bytes:
    """The vocabulary of all bytes and an end, as the engine wants it."""

    n_vocab = 257
    tokens = (*(bytes([byte]) for byte in range(256)), b"<end>")
    special_token_ids = (256,)
    bos_token_id = None
    eos_token_id = 256

    def __call__(self, text: str | bytes) -> Sequence[int]:
        return list(text.encode() if isinstance(text, str) else text)


@functools.cache
def _bytes() -> LLTokenizer:
    return LLTokenizer(TokenizerWrapper(_Bytes()), slices=LLTokenizer.json_slices())
