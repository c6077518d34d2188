"""Reads a GGUF file's header, to refuse a wrong file before the native loader.

Format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md (version 2 and 3, little
endian). Only the head of the file is read: by convention `general.architecture` is the first
key, and where it is not found only the native loader checks it.
"""

from __future__ import annotations

import os
import stat
import struct
from pathlib import Path

from fucina_cli.llama.errors import ModelError
from fucina_cli.text import printable, reason

_MAGIC = b"GGUF"
_GLANCE_BYTES = 1 << 16
_NAME_BYTES = 64  # longer than any architecture's name
_STRING, _ARRAY = 8, 9
_SCALAR_BYTES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


def architecture(path: Path) -> str | None:
    """`general.architecture` of the file, or None when the first 64 KiB do not hold it.

    Raises ModelError when the path is missing, unreadable, empty, not a regular file, not a GGUF,
    of an unknown version or cut off inside the fixed header.
    """
    head = _read_head(path)
    if not head:
        raise ModelError("the file is empty; download the model again")
    if head[:4] != _MAGIC:
        raise ModelError("not a GGUF file (it does not start with 'GGUF'); give a .gguf model")
    if len(head) < 24:
        raise ModelError("the file is cut off inside its header; download the model again")
    (version,) = struct.unpack_from("<I", head, 4)
    if version not in (2, 3):
        swapped = struct.unpack_from(">I", head, 4)[0]
        hint = "it is big-endian" if swapped in (2, 3) else "only versions 2 and 3 are supported"
        raise ModelError(f"GGUF version {version} can't be read: {hint}; convert the model again")
    n_tensors, n_keys = struct.unpack_from("<QQ", head, 8)
    size = path.stat().st_size
    # A key takes at least 13 bytes and a tensor record at least 24: more of them than the file
    # could hold means a damaged header, and the native loader would reserve memory for them.
    if n_keys * 13 + n_tensors * 24 > size:
        raise ModelError(
            f"the header is damaged: it claims {n_keys} keys and {n_tensors} tensors "
            f"in {size} bytes; download the model again"
        )
    return _find_architecture(head, n_keys)


def _read_head(path: Path) -> bytes:
    try:
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            raise ModelError("is a directory; give the .gguf file inside it")
        if not stat.S_ISREG(mode):
            raise ModelError("is not a regular file; give a .gguf model on disk")
        with open(path, "rb") as file:
            return file.read(_GLANCE_BYTES)
    except FileNotFoundError:
        raise ModelError("no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise ModelError(f"can't be read: {reason(error)}") from None


def _find_architecture(head: bytes, n_keys: int) -> str | None:
    at = 24
    try:
        for _ in range(n_keys):
            key, at = _string(head, at)
            (kind,) = struct.unpack_from("<I", head, at)
            at += 4
            if kind == _STRING:
                value, at = _string(head, at)
                if key == b"general.architecture":
                    return printable(value[:_NAME_BYTES].decode("utf-8", "replace"))
            elif kind == _ARRAY or kind not in _SCALAR_BYTES:
                return None  # vocabulary arrays are long, and always after the general keys
            else:
                at += _SCALAR_BYTES[kind]
    except (struct.error, IndexError):
        return None
    return None


def _string(head: bytes, at: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from("<Q", head, at)
    end = at + 8 + length
    if end > len(head):
        raise IndexError("past the glance")
    return head[at + 8 : end], end
