"""The vocabulary of a loaded model: bytes of tokens, attributes, text to ids.

Text is data here: `tokenize` never yields a control token or a marker, whatever the text spells.
Only `marker_ids` hands out ids of markers, to whoever knows that a template wrote them.
"""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Collection
from typing import Any

from fucina_cli.llama.errors import ModelError

# llama_token_attr bits, from llama.h.
_UNKNOWN, _UNUSED, _CONTROL, _USER_DEFINED = 1 << 0, 1 << 1, 1 << 3, 1 << 4
_NO_TYPE = 0  # LLAMA_VOCAB_TYPE_NONE
_PIECE_BYTES = 1 << 16
#: What toktrie takes as the first byte of a special token: it never occurs in UTF-8.
SPECIAL_PREFIX = b"\xff"


class Vocabulary:
    """A view of a model's vocabulary; valid as long as the model is."""

    def __init__(self, lib: Any, handle: Any) -> None:
        self._lib = lib
        self.handle = handle
        if lib.llama_vocab_type(handle) == _NO_TYPE:
            raise ModelError("the file has no tokenizer; use a GGUF that includes its vocabulary")
        #: Number of token ids; also the width of a logits row.
        self.size: int = lib.llama_vocab_n_tokens(handle)
        self.bos: int | None = _id(lib.llama_vocab_bos(handle))
        self.eos: int | None = _id(lib.llama_vocab_eos(handle))
        self.eot: int | None = _id(lib.llama_vocab_eot(handle))
        self.adds_bos: bool = bool(lib.llama_vocab_get_add_bos(handle))
        self._piece = lib._lib.llama_token_to_piece
        self._attribute = lib._lib.llama_vocab_get_attr
        self._buffer = ctypes.create_string_buffer(_PIECE_BYTES)

    # -- one token ---------------------------------------------------------------------------

    def token_bytes(self, token: int, *, special: bool = False) -> bytes:
        """Raw bytes of `token`; of a control token nothing, unless `special` asks for its text."""
        n = self._piece(self.handle, token, self._buffer, _PIECE_BYTES, 0, special)
        if n < 0:
            raise ModelError(f"token {token} is longer than {_PIECE_BYTES} bytes: damaged file")
        return ctypes.string_at(self._buffer, n)

    def text(self, token: int) -> str:
        """Text of `token`, of control tokens too; what is no UTF-8 as U+FFFD."""
        return self.token_bytes(token, special=True).decode("utf-8", "replace")

    def is_end(self, token: int) -> bool:
        """Whether llama.cpp counts `token` as an end of generation (EOS, EOT, …)."""
        return bool(self._lib.llama_vocab_is_eog(self.handle, token))

    def is_control(self, token: int) -> bool:
        """Whether `token` is a control token or the unknown token."""
        return bool(self._attribute(self.handle, token) & (_CONTROL | _UNKNOWN))

    # -- the whole vocabulary ----------------------------------------------------------------

    def trie_bytes(self) -> list[bytes]:
        """Bytes of every token as a grammar engine wants them; `size` entries.

        Control and unknown tokens, and user-defined tokens that look like markup, carry
        SPECIAL_PREFIX: the text `<|im_end|>` inside a string must never match the token. Padding
        and unused ids are empty, which no grammar matches.
        """
        table: list[bytes] = []
        piece, attribute, handle, buffer = self._piece, self._attribute, self.handle, self._buffer
        for token in range(self.size):
            bits = attribute(handle, token)
            if bits & _UNUSED:
                table.append(b"")
                continue
            n = piece(handle, token, buffer, _PIECE_BYTES, 0, True)
            if n < 0:
                raise ModelError(f"token {token} is longer than {_PIECE_BYTES} bytes")
            data = ctypes.string_at(buffer, n)
            if bits & (_CONTROL | _UNKNOWN) or (bits & _USER_DEFINED and _is_markup(data)):
                data = SPECIAL_PREFIX + data
            table.append(data)
        return table

    @functools.cached_property
    def _special_texts(self) -> dict[str, tuple[int, int]]:
        """Text to (id, attribute bits) of every control, unknown and user-defined token."""
        found: dict[str, tuple[int, int]] = {}
        wanted = _CONTROL | _UNKNOWN | _USER_DEFINED
        attribute, handle = self._attribute, self.handle
        for token in range(self.size):
            bits = attribute(handle, token)
            if bits & wanted and not bits & _UNUSED:
                text = self.text(token)
                if text:
                    found.setdefault(text, (token, bits))
        return found

    def marker_ids(self, template: str = "", family_markers: Collection[str] = ()) -> dict[str, int]:
        """Text to id of the tokens that structure a conversation.

        All control tokens, and those user-defined tokens that the template or the family uses or
        that look like `<|…|>`. Other user-defined tokens (runs of spaces, HTML tags of Gemma) are
        ordinary text.
        """
        return {
            text: token
            for text, (token, bits) in self._special_texts.items()
            if bits & (_CONTROL | _UNKNOWN)
            or (
                not text.isspace()
                and len(text) > 1
                and ("|" in text or text in family_markers or text in template)
            )
        }

    def tokenize_function_address(self) -> int:
        """Address of the C function llama_tokenize, for engines that call it themselves."""
        address = ctypes.cast(self._lib._lib.llama_tokenize, ctypes.c_void_p).value
        return address or 0

    # -- text to ids -------------------------------------------------------------------------

    def tokenize(self, text: str) -> list[int]:
        """Ids of `text` taken as data; no BOS is added and no marker can result."""
        tokens = self._tokenize(text)
        if any(self._is_live_marker(token) for token in tokens):
            # User-defined tokens match inside plain text too. Cut each such spelling after its
            # first character: the pieces then tokenize as the ordinary text they are.
            tokens = [token for piece in self._cut_markers(text) for token in self._tokenize(piece)]
        return tokens

    def marker_id(self, text: str) -> int | None:
        """Id of the special token spelled exactly `text`, None when there is none.

        Asks the tokenizer instead of walking the vocabulary.
        """
        tokens = self._tokenize(text, parse_special=True)
        if len(tokens) == 1 and self._attribute(self.handle, tokens[0]) & (
            _CONTROL | _UNKNOWN | _USER_DEFINED
        ):
            return tokens[0]
        return None

    def _is_live_marker(self, token: int) -> bool:
        bits = self._attribute(self.handle, token)
        if bits & _CONTROL:
            return True
        return bool(bits & _USER_DEFINED) and _is_markup(self.token_bytes(token, special=True))

    def _cut_markers(self, text: str) -> list[str]:
        texts = [t for t in self._special_texts if _is_markup(t.encode()) and len(t) > 1]
        pattern = re.compile(f"(?={'|'.join(re.escape(t) for t in texts)})")
        cuts = [match.start() + 1 for match in pattern.finditer(text)]
        edges = [0, *cuts, len(text)]
        return [text[a:b] for a, b in zip(edges, edges[1:], strict=False) if a < b]

    def _tokenize(self, text: str, *, parse_special: bool = False) -> list[int]:
        data = text.encode("utf-8")
        if not data:
            return []
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        n = self._lib.llama_tokenize(
            self.handle, data, len(data), buffer, room, False, parse_special
        )
        if n < 0:
            room = -n
            buffer = (ctypes.c_int32 * room)()
            n = self._lib.llama_tokenize(
                self.handle, data, len(data), buffer, room, False, parse_special
            )
        return list(buffer[:n])


def _id(token: int) -> int | None:
    return token if token >= 0 else None


def _is_markup(data: bytes) -> bool:
    return len(data) > 2 and data.startswith(b"<") and data.endswith(b">")
