"""The command lines of the measurements: a bad argument is one line and exit code 2."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from fucina_cli.cli.process import output, program
from fucina_cli.llama.context import Context, Row

MODULES = ("against", "constrained", "decode_overhead", "lockstep", "speculation", "startup")


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("content", [None, b"", b"no model", b"GGUF\3\0\0\0" + bytes(16)])
def test_a_file_that_is_no_model_is_named_without_a_traceback(
    name: str,
    content: bytes | None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "model.gguf"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr("sys.argv", [name, str(path), "--rounds", "1"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module(f"fucina_cli.bench.{name}").main()
    assert ended.value.code == 2
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.startswith("error: argument model: ")
    assert told.err.count("\n") == 1


def test_a_measurement_does_not_go_on_with_an_answer_that_was_cut_off(
    llama_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What Ctrl-C leaves of an answer is no figure: `generate` returns it, the measurement ends."""
    decode = Context.decode
    forwards = 0

    def interrupted(self: Context, rows: Sequence[Row]) -> None:
        nonlocal forwards
        forwards += 1
        if forwards == 5:
            raise KeyboardInterrupt
        decode(self, rows)

    monkeypatch.setattr(Context, "decode", interrupted)
    for name in ("constrained", "decode_overhead", "speculation", "lockstep"):
        forwards = 0
        monkeypatch.setattr("sys.argv", [name, str(llama_path), "--rounds", "1"])
        with pytest.raises(SystemExit) as ended:
            program.end(importlib.import_module(f"fucina_cli.bench.{name}").main)
        assert ended.value.code == 130, name
        assert capfd.readouterr().out == ""


def test_a_program_ends_quietly_where_nobody_reads_and_with_a_line_where_nothing_can_be_written(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def failing(error: OSError) -> Callable[[], None]:
        def main() -> None:
            raise error

        return main

    monkeypatch.setattr(output, "discard_stdout", lambda: None)
    with pytest.raises(SystemExit) as ended:
        program.end(failing(BrokenPipeError()))
    assert (ended.value.code, capfd.readouterr().err) == (0, "")
    with pytest.raises(SystemExit) as ended:
        program.end(failing(OSError(28, "No space left on device")))
    assert (ended.value.code, capfd.readouterr().err) == (
        2,
        "error: output: No space left on device\n",
    )
    monkeypatch.setattr("sys.stdout", None)
    with pytest.raises(SystemExit) as ended:
        program.end(lambda: None)
    assert ended.value.code == 2
    assert "standard output is closed" in capfd.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "x", "1.5"])
def test_rounds_are_whole_numbers_from_one_on(
    rounds: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["constrained", f"--rounds={rounds}"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module("fucina_cli.bench.constrained").main()
    assert ended.value.code == 2
    assert "argument --rounds" in capfd.readouterr().err
