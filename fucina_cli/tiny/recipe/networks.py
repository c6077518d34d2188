"""The two networks in torch: the reference that the GGUF files are compared with.

Written after the published architectures, in the small: Qwen3 (technical report, 2025: grouped
queries, RMS norms on queries and keys, SwiGLU, tied ends) and Gemma 4 as llama.cpp runs it
(sliding and full layers, norms before and after each block, values without a gain in their norm,
keys for values in full layers, proportional RoPE there, a scale per layer, soft-capped logits).
Shapes: B sequences, T tokens, D width, H heads, K key-value heads, E size of a head.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from collections.abc import Iterator

EPSILON = 1e-6


@dataclass(frozen=True)
class Config:
    """Sizes of a network. `heads_kv`, `head` and `base` are those of its ordinary layers;
    `full_*` those of gemma4's layers that see the whole context, every `full_every`-th."""

    family: str
    vocab: int
    layers: int
    width: int
    heads: int
    heads_kv: int
    head: int
    hidden: int
    context: int
    base: float
    window: int = 0
    full_every: int = 0
    full_heads_kv: int = 0
    full_head: int = 0
    full_base: float = 0.0
    full_turning: int = 0  # pairs of a full layer's head that RoPE turns; the others stand still
    softcap: float = 0.0

    def is_full(self, layer: int) -> bool:
        """Does `layer` see the whole context through a window-less attention of gemma4?"""
        return self.full_every > 0 and (layer + 1) % self.full_every == 0


QWEN3 = Config(
    family="qwen3",
    vocab=5120,
    layers=6,
    width=256,
    heads=8,
    heads_kv=4,
    head=32,
    hidden=704,
    context=4096,
    base=1e6,
)
GEMMA4 = Config(
    family="gemma4",
    vocab=5120,
    layers=6,
    width=256,
    heads=8,
    heads_kv=4,
    head=32,
    hidden=704,
    context=4096,
    base=1e4,
    window=128,
    full_every=3,
    full_heads_kv=2,
    full_head=64,
    full_base=1e6,
    full_turning=8,
    softcap=30.0,
)
CONFIGS = {config.family: config for config in (QWEN3, GEMMA4)}


def _product_type(x: Tensor) -> Tensor:
    """`x` in the type that products run in: cast once here, not in each product that takes it."""
    on = torch.is_autocast_enabled("cpu")
    return x.to(torch.get_autocast_dtype("cpu")) if on else x


class Norm(nn.Module):
    """RMS norm with a gain over the last axis."""

    def __init__(self, size: int, gain: float = 1.0) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.full((size,), gain))

    def forward(self, x: Tensor) -> Tensor:
        return _product_type(F.rms_norm(x.float(), self.weight.shape, self.weight, EPSILON))


def _angles(head: int, base: float, turning: int, length: int) -> tuple[Tensor, Tensor]:
    """cos and sin of RoPE, (length, head) each; pairs after the first `turning` stand still."""
    pairs = head // 2
    frequency = base ** (-torch.arange(pairs, dtype=torch.float64) / pairs)
    frequency[turning:] = 0.0
    angle = torch.arange(length, dtype=torch.float64)[:, None] * frequency
    angle = torch.cat([angle, angle], -1)
    return angle.cos().float(), angle.sin().float()


def _rope(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding (Su et al. 2021), halves paired: x (B, H, T, E), cos and sin (T, E)."""
    left, right = x.float().chunk(2, -1)
    return _product_type(x * cos + torch.cat([-right, left], -1) * sin)


def _mask(length: int, window: int) -> Tensor:
    """(T, T): 0 where a query sees a key, minus infinity elsewhere; `window` 0 for no limit."""
    ago = torch.arange(length)[:, None] - torch.arange(length)
    hidden = (ago < 0) | (ago >= window) if window else ago < 0
    return torch.zeros(length, length).masked_fill(hidden, -torch.inf)


class Attention(nn.Module):
    """Attention of one layer; (B, T, D) to (B, T, D)."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__()
        gemma, self.full = config.family == "gemma4", config.is_full(layer)
        self.head = config.full_head if self.full else config.head
        self.heads = config.heads
        self.heads_kv = config.full_heads_kv if self.full else config.heads_kv
        self.window = config.window if gemma and not self.full else 0
        self.base = config.full_base if self.full else config.base
        self.turning = config.full_turning if self.full else self.head // 2
        # Gemma 4 scales nothing: its query norm learns the scale, from where the others have it.
        self.scale = 1.0 if gemma else self.head**-0.5
        self.normed_values = gemma
        self.q = nn.Linear(config.width, self.heads * self.head, bias=False)
        self.k = nn.Linear(config.width, self.heads_kv * self.head, bias=False)
        # Gemma 4's full layers take the keys, before their norm, for values.
        self.v = None if self.full else nn.Linear(config.width, self.heads_kv * self.head, False)
        self.out = nn.Linear(self.heads * self.head, config.width, bias=False)
        self.q_norm = Norm(self.head, self.head**-0.5 if gemma else 1.0)
        self.k_norm = Norm(self.head)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, _ = x.shape
        q = self.q(x).view(batch, length, self.heads, self.head)
        k = self.k(x).view(batch, length, self.heads_kv, self.head)
        v = k if self.v is None else self.v(x).view(batch, length, self.heads_kv, self.head)
        if self.normed_values:
            v = F.rms_norm(v.float(), (self.head,), None, EPSILON).to(v.dtype)
        cos, sin = _angles(self.head, self.base, self.turning, length)
        q = _rope(self.q_norm(q).transpose(1, 2), cos, sin)
        k = _rope(self.k_norm(k).transpose(1, 2), cos, sin)
        shared = self.heads // self.heads_kv
        k = k.repeat_interleave(shared, 1)
        v = v.transpose(1, 2).repeat_interleave(shared, 1)
        # Short sequences: plain products are many times faster here than torch's fused attention.
        scores = (q * self.scale) @ k.transpose(2, 3) + _mask(length, self.window)
        mixed = _product_type(scores.softmax(-1)) @ v
        return self.out(mixed.transpose(1, 2).reshape(batch, length, -1))


class Gated(nn.Module):
    """Gated feed-forward: SiLU for qwen3, GELU (tanh) for gemma4."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.hidden, bias=False)
        self.up = nn.Linear(config.width, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)
        self.gelu = config.family == "gemma4"

    def forward(self, x: Tensor) -> Tensor:
        gate = self.gate(x)
        gate = F.gelu(gate, approximate="tanh") if self.gelu else F.silu(gate)
        return self.down(gate * self.up(x))


class Layer(nn.Module):
    """One block: attention and feed-forward, each with its norms and the residual."""

    def __init__(self, config: Config, layer: int) -> None:
        super().__init__()
        self.attention_norm = Norm(config.width)
        self.attention = Attention(config, layer)
        self.gated_norm = Norm(config.width)
        self.gated = Gated(config)
        gemma = config.family == "gemma4"
        self.attention_after = Norm(config.width) if gemma else None
        self.gated_after = Norm(config.width) if gemma else None
        self.scale = nn.Parameter(torch.ones(1)) if gemma else None

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.attention(self.attention_norm(x))
        x = x + (mixed if self.attention_after is None else self.attention_after(mixed))
        made = self.gated(self.gated_norm(x))
        x = x + (made if self.gated_after is None else self.gated_after(made))
        return x if self.scale is None else x * self.scale


class Network(nn.Module):
    """Token ids (B, T) to logits (B, T, vocab), float32."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocab, config.width)
        self.layers = nn.ModuleList(Layer(config, layer) for layer in range(config.layers))
        self.norm = Norm(config.width)
        self._initialise()

    def _initialise(self) -> None:
        nn.init.normal_(self.embedding.weight, std=0.02)
        for name, weight in self._matrices():
            # What is added to the residual starts small (GPT-2's rule: by the root of its number).
            into = name.endswith(("out.weight", "down.weight"))
            std = weight.shape[1] ** -0.5 / (math.sqrt(2 * self.config.layers) if into else 1.0)
            nn.init.normal_(weight, std=std)

    def _matrices(self) -> Iterator[tuple[str, Tensor]]:
        for name, weight in self.layers.named_parameters():
            if weight.ndim == 2:
                yield name, weight

    def forward(self, tokens: Tensor) -> Tensor:
        return self.logits(self.hidden(tokens))

    def hidden(self, tokens: Tensor) -> Tensor:
        """What the output head sees, (B, T, D)."""
        x = self.embedding(tokens)
        if self.config.family == "gemma4":
            x = x * math.sqrt(self.config.width)
        for layer in self.layers:
            x = layer(x)
        return self.norm(x)

    def logits(self, hidden: Tensor) -> Tensor:
        """The tied output head over the last axis of `hidden`."""
        logits = (hidden @ self.embedding.weight.T.to(hidden.dtype)).float()
        cap = self.config.softcap
        return torch.tanh(logits / cap) * cap if cap else logits
