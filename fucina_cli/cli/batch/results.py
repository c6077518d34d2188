"""The results of a batch: one JSON object per line, written, resumed and put in order."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from io import FileIO
from typing import IO, Any

from fucina_cli.cli.batch import strictjson
from fucina_cli.cli.process import output
from fucina_cli.cli.process.exits import FlagError
from fucina_cli.text import reason

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

FLAG = "--out"
#: More than the record of the longest answer (ten million tokens).
MAX_RECORD_BYTES = 256 << 20
#: Not opened by name: a redirected stdout would get a second file position.
_STDOUT = ("-", "/dev/stdout")
#: What may precede the first bracket of a torn line: zero bytes after a power loss.
_NOTHING = b"\0 \t\r\n"


@dataclass(frozen=True, slots=True)
class Name:
    """The name of a request in its record: the id of its line, or the line's number without one.

    `line` is None where the line gave the id, so that the number of one line can't be taken for the
    id of another.
    """

    id: str | int
    line: int | None = None

    def record(self) -> dict[str, Any]:
        """The beginning of a record."""
        return {"id": self.id} if self.line is None else {"id": self.id, "line": self.line}


class Records:
    """Writes records to a file, or to standard output for None, `-` and `/dev/stdout`.

    Every record has an index: 0, 1, 2, … in the order of the requests. With `in_order` a record
    waits until every earlier index was written or skipped; without, indexes do not matter.
    """

    def __init__(self, path: str | None, *, resumed: bool = False, in_order: bool = False) -> None:
        """Open `path` for appending; `resumed`: `resume` has prepared it.

        Raises FlagError for a file that can't be written, for one that another run is writing to,
        and for one that is not empty unless `resumed`.
        """
        self._path = path
        self._file = None if path is None or path in _STDOUT else _open(path, resumed)
        if self._file is not None and resumed and in_order:
            directory = os.path.dirname(os.path.realpath(self._path or ""))
            if not os.access(directory, os.W_OK):
                self._file.close()
                raise FlagError(
                    FLAG, f"'{path}' can't be put in order: '{directory}' is not writable"
                )
        self._in_order = in_order
        self._next = 0
        self._waiting: dict[int, str | None] = {}

    @property
    def held(self) -> int:
        """How many records wait for an earlier one."""
        return sum(line is not None for line in self._waiting.values())

    def write(self, index: int, record: dict[str, Any]) -> None:
        """Write a record, and those that waited for it; each at once and as a whole.

        Raises BrokenPipeError when the reader has closed the pipe, FlagError when the file can't be
        written, ValueError for a number that JSON can't express and for a repeated index.
        """
        line = json.dumps(record, ensure_ascii=False, allow_nan=False) + "\n"
        if self._in_order:
            self._admit(index, line)
        else:
            self._put(line)

    def skip(self, index: int) -> None:
        """No record will come for `index`: those that wait for it go on. Raises as `write`."""
        if self._in_order:
            self._admit(index, None)

    def interrupt(self) -> None:
        """Write the waiting records to standard output. Raises as `write`.

        In a file they are left out, to be written in their place when the file is resumed.
        """
        if self._file is None:
            for index in sorted(self._waiting):
                line = self._waiting.pop(index)
                if line is not None:
                    self._put(line)

    def sort(self, lines: Mapping[Name, int]) -> None:
        """Sort a file of `in_order` by `lines`: names to numbers of lines.

        A resumed run appends the requests that it tries again after later records. Names that are
        not in `lines` keep their order and come first. Raises FlagError, and leaves the file
        unchanged, when it can't be replaced.
        """
        if self._path is None or self._file is None or not self._in_order:
            return
        target = os.path.realpath(self._path)
        try:
            if not stat.S_ISREG(os.stat(target).st_mode):
                return
            with open(target, "rb") as file:
                places = [(_line_of(line, lines), at) for at, line in _placed(file)]
                ordered = sorted(places)
                if ordered != places:
                    _replace(target, _lines_at(file, (at for _, at in ordered)))
        except (OSError, ValueError) as error:
            raise FlagError(FLAG, f"can't put '{self._path}' in order: {reason(error)}") from None

    def close(self) -> None:
        """Close the file; standard output stays open."""
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _admit(self, index: int, line: str | None) -> None:
        if index < self._next or index in self._waiting:
            raise ValueError(f"a second record of index {index}")
        self._waiting[index] = line
        while self._next in self._waiting:
            due = self._waiting.pop(self._next)
            self._next += 1
            if due is not None:
                self._put(due)

    def _put(self, line: str) -> None:
        if self._file is None:
            output.answer(line)
            return
        rest = line.encode("utf-8", "replace")
        try:
            while rest:  # one write takes all of it, unless the disk is full or it is a pipe
                rest = rest[self._file.write(rest) :]
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FlagError(FLAG, f"can't write '{self._path}': {reason(error)}") from None


@dataclass
class Done:
    """What an earlier run has finished.

    `unsatisfied` counts the records whose constraint was not complete or not valid.
    """

    names: set[Name] = field(default_factory=set)
    records: int = 0
    unsatisfied: int = 0


def resume(path: str) -> Done:
    """Prepare an output file to be continued; what it has finished, nothing for a missing file.

    A torn last line is cut off. Records of errors are dropped, to be tried again: the file is then
    replaced by a new one with the same permissions, at once or not at all. All else stays as it is.
    Raises FlagError, and leaves the file unchanged, when it can't be read or written, is not a
    regular file, or has lines that are not records.
    """
    try:
        target = os.path.realpath(path)
        if path in _STDOUT or not stat.S_ISREG(os.stat(target).st_mode):
            raise FlagError(FLAG, f"'{path}' is not a regular file, which --resume needs")
        scan = _Scan()
        with open(target, "rb") as file:
            _lock(file, path)
            scan.read(path, file)
            if scan.failed:
                _replace(target, _without_failed(file, scan))
                return scan.done
        if scan.torn:
            os.truncate(target, scan.end)
    except FileNotFoundError:
        return Done()
    except (OSError, ValueError) as error:
        raise FlagError(FLAG, f"can't resume '{path}': {reason(error)}") from None
    return scan.done


@dataclass
class _Scan:
    """Contents of a file: `end` of the last whole record, numbers of `torn` and `failed` lines."""

    done: Done = field(default_factory=Done)
    end: int = 0
    torn: int = 0
    failed: set[int] = field(default_factory=set)

    def read(self, path: str, file: IO[bytes]) -> None:
        """Read all lines. Raises FlagError for one that is not a record of a batch."""
        for number, line in _numbered(file):
            value = None if self.torn else _value(line)
            if isinstance(value, dict) and strictjson.is_id(value.get("id")):
                self._count(number, value)
                self.end += len(line)
            elif self.torn or value is not None or not _may_be_torn(line):
                raise FlagError(
                    FLAG,
                    f"line {self.torn or number} of '{path}' is no record of a batch; "
                    "name another file",
                )
            else:
                self.torn = number

    def _count(self, number: int, record: dict[str, Any]) -> None:
        if "error" in record:
            self.failed.add(number)
            return
        line = record.get("line")
        self.done.names.add(Name(record["id"], line if isinstance(line, int) else None))
        self.done.records += 1
        constraint = record.get("constraint")
        if isinstance(constraint, dict) and (
            constraint.get("complete") is False or constraint.get("valid") is False
        ):
            self.done.unsatisfied += 1


def _numbered(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Lines with their newline; the pieces of one that is too long are lines without one."""
    return enumerate(iter(lambda: file.readline(MAX_RECORD_BYTES), b""), 1)


def _value(line: bytes) -> Any:
    """The JSON in a whole line, None for anything else."""
    if not line.endswith(b"\n"):
        return None
    try:
        return json.loads(line.decode("utf-8"))
    except (ValueError, RecursionError):
        return None


def _may_be_torn(line: bytes) -> bool:
    """Whether `line` looks like the beginning of a record: only that may be cut off."""
    return line.lstrip(_NOTHING)[:1] in (b"", b"{")


def _without_failed(file: IO[bytes], scan: _Scan) -> Iterator[bytes]:
    file.seek(0)
    for number, line in _numbered(file):
        if number != scan.torn and number not in scan.failed:
            yield line


def _placed(file: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines of a file, each with the offset where it begins."""
    at = 0
    for _, line in _numbered(file):
        yield at, line
        at += len(line)


def _lines_at(file: IO[bytes], places: Iterable[int]) -> Iterator[bytes]:
    for at in places:
        file.seek(at)
        yield file.readline(MAX_RECORD_BYTES)


def _line_of(record: bytes, lines: Mapping[Name, int]) -> int:
    """The number of the line that a record answers; 0 where it is not a line of this batch."""
    value = _value(record)
    if not isinstance(value, dict):
        return 0
    line = value.get("line")
    if isinstance(line, int):
        return line
    return lines.get(Name(value["id"]), 0) if strictjson.is_id(value.get("id")) else 0


def _prefix(name: str) -> str:
    return f".{name[:100]}.fucina-"


def _replace(target: str, lines: Iterable[bytes]) -> None:
    """Replace `target` atomically by a file of `lines`.

    Temporary files of earlier runs that were killed are removed.
    """
    directory, name = os.path.split(target)
    try:
        for left in os.listdir(directory):
            if left.startswith(_prefix(name)):
                os.unlink(os.path.join(directory, left))
        descriptor, fresh = tempfile.mkstemp(dir=directory, prefix=_prefix(name))
    except OSError as error:
        why = f"no other file can be made in its directory: {reason(error)}"
        raise OSError(error.errno, why) from None
    try:
        with open(descriptor, "wb") as file:
            file.writelines(lines)
            file.flush()
            os.fsync(descriptor)
        shutil.copymode(target, fresh)
        with contextlib.suppress(OSError, AttributeError):  # only root may change the owner
            os.chown(fresh, os.stat(target).st_uid, os.stat(target).st_gid)
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise


def _open(path: str, resumed: bool) -> FileIO:
    try:
        file = FileIO(path, "a")
    except (OSError, ValueError) as error:
        raise FlagError(FLAG, f"can't write '{path}': {reason(error)}") from None
    status = os.fstat(file.fileno())
    if not stat.S_ISREG(status.st_mode):
        return file
    try:
        if status.st_size and not resumed:
            raise FlagError(FLAG, f"'{path}' exists; --resume continues it, or name another file")
        _lock(file, path)
        if not os.path.samestat(status, os.stat(path)):  # replaced by a run that has just ended
            raise FlagError(FLAG, f"another run has just written '{path}'; try again")
    except FlagError:
        file.close()
        raise
    except OSError as error:
        file.close()
        raise FlagError(FLAG, f"can't write '{path}': {reason(error)}") from None
    return file


def _lock(file: IO[bytes] | FileIO, path: str) -> None:
    """Lock `file` until it is closed. Raises FlagError when another run has locked it."""
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise FlagError(
            FLAG, f"another run is writing to '{path}'; wait for it or name another file"
        ) from None
    except OSError:
        return  # a file system without locks
