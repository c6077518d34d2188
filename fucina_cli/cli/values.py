"""Values of flags: text with `@FILE` and `-`, token lists, biases."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from fucina_cli.cli.process.exits import FlagError
from fucina_cli.errors import InputError
from fucina_cli.job import check_bias
from fucina_cli.text import reason

_MAX_FILE_BYTES = 64 << 20


@dataclass
class TextReader:
    """Reads the text of flags; standard input can be read by one of them only."""

    stdin_flag: str | None = field(default=None)

    def text(self, flag: str, value: str) -> str:
        """`value`, or the text that `@FILE` or `-` names, without one final newline.

        A leading `@@` is a literal `@`. Raises FlagError for what can't be read or is not UTF-8.
        """
        if value == "-":
            return _without_newline(self._stdin(flag))
        if value.startswith("@@"):
            value = value[1:]
        elif value == "@":
            raise FlagError(flag, "@ names no file; give @FILE, or @@ for text that begins with @")
        elif value.startswith("@"):
            return _without_newline(read_text(flag, Path(value[1:])))
        try:
            value.encode("utf-8")
        except UnicodeEncodeError:
            raise FlagError(flag, "the value is not valid UTF-8") from None
        return value

    def is_file(self, value: str) -> bool:
        """Whether `value` names a file or standard input instead of being the text itself."""
        return value == "-" or (value.startswith("@") and not value.startswith("@@"))

    def file(self, flag: str, value: str) -> str:
        """The exact text of the file named `value`, or of standard input for `-`."""
        return self._stdin(flag) if value == "-" else read_text(flag, Path(value))

    def claim_stdin(self, flag: str) -> None:
        """Reserve standard input for `flag`. Raises FlagError when another flag has read it."""
        if self.stdin_flag is not None:
            raise FlagError(flag, f"standard input was already read for {self.stdin_flag}")
        self.stdin_flag = flag

    def _stdin(self, flag: str) -> str:
        self.claim_stdin(flag)
        if sys.stdin is None:
            raise FlagError(flag, "there is no standard input")
        try:
            data = sys.stdin.buffer.read(_MAX_FILE_BYTES + 1)
        except OSError as error:
            raise FlagError(flag, f"standard input can't be read: {reason(error)}") from None
        return _decode(flag, data, "standard input")


def read_text(flag: str, path: Path) -> str:
    """The UTF-8 text of a file. Raises FlagError naming flag and file."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        raise FlagError(flag, f"can't read '{path}': {reason(error)}") from None
    return _decode(flag, data, f"'{path}'")


def _decode(flag: str, data: bytes, what: str) -> str:
    if len(data) > _MAX_FILE_BYTES:
        raise FlagError(flag, f"{what} is larger than {_MAX_FILE_BYTES >> 20} MiB")
    try:
        return data.decode("utf-8-sig" if data.startswith(b"\xef\xbb\xbf") else "utf-8")
    except UnicodeDecodeError as error:
        raise FlagError(
            flag, f"{what} is not valid UTF-8 (byte {error.start}); convert it first"
        ) from None


def _without_newline(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def token_ids(text: str) -> list[int]:
    """Comma-separated ids. Raises InputError for anything else."""
    ids: list[int] = []
    for part in text.split(","):
        part = part.strip()
        if not is_id(part):
            message = f"'{part[:40]}' is not a token id; give ids such as 9707,11,1879"
            if re.search(r"[^\W\d_]", text):
                message += ", or a text after --chat or --prompt"
            raise InputError("prompt", message)
        ids.append(token_id(part))
    return ids


def is_id(text: str) -> bool:
    """Whether a text is the decimal digits of a token id."""
    return text.isascii() and text.isdigit()


def token_id(digits: str) -> int:
    """The id in decimal digits; only the first 20 are read, more are out of range anyway."""
    return int(digits[:20])


def bias(text: str) -> tuple[str | int, float]:
    """TOKEN=BIAS to (id or text of a token, bias); `-inf` bans. Raises InputError."""
    part = "logit_bias"
    token, separator, number = text.rpartition("=")
    if not separator or not token:
        message = f"'{text[:40]}' is not TOKEN=BIAS, such as 1879=-inf or ' yes'=2.5"
        raise InputError(part, message)
    try:
        token.encode("utf-8")
    except UnicodeEncodeError:
        raise InputError(part, "the value is not valid UTF-8") from None
    try:
        value = float(number)
    except ValueError:
        raise InputError(part, f"'{number[:40]}' is not a number (use -inf to ban)") from None
    check_bias(token, value)
    return (token_id(token) if is_id(token) else token), value
