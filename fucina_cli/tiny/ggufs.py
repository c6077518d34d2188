"""GGUF files, written: the same content gives the same bytes.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 3, little endian).
Python values become the types that llama.cpp's converter uses: `int` UINT32, or INT32 when
negative and in arrays, or UINT64 when too large; `float` FLOAT32. :func:`typed`, :func:`numbers`
and :class:`Encoded` choose another type, or malformed bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from gguf import GGMLQuantizationType, GGUFValueType
from gguf.quants import quantize
from numpy.typing import ArrayLike, NDArray

_ALIGNMENT = 32
_SCALAR_FORMATS = {
    GGUFValueType.UINT16: "<H",
    GGUFValueType.UINT32: "<I",
    GGUFValueType.INT32: "<i",
    GGUFValueType.FLOAT32: "<f",
    GGUFValueType.BOOL: "<?",
    GGUFValueType.UINT64: "<Q",
}


class Encoded(NamedTuple):
    """A metadata value as it stands in the file: its GGUF type, and its bytes after the type."""

    kind: GGUFValueType
    payload: bytes


class Tensor(NamedTuple):
    """Weights as they stand in the file; `shape` counts elements, slowest dimension first."""

    kind: GGMLQuantizationType
    shape: tuple[int, ...]
    data: bytes


# -- metadata ------------------------------------------------------------------------------------


def typed(kind: GGUFValueType, value: float) -> Encoded:
    """A scalar of the GGUF type `kind`, e.g. `typed(GGUFValueType.UINT16, 1)`."""
    return Encoded(kind, struct.pack(_SCALAR_FORMATS[kind], value))


def numbers(kind: GGUFValueType, values: ArrayLike) -> Encoded:
    """An array of `kind` from the 1-d sequence `values`."""
    packed = np.asarray(values, np.dtype(_SCALAR_FORMATS[kind]))
    return Encoded(GGUFValueType.ARRAY, struct.pack("<IQ", kind, packed.size) + packed.tobytes())


def strings(texts: Sequence[str | bytes]) -> Encoded:
    """An array of strings."""
    head = struct.pack("<IQ", GGUFValueType.STRING, len(texts))
    return Encoded(GGUFValueType.ARRAY, head + b"".join(map(_string, texts)))


def under(prefix: str, values: Mapping[str, object]) -> dict[str, object]:
    """`values` with keys that begin with `prefix` and a dot."""
    return {f"{prefix}.{key}": value for key, value in values.items()}


def token_tables(
    tokens: Sequence[str], types: Sequence[int], merges: Sequence[str] = ()
) -> dict[str, object]:
    """The texts and types (gguf.TokenType) of all tokens by id, and BPE merges "left right"."""
    tables = {"tokens": strings(tokens), "token_type": numbers(GGUFValueType.INT32, types)}
    return under("tokenizer.ggml", tables | ({"merges": strings(merges)} if merges else {}))


# -- weights -------------------------------------------------------------------------------------


def f32(values: NDArray[np.float32]) -> Tensor:
    """`values` as they are."""
    return Tensor(GGMLQuantizationType.F32, values.shape, values.astype("<f4").tobytes())


def q8_0(values: NDArray[np.float32]) -> Tensor:
    """`values` [rows, columns] in Q8_0: 34 bytes for each 32 weights of a row.

    Raises ValueError where rows are no multiple of 32.
    """
    kind = GGMLQuantizationType.Q8_0
    return Tensor(kind, values.shape, quantize(values, kind).tobytes())


# -- the file ------------------------------------------------------------------------------------


def write(path: Path, metadata: Mapping[str, object], tensors: Mapping[str, Tensor]) -> None:
    """Write metadata and tensors, in their order, to `path`.

    Raises OSError when the file can't be written, TypeError for a value without a GGUF type.
    """
    head = [struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata))]
    for key, value in metadata.items():
        kind, payload = _encode(value)
        head += _string(key), struct.pack("<I", kind), payload
    offset = 0
    for name, tensor in tensors.items():
        lengths = tensor.shape[::-1]
        record = struct.pack(f"<I{len(lengths)}QIQ", len(lengths), *lengths, tensor.kind, offset)
        head += _string(name), record
        offset += len(tensor.data) + -len(tensor.data) % _ALIGNMENT
    with path.open("wb") as file:
        for part in (b"".join(head), *(tensor.data for tensor in tensors.values())):
            file.write(part)
            file.write(bytes(-len(part) % _ALIGNMENT))


def _string(text: str | bytes) -> bytes:
    raw = text.encode() if isinstance(text, str) else text
    return len(raw).to_bytes(8, "little") + raw


def _encode(value: object) -> Encoded:
    match value:
        case Encoded():
            return value
        case bool():
            return typed(GGUFValueType.BOOL, value)
        case int() if 0 <= value < 1 << 32:
            return typed(GGUFValueType.UINT32, value)
        case int() if -(1 << 31) <= value < 0:
            return typed(GGUFValueType.INT32, value)
        case int():
            return typed(GGUFValueType.UINT64, value)
        case float():
            return typed(GGUFValueType.FLOAT32, value)
        case str() | bytes():
            return Encoded(GGUFValueType.STRING, _string(value))
        case list() | tuple():
            if all(isinstance(item, str | bytes) for item in value):
                return strings(value)
            for python_type, kind in (
                (bool, GGUFValueType.BOOL),
                (int, GGUFValueType.INT32),
                (float, GGUFValueType.FLOAT32),
            ):
                if all(isinstance(item, python_type) for item in value):
                    return numbers(kind, value)
    raise TypeError(f"no GGUF type for {value!r}")
