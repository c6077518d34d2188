"""The native library, loaded once per process, with its log redirected.

`llama_cpp.llama_cpp` (the ctypes declarations) is imported without running the package's
`__init__`, which is slow: it imports the high-level `Llama` class and its chat handlers. A later
`import llama_cpp` by other code works as usual.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any

#: Environment switches that llama.cpp reads once, at its first use. The tiled CPU matrix
#: kernels start at some number of rows, so that a row's logits would depend on how many rows
#: share its batch; off, every row takes the same kernel however many rows there are.
_EXACT_ENVIRONMENT = {"GGML_CPU_TILED_MM": "0"}

#: Rounds that OpenMP's threads spin before they sleep at a barrier. With its default two processes
#: that share the cores are much slower than one: each spins while the thread that it waits for has
#: no core. With 1,000 an idle machine decodes as fast.
_SPIN = ("GOMP_SPINCOUNT", "1000")

_LEVEL_ERROR = 4
_LEVEL_CONTINUE = 5
_KEPT_LINES = 40


class NativeLog:
    """Receives every native log line; keeps the last errors, shows all only if `verbose`."""

    def __init__(self) -> None:
        self.verbose = False
        self._errors: list[str] = []
        self._level = 0

    def __call__(self, level: int, text: bytes | None, _user_data: object) -> None:
        if level != _LEVEL_CONTINUE:
            self._level = level
        line = (text or b"").decode("utf-8", "replace")
        if self._level >= _LEVEL_ERROR and line.strip():
            self._errors.append(line.strip())
            del self._errors[:-_KEPT_LINES]
        if self.verbose and sys.stderr is not None:
            with contextlib.suppress(OSError, ValueError):
                sys.stderr.write(line)

    def take_errors(self) -> list[str]:
        """The error lines since the last call, oldest first."""
        errors, self._errors = self._errors, []
        return errors


LOG = NativeLog()
_library: Any = None
_exact_kernels = False
_kept_callbacks: list[object] = []


def library(*, exact: bool = True) -> Any:
    """The ctypes module of llama-cpp-python, its backend started.

    The first call decides the kernels for the life of the process: the switches of `exact`
    are read by the native library when it first computes.
    """
    global _library, _exact_kernels
    if _library is None:
        if exact:
            for name, value in _EXACT_ENVIRONMENT.items():
                os.environ[name] = value
        if "OMP_WAIT_POLICY" not in os.environ:
            os.environ.setdefault(*_SPIN)
        # A failing assertion would start a debugger to print a stack; `on_abort` reports it.
        os.environ.setdefault("GGML_NO_BACKTRACE", "1")
        module = _import_declarations()
        callback = module.llama_log_callback(LOG)
        _kept_callbacks.append(callback)
        module.llama_log_set(callback, None)
        module.llama_backend_init()
        _exact_kernels = all(os.environ.get(k) == v for k, v in _EXACT_ENVIRONMENT.items())
        _library = module
    return _library


def exact_kernels() -> bool:
    """Whether the library of this process was loaded with the exact kernel switches."""
    return _exact_kernels


def amx_kernels() -> bool:
    """Whether the library would use Intel's AMX tiles by default.

    Built by GCC, those kernels load a tile configuration that the optimizer has removed, and the
    process dies of an illegal instruction (ggml-org/llama.cpp pull request 26954).
    """
    return b"AMX_INT8 = 1" in library().llama_print_system_info()


def on_abort(report: Callable[[str], None]) -> None:
    """Hand the message of a failing native assertion to `report` just before the process dies."""
    lib = library()
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p)

    def hook(message: bytes | None) -> None:
        report((message or b"").decode("utf-8", "replace"))

    callback = prototype(hook)
    try:
        setter = lib._lib.ggml_set_abort_callback
    except AttributeError:  # an older or a monolithic build without that symbol
        return
    setter.argtypes = [prototype]
    setter.restype = ctypes.c_void_p
    _kept_callbacks.append(callback)
    setter(callback)


def _import_declarations() -> Any:
    name = "llama_cpp"
    if name in sys.modules:
        return importlib.import_module("llama_cpp.llama_cpp")
    spec = importlib.util.find_spec(name)
    if spec is None or spec.submodule_search_locations is None:
        raise ImportError("llama-cpp-python is not installed; run: pip install fucina-cli")
    shell = types.ModuleType(name)
    shell.__path__ = list(spec.submodule_search_locations)
    shell.__spec__ = spec
    sys.modules[name] = shell
    try:
        return importlib.import_module("llama_cpp.llama_cpp")
    finally:
        # Leave no half-made package behind for a later import of llama_cpp.
        del sys.modules[name]
