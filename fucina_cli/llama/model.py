"""A model file, loaded: weights, metadata, vocabulary."""

from __future__ import annotations

import ctypes
import functools
import math
import os
from collections.abc import Iterator
from pathlib import Path

from fucina_cli.limits import interrupt_waits, interrupts_held
from fucina_cli.llama import header, native
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.vocabulary import Vocabulary
from fucina_cli.text import printable

_META_BYTES = 1 << 10
_LARGEST = (1 << 31) - 1
_POOLING_NONE = 0
_ROPE_NONE = -1
_ROPE_SIZE = "rope.dimension_count"


class Model:
    """A GGUF loaded through llama.cpp.

    Args:
        path: the .gguf, or the first part of a split one.
        exact: load the weights so that a row's logits do not depend on its batch (no repacked
            kernels); see `exactness`. Off, llama.cpp chooses, except for AMX kernels.
        gpu_layers: layers to place on a GPU, -1 for all; without a GPU it has no effect.
        vocab_only: read metadata and vocabulary, no weights.

    Raises:
        ModelError: for everything that keeps the file from being used.
    """

    def __init__(
        self, path: Path, *, exact: bool = True, gpu_layers: int = -1, vocab_only: bool = False
    ) -> None:
        self.path = path
        self.exact = exact
        #: Architecture named by the header, for the message of a failing load.
        header_architecture = header.architecture(path)
        lib = self._lib = native.library(exact=exact)
        params = lib.llama_model_default_params()
        params.n_gpu_layers = gpu_layers
        params.vocab_only = vocab_only
        if exact or native.amx_kernels():
            params.use_extra_bufts = False
        # Called between tensors: false aborts the load, so that Ctrl-C need not wait for its end.
        go_on = lib.llama_progress_callback(lambda _progress, _data: not interrupt_waits())
        params.progress_callback = go_on
        native.LOG.take_errors()
        with interrupts_held():
            self.handle = lib.llama_model_load_from_file(os.fsencode(path), params)
        if not self.handle:
            raise ModelError(_load_failure(native.LOG.take_errors(), header_architecture))
        try:
            self.vocabulary = Vocabulary(lib, lib.llama_model_get_vocab(self.handle))
            if not vocab_only:
                self._refuse_absurd_numbers()
                self._refuse_models_that_cannot_generate()
        except ModelError:
            self.close()
            raise

    def close(self) -> None:
        """Free the weights. Contexts of this model must be closed first."""
        if self.handle:
            self._lib.llama_model_free(self.handle)
            self.handle = None

    # -- metadata ----------------------------------------------------------------------------

    def metadata(self, key: str) -> str | None:
        """The GGUF's value of `key` as text, None when it has no such key."""
        size = _META_BYTES
        while True:
            buffer = ctypes.create_string_buffer(size)
            n = self._lib.llama_model_meta_val_str(self.handle, key.encode(), buffer, size)
            if n < 0:
                return None
            if n < size:
                return buffer.raw[:n].decode("utf-8", "replace")
            size = n + 1

    def number(self, key: str) -> float | None:
        """The GGUF's value of `key` as a number, None when absent or no finite number."""
        try:
            value = float(self.metadata(key) or "")
        except ValueError:
            return None
        return value if math.isfinite(value) else None

    @functools.cached_property
    def architecture(self) -> str:
        """`general.architecture`, the family of the model's graph."""
        return self.metadata("general.architecture") or "unknown"

    @property
    def chat_template(self) -> str | None:
        """The GGUF's Jinja chat template, None when it carries none."""
        return self.metadata("tokenizer.chat_template") or None

    @property
    def n_vocab(self) -> int:
        """Width of a logits row."""
        return self.vocabulary.size

    @property
    def n_ctx_train(self) -> int:
        """Context length in tokens that the model was trained for."""
        return int(self._lib.llama_model_n_ctx_train(self.handle))

    @property
    def n_layers(self) -> int:
        """Number of transformer blocks."""
        return int(self._lib.llama_model_n_layer(self.handle))

    @property
    def n_params(self) -> int:
        """Number of weights."""
        return int(self._lib.llama_model_n_params(self.handle))

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        return int(self._lib.llama_model_size(self.handle))

    @property
    def sliding_window(self) -> int:
        """Width in tokens of the sliding attention window, 0 when there is none."""
        return int(self._lib.llama_model_n_swa(self.handle))

    @property
    def can_rewind(self) -> bool:
        """Whether the KV cache can be truncated (recurrent states can not)."""
        lib = self._lib
        return not (
            lib.llama_model_is_recurrent(self.handle) or lib.llama_model_is_hybrid(self.handle)
        )

    @property
    def quantization(self) -> str:
        """Name of the file's weight format, such as Q8_0."""
        name = self._lib.llama_ftype_name(self._lib.llama_model_ftype(self.handle))
        return name.decode("utf-8", "replace") if name else "unknown"

    def kv_elements_per_token(self) -> int:
        """Elements of K and V that one token takes over all layers, an upper estimate."""
        lib, handle = self._lib, self.handle
        heads = max(1, lib.llama_model_n_head(handle))
        kv_heads = max(1, lib.llama_model_n_head_kv(handle))
        width = lib.llama_model_n_embd(handle) // heads
        key = self.number(f"{self.architecture}.attention.key_length") or width
        value = self.number(f"{self.architecture}.attention.value_length") or width
        return int(self.n_layers * kv_heads * (key + value))

    # ----------------------------------------------------------------------------------------

    def _refuse_absurd_numbers(self) -> None:
        """Refuse numbers that llama.cpp does not check and that make it loop without end.

        It reads sizes as unsigned 32-bit numbers and computes with signed ones, so the largest
        turn negative; and it rotates by steps of `rope.dimension_count`.
        """
        prefix = f"{self.architecture}."
        rotates = self._lib.llama_model_rope_type(self.handle) != _ROPE_NONE
        for key, value in self._scalars():
            digits = value.removeprefix("-")
            if not key.startswith(prefix) or not digits.isdecimal():
                continue
            still = rotates and key[len(prefix) :].startswith(_ROPE_SIZE) and not int(digits[:10])
            if still or _too_large(digits):
                name, value = printable(key[:60]), value[:20]
                raise ModelError(f"it claims {name} = {value}: damaged; download it again")

    def _scalars(self) -> Iterator[tuple[str, str]]:
        """Keys and values of the metadata, arrays left out."""
        lib, handle = self._lib, self.handle
        key, value = (ctypes.create_string_buffer(_META_BYTES) for _ in range(2))
        for i in range(lib.llama_model_meta_count(handle)):
            lib.llama_model_meta_key_by_index(handle, i, key, _META_BYTES)
            lib.llama_model_meta_val_str_by_index(handle, i, value, _META_BYTES)
            yield key.value.decode("utf-8", "replace"), value.value.decode("utf-8", "replace")

    def _refuse_models_that_cannot_generate(self) -> None:
        lib, architecture = self._lib, self.architecture
        if self.n_ctx_train < 1:
            raise ModelError(
                f"it claims a context of {self.n_ctx_train} tokens: damaged; download it again"
            )
        causal = self.metadata(f"{architecture}.attention.causal")
        pooling = self.number(f"{architecture}.pooling_type")
        if causal == "false" or (pooling is not None and int(pooling) != _POOLING_NONE):
            raise ModelError(
                f"an embedding-only model ({architecture}) can't generate text; "
                "use a chat or base language model"
            )
        if lib.llama_model_has_encoder(self.handle) or not lib.llama_model_has_decoder(self.handle):
            raise ModelError(
                f"encoder models ({architecture}) are not supported; use a decoder-only model"
            )
        if lib.llama_model_is_diffusion(self.handle):
            raise ModelError(f"diffusion models ({architecture}) do not decode token by token")


def _too_large(digits: str) -> bool:
    """Whether a number exceeds a signed 32-bit integer."""
    return len(digits) > 10 or int(digits) > _LARGEST


def _load_failure(errors: list[str], architecture: str | None) -> str:
    """One clear sentence out of the native loader's error lines."""
    known = {
        "unknown model architecture": f"unknown architecture {architecture or ''!r}: "
        "this build of llama.cpp can't run it; upgrade llama-cpp-python or use another model",
        "not within the file bounds": "the file is cut off: tensors end past the end of the file; "
        "download the model again",
        "unknown tokenizer": "the file has no tokenizer that llama.cpp knows; use another GGUF",
        "cannot find tokenizer": "the file has no tokenizer; use a GGUF with its vocabulary",
        "key not found in model: tokenizer": "the file has no tokenizer; use a GGUF with its "
        "vocabulary",
    }
    text = " ".join(errors)
    for sign, sentence in known.items():
        if sign in text:
            return sentence
    detail = next((_plain(line) for line in errors if _plain(line)), "no reason given")
    return f"the file can't be loaded, it is damaged or not supported ({detail})"


def _plain(line: str) -> str:
    """A native log line without the name of the function that wrote it."""
    head, separator, tail = line.partition(": ")
    if separator and " " not in head:
        line = tail
    return printable(" ".join(line.split())[:200])


def available_memory() -> int | None:
    """Bytes of memory that can be taken without swapping, None where the system does not say."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            for line in file:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return None
