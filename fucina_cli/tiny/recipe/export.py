"""The trained network as a GGUF file: matrices in Q8_0, norms in float32."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gguf
import torch
from torch import Tensor

from fucina_cli.tiny import ggufs
from fucina_cli.tiny.recipe.formats import Format
from fucina_cli.tiny.recipe.networks import CONFIGS, EPSILON, Config, Network
from fucina_cli.tiny.recipe.vocabulary import Vocabulary

#: What stands for "never turns" in rope_freqs, as in converted files.
_STILL = 1e30
_DESCRIPTION = "For trying Fucina CLI: trained on a synthetic corpus, knows little."


def export(path: Path, network: Network, vocabulary: Vocabulary, form: Format) -> None:
    """Write `network` to `path`. Raises OSError when the file can't be written."""
    config = network.config
    metadata = {**_describe(config), **_sizes(config), **_tokenizer(vocabulary, form)}
    weights = {name: weight.detach().float().numpy() for name, weight in tensors(network)}
    packed = {n: ggufs.q8_0(w) if w.ndim == 2 else ggufs.f32(w) for n, w in weights.items()}
    ggufs.write(path, metadata, packed)


def tensors(network: Network) -> Iterator[tuple[str, Tensor]]:
    """Every weight with its name in the GGUF."""
    config = network.config
    yield "token_embd.weight", network.embedding.weight
    yield "output_norm.weight", network.norm.weight
    if config.full_every:
        yield "rope_freqs.weight", _rope_factors(config)
    for number, layer in enumerate(network.layers):
        for name, weight in _NAMES[config.family].items():
            value = dict(layer.named_parameters()).get(weight)
            if value is not None:  # a full layer of gemma4 has no values of its own
                yield f"blk.{number}.{name}.weight", value


_COMMON = {
    "attn_norm": "attention_norm.weight",
    "attn_q": "attention.q.weight",
    "attn_k": "attention.k.weight",
    "attn_v": "attention.v.weight",
    "attn_output": "attention.out.weight",
    "attn_q_norm": "attention.q_norm.weight",
    "attn_k_norm": "attention.k_norm.weight",
    "ffn_norm": "gated_norm.weight",
    "ffn_gate": "gated.gate.weight",
    "ffn_up": "gated.up.weight",
    "ffn_down": "gated.down.weight",
}
_NAMES = {
    "qwen3": _COMMON,
    "gemma4": _COMMON
    | {
        "post_attention_norm": "attention_after.weight",
        "post_ffw_norm": "gated_after.weight",
        "layer_output_scale": "scale",
    },
}


def _rope_factors(config: Config) -> Tensor:
    factors = torch.full((config.full_head // 2,), _STILL)
    factors[: config.full_turning] = 1.0
    return factors


def _describe(config: Config) -> dict[str, object]:
    return {
        "general.architecture": config.family,
        "general.type": "model",
        "general.name": f"Fucina Tiny {config.family}",
        "general.description": _DESCRIPTION,
        "general.license": "mit",
        "general.file_type": int(gguf.LlamaFileType.MOSTLY_Q8_0),
        "general.quantization_version": gguf.GGML_QUANT_VERSION,
    }


def _sizes(config: Config) -> dict[str, object]:
    sizes: dict[str, object] = {
        "block_count": config.layers,
        "context_length": config.context,
        "embedding_length": config.width,
        "feed_forward_length": config.hidden,
        "attention.head_count": config.heads,
        "attention.layer_norm_rms_epsilon": EPSILON,
    }
    if config.family == "qwen3":
        sizes |= {
            "attention.head_count_kv": config.heads_kv,
            "attention.key_length": config.head,
            "attention.value_length": config.head,
            "rope.freq_base": config.base,
        }
    else:
        full = [config.is_full(layer) for layer in range(config.layers)]
        heads_kv = [config.full_heads_kv if f else config.heads_kv for f in full]
        sizes |= {
            "attention.head_count_kv": heads_kv,
            "attention.key_length": config.full_head,
            "attention.value_length": config.full_head,
            "attention.key_length_swa": config.head,
            "attention.value_length_swa": config.head,
            "attention.sliding_window": config.window,
            "attention.sliding_window_pattern": [not f for f in full],
            "attention.shared_kv_layers": 0,
            "rope.freq_base": config.full_base,
            "rope.freq_base_swa": config.base,
            "rope.dimension_count": config.full_head,
            "rope.dimension_count_swa": config.head,
            "final_logit_softcapping": config.softcap,
            "embedding_length_per_layer_input": 0,
        }
    return ggufs.under(config.family, sizes)


def _tokenizer(vocabulary: Vocabulary, form: Format) -> dict[str, object]:
    ids = vocabulary.ids
    if form.name == "qwen3":
        rules: dict[str, object] = {
            "model": "gpt2",
            "pre": "qwen2",
            "bos_token_id": ids["<|endoftext|>"],
            "eos_token_id": ids[form.text_end],
            "padding_token_id": ids["<|endoftext|>"],
            "add_bos_token": False,
        }
    else:
        rules = {
            "model": "gemma4",
            "scores": [0.0] * len(vocabulary.tokens),
            "bos_token_id": ids[form.bos],
            "eos_token_id": ids[form.text_end],
            "unknown_token_id": ids["<unk>"],
            "padding_token_id": ids["<pad>"],
            "mask_token_id": ids["<mask>"],
            "add_space_prefix": False,
            "add_bos_token": True,
        }
    return {
        **ggufs.token_tables(vocabulary.tokens, vocabulary.types, vocabulary.merges),
        "tokenizer.chat_template": form.template,
        **ggufs.under("tokenizer.ggml", rules),
    }


def load(path: Path) -> Network:
    """The network whose weights are those of the GGUF at `path`, as Q8_0 left them.

    Raises:
        ValueError: when the file's tensors are not those of the recipe.
    """
    reader = gguf.GGUFReader(path)
    family = reader.fields["general.architecture"].contents()
    network = Network(CONFIGS[family])
    found = {t.name: gguf.quants.dequantize(t.data, t.tensor_type) for t in reader.tensors}
    for name, weight in tensors(network):
        if name not in found or found[name].shape != tuple(weight.shape):
            raise ValueError(f"'{path}' is not of this recipe: {name}")
        weight.data.copy_(torch.from_numpy(found[name].copy()))
    return network.eval()
