"""The command lines of the measurements: a bad argument is one line and exit code 2."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

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
    assert "error: argument model: " in capfd.readouterr().err


@pytest.mark.parametrize("rounds", ["0", "-1", "x", "1.5"])
def test_rounds_are_whole_numbers_from_one_on(
    rounds: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["constrained", f"--rounds={rounds}"])
    with pytest.raises(SystemExit) as ended:
        importlib.import_module("fucina_cli.bench.constrained").main()
    assert ended.value.code == 2
    assert "argument --rounds" in capfd.readouterr().err
