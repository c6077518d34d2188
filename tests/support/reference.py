"""The forward pass of a qwen3 or gemma4 GGUF in plain numpy, as slow and as clear as it gets.

Written from the architectures and not from llama.cpp's graph, to compare it with. It reads every
size from the file, dequantizes all weights, and computes in float64.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from gguf import GGUFReader
from gguf.quants import dequantize
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Reference:
    """`logits(tokens)` of one file."""

    def __init__(self, path: Path) -> None:
        reader = GGUFReader(path)
        self._fields = {name: field.contents() for name, field in reader.fields.items()}
        self._weights: dict[str, Array] = {
            tensor.name: dequantize(tensor.data, tensor.tensor_type).astype(np.float64)
            for tensor in reader.tensors
        }
        self._architecture = str(self._fields["general.architecture"])
        self._gemma = self._architecture == "gemma4"

    def logits(self, tokens: list[int]) -> Array:
        """float64 (tokens, vocabulary)."""
        x = self._weights["token_embd.weight"][tokens]
        if self._gemma:
            x = x * x.shape[1] ** 0.5
        for layer in range(self._size("block_count")):
            x = self._block(x, layer)
        made = self._norm(x, "output_norm") @ self._weights["token_embd.weight"].T
        if not self._gemma:
            return np.asarray(made)
        cap = float(self._field("final_logit_softcapping"))
        return np.asarray(np.tanh(made / cap) * cap)

    def _block(self, x: Array, layer: int) -> Array:
        mixed = self._attention(self._norm(x, f"blk.{layer}.attn_norm"), layer)
        if self._gemma:
            mixed = self._norm(mixed, f"blk.{layer}.post_attention_norm")
        x = x + mixed
        made = self._feed_forward(self._norm(x, f"blk.{layer}.ffn_norm"), layer)
        if self._gemma:
            made = self._norm(made, f"blk.{layer}.post_ffw_norm")
        x = x + made
        scale = self._weights.get(f"blk.{layer}.layer_output_scale.weight")
        return x if scale is None else x * scale

    def _attention(self, x: Array, layer: int) -> Array:
        slides = self._gemma and bool(self._field("attention.sliding_window_pattern")[layer])
        suffix = "_swa" if slides else ""
        head = self._size(f"attention.key_length{suffix}")
        base = float(self._field(f"rope.freq_base{suffix}"))
        kv = self._field("attention.head_count_kv")
        heads, heads_kv = self._size("attention.head_count"), kv[layer] if self._gemma else kv
        n = len(x)
        q = (x @ self._matrix(layer, "attn_q")).reshape(n, heads, head)
        k = (x @ self._matrix(layer, "attn_k")).reshape(n, heads_kv, head)
        values = f"blk.{layer}.attn_v.weight"
        v = (x @ self._weights[values].T).reshape(k.shape) if values in self._weights else k
        if self._gemma:
            v = v / self._rms(v)
        frequencies = base ** (-np.arange(0, head, 2) / head)
        if self._gemma and not slides:
            frequencies = frequencies / self._weights["rope_freqs.weight"]
        q = _turned(self._norm(q, f"blk.{layer}.attn_q_norm"), frequencies)
        k = _turned(self._norm(k, f"blk.{layer}.attn_k_norm"), frequencies)
        ago = np.arange(n)[:, None] - np.arange(n)
        hidden = ago < 0
        if slides:
            hidden |= ago >= self._size("attention.sliding_window")
        out = np.empty((n, heads, head))
        for number in range(heads):
            shared = number // (heads // heads_kv)
            scores = q[:, number] @ k[:, shared].T * (1.0 if self._gemma else head**-0.5)
            scores[hidden] = -np.inf
            weights = np.exp(scores - scores.max(1, keepdims=True))
            out[:, number] = weights / weights.sum(1, keepdims=True) @ v[:, shared]
        return np.asarray(out.reshape(n, -1) @ self._matrix(layer, "attn_output"))

    def _feed_forward(self, x: Array, layer: int) -> Array:
        gate = x @ self._matrix(layer, "ffn_gate")
        if self._gemma:
            opened = 0.5 * gate * (1 + np.tanh((2 / np.pi) ** 0.5 * (gate + 0.044715 * gate**3)))
        else:
            opened = gate / (1 + np.exp(-gate))
        return np.asarray(
            opened * (x @ self._matrix(layer, "ffn_up")) @ self._matrix(layer, "ffn_down")
        )

    def _norm(self, x: Array, name: str) -> Array:
        return np.asarray(x / self._rms(x) * self._weights[f"{name}.weight"])

    def _rms(self, x: Array) -> Array:
        epsilon = float(self._field("attention.layer_norm_rms_epsilon"))
        return np.asarray(np.sqrt((x**2).mean(-1, keepdims=True) + epsilon))

    def _matrix(self, layer: int, name: str) -> Array:
        return np.asarray(self._weights[f"blk.{layer}.{name}.weight"].T)

    def _field(self, key: str) -> Any:
        return self._fields[f"{self._architecture}.{key}"]

    def _size(self, key: str) -> int:
        return int(self._field(key))


def _turned(x: Array, frequencies: Array) -> Array:
    """Rotary embedding of (tokens, heads, size), first half paired with the second."""
    angles = np.arange(len(x))[:, None, None] * frequencies
    left, right = np.split(x, 2, axis=-1)
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([left * cos - right * sin, right * cos + left * sin], -1)
