"""A KV cache, and the forwards that fill it and give logits."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fucina_cli.limits import interrupts_held
from fucina_cli.llama import native
from fucina_cli.llama.errors import ContextFull, ModelError
from fucina_cli.llama.model import Model, available_memory

#: Element types of a KV cache: name to (ggml type number, bytes per element).
CACHE_TYPES = {
    "f32": (0, 4.0),
    "f16": (1, 2.0),
    "bf16": (30, 2.0),
    "q8_0": (8, 34 / 32),
    "q5_1": (7, 24 / 32),
    "q5_0": (6, 22 / 32),
    "q4_1": (3, 20 / 32),
    "q4_0": (2, 18 / 32),
}
#: Cache types of exact models, in order of preference: types for which llama.cpp's flash attention
#: has neither a path for single rows (f16 and f32, from 512 cells on) nor one for many. Of those a
#: CPU reads bf16 values fastest. bf16 keys where a head is not a multiple of q8_0's 32. GPU kernels
#: require one type for both.
_CPU_CACHES = (("q8_0", "bf16"), ("bf16", "bf16"))
_GPU_CACHES = (("q8_0", "q8_0"), ("bf16", "bf16"))
_EXACT_CACHES = frozenset(_CPU_CACHES + _GPU_CACHES)
_FAST_CACHE = ("f16", "f16")
_FLASH_AUTO, _FLASH_ON = -1, 1
_BATCH_ROWS = 512
_NO_ROOM = 1


class Row(NamedTuple):
    """One token of a forward: its position and slot, and whether its logits are wanted."""

    token: int
    position: int
    slot: int
    wants_logits: bool


class Context:
    """A KV cache of `n_slots` slots over one model.

    Args:
        n_ctx: tokens that each slot can hold.
        cache_type: names of the K and the V element type, None for those of an exact model.
        threads: CPU threads, None for the cores that this process may use.
        max_logits_rows: most rows of one forward that may want logits.

    Raises:
        ModelError: when llama.cpp can't make the context, or memory would not hold it.
    """

    def __init__(
        self,
        model: Model,
        *,
        n_ctx: int,
        n_slots: int = 1,
        cache_type: tuple[str, str] | None = None,
        threads: int | None = None,
        max_logits_rows: int = 32,
    ) -> None:
        lib = self._lib = native.library()
        self.model = model
        self.n_slots = n_slots
        self.batch_rows = _BATCH_ROWS
        #: Most rows of one forward that may want logits.
        self.logits_rows = max(max_logits_rows, n_slots)
        #: Forwards so far, and their rows in all.
        self.total_forwards = self.total_rows = 0
        self._n_vocab = model.n_vocab
        attempts = [cache_type] if cache_type else [_FAST_CACHE]
        if model.exact and not cache_type:
            attempts[:0] = _GPU_CACHES if lib.llama_supports_gpu_offload() else _CPU_CACHES
        failure = ""
        self.handle = None
        for kinds in attempts:
            _check_memory(model, kinds, n_ctx * n_slots)
            native.LOG.take_errors()
            params = lib.llama_context_default_params()
            # Rounded up: llama.cpp pads each slot's cache to whole blocks of 256 cells anyway.
            params.n_ctx = -(-n_ctx // 256) * 256 * n_slots
            params.n_seq_max = n_slots
            params.n_batch = params.n_ubatch = _BATCH_ROWS
            params.n_outputs_max = params.n_outputs_max_per_seq = self.logits_rows
            params.n_threads = params.n_threads_batch = threads or usable_cores()
            params.flash_attn_type = _FLASH_ON if kinds in _EXACT_CACHES else _FLASH_AUTO
            params.type_k, params.type_v = CACHE_TYPES[kinds[0]][0], CACHE_TYPES[kinds[1]][0]
            params.swa_full = True  # a pruned sliding-window cache could not be truncated
            params.kv_unified = False
            with interrupts_held():
                self.handle = lib.llama_init_from_model(model.handle, params)
            if self.handle:
                self.cache_type = kinds
                break
            failure = " ".join(native.LOG.take_errors())[:200] or failure
        if not self.handle:
            raise ModelError(
                f"no context of {n_ctx} tokens with a {'/'.join(attempts[-1])} cache: "
                f"{failure or 'llama.cpp gave no reason'}; "
                "a shorter context or another cache type may do"
            )
        self.n_ctx = n_ctx
        self._memory = lib.llama_get_memory(self.handle)
        self._views: dict[int, NDArray[np.float32]] = {}
        self._make_batch()

    def close(self) -> None:
        """Free the cache."""
        if self.handle:
            self._lib.llama_free(self.handle)
            self.handle = None

    # -- forwards ----------------------------------------------------------------------------

    def decode(self, rows: Sequence[Row]) -> None:
        """One forward over at most `batch_rows` rows; their K and V enter the cache.

        Raises:
            ContextFull: no room; the cache is unchanged.
            ModelError: llama.cpp failed to compute.
        """
        n = len(rows)
        if n == 1:  # the hot path: four stores instead of an array conversion
            row = rows[0]
            self._tokens[0] = row.token
            self._positions[0] = row.position
            self._slots[0] = row.slot
            self._wants[0] = row.wants_logits
        else:
            table = np.array(rows, dtype=np.int32)
            self._tokens[:n] = table[:, 0]
            self._positions[:n] = table[:, 1]
            self._slots[:n] = table[:, 2]
            self._wants[:n] = table[:, 3]
        self._batch.n_tokens = n
        self.total_forwards += 1
        self.total_rows += n
        status = self._lib.llama_decode(self.handle, self._batch)
        if status == _NO_ROOM:
            raise ContextFull(f"no room for {n} more tokens in a context of {self.n_ctx}")
        if status:
            detail = " ".join(native.LOG.take_errors())[:200]
            raise ModelError(f"llama.cpp could not compute ({detail or status})")

    def prefill(
        self, slot: int, tokens: Sequence[int], start: int = 0, *, logits: bool = False
    ) -> int:
        """Decode `tokens` into `slot` from position `start` on, in forwards of `batch_rows` rows.

        Returns the row of the last token in its forward, whose `logits` can be read if wanted; -1
        without tokens. Raises what `decode` raises, after which the cache may hold some of them.
        """
        last, row = len(tokens) - 1, -1
        for at in range(0, len(tokens), self.batch_rows):
            chunk = tokens[at : at + self.batch_rows]
            self.decode(
                [
                    Row(token, start + i, slot, logits and i == last)
                    for i, token in enumerate(chunk, at)
                ]
            )
            row = len(chunk) - 1
        return row

    def logits(self, row: int) -> NDArray[np.float32]:
        """Logits of row `row` of the last forward: float32 [n_vocab], a view without a copy.

        Valid, and free to be changed in place, until the next forward.
        """
        pointer = self._lib.llama_get_logits_ith(self.handle, row)
        if not pointer:
            raise ModelError("the model gives no logits: an embedding-only model can't generate")
        address = ctypes.addressof(pointer.contents)
        view = self._views.get(address)
        if view is None:
            memory = (ctypes.c_float * self._n_vocab).from_address(address)
            view = self._views[address] = np.ctypeslib.as_array(memory)
        return view

    # -- the cache ---------------------------------------------------------------------------

    def truncate(self, slot: int, length: int) -> None:
        """Forget the tokens of `slot` from position `length` on.

        Raises ModelError for a recurrent model, which can't.
        """
        if not self._lib.llama_memory_seq_rm(self._memory, slot, length, -1):
            raise ModelError("this model's cache can't be truncated (recurrent state)")

    def copy(self, source: int, target: int, length: int) -> None:
        """Make `target` hold the first `length` tokens of `source`, replacing what it held."""
        self.clear(target)
        self._lib.llama_memory_seq_cp(self._memory, source, target, -1, -1)
        self.truncate(target, length)

    def clear(self, slot: int) -> None:
        """Forget all tokens of `slot`."""
        self._lib.llama_memory_seq_rm(self._memory, slot, -1, -1)

    def clear_all(self) -> None:
        """Forget all tokens of all slots."""
        self._lib.llama_memory_clear(self._memory, False)

    # ----------------------------------------------------------------------------------------

    def _make_batch(self) -> None:
        lib, n = self._lib, _BATCH_ROWS
        self._tokens = np.zeros(n, dtype=np.int32)
        self._positions = np.zeros(n, dtype=np.int32)
        self._slots = np.zeros(n, dtype=np.int32)
        self._wants = np.zeros(n, dtype=np.int8)
        self._counts = np.ones(n, dtype=np.int32)
        int32_p = ctypes.POINTER(ctypes.c_int32)
        first = self._slots.ctypes.data
        self._slot_pointers = (int32_p * n)(
            *(ctypes.cast(first + 4 * i, int32_p) for i in range(n))
        )
        batch: Any = lib.llama_batch()
        batch.token = self._tokens.ctypes.data_as(int32_p)
        batch.pos = self._positions.ctypes.data_as(int32_p)
        batch.n_seq_id = self._counts.ctypes.data_as(int32_p)
        batch.seq_id = ctypes.cast(self._slot_pointers, type(batch.seq_id))
        batch.logits = self._wants.ctypes.data_as(ctypes.POINTER(ctypes.c_int8))
        self._batch = batch


def usable_cores() -> int:
    """Cores that this process may run on."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on macOS and Windows
        return os.cpu_count() or 1


def _check_memory(model: Model, kinds: tuple[str, str], tokens: int) -> None:
    per_element = (CACHE_TYPES[kinds[0]][1] + CACHE_TYPES[kinds[1]][1]) / 2
    needed = model.kv_elements_per_token() * per_element * tokens
    free = available_memory()
    if free is not None and needed > free:
        raise ModelError(
            f"a context of {tokens} tokens needs {needed / 2**30:.1f} GiB of memory and "
            f"{free / 2**30:.1f} GiB are free; make it shorter"
        )
