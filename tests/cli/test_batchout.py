"""Results of a batch: whole records, in order if asked for, and continued where they were cut."""

from __future__ import annotations

import io
import json
import os
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fucina_cli.cli.batch.results import Done, Name, Records, resume
from fucina_cli.cli.process.exits import FlagError


def line(record: Any) -> bytes:
    return (json.dumps(record, ensure_ascii=False) + "\n").encode()


def ids(path: Path) -> list[Any]:
    return [json.loads(text)["id"] for text in path.read_bytes().split(b"\n")[:-1]]


# -- writing -------------------------------------------------------------------------------------


def test_a_record_is_in_the_file_as_a_whole_line_as_soon_as_it_is_written(tmp_path: Path) -> None:
    path = tmp_path / "out"
    with Records(str(path)) as records:
        assert path.read_bytes() == b""
        records.write(5, {"id": 1, "text": "però\u2028\n🎉"})
        assert path.read_bytes() == '{"id": 1, "text": "però\u2028\\n🎉"}\n'.encode()
        records.write(2, {"id": 2})
        records.skip(0)
        assert records.held == 0
    assert ids(path) == [1, 2]


def test_a_record_that_json_cannot_express_is_not_begun(tmp_path: Path) -> None:
    path = tmp_path / "out"
    for in_order in (False, True):
        with Records(str(path), in_order=in_order) as records:
            with pytest.raises(ValueError, match="not JSON compliant"):
                records.write(0, {"id": 1, "text": "a", "seconds": float("nan")})
            assert path.read_bytes() == b""


def test_a_file_that_another_run_writes_to_is_left_alone(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "out"
    with Records(str(path)) as first:
        first.write(0, {"id": 1})
        with pytest.raises(FlagError, match="another run is writing"):
            resume(str(path))
        with pytest.raises(FlagError, match="another run is writing"):
            Records(str(path), resumed=True)
        first.write(1, {"id": 2})
    assert ids(path) == [1, 2]
    assert resume(str(path)).names == {Name(1), Name(2)}
    with Records(str(path), resumed=True) as later:
        later.write(0, {"id": 3})
    assert ids(path) == [1, 2, 3]


@pytest.mark.parametrize("path", [None, "-", "/dev/stdout"])
def test_records_go_to_standard_output(path: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    each: list[bytes] = []

    class Writes(io.BytesIO):
        def write(self, data: Any) -> int:
            each.append(bytes(data))
            return super().write(data)

    raw = Writes()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw))
    with Records(path) as records:
        records.write(0, {"id": "è"})
        records.write(1, {"id": 2})
        assert each == ['{"id": "è"}\n'.encode(), b'{"id": 2}\n']
    assert not raw.closed


def test_a_reader_that_went_away_is_told_by_standard_output(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    stdout = io.TextIOWrapper(io.FileIO(writer, "w"))
    monkeypatch.setattr(sys, "stdout", stdout)
    with pytest.raises(BrokenPipeError):
        Records(None).write(0, {"id": 1})


def test_a_fifo_takes_records_and_a_reader_that_went_away_is_told(tmp_path: Path) -> None:
    path = tmp_path / "fifo"
    os.mkfifo(path)
    got: list[bytes] = []

    def read_one() -> None:
        with path.open("rb") as file:
            got.append(file.readline())

    thread = threading.Thread(target=read_one)
    thread.start()
    with Records(str(path)) as records:
        records.write(0, {"id": 1})
        thread.join()
        with pytest.raises(BrokenPipeError):
            records.write(1, {"id": 2})
    assert got == [b'{"id": 1}\n']


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_names_the_file() -> None:
    with (
        Records("/dev/full") as records,
        pytest.raises(FlagError, match=r"^--out: can't write '/dev/full': No space left"),
    ):
        records.write(0, {"id": 1})


def test_a_file_with_something_in_it_is_only_appended_to_when_resumed(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.touch()
    Records(str(path)).close()
    path.write_bytes(b"precious")
    with pytest.raises(FlagError) as caught:
        Records(str(path))
    assert str(caught.value) == (
        f"--out: '{path}' exists; --resume continues it, or name another file"
    )
    assert path.read_bytes() == b"precious"
    path.write_bytes(line({"id": 1}))
    with Records(str(path), resumed=True) as records:
        records.write(0, {"id": 2})
    assert ids(path) == [1, 2]


@pytest.mark.parametrize("name", ["missing/out", ".", "", "a\0b"])
def test_a_path_that_cannot_be_written_is_told_at_once(name: str, tmp_path: Path) -> None:
    with pytest.raises(FlagError, match=r"^--out: can't write '"):
        Records(f"{tmp_path}/{name}" if name else "")


# -- order ---------------------------------------------------------------------------------------


def test_in_order_a_record_waits_for_those_before_it(tmp_path: Path) -> None:
    path = tmp_path / "out"
    records = Records(str(path), in_order=True)
    steps: list[tuple[int, bool, list[int], int]] = [
        # index, skipped, in the file afterwards, held afterwards
        (2, False, [], 1),
        (1, True, [], 1),
        (4, False, [], 2),
        (0, False, [0, 2], 1),
        (3, True, [0, 2, 4], 0),
        (5, False, [0, 2, 4, 5], 0),
        (7, False, [0, 2, 4, 5], 1),
    ]
    for index, skipped, written, held in steps:
        if skipped:
            records.skip(index)
        else:
            records.write(index, {"id": index})
        assert (ids(path), records.held) == (written, held)
    for again in (0, 1, 7):
        with pytest.raises(ValueError, match="a second record"):
            records.write(again, {"id": again})
    records.close()
    assert ids(path) == [0, 2, 4, 5]  # 7 is left to --resume, after 6


def test_interrupted_in_order_what_still_waits_goes_to_stdout(
    capfd: pytest.CaptureFixture[str],
) -> None:
    records = Records(None, in_order=True)
    for index in (0, 5, 2):
        records.write(index, {"id": index})
    records.skip(3)
    records.interrupt()
    assert records.held == 0
    assert [json.loads(text)["id"] for text in capfd.readouterr().out.splitlines()] == [0, 2, 5]


@settings(max_examples=50, deadline=None)
@given(st.permutations(range(8)), st.sets(st.integers(0, 7)))
def test_in_any_order_of_completion_all_come_out_in_order(
    order: list[int], skipped: set[int]
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "out"
        with Records(str(path), in_order=True) as records:
            for index in order:
                if index in skipped:
                    records.skip(index)
                else:
                    records.write(index, {"id": index})
            assert records.held == 0
        assert ids(path) == [index for index in range(8) if index not in skipped]


# -- resuming ------------------------------------------------------------------------------------


def test_a_missing_or_empty_file_has_nothing_and_is_not_made(tmp_path: Path) -> None:
    path = tmp_path / "out"
    assert resume(str(path)) == Done(set(), 0, 0)
    assert not path.exists()
    path.touch()
    assert resume(str(path)) == Done(set(), 0, 0)


def test_finished_records_are_counted_and_the_file_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "out"
    good = {"complete": True, "valid": True}
    path.write_bytes(
        line({"id": 1, "constraint": None})
        + line({"id": "1", "constraint": good})
        + line({"id": "è", "constraint": {**good, "complete": False, "valid": False}})
        + b' {"constraint":{"valid":false} , "id":-3}\r\n'
        + line({"id": 5, "constraint": {**good, "valid": None}})
        + line({"id": 5})
    )
    path.chmod(0o400)
    os.utime(path, ns=(1, 1))
    before = path.read_bytes()
    assert resume(str(path)) == Done(
        {Name(1), Name("1"), Name("è"), Name(-3), Name(5)}, records=6, unsatisfied=2
    )
    assert path.read_bytes() == before
    assert path.stat().st_mtime_ns == 1


@pytest.mark.parametrize(
    "torn",
    [
        b"{",
        b'{"id": 2, "text": "\xc3',
        b'{"id": 2}',
        b'{"id": 2, "te\n',
        b"\0" * 5000,
        b'\0\0{"id": 2}\n',
        b"\n",
        b"  ",
    ],
)
def test_a_torn_last_line_is_cut_off(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(line({"id": 1}) + torn)
    assert resume(str(path)) == Done({Name(1)}, records=1)
    assert path.read_bytes() == line({"id": 1})


def test_errors_are_dropped_to_be_tried_again_and_all_else_stays_byte_for_byte(
    tmp_path: Path,
) -> None:
    path, link = tmp_path / "out", tmp_path / "link"
    link.symlink_to(path)
    kept = [b'{"id":1 }\r\n', line({"id": "a", "text": "error"}), line({"id": 3})]
    path.write_bytes(
        line({"id": 0, "error": "x"})
        + kept[0]
        + kept[1]
        + line({"id": 3, "error": None})
        + kept[2]
        + b'{"id": 9, "error'
    )
    path.chmod(0o640)
    assert resume(str(link)) == Done({Name(1), Name("a"), Name(3)}, records=3)
    assert path.read_bytes() == b"".join(kept)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["link", "out"]


def test_what_a_killed_run_left_of_a_new_file_is_taken_away_by_the_next(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_bytes(line({"id": 0, "error": "x"}) + line({"id": 1}))
    left, other = tmp_path / ".out.fucina-ab12cd34", tmp_path / ".out.original"
    left.write_bytes(line({"id": 1}))
    other.write_bytes(b"mine")
    assert resume(str(path)) == Done({Name(1)}, records=1)
    assert sorted(os.listdir(tmp_path)) == [".out.original", "out"]


def test_a_file_whose_directory_allows_no_other_is_not_resumed_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "out"
    path.write_bytes(line({"id": 1}))
    monkeypatch.setattr(os, "access", lambda name, mode: str(name) != str(tmp_path))
    with pytest.raises(FlagError, match=r"can't be put in order: '.*' is not writable"):
        Records(str(path), resumed=True, in_order=True)
    Records(str(path), resumed=True).close()


def test_records_of_a_file_are_sorted_by_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "out"
    lines = {Name("a"): 1, Name(2, 2): 2, Name(5): 3, Name(2): 6}
    records = [
        {"id": "gone"},
        {"id": "a"},
        {"id": 2, "line": 2},
        {"id": 5},
        {"id": 9, "line": 4, "error": "line 4: x"},
        {"id": 2},
        {"id": "a", "line": 7, "error": "line 7: x"},
    ]
    for order in ((0, 1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1, 0), (4, 0, 6, 1, 5, 3, 2)):
        path.write_bytes(b"".join(line(records[number]) for number in order))
        with Records(str(path), resumed=True, in_order=True) as file:
            file.sort(lines)
        assert path.read_bytes() == b"".join(map(line, records))
        with Records(str(path), resumed=True) as file:  # only --in-order has an order
            file.sort({Name("a"): 9})
        assert path.read_bytes() == b"".join(map(line, records))
    assert os.listdir(tmp_path) == ["out"]


def test_a_file_that_cannot_be_replaced_stays_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise PermissionError(1, "not today")

    path = tmp_path / "out"
    path.write_bytes(line({"id": 0, "error": "x"}) + b"{")
    monkeypatch.setattr(os, "replace", fails)
    with pytest.raises(FlagError, match=r"^--out: can't resume '.*out': not today"):
        resume(str(path))
    assert path.read_bytes() == line({"id": 0, "error": "x"}) + b"{"
    assert os.listdir(tmp_path) == ["out"]


@pytest.mark.parametrize(
    ("content", "number"),
    [
        (b"my notes\n", 1),
        (b"my notes", 1),
        (b"[1]\n", 1),
        (b'{"text": "a"}\n', 1),
        (b'{"id": true}\n', 1),
        (b'{"id": 1.0}\n{"id": 2}\n', 1),
        (b'{"id": null}\n', 1),
        (b'{"id": 1}\n{"id": 2\n{"id": 3}\n', 2),
        (b'{"id": 1}\n{"id": 2\n{"id": 3', 2),
        (b'{"id": 1}\n\n{"id": 3}\n', 2),
        (b'{"id": 0, "error": ""}\n{"id": 1}\n\xff\n', 3),
        (b"[" * 100_000 + b"\n", 1),
        ('{"id": 1}\n'.encode("utf-16"), 1),
    ],
)
def test_a_file_with_anything_else_in_it_is_not_touched(
    content: bytes, number: int, tmp_path: Path
) -> None:
    path = tmp_path / "out"
    path.write_bytes(content)
    with pytest.raises(FlagError) as caught:
        resume(str(path))
    assert str(caught.value) == (
        f"--out: line {number} of '{path}' is no record of a batch; name another file"
    )
    assert path.read_bytes() == content


def test_only_a_regular_file_can_be_resumed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (str(fifo), str(tmp_path), "-", "/dev/stdout", "/dev/null"):
        with pytest.raises(FlagError, match=r"^--out: '.*' is not a regular file, which --resume"):
            resume(path)
    with pytest.raises(FlagError, match=r"^--out: can't resume "):
        resume("a\0b")


_RECORDS = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(-3, 9) | st.text(st.characters(codec="utf-8"), max_size=3)},
        optional={"text": st.text(st.characters(codec="utf-8"), max_size=5), "error": st.text("e")},
    ),
    max_size=6,
)


@settings(max_examples=150, deadline=None)
@given(_RECORDS, st.data())
def test_cut_at_any_byte_and_resumed_exactly_the_whole_records_that_are_no_errors_are_left(
    written: list[dict[str, Any]], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "out"
        ends = [0]
        with Records(str(path)) as records:
            for index, record in enumerate(written):
                records.write(index, record)
                ends.append(path.stat().st_size)
        cut = data.draw(st.integers(0, ends[-1]))
        os.truncate(path, cut)
        whole = [r for r, end in zip(written, ends[1:], strict=True) if end <= cut]
        finished = [record for record in whole if "error" not in record]
        done = resume(str(path))
        assert [json.loads(text) for text in path.read_bytes().split(b"\n")[:-1]] == finished
        assert done == Done({Name(record["id"]) for record in finished}, records=len(finished))
        with Records(str(path), resumed=True) as records:
            records.write(0, {"id": "next"})
        assert ids(path) == [*(record["id"] for record in finished), "next"]
