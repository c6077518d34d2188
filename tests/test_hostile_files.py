"""Files that are no models, or models made to do harm: refused in one line, or simply run."""

from __future__ import annotations

import importlib
import multiprocessing
import os
import random
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import pytest
from gguf import GGUFValueType

from fucina_cli.cli.main import execute
from fucina_cli.cli.process import supervisor
from fucina_cli.families.family import Family
from fucina_cli.families.registry import families
from fucina_cli.tiny.ggufs import Encoded, typed
from tests.support import ggufs
from tests.support.command_line import Result, run

IDS = ("1,2", "--gen", "2")
#: Seconds after which a command that does not end counts as one that never will.
HANG = 20.0
U32, I32, U64 = GGUFValueType.UINT32, GGUFValueType.INT32, GGUFValueType.UINT64
F32, STRING, ARRAY = GGUFValueType.FLOAT32, GGUFValueType.STRING, GGUFValueType.ARRAY


# -- many commands in few processes --------------------------------------------------------------


class Case(NamedTuple):
    """A command on a file: the bytes of `base`, cut at `size`, with `edits` written over them."""

    name: str
    command: str
    base: Path
    arguments: tuple[str, ...] = IDS
    edits: tuple[tuple[int, bytes], ...] = ()
    size: int | None = None


class Outcome(NamedTuple):
    """What came of a case; `code` is negative for a signal and None for a hang."""

    case: Case
    path: str
    code: int | None
    out: str
    err: str


def attempt(case: Case, folder: Path) -> Outcome:
    """Run the case in a forked process: all of the command but the interpreter's start-up."""
    family = next(f for f in families() if f.command == case.command)
    path = case.base
    edited = bool(case.edits) or case.size is not None
    if edited:
        data = bytearray(case.base.read_bytes())
        for at, written in case.edits:
            data[at : at + len(written)] = written
        path = folder / f"mutant-{os.getpid()}.gguf"
        path.write_bytes(data[: case.size])
    out, err = folder / f"out-{os.getpid()}", folder / f"err-{os.getpid()}"
    for file in (out, err):
        file.write_bytes(b"")
    code = _forked(family, [str(path), *case.arguments], out, err)
    return Outcome(case, str(path), code, _text(out), _text(err))


def _text(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "backslashreplace")


def _forked(family: Family, arguments: list[str], out: Path, err: Path) -> int | None:
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.setpgid(0, 0)
            for descriptor, file in ((1, out), (2, err)):
                os.dup2(os.open(file, os.O_WRONLY | os.O_APPEND), descriptor)
            for name, descriptor in (("stdout", 1), ("stderr", 2)):
                stream = os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace")
                setattr(sys, name, stream)
            vars(supervisor.BOARD).update(vars(supervisor.Board()))
            code = supervisor.supervise(lambda: execute(family, arguments))
        finally:
            os._exit(code)
    until = time.monotonic() + HANG
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > until:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return None
        time.sleep(0.004)


def _warm_up() -> None:
    """Import in the worker what every command imports; native code starts after the fork."""
    ours = ("cli.app", "cli.complete", "cli.inspect", "families.template")
    for name in ("typer.main", "llama_cpp.llama_cpp", *(f"fucina_cli.{name}" for name in ours)):
        importlib.import_module(name)


Pool = Callable[[Iterable[Case]], list[Outcome]]


@pytest.fixture(scope="module")
def attempts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pool]:
    """Run cases, two at a time."""
    folder = tmp_path_factory.mktemp("mutants")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(2, mp_context=context, initializer=_warm_up) as pool:

        def go(cases: Iterable[Case]) -> list[Outcome]:
            return [future.result() for future in [pool.submit(attempt, c, folder) for c in cases]]

        yield go


def faults(outcome: Outcome, *, must_fail: bool = False) -> list[str]:
    """What is wrong about how a command ended; nothing for a good end."""
    case, path, code, out, err = outcome
    found = []
    constrained = any(flag in case.arguments for flag in ("--regex", "--choice", "--json-schema"))
    if code is None:
        found.append("a hang")
    elif code not in ((2,) if must_fail else (0, 2, 3) if constrained else (0, 2)):
        found.append(f"exit code {code}")
    for word in ("Traceback", "Exception ignored", "internal error"):
        if word in out + err:
            found.append(word)
    if code == 2:
        lines = [line for line in err.splitlines() if not line.startswith("warning: ")]
        if len(lines) != 1 or not err.endswith("\n") or not lines[0].startswith("error: "):
            found.append("not one error line")
        elif not lines[0].isprintable() or len(lines[0]) > 500:
            found.append("an error line that is long or hostile")
        elif path not in lines[0] and not lines[0].startswith(("error: TOKEN_IDS:", "error: --")):
            found.append("an error that names neither file nor flag")
        if must_fail and (out or path not in err):
            found.append("output, or the file is not named")
    return found


def assert_good_ends(outcomes: Sequence[Outcome], *, must_fail: bool = False) -> None:
    bad = [
        f"{o.case.name} {' '.join(o.case.arguments)}: {', '.join(found)}\n"
        f"  code {o.code}, stdout {o.out[:80]!r}, stderr {o.err[:600]!r}\n"
        f"  edits {o.case.edits}, size {o.case.size}"
        for o in outcomes
        if (found := faults(o, must_fail=must_fail))
    ]
    assert not bad, f"{len(bad)} of {len(outcomes)}:\n" + "\n".join(bad[:12])


# -- where things stand in a file ----------------------------------------------------------------

_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}


@dataclass
class Layout:
    """Offsets of the fields of a GGUF, by what they are."""

    lengths: list[int] = field(default_factory=list)  # u64: of strings and arrays
    kinds: list[int] = field(default_factory=list)  # u32: types of values and tensors
    scalars: list[tuple[int, int]] = field(default_factory=list)  # offset, bytes
    texts: list[tuple[int, int]] = field(default_factory=list)
    keys: list[int] = field(default_factory=list)  # where each begins
    records: list[int] = field(default_factory=list)  # of tensors, where each begins
    dimensions: list[int] = field(default_factory=list)  # u64
    offsets: list[int] = field(default_factory=list)  # u64
    data: int = 0


def layout(raw: bytes) -> Layout:
    """Walk a well-formed file; of a long array only the first and last elements are noted."""
    found = Layout()
    n_tensors, n_keys = struct.unpack_from("<QQ", raw, 8)
    at = 24

    def string(noted: bool = True) -> None:
        nonlocal at
        (length,) = struct.unpack_from("<Q", raw, at)
        if noted:
            found.lengths.append(at)
            found.texts.append((at + 8, length))
        at += 8 + length

    def value(kind: int) -> None:
        nonlocal at
        if kind == STRING:
            string()
        elif kind == ARRAY:
            item, count = struct.unpack_from("<IQ", raw, at)
            found.kinds.append(at)
            found.lengths.append(at + 4)
            at += 12
            for i in range(count):
                if item == STRING:
                    string(noted=i < 4 or i > count - 4)
                else:
                    if i < 4 or i > count - 4:
                        found.scalars.append((at, _SIZES[item]))
                    at += _SIZES[item]
        else:
            found.scalars.append((at, _SIZES[kind]))
            at += _SIZES[kind]

    for _ in range(n_keys):
        found.keys.append(at)
        string()
        found.kinds.append(at)
        (kind,) = struct.unpack_from("<I", raw, at)
        at += 4
        value(kind)
    for _ in range(n_tensors):
        found.records.append(at)
        string()
        (n_dims,) = struct.unpack_from("<I", raw, at)
        found.kinds.append(at)  # a count of dimensions is as good to change as a type
        at += 4
        found.dimensions += range(at, at + 8 * n_dims, 8)
        at += 8 * n_dims
        found.kinds.append(at)
        found.offsets.append(at + 4)
        at += 12
    found.data = at + (-at % 32)
    return found


def test_the_layout_of_a_file_ends_where_its_weights_begin(llama_path: Path) -> None:
    raw = llama_path.read_bytes()
    found = layout(raw)
    (last,) = struct.unpack_from("<Q", raw, found.offsets[-1])
    assert found.data + last < len(raw)
    assert raw[found.keys[0] + 8 :].startswith(b"general.architecture")
    assert raw[found.records[0] + 8 :].startswith(b"token_embd.weight")


# -- files that are no models, through the real command ------------------------------------------


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "missing.gguf"
    run(path, *IDS).refused(f"'{path}'", "no such file")


def test_a_directory_is_refused(tmp_path: Path) -> None:
    run(tmp_path, *IDS).refused(f"'{tmp_path}'", "is a directory")


def test_what_is_no_regular_file_is_refused_without_waiting_for_it(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    run(path, *IDS).refused(f"'{path}'", "not a regular file")
    run("/dev/zero", *IDS).refused("'/dev/zero'", "not a regular file")


def test_names_that_no_file_can_have_are_refused(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    run(loop, *IDS).refused(f"'{loop}'", "can't be read")
    assert run("x" * 300, *IDS).code == 2
    run("", *IDS).refused("MODEL", "empty")
    run("a\nb\x1b[2J", *IDS).refused("no such file")


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"G", "not a GGUF"),
        (b"GGU", "not a GGUF"),
        (b"PK\x03\x04 a zip file", "not a GGUF"),
        (b"ggml" + bytes(100), "not a GGUF"),
        (b"<!DOCTYPE html>" * 99, "not a GGUF"),
        (bytes(100_000), "not a GGUF"),
        (b"GGUF", "cut off"),
        (b"GGUF\3\0\0\0" + bytes(15), "cut off"),
        (b"GGUF\1\0\0\0" + bytes(16), "version 1"),
        (b"GGUF\4\0\0\0" + bytes(16), "version 4"),
        (b"GGUF\0\0\0\3" + bytes(16), "big-endian"),
        (b"GGUF\3\0\0\0" + b"\xff" * 16, "damaged"),
        (b"GGUF\3\0\0\0" + bytes(16), ""),
        (b"GGUF\3\0\0\0" + bytes(8) + b"\1" + bytes(99), ""),
    ],
)
def test_what_is_no_gguf_is_refused(data: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / "file.gguf"
    path.write_bytes(data)
    for arguments in (IDS, ("--info",)):
        run(path, *arguments).refused(f"'{path}'", words)


def truncations(path: Path) -> dict[str, int]:
    """Sizes to cut a file to: one within each part of it, and each part's end."""
    raw = path.read_bytes()
    found = layout(raw)
    cuts = {
        "in the magic": 2,
        "after the magic": 4,
        "in the counts": 13,
        "after the counts": 24,
        "in the first key": found.keys[0] + 11,
        "in a value's type": found.keys[1] - 2,
        "between two keys": found.keys[3],
        "in an array": found.keys[-1] - 100_000 if len(raw) > 10**6 else found.keys[-4] - 9,
        "in the last key": found.keys[-1] + 12,
        "before the tensors": found.records[0],
        "in a tensor's name": found.records[0] + 10,
        "in a tensor's record": found.records[1] - 5,
        "between two tensors": found.records[2],
        "before the last byte of the header": found.offsets[-1] + 7,
        "before the weights": found.data,
        "in the first tensor": found.data + 999,
        "in the middle": (found.data + len(raw)) // 2,
        "before the end": len(raw) - 33,
    }
    assert all(0 < cut < len(raw) for cut in cuts.values())
    return cuts


def test_a_truncated_file_is_refused_wherever_it_was_cut(
    llama_path: Path, gemma4_path: Path, qwen3_path: Path, attempts: Pool
) -> None:
    cases = [
        Case(f"{command} cut {where}", command, path, arguments, size=size)
        for command, path in (
            ("fucina-run", llama_path),
            ("fucina-gemma4", gemma4_path),
            ("fucina-qwen3", qwen3_path),
        )
        for where, size in truncations(path).items()
        for arguments in ((IDS, ("--info",)) if path == llama_path else (IDS,))
    ]
    assert_good_ends(attempts(cases), must_fail=True)


def test_a_truncated_file_is_refused_by_the_command(llama_path: Path, tmp_path: Path) -> None:
    raw = llama_path.read_bytes()
    path = tmp_path / "cut.gguf"
    path.write_bytes(raw[: len(raw) // 2])
    run(path, *IDS).refused(f"'{path}'", "cut off", "download the model again")
    path.write_bytes(raw[: layout(raw).records[1]])
    run(path, *IDS).refused(f"'{path}'")


# -- models that can not be used -----------------------------------------------------------------


def test_an_unknown_architecture_is_refused(tmp_path: Path) -> None:
    path = ggufs.build_llama(tmp_path / "a.gguf", overrides={"general.architecture": "nosuch"})
    run(path, *IDS).refused(f"'{path}'", "unknown architecture 'nosuch'")


def test_an_embedding_only_model_is_refused(tmp_path: Path) -> None:
    path = ggufs.build_embedding(tmp_path / "bert.gguf")
    for arguments in (IDS, ("--info",), ("--prompt", "hi")):
        run(path, *arguments).refused(f"'{path}'", "embedding-only")


def test_a_decoder_that_pools_is_refused_as_an_embedding_model(tmp_path: Path) -> None:
    for key, value in (("pooling_type", 3), ("attention.causal", False)):
        path = ggufs.build_llama(tmp_path / "e.gguf", overrides={f"llama.{key}": value})
        run(path, *IDS).refused(f"'{path}'", "embedding-only")


def test_a_file_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text"
    text.write_text("hi")
    for name, changes in (
        ("dropped", {"drop": ["tokenizer.*"]}),
        ("no_vocab", {"drop": ["tokenizer.*"], "overrides": {"tokenizer.ggml.model": "no_vocab"}}),
        ("none", {"drop": ["tokenizer.*"], "overrides": {"tokenizer.ggml.model": "none"}}),
        ("no tokens", {"drop": ["tokenizer.ggml.tokens"]}),
    ):
        path = ggufs.build_llama(tmp_path / f"{name}.gguf", **changes)
        for arguments in (IDS, ("--info",), ("--prompt", "hi"), ("--tokenize", str(text))):
            run(path, *arguments).refused(f"'{path}'")


def test_a_file_without_a_template_can_not_chat(tmp_path: Path) -> None:
    path = ggufs.build_llama(tmp_path / "l.gguf", template=None)
    run(path, "--chat", "hi").refused(f"'{path}'", "no chat template", "--prompt")


def test_tensors_past_the_end_are_refused(llama_path: Path, attempts: Pool) -> None:
    raw = llama_path.read_bytes()
    found = layout(raw)
    cases = [
        Case(f"tensor {i} at {value}", "fucina-run", llama_path, edits=((at, _u64(value)),))
        for i, at in enumerate(found.offsets)
        for value in (len(raw) // 32 * 32 + 32, 1 << 40, (1 << 64) - 32)
    ]
    assert_good_ends(attempts(cases), must_fail=True)


def _u64(value: int) -> bytes:
    return struct.pack("<Q", value & (1 << 64) - 1)


def split_keys(number: int, count: int, n_tensors: int) -> dict[str, object]:
    return {
        "split.no": typed(GGUFValueType.UINT16, number),
        "split.count": typed(GGUFValueType.UINT16, count),
        "split.tensors.count": typed(I32, n_tensors),
    }


def test_a_split_file_whose_next_part_is_missing_is_refused(tmp_path: Path) -> None:
    path = ggufs.build_llama(tmp_path / "m-00001-of-00002.gguf", overrides=split_keys(0, 2, 99))
    run(path, *IDS).refused(f"'{path}'")
    path = ggufs.build_llama(tmp_path / "other.gguf", overrides=split_keys(0, 2, 99))
    run(path, *IDS).refused(f"'{path}'")


def test_a_part_of_a_split_file_that_is_not_the_first_is_refused(tmp_path: Path) -> None:
    path = ggufs.build_llama(tmp_path / "m-00002-of-00002.gguf", overrides=split_keys(1, 2, 99))
    run(path, *IDS).refused(f"'{path}'")


# -- models made to crash native code ------------------------------------------------------------


def _tokens(change: Callable[[list[str]], Sequence[str | bytes]]) -> dict[str, object]:
    return {"tokenizer.ggml.tokens": change(list(ggufs.llama_vocabulary().tokens))}


NAN = float("nan")
HUGE = (1 << 31) - 1
FATAL: dict[str, dict[str, object]] = {
    "duplicate token texts": _tokens(lambda t: [*t[:-2], t[0], t[-1]]),
    "no tokens": _tokens(lambda _t: []),
    "all tokens the same": _tokens(lambda t: ["a"] * len(t)),
    "a token fewer than embeddings": _tokens(lambda t: t[:-1]),
    "block_count 0": {"llama.block_count": 0},
    "block_count too large": {"llama.block_count": 3},
    "block_count huge": {"llama.block_count": HUGE},
    "block_count negative": {"llama.block_count": -1},
    "block_count as u32 maximum": {"llama.block_count": (1 << 32) - 1},
    "block_count as text": {"llama.block_count": "two"},
    "context_length 0": {"llama.context_length": 0},
    "context_length negative": {"llama.context_length": (1 << 32) - 1},
    "embedding_length 0": {"llama.embedding_length": 0},
    "embedding_length huge": {"llama.embedding_length": HUGE},
    "embedding_length negative": {"llama.embedding_length": -64},
    "head_count 0": {"llama.attention.head_count": 0},
    "head_count huge": {"llama.attention.head_count": HUGE},
    "head_count not a divisor": {"llama.attention.head_count": 3},
    "head_count_kv huge": {"llama.attention.head_count_kv": HUGE},
    "head_count_kv of too few layers": {"llama.attention.head_count_kv": [2]},
    "feed_forward_length 0": {"llama.feed_forward_length": 0},
    "feed_forward_length huge": {"llama.feed_forward_length": HUGE},
    "rope dimensions huge": {"llama.rope.dimension_count": HUGE},
    "rope dimensions odd": {"llama.rope.dimension_count": 15},
    "norm epsilon not a number": {"llama.attention.layer_norm_rms_epsilon": NAN},
    "experts without tensors": {"llama.expert_count": 4, "llama.expert_used_count": 2},
    "more experts used than there are": {"llama.expert_count": 1, "llama.expert_used_count": 9},
    "experts huge": {"llama.expert_count": HUGE, "llama.expert_used_count": HUGE},
    "key_length 0": {"llama.attention.key_length": 0},
    "key_length huge": {"llama.attention.key_length": HUGE},
    "unknown tokenizer": {"tokenizer.ggml.model": "nosuch"},
    "architecture as a number": {"general.architecture": 7},
    "alignment 0": {"general.alignment": 0},
    "alignment 3": {"general.alignment": 3},
    "alignment huge": {"general.alignment": 1 << 31},
    "merges that are numbers": {"tokenizer.ggml.merges": [1, 2]},
    "array of absurd length": {
        "general.tags": Encoded(ARRAY, struct.pack("<IQ", STRING, (1 << 64) - 1))
    },
    "array of arrays": {"general.tags": Encoded(ARRAY, struct.pack("<IQ", ARRAY, 1 << 40))},
    "string of absurd length": {"general.tags": Encoded(STRING, _u64((1 << 64) - 9))},
}

#: Odd, and for llama.cpp to judge: what it can run is run, anything else is refused.
ODD: dict[str, dict[str, object]] = {
    "architecture with a zero byte": {"general.architecture": "llama\0x"},
    "token types of too few tokens": {"tokenizer.ggml.token_type": [1]},
    "token types unknown": {"tokenizer.ggml.token_type": [99] * len(ggufs.llama_vocabulary())},
    "scores of too few tokens": {"tokenizer.ggml.scores": [0.5]},
    "merges of nothing": {"tokenizer.ggml.merges": ["", " ", "a", "a b c", "\xff \xfe"]},
    "no merges": {"tokenizer.ggml.merges": []},
    "a token of 100 kB": _tokens(lambda t: ["x" * 100_000, *t[1:]]),
    "tokens that are no UTF-8": _tokens(lambda t: [b"\xff\xfe", b"\xc3", *t[2:]]),
    "tokens with zero bytes": _tokens(lambda t: ["\0", "a\0b", *t[2:]]),
    "an empty token": _tokens(lambda t: ["", *t[1:]]),
    "eos out of range": {"tokenizer.ggml.eos_token_id": 10**6},
    "eos negative": {"tokenizer.ggml.eos_token_id": typed(I32, -7)},
    "bos out of range": {
        "tokenizer.ggml.bos_token_id": 10**6,
        "tokenizer.ggml.add_bos_token": True,
    },
    "bos negative": {
        "tokenizer.ggml.bos_token_id": (1 << 32) - 1,
        "tokenizer.ggml.add_bos_token": True,
    },
    "unknown pre-tokenizer": {"tokenizer.ggml.pre": "nosuch"},
    "a word-piece tokenizer": {"tokenizer.ggml.model": "bert"},
    "a unigram tokenizer": {"tokenizer.ggml.model": "t5"},
    "a SentencePiece tokenizer": {"tokenizer.ggml.model": "llama"},
    "an RWKV tokenizer": {"tokenizer.ggml.model": "rwkv"},
    "a PLaMo tokenizer": {"tokenizer.ggml.model": "plamo2"},
    "a Gemma tokenizer": {"tokenizer.ggml.model": "gemma4"},
    "a unigram tokenizer with a character map": {
        "tokenizer.ggml.model": "t5",
        "tokenizer.ggml.precompiled_charsmap": "\xff" * 99,
    },
    "template as a number": {"tokenizer.chat_template": 7},
    "template that is no UTF-8": {"tokenizer.chat_template": b"\xff{{ messages[0].content }}"},
    "template with a zero byte": {"tokenizer.chat_template": "a\0{{ messages[0].content }}"},
    "template of 3 MB": {"tokenizer.chat_template": "{# x #}" * 400_000},
    "vocab_size huge": {"llama.vocab_size": HUGE},
    "vocab_size small": {"llama.vocab_size": 2},
    "head_count_kv 0": {"llama.attention.head_count_kv": 0},
    "context_length huge": {"llama.context_length": HUGE},
    "context_length 1": {"llama.context_length": 1},
    "rope base 0": {"llama.rope.freq_base": 0.0},
    "rope base not a number": {"llama.rope.freq_base": NAN},
    "rope scaling absurd": {"llama.rope.scaling.type": "yarn", "llama.rope.scaling.factor": 0.0},
    "rope scaling of a context of 0": {
        "llama.rope.scaling.type": "yarn",
        "llama.rope.scaling.factor": 4.0,
        "llama.rope.scaling.original_context_length": 0,
    },
    "rope sections": {"llama.rope.dimension_sections": [HUGE] * 4},
    "norm epsilon negative": {"llama.attention.layer_norm_rms_epsilon": -1e9},
    "bias clamp": {"llama.attention.clamp_kqv": NAN},
    "sliding window huge": {"llama.attention.sliding_window": HUGE},
    "logit scale not a number": {"llama.logit_scale": NAN},
    "one part of one": split_keys(0, 1, 99),
    "no part of none": split_keys(0, 0, 0),
    "sampling defaults absurd": {
        "general.sampling.temp": NAN,
        "general.sampling.top_k": HUGE,
        "general.sampling.top_p": -4.0,
    },
    "quantization version": {"general.quantization_version": HUGE},
    "file type": {"general.file_type": HUGE},
}

#: Like ODD, for Gemma 4.
ODD_GEMMA: dict[str, dict[str, object]] = {
    "no sliding layer": {"gemma4.attention.sliding_window_pattern": [False] * 4},
    "sliding layers only": {"gemma4.attention.sliding_window_pattern": [True] * 4},
    "pattern of too few layers": {"gemma4.attention.sliding_window_pattern": [True]},
    "pattern of too many layers": {"gemma4.attention.sliding_window_pattern": [True] * 999},
    "pattern as a number": {"gemma4.attention.sliding_window_pattern": HUGE},
    "window 0": {"gemma4.attention.sliding_window": 0},
    "window huge": {"gemma4.attention.sliding_window": (1 << 32) - 1},
    "all layers share": {"gemma4.attention.shared_kv_layers": 4},
    "more layers share than there are": {"gemma4.attention.shared_kv_layers": HUGE},
    "soft cap 0": {"gemma4.final_logit_softcapping": 0.0},
    "soft cap not a number": {"gemma4.final_logit_softcapping": NAN},
    "per-layer embeddings without tensors": {"gemma4.embedding_length_per_layer_input": 64},
    "head sizes 0": {"gemma4.attention.key_length_swa": 0, "gemma4.attention.value_length_swa": 0},
    "head sizes differ": {"gemma4.attention.value_length": 32},
    "heads of no layer": {"gemma4.attention.head_count_kv": [0, 0, 0, 0]},
    "heads negative": {"gemma4.attention.head_count_kv": [-1, 1, -1, 1]},
    "rope dimensions huge": {"gemma4.rope.dimension_count_swa": HUGE},
    "rope dimensions 0": {"gemma4.rope.dimension_count": 0},
    "rope dimensions odd": {"gemma4.rope.dimension_count": 3},
    "rope dimensions negative": {"gemma4.rope.dimension_count": (1 << 32) - 8},
    "rope dimensions of sliding layers 0": {"gemma4.rope.dimension_count_swa": 0},
    "rope dimensions of sliding layers negative": {
        "gemma4.rope.dimension_count_swa": (1 << 32) - 1
    },
}


def build_all(
    folder: Path, build: Callable[..., Path], changes: Mapping[str, dict[str, object]]
) -> dict[str, Path]:
    return {
        name: build(folder / f"{number}.gguf", overrides=overrides)
        for number, (name, overrides) in enumerate(changes.items())
    }


def test_models_made_to_crash_native_code_are_refused(tmp_path: Path, attempts: Pool) -> None:
    files = build_all(tmp_path, ggufs.build_llama, FATAL)
    cases = [Case(name, "fucina-run", path) for name, path in files.items()]
    assert_good_ends(attempts(cases), must_fail=True)


@pytest.mark.slow
def test_odd_models_are_run_or_refused(tmp_path: Path, attempts: Pool) -> None:
    files = build_all(tmp_path, ggufs.build_llama, ODD)
    other = (
        ("--chat", "hi <|im_end|>", "--gen", "2", "--seed", "1"),
        ("--prompt", "hi there", "--choice", "yes"),
        ("--info",),
    )
    cases = [
        Case(name, "fucina-run", path, arguments)
        for number, (name, path) in enumerate(files.items())
        for arguments in (other if "token" in name else (IDS, other[number % 3]))
    ]
    assert_good_ends(attempts(cases))


@pytest.mark.slow
def test_odd_gemma_models_are_run_or_refused(tmp_path: Path, attempts: Pool) -> None:
    files = build_all(tmp_path, ggufs.build_gemma4, ODD_GEMMA)
    cases = [
        Case(name, "fucina-gemma4", path, arguments)
        for name, path in files.items()
        for arguments in (IDS, ("--info",))
    ]
    assert_good_ends(attempts(cases))


@pytest.mark.parametrize("name", ["duplicate token texts", "block_count 0", "alignment 0"])
def test_native_crashes_are_one_line_of_the_command(name: str, tmp_path: Path) -> None:
    path = ggufs.build_llama(tmp_path / "crash.gguf", overrides=FATAL[name])
    for arguments in (IDS, ("--info",), ("--prompt", "hi")):
        run(path, *arguments).refused(f"'{path}'")


def test_tensors_of_odd_shapes_and_types_are_run_or_refused(
    llama_path: Path, attempts: Pool
) -> None:
    found = layout(llama_path.read_bytes())
    edits = {
        **{
            f"dimension at {at} is {value}": (at, _u64(value))
            for at in found.dimensions
            for value in (0, -1, 1 << 62)
        },
        **{
            f"type at {at} is {value}": (at, struct.pack("<I", value))
            for at in (offset - 4 for offset in found.offsets[::3])
            for value in (*range(0, 42, 5), 1 << 31, (1 << 32) - 1)
        },
        **{
            f"number of dimensions at {at} is {value}": (at, struct.pack("<I", value))
            for at in (found.records[0] + 8 + len("token_embd.weight"),)
            for value in (0, 1, 3, 4, 5, (1 << 32) - 1)
        },
    }
    cases = [Case(name, "fucina-run", llama_path, edits=(edit,)) for name, edit in edits.items()]
    assert_good_ends(attempts(cases))


def test_a_tensor_twice_or_under_another_name_is_refused(llama_path: Path, attempts: Pool) -> None:
    raw = llama_path.read_bytes()
    first, second = (raw.index(name) for name in (b"blk.0.attn_q.weight", b"blk.0.attn_k.weight"))
    cases = [
        Case("twice", "fucina-run", llama_path, edits=((second, raw[first : first + 19]),)),
        Case("misspelt", "fucina-run", llama_path, edits=((second, b"\xff\0\n"),)),
    ]
    assert_good_ends(attempts(cases), must_fail=True)


# -- hostile templates ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("{{ ''.__class__.__mro__[1].__subclasses__() }}", "not safe"),
        ("{{ lipsum.__globals__.os.system('echo pwned') }}", "not safe"),
        ("{{ 'a' * 10**10 }}", "absurd size"),
        ("{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}", "end"),
        ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "nested"),
        ("{{ raise_exception('\x1b[2J') }}", "failed"),
        ("{% for", "syntax error"),
    ],
    ids=["internals", "system", "memory", "endless", "recursion", "escape codes", "syntax"],
)
def test_hostile_templates_are_refused_by_the_command(
    template: str, words: str, tmp_path: Path
) -> None:
    path = ggufs.build_llama(tmp_path / "t.gguf", template=template)
    err = run(path, "--chat", "hi", "--gen", "2").refused(f"'{path}'", "template", words)
    assert err[:-1].isprintable()


# -- fuzz ----------------------------------------------------------------------------------------

MUTANTS = {"llama": 150, "gemma4": 110, "qwen3": 40}
_COMMANDS = {"llama": "fucina-run", "gemma4": "fucina-gemma4", "qwen3": "fucina-qwen3"}
_NUMBERS = (0, 1, 2, 3, 7, 8, 255, 256, 1 << 16, 1 << 20, HUGE, 1 << 31, (1 << 32) - 1, 1 << 40)
_LARGE = (*_NUMBERS, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1, (1 << 64) - 8)


def mutate(
    random_: random.Random, raw: bytes, found: Layout
) -> tuple[tuple[tuple[int, bytes], ...], int | None]:
    """Edits and a size: one to three faults of one kind each."""
    edits: list[tuple[int, bytes]] = []
    size = None
    for _ in range(random_.choice((1, 1, 1, 2, 3))):
        kind = random_.randrange(10)
        if kind == 0:
            size = random_.choice((random_.randrange(found.data), random_.randrange(len(raw))))
        elif kind <= 2:  # bits of the header
            at = random_.randrange(4, found.data)
            edits.append((at, bytes([raw[at] ^ 1 << random_.randrange(8)])))
        elif kind == 3:  # bytes of the header
            at = random_.randrange(4, found.data - 8)
            edits.append((at, random_.randbytes(random_.randrange(1, 8))))
        elif kind == 4:
            edits.append((random_.choice(found.lengths), _u64(random_.choice(_LARGE))))
        elif kind == 5:
            value = struct.pack("<I", random_.choice((*range(42), 1 << 31)))
            edits.append((random_.choice(found.kinds), value))
        elif kind == 6:
            at, n = random_.choice(found.scalars)
            edits.append((at, _u64(random_.choice(_LARGE))[:n]))
        elif kind == 7:
            at, n = random_.choice(found.texts)
            edits.append((at, random_.randbytes(n)))
        elif kind == 8:
            at = random_.choice((*found.offsets, *found.dimensions, 8, 16))
            edits.append((at, _u64(random_.choice((*_LARGE, random_.randrange(len(raw)))))))
        else:  # weights
            at = random_.randrange(found.data, len(raw) - 64)
            edits.append((at, random_.choice((random_.randbytes(64), b"\xff" * 64))))
    return tuple(edits), size


def mutants(name: str, path: Path) -> Iterator[Case]:
    raw = path.read_bytes()
    found = layout(raw)
    random_ = random.Random(f"mutants of {name}")
    for number in range(MUTANTS[name]):
        edits, size = mutate(random_, raw, found)
        arguments: tuple[str, ...] = IDS
        if number % 5 == 3:
            arguments = ("--chat", "hi there <|im_end|>", "--gen", "3", "--seed", "1")
        elif number % 10 == 7 and name != "qwen3":
            arguments = ("--prompt", "hi", "--gen", "6", "--regex", "[ab]{3}")
        elif number % 10 == 9:
            arguments = ("--info",)
        yield Case(f"{name} {number}", _COMMANDS[name], path, arguments, edits, size)


@pytest.mark.slow
def test_300_mutants_end_in_an_answer_or_in_one_line(
    llama_path: Path, gemma4_path: Path, qwen3_path: Path, attempts: Pool
) -> None:
    paths = {"llama": llama_path, "gemma4": gemma4_path, "qwen3": qwen3_path}
    cases = [case for name, path in paths.items() for case in mutants(name, path)]
    assert len(cases) == 300
    outcomes = attempts(cases)
    assert_good_ends(outcomes)
    # Of both there are enough for the test to mean something.
    assert sum(o.code == 2 for o in outcomes) > 100
    assert sum(o.code == 0 for o in outcomes) > 20


@pytest.mark.slow
def test_mutants_end_like_that_by_the_command_too(llama_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "mutant.gguf"
    for case in list(mutants("llama", llama_path))[::7]:
        data = bytearray(llama_path.read_bytes())
        for at, written in case.edits:
            data[at : at + len(written)] = written
        path.write_bytes(data[: case.size])
        result: Result = run(path, *case.arguments)
        outcome = Outcome(case, str(path), result.code, result.out, result.err)
        assert not faults(outcome), outcome
