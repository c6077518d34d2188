"""From a grammar in the engine's notation to one compiled for a vocabulary, by llguidance.

Nothing here fails open: what can't be compiled raises.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llguidance._lib import LLMatcher, LLTokenizer
from numpy.typing import NDArray

from fucina_cli.constraint.constraint import Constraint
from fucina_cli.constraint.diagnostics import diagnosis
from fucina_cli.constraint.kind import GrammarError, Prepared
from fucina_cli.constraint.trial import LIMITS
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.vocabulary import SPECIAL_PREFIX, Vocabulary
from fucina_cli.sampling.mask import pack_mask


@dataclass(frozen=True)
class Tokens:
    """The engine's form of a vocabulary, made once per model and stop token.

    `ordinary` is the packed set (uint32, ceil(n_vocab/32) words) of ids that a reply may hold:
    no control token, no marker, no padding; the stop token is included. `tokenize` gives the
    ordinary ids of a text.
    """

    engine: LLTokenizer
    n_vocab: int
    stop_token: int
    ordinary: NDArray[np.uint32]
    tokenize: Callable[[str], list[int]]


def build_tokens(vocabulary: Vocabulary, stop_token: int) -> Tokens:
    """Hand `vocabulary` to the engine; slow, as it reads every entry.

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
    return Tokens(engine, len(table), stop_token, pack_mask(allowed), vocabulary.tokenize_inside)


@dataclass(frozen=True)
class Grammar:
    """A compiled grammar. `constraint()` gives each stream its own state.

    `relaxed`: the engine enforces less than was asked for.
    """

    initial: Constraint
    relaxed: bool = False

    def constraint(self) -> Constraint:
        """A fresh constraint at the start of the grammar, independent of all others."""
        return self.initial.fork()


def compile_grammar(prepared: Prepared, tokens: Tokens) -> Grammar:
    """Compile for a vocabulary. Raises GrammarError, also for a grammar without any answer."""
    matcher = LLMatcher(tokens.engine, prepared.engine_text, log_level=0, limits=LIMITS)
    if matcher.is_error():
        raise GrammarError(diagnosis(matcher.get_error()))
    initial = Constraint(
        matcher, tokens.n_vocab, tokens.stop_token, tokens.ordinary, tokens.tokenize
    )
    if matcher.is_stopped() and not matcher.is_accepting():
        raise GrammarError("the grammar is unsatisfiable: it allows no answer at all")
    try:
        words = initial.mask_words()
    except RuntimeError as error:
        raise GrammarError(diagnosis(str(error))) from None
    if not words.any():
        raise GrammarError("the grammar is unsatisfiable: it allows no first token")
    if np.array_equal(words, pack_mask(np.arange(tokens.n_vocab) == tokens.stop_token)):
        raise GrammarError("it allows only an empty answer")
    return Grammar(initial, prepared.relaxed)
