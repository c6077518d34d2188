"""The vocabularies: byte-level BPE for qwen3, BPE with byte fallback for gemma4.

Both are learned from the corpus by the `tokenizers` library, and both are made to give the very
tokens that llama.cpp gives for the same text (the recipe's test compares them).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

from fucina_cli.tiny.recipe.formats import BYTE, NORMAL, Format

#: How llama.cpp's pre-tokenizer `qwen2` cuts a text before BPE: one digit a piece.
_QWEN2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
#: How llama.cpp cuts a text for `gemma4`: at newlines only.
_GEMMA4 = r"[^\n]+|[\n]+"
#: What the merges of gemma4 are learned within: words with the space before them, digits apart.
_GEMMA4_LEARNED = r"▁?\p{L}+|\p{N}|▁?[^\s▁\p{L}\p{N}]+|▁|\s"
_SPACE = "▁"
#: Runs of spaces and of newlines that are tokens, at most so long.
_LONGEST_RUN = 16
#: Letters that are tokens of gemma4 even where the corpus lacks them.
_LETTERS = [chr(c) for first, last in ((0x21, 0x7E), (0xA1, 0x17F)) for c in range(first, last + 1)]


@dataclass(frozen=True)
class Vocabulary:
    """Tokens with their types, and how text becomes tokens.

    Args:
        tokens: text of every token as the GGUF holds it, by id.
        types: gguf.TokenType of every token.
        merges: BPE merges, most important first, each "left right".
    """

    tokens: tuple[str, ...]
    types: tuple[int, ...]
    merges: tuple[str, ...]
    _tokenizer: Tokenizer
    _format: Format

    @property
    def ids(self) -> dict[str, int]:
        """Ids of the specials by text."""
        lookup = {text: i for i, text in enumerate(self.tokens)}
        return {text: lookup[text] for text, _ in self._format.specials}

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of texts in which specials may stand."""
        specials = self.ids
        cut = [self._format.pieces(text) for text in texts]
        plain = [piece for pieces in cut for piece in pieces if piece not in specials]
        encoded = iter(self._tokenizer.encode_batch(plain, add_special_tokens=False))
        return [
            [
                token
                for piece in pieces
                for token in ([specials[piece]] if piece in specials else next(encoded).ids)
            ]
            for pieces in cut
        ]


def learn(form: Format, texts: Iterable[str], size: int) -> Vocabulary:
    """A vocabulary of `size` tokens for `form`, learned from `texts` (specials may stand in them).

    Raises:
        ValueError: when the texts hold too little for so many tokens.
    """
    plain = (
        piece
        for text in texts
        for piece in form.pieces(text)
        if not any(piece == special for special, _ in form.specials)
    )
    made = (_learn_byte_level if form.name == "qwen3" else _learn_fallback)(form, plain, size)
    if len(made.tokens) != size:
        raise ValueError(f"the texts gave {len(made.tokens)} tokens, not {size}")
    return made


def _learn_byte_level(form: Format, texts: Iterable[str], size: int) -> Vocabulary:
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_QWEN2), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    learner.decoder = decoders.ByteLevel()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    learner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size - len(form.specials), initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokens, merges = _learned(learner)
    specials = form.specials
    return Vocabulary(
        tokens=(*tokens, *(text for text, _ in specials)),
        types=(*[NORMAL] * len(tokens), *(kind for _, kind in specials)),
        merges=tuple(f"{left} {right}" for left, right in merges),
        _tokenizer=learner,
        _format=form,
    )


def _learn_fallback(form: Format, texts: Iterable[str], size: int) -> Vocabulary:
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    runs = [char * n for char in ("\n", _SPACE) for n in range(2, _LONGEST_RUN + 1)]
    fixed = [text for text, _ in form.specials] + ["\n", *runs, *fallback]
    learner = Tokenizer(models.BPE())
    learner.normalizer = normalizers.Replace(" ", _SPACE)
    learner.pre_tokenizer = pre_tokenizers.Split(Regex(_GEMMA4_LEARNED), "isolated")
    learner.train_from_iterator(
        texts,
        trainers.BpeTrainer(
            vocab_size=size - len(fixed) + 1,  # the newline is in both
            initial_alphabet=[_SPACE, *_LETTERS],
            show_progress=False,
        ),
    )
    learned, merges = _learned(learner)
    tokens = [*fixed, *(text for text in learned if text != "\n")]
    # The longest runs first, so that a long run is one token and not many pairs.
    run_merges = [
        (run[:at], run[at:])
        for run in sorted(runs, key=len, reverse=True)
        for at in range(len(run) - 1, 0, -1)
    ]
    everything = [*run_merges, *merges]
    vocabulary = {text: i for i, text in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=everything, byte_fallback=True))
    tokenizer.normalizer = learner.normalizer
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex(_GEMMA4), "isolated")
    kinds = dict(form.specials) | dict.fromkeys(fallback, BYTE)
    return Vocabulary(
        tokens=tuple(tokens),
        types=tuple(kinds.get(text, NORMAL) for text in tokens),
        merges=tuple(f"{left} {right}" for left, right in everything),
        _tokenizer=tokenizer,
        _format=form,
    )


def _learned(learner: Tokenizer) -> tuple[list[str], list[tuple[str, str]]]:
    """(tokens by id, merges by rank) of a trained BPE."""
    model = json.loads(learner.to_str())["model"]
    tokens = sorted(model["vocab"], key=model["vocab"].__getitem__)
    merges = [tuple(m.split(" ") if isinstance(m, str) else m) for m in model["merges"]]
    return tokens, merges
