"""The trained network as a GGUF file: matrices in Q8_0, norms in float32."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gguf
import torch
from torch import Tensor

from fucina_cli.tiny.recipe.formats import Format
from fucina_cli.tiny.recipe.networks import CONFIGS, EPSILON, Config, Network
from fucina_cli.tiny.recipe.vocabulary import Vocabulary

_Q8_0 = gguf.GGMLQuantizationType.Q8_0
#: What stands for "never turns" in rope_freqs, as in converted files.
_STILL = 1e30


def export(path: Path, network: Network, vocabulary: Vocabulary, form: Format) -> None:
    """Write `network` to `path`. Raises OSError when the file can't be written."""
    config = network.config
    writer = gguf.GGUFWriter(path, config.family)
    _describe(writer, config)
    _write_sizes(writer, config)
    _write_vocabulary(writer, vocabulary, form)
    for name, weight in tensors(network):
        values = weight.detach().float().numpy()
        if values.ndim == 2:
            writer.add_tensor(name, gguf.quants.quantize(values, _Q8_0), raw_dtype=_Q8_0)
        else:
            writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


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


def _describe(writer: gguf.GGUFWriter, config: Config) -> None:
    writer.add_type(gguf.GGUFType.MODEL)
    writer.add_name(f"Fucina Tiny {config.family}")
    writer.add_description("For trying Fucina CLI: trained on a synthetic corpus, knows little.")
    writer.add_license("mit")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q8_0)
    writer.add_quantization_version(gguf.GGML_QUANT_VERSION)


def _write_sizes(writer: gguf.GGUFWriter, config: Config) -> None:
    writer.add_block_count(config.layers)
    writer.add_context_length(config.context)
    writer.add_embedding_length(config.width)
    writer.add_feed_forward_length(config.hidden)
    writer.add_head_count(config.heads)
    writer.add_layer_norm_rms_eps(EPSILON)
    if config.family == "qwen3":
        writer.add_head_count_kv(config.heads_kv)
        writer.add_key_length(config.head)
        writer.add_value_length(config.head)
        writer.add_rope_freq_base(config.base)
        return
    full = [config.is_full(layer) for layer in range(config.layers)]
    writer.add_head_count_kv([config.full_heads_kv if f else config.heads_kv for f in full])
    writer.add_key_length(config.full_head)
    writer.add_value_length(config.full_head)
    writer.add_key_length_swa(config.head)
    writer.add_value_length_swa(config.head)
    writer.add_sliding_window(config.window)
    writer.add_sliding_window_pattern([not f for f in full])
    writer.add_shared_kv_layers(0)
    writer.add_rope_freq_base(config.full_base)
    writer.add_rope_freq_base_swa(config.base)
    writer.add_rope_dimension_count(config.full_head)
    writer.add_rope_dimension_count_swa(config.head)
    writer.add_final_logit_softcapping(config.softcap)
    writer.add_embedding_length_per_layer_input(0)


def _write_vocabulary(writer: gguf.GGUFWriter, vocabulary: Vocabulary, form: Format) -> None:
    ids = vocabulary.ids
    writer.add_token_list(vocabulary.tokens)
    writer.add_token_types(vocabulary.types)
    writer.add_token_merges(vocabulary.merges)
    writer.add_chat_template(form.template)
    if form.name == "qwen3":
        writer.add_tokenizer_model("gpt2")
        writer.add_tokenizer_pre("qwen2")
        writer.add_bos_token_id(ids["<|endoftext|>"])
        writer.add_eos_token_id(ids[form.text_end])
        writer.add_pad_token_id(ids["<|endoftext|>"])
        writer.add_add_bos_token(False)
        return
    writer.add_tokenizer_model("gemma4")
    writer.add_token_scores([0.0] * len(vocabulary.tokens))
    writer.add_bos_token_id(ids[form.bos])
    writer.add_eos_token_id(ids[form.text_end])
    writer.add_unk_token_id(ids["<unk>"])
    writer.add_pad_token_id(ids["<pad>"])
    writer.add_mask_token_id(ids["<mask>"])
    writer.add_add_space_prefix(False)
    writer.add_add_bos_token(True)


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
