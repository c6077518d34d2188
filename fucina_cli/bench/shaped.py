"""A model of random weights in the shape and with the vocabulary size of a well-known one.

    python -m fucina_cli.bench.shaped gemma3-270m|qwen3-0.6b MODEL --out FILE

What a forward, a mask or a drafted row costs depends on the shape and the vocabulary, not on what
a model has learned: so speed can be measured where the real weights can't be had. The tokens are
those of MODEL (a byte-level BPE vocabulary, such as SmolLM2's), so that texts are cut into tokens
as usual, and made-up ones up to the size: words glued to ends of others, as rare tokens are.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import gguf
import numpy as np

from fucina_cli.bench import harness
from fucina_cli.cli.process import program
from fucina_cli.cli.process.parser import Parser
from fucina_cli.text import reason
from fucina_cli.tiny import ggufs

_SEED = 0
_EPSILON = 1e-6
#: Made-up tokens tried for each one that is needed.
_TRIES = 5
#: Standard deviation of the logits: with more the tied head just repeats the last token.
_LOGIT_STD = 0.5


@dataclass(frozen=True)
class Shape:
    """Sizes of a network.

    Attributes:
        sandwich: norms after attention and feed-forward too.
        window: tokens that most layers see, 0 for all.
    """

    architecture: str
    layers: int
    width: int
    hidden: int
    heads: int
    heads_kv: int
    head: int
    vocab: int
    sandwich: bool
    window: int


SHAPES = {
    "gemma3-270m": Shape("gemma3", 18, 640, 2048, 4, 1, 256, 262_144, True, 512),
    "qwen3-0.6b": Shape("qwen3", 28, 1024, 3072, 16, 8, 128, 151_936, False, 0),
}


def build(shape: Shape, tokens_of: Path, out: Path) -> None:
    """Write the model to `out`, always the same.

    Raises ValueError when the vocabulary of `tokens_of` is too large or no byte-level BPE, OSError
    when `out` can't be written.
    """
    metadata = {
        "general.architecture": shape.architecture,
        "general.name": f"random weights, {shape.architecture}",
        "general.file_type": int(gguf.LlamaFileType.MOSTLY_Q8_0),
        **_sizes(shape),
        **_vocabulary(gguf.GGUFReader(tokens_of).fields, shape.vocab),
    }
    rng = np.random.default_rng(_SEED)
    tensors = {}
    for name, rows, columns in _matrices(shape):
        std = _LOGIT_STD if name == "token_embd" else 1.0
        weights = rng.standard_normal((rows, columns), np.float32) * np.float32(std / columns**0.5)
        tensors[f"{name}.weight"] = ggufs.q8_0(weights)
    for name, length in _norms(shape):
        tensors[f"{name}.weight"] = ggufs.f32(np.ones(length, np.float32))
    ggufs.write(out, metadata, tensors)


def _matrices(shape: Shape) -> Iterator[tuple[str, int, int]]:
    """(name, outputs, inputs); the output head is the embedding."""
    yield "token_embd", shape.vocab, shape.width
    for layer in range(shape.layers):
        for name, outputs, inputs in (
            ("attn_q", shape.heads * shape.head, shape.width),
            ("attn_k", shape.heads_kv * shape.head, shape.width),
            ("attn_v", shape.heads_kv * shape.head, shape.width),
            ("attn_output", shape.width, shape.heads * shape.head),
            ("ffn_gate", shape.hidden, shape.width),
            ("ffn_up", shape.hidden, shape.width),
            ("ffn_down", shape.width, shape.hidden),
        ):
            yield f"blk.{layer}.{name}", outputs, inputs


def _norms(shape: Shape) -> Iterator[tuple[str, int]]:
    yield "output_norm", shape.width
    for layer in range(shape.layers):
        after = ("post_attention_norm", "post_ffw_norm") if shape.sandwich else ()
        for name in ("attn_norm", "ffn_norm", *after):
            yield f"blk.{layer}.{name}", shape.width
        for name in ("attn_q_norm", "attn_k_norm"):
            yield f"blk.{layer}.{name}", shape.head


def _sizes(shape: Shape) -> dict[str, object]:
    sizes: dict[str, object] = {
        "block_count": shape.layers,
        "context_length": 8192,
        "embedding_length": shape.width,
        "feed_forward_length": shape.hidden,
        "attention.head_count": shape.heads,
        "attention.head_count_kv": shape.heads_kv,
        "attention.key_length": shape.head,
        "attention.value_length": shape.head,
        "attention.layer_norm_rms_epsilon": _EPSILON,
        "rope.freq_base": 1e6,
    }
    if shape.window:
        sizes["attention.sliding_window"] = shape.window
    return ggufs.under(shape.architecture, sizes)


def _vocabulary(found: dict[str, gguf.ReaderField], size: int) -> dict[str, object]:
    kind = found.get("tokenizer.ggml.model")
    needed = ("tokens", "token_type", "merges", "pre")
    whole = all(f"tokenizer.ggml.{key}" in found for key in needed)
    if kind is None or kind.contents() != "gpt2" or not whole:
        raise ValueError("its vocabulary is no byte-level BPE, or not whole")
    tokens: list[str] = found["tokenizer.ggml.tokens"].contents()
    types: list[int] = found["tokenizer.ggml.token_type"].contents()
    if len(tokens) > size:
        raise ValueError(f"its vocabulary has {len(tokens):,} tokens, more than {size:,}")
    made_up = _made_up(tokens, size - len(tokens))
    ends = (f"tokenizer.ggml.{key}_token_id" for key in ("bos", "eos"))
    return {
        **ggufs.token_tables(
            [*tokens, *made_up],
            [*types, *(int(gguf.TokenType.NORMAL) for _ in made_up)],
            found["tokenizer.ggml.merges"].contents(),
        ),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": found["tokenizer.ggml.pre"].contents(),
        **{key: int(found[key].contents()) for key in ends if key in found},
        "tokenizer.ggml.add_bos_token": False,
    }


def _made_up(tokens: list[str], count: int) -> list[str]:
    """`count` strings that are no token: the beginning of one and the end of another."""
    rng = random.Random(_SEED)
    words = [token for token in tokens if 3 <= len(token) <= 10]
    taken = set(tokens)
    made: list[str] = []
    for _ in range(_TRIES * count if words else 0):
        if len(made) == count:
            break
        word = rng.choice(words) + rng.choice(words)[-rng.randint(1, 4) :]
        if word not in taken:
            taken.add(word)
            made.append(word)
    if len(made) < count:
        raise ValueError("its vocabulary is too small to make up so many tokens")
    return made


def main() -> None:
    """Write a model."""
    parser = Parser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("shape", choices=SHAPES)
    parser.add_argument("model", type=harness.model_file, help="whose tokens it gets")
    parser.add_argument("--out", type=Path, required=True, help="the GGUF to write")
    options = parser.parse_args()
    try:
        build(SHAPES[options.shape], options.model, options.out)
    except ValueError as error:
        parser.error(f"argument model: '{options.model}': {error}")
    except OSError as error:
        parser.error(f"--out: can't write '{options.out}': {reason(error)}")


if __name__ == "__main__":
    program.end(main)
