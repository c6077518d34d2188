"""The vocabulary of a loaded model: bytes of tokens, attributes, text to ids.

Text is data here: `tokenize` never yields a control token or a marker, whatever the text spells.
Only `marker_ids` hands out ids of markers, for text that a template wrote.

A marker is a token that structures a conversation: every control token, and of the user-defined
ones (which llama.cpp matches inside plain text) those that look or are used like one. The others,
runs of spaces and tags of text formatting, are ordinary text.
"""

from __future__ import annotations

import ctypes
import functools
import itertools
import re
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.header import printable

# llama_token_attr bits, from llama.h.
_UNKNOWN, _UNUSED, _CONTROL, _USER_DEFINED = 1 << 0, 1 << 1, 1 << 3, 1 << 4
_EATS_SPACE_BEFORE, _EATS_SPACE_AFTER = 1 << 7, 1 << 8
_NO_TYPE = 0  # LLAMA_VOCAB_TYPE_NONE
_PIECE_BYTES = 1 << 16
#: What toktrie takes as the first byte of a special token: it never occurs in UTF-8.
SPECIAL_PREFIX = b"\xff"
#: Tags of plain text formatting, which Gemma and others have as user-defined tokens.
_FORMATTING = re.compile(
    r"</?(table|caption|thead|tbody|tfoot|tr|th|td|h[1-6]|p|br|hr|blockquote|pre|code"
    r"|ul|ol|li|strong|em|b|i|u|s|sub|sup)>"
)
_PUNCTUATION = re.compile(r"[^\w\s]")
_WHITE_SPACE = " \t\n\r\f\v"
_SAME_WANTED = "use a smaller model of the same family"
#: A noncharacter: no token contains it, so what follows it is tokenized as inside a text.
_ANCHOR = "\ufdd0"


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
            if bits & (_CONTROL | _UNKNOWN) or (
                bits & _USER_DEFINED and _is_markup(data.decode("utf-8", "replace"))
            ):
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

    def marker_ids(
        self, template: str = "", family_markers: Collection[str] = ()
    ) -> dict[str, int]:
        """Text to id of the markers: also those user-defined tokens that template or family use."""
        return {
            text: token
            for text, (token, bits) in self._special_texts.items()
            if bits & (_CONTROL | _UNKNOWN)
            or _is_markup(text)
            or text in family_markers
            or (text in template and len(text) > 1 and _PUNCTUATION.search(text))
        }

    def tokenize_function_address(self) -> int:
        """Address of the C function llama_tokenize, for engines that call it themselves."""
        address = ctypes.cast(self._lib._lib.llama_tokenize, ctypes.c_void_p).value
        return address or 0

    def _meaning(self, token: int) -> tuple[bytes, bool]:
        """Bytes of `token`, none for padding, and whether it is a control or unknown token."""
        if self._attribute(self.handle, token) & _UNUSED:
            return b"", False
        return self.token_bytes(token, special=True), self.is_control(token)

    def _spelled(self, count: int, *, special: bool) -> bytes:
        """The first `count` ids in one text, separated by token 0; control tokens if `special`."""
        ids = np.zeros(2 * count, dtype=np.int32)
        ids[1::2] = np.arange(count)
        pointer = ids.ctypes.data_as(ctypes.POINTER(ctypes.c_int32))
        room = 32 * count
        while True:
            buffer = ctypes.create_string_buffer(room)
            n = self._lib.llama_detokenize(
                self.handle, pointer, ids.size, buffer, room, False, special
            )
            if n >= 0:
                return ctypes.string_at(buffer, n)
            room = -n

    # -- text to ids -------------------------------------------------------------------------

    def tokenize(self, text: str, markers: Collection[str] = ()) -> list[int]:
        """Ids of `text` taken as data; no BOS is added and no marker can result.

        `markers` are texts that count as markers here beside those that always do.
        """
        tokens = self._tokenize(text)
        if any(self._is_marker(token, markers) for token in tokens):
            # Cut each spelling after its first character: what is left spells no marker.
            first, *rest = self._cut_markers(text, markers)
            tokens = self._tokenize(first)
            for piece in rest:
                tokens += self.tokenize_inside(piece)
        return tokens

    def encode(self, parts: Sequence[str | int], markers: Collection[str] = ()) -> list[int]:
        """Ids of a prompt in parts: ids of markers as they are, text between them as data.

        Some markers (those of Phi-3) swallow the white space beside them, as they did in training.
        """
        tokens: list[int] = []
        for i, part in enumerate(parts):
            if isinstance(part, int):
                tokens.append(part)
                continue
            if i and self._has(parts[i - 1], _EATS_SPACE_AFTER):
                part = part.lstrip(_WHITE_SPACE)
            if i + 1 < len(parts) and self._has(parts[i + 1], _EATS_SPACE_BEFORE):
                part = part.rstrip(_WHITE_SPACE)
            tokens += self.tokenize(part, markers)
        return tokens

    def marker_id(self, text: str) -> int | None:
        """Id of the marker spelled exactly `text`, None when there is none.

        Asks the tokenizer instead of walking the vocabulary.
        """
        tokens = self._tokenize(text, parse_special=True)
        if len(tokens) != 1:
            return None
        bits = self._attribute(self.handle, tokens[0])
        if bits & (_CONTROL | _UNKNOWN) or (bits & _USER_DEFINED and _is_markup(text)):
            return tokens[0]
        return None

    def _is_marker(self, token: int, markers: Collection[str]) -> bool:
        bits = self._attribute(self.handle, token)
        if bits & _USER_DEFINED:
            text = self.text(token)
            return _is_markup(text) or text in markers
        return bool(bits & (_CONTROL | _UNKNOWN))

    def _has(self, part: str | int, attribute: int) -> bool:
        return isinstance(part, int) and bool(self._attribute(self.handle, part) & attribute)

    def _cut_markers(self, text: str, markers: Collection[str]) -> list[str]:
        spelled = [
            re.escape(marker)
            for marker, (_, bits) in self._special_texts.items()
            if marker in text
            and (bits & (_CONTROL | _UNKNOWN) or _is_markup(marker) or marker in markers)
        ]
        if not spelled:  # an unknown token stands for characters that the vocabulary lacks
            return [text]
        cuts = [match.start() + 1 for match in re.finditer(f"(?={'|'.join(spelled)})", text)]
        edges = [0, *cuts, len(text)]
        return [text[a:b] for a, b in itertools.pairwise(edges) if a < b]

    def tokenize_inside(self, text: str) -> list[int]:
        """Ids of `text` inside a text: without the space that some vocabularies put first.

        Markers are not looked for: it is for text that a marker's spelling was cut out of, or that
        is only a guess.
        """
        if not self._puts_space_first:
            return self._tokenize(text)
        anchor = self._tokenize(_ANCHOR)
        return self._tokenize(_ANCHOR + text)[len(anchor) :]

    @functools.cached_property
    def _puts_space_first(self) -> bool:
        return self.token_bytes(self._tokenize("a")[0]).startswith(b" ")

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


def check_same_vocabulary(target: Vocabulary, draft: Vocabulary) -> None:
    """Raise ModelError, saying what differs, unless an id means the same in both vocabularies.

    Every id must have the same bytes, and be a control token in both or in neither; one vocabulary
    may go on with padding, ids without text. Which tokens end a turn is not compared: a base model
    may draft for the chat model made of it.
    """
    common = min(target.size, draft.size)
    sizes = "" if target.size == draft.size else f"{draft.size} tokens against {target.size}, and "
    # All at once is much faster than id by id, and can't say where the difference is.
    if any(
        target._spelled(common, special=s) != draft._spelled(common, special=s)
        for s in (True, False)
    ):
        for token in range(common):
            ours, theirs = target._meaning(token), draft._meaning(token)
            if ours != theirs:
                raise ModelError(
                    f"the draft model has another vocabulary: {sizes}token {token} is "
                    f"{_shown(*theirs)} where the model has {_shown(*ours)}; {_SAME_WANTED}"
                )
    longer, owner = (target, "the model") if target.size > common else (draft, "the draft model")
    for token in range(common, longer.size):
        meaning = longer._meaning(token)
        if meaning[0]:
            raise ModelError(
                f"the draft model has another vocabulary: {sizes}only {owner} has token {token}, "
                f"{_shown(*meaning)}; {_SAME_WANTED}"
            )


def _shown(data: bytes, control: bool) -> str:
    """What a token means, for a message."""
    text = repr(printable(data[:60].decode("utf-8", "replace")))
    if not data:
        return "no text"
    return f"the control token {text}" if control else text


def _id(token: int) -> int | None:
    return token if token >= 0 else None


def _is_markup(text: str) -> bool:
    """Whether a user-defined token's text is that of a marker: `<think>`, `[INST]`, `<|"|>`."""
    if len(text) < 3 or text.isspace() or _FORMATTING.fullmatch(text):
        return False
    return "|" in text or (text[0] in "<[" and text[-1] in ">]")
