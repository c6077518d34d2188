"""Values of flags: text with `@FILE` and `-`, numbers within their ranges, token lists."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

from fucina_cli.cli.exits import FlagError

_MAX_FILE_BYTES = 64 << 20


@dataclass
class TextReader:
    """Reads the text of flags; standard input can be read by one of them only."""

    stdin_flag: str | None = field(default=None)

    def text(self, flag: str, value: str) -> str:
        """`value`, or what `@FILE` or `-` stand for, less one final newline.

        A leading `@@` is a literal `@`. Raises FlagError for what can't be read or is no UTF-8.
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

    def _stdin(self, flag: str) -> str:
        if self.stdin_flag is not None:
            raise FlagError(flag, f"standard input was already read for {self.stdin_flag}")
        self.stdin_flag = flag
        if sys.stdin is None:
            raise FlagError(flag, "there is no standard input")
        try:
            data = sys.stdin.buffer.read(_MAX_FILE_BYTES + 1)
        except OSError as error:
            raise FlagError(flag, f"standard input can't be read: {error.strerror}") from None
        return _decode(flag, data, "standard input")


def read_text(flag: str, path: Path) -> str:
    """The UTF-8 text of a file. Raises FlagError naming flag and file."""
    try:
        with open(path, "rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise FlagError(flag, f"can't read '{path}': {reason}") from None
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


@dataclass(frozen=True)
class Range:
    """Accepted numbers, both ends included."""

    low: float
    high: float

    def check(self, flag: str, value: float | None) -> None:
        """Raise FlagError when `value` is given and outside (NaN is outside of everything)."""
        if value is None or self.low <= value <= self.high:
            return
        ends = f"{_plain(self.low)} to {_plain(self.high)}"
        raise FlagError(flag, f"{_plain(value)} is out of range; give {ends}")


def _plain(value: float) -> str:
    """A number as people write it, and short."""
    if isinstance(value, int):
        return str(value) if abs(value) < 10**20 else "a number that long"
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else f"{value:g}"


#: Ranges of all numeric flags.
RANGES = {
    "--gen": Range(0, 10_000_000),
    "--temp": Range(0, 100),
    "--top-k": Range(0, 10_000_000),
    "--top-p": Range(0, 1),
    "--min-p": Range(0, 1),
    "--repeat-penalty": Range(0.01, 100),
    "--repeat-last-n": Range(-1, 10_000_000),
    "--freq-penalty": Range(-100, 100),
    "--presence-penalty": Range(-100, 100),
    "--verify-batch": Range(1, 100_000),
    "--streams": Range(1, 64),
    "--bench": Range(1, 10_000),
    "--ctx": Range(1, 100_000_000),
    "--threads": Range(1, 512),
    "--gpu-layers": Range(-1, 10_000),
}
MAX_SEED = 2**64 - 1


def check_temperature(value: float | None) -> None:
    """Beside its range a temperature is 0 (greedy) or large enough to divide by."""
    RANGES["--temp"].check("--temp", value)
    if value is not None and 0 < value < 1e-6:
        raise FlagError("--temp", f"{value:g} is too small; give 0 for greedy")


def check_seed(value: int | None) -> None:
    """A seed is a 64-bit unsigned number."""
    if value is not None and not 0 <= value <= MAX_SEED:
        raise FlagError("--seed", f"{_plain(value)} is out of range; give 0 to 2^64-1")


def token_ids(text: str, n_vocab: int) -> list[int]:
    """Comma-separated ids. Raises FlagError for anything else, and for ids out of range."""
    flag = "TOKEN_IDS"
    ids: list[int] = []
    for part in text.split(","):
        part = part.strip()
        if not part.isascii() or not part.isdigit():
            raise FlagError(flag, f"'{part[:40]}' is not a token id; give ids such as 9707,11,1879")
        ids.append(vocabulary_id(flag, part, n_vocab))
    return ids


def vocabulary_id(flag: str, digits: str, n_vocab: int) -> int:
    """An id of the vocabulary from its decimal digits. Raises FlagError when out of range."""
    if len(digits) > 12 or int(digits) >= n_vocab:
        raise FlagError(
            flag, f"token id {digits[:20]} is out of range; the vocabulary has {n_vocab} ids"
        )
    return int(digits)


def bias(text: str) -> tuple[str, float]:
    """TOKEN=BIAS to (token as written, bias); `-inf` bans. Raises FlagError."""
    flag = "--logit-bias"
    token, separator, number = text.rpartition("=")
    if not separator or not token:
        raise FlagError(flag, f"'{text[:40]}' is not TOKEN=BIAS, such as 1879=-inf or ' yes'=2.5")
    try:
        token.encode("utf-8")
    except UnicodeEncodeError:
        raise FlagError(flag, "the value is not valid UTF-8") from None
    try:
        value = float(number)
    except ValueError:
        raise FlagError(flag, f"'{number[:40]}' is not a number (use -inf to ban)") from None
    if math.isnan(value) or (abs(value) > 1e6 and value != -math.inf):
        raise FlagError(flag, f"{value:g} is out of range; give -1e6 to 1e6, or -inf to ban")
    return token, value


def cache_type(text: str, known: list[str]) -> tuple[str, str]:
    """`K,V` or one name for both. Raises FlagError for a name that is not known."""
    names = [part.strip() for part in text.split(",")]
    if len(names) == 1:
        names *= 2
    if len(names) != 2 or any(name not in known for name in names):
        raise FlagError(
            "--cache-type", f"'{text[:40]}' is not a type or K,V pair of: {', '.join(known)}"
        )
    return names[0], names[1]
