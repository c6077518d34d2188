"""The command as a process among others: signals, pipes, terminals, locales."""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fucina_cli import limits
from fucina_cli.limits import interrupt_waits, interrupts_held
from tests.support import ggufs
from tests.support.command_line import RunHere, run, run_here
from tests.support.processes import PATIENCE, Running, command, environment, read_some, start

__all__ = ["run_here", "start"]  # fixtures

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals and shells of Unix")
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")

TEXT = "héllo wörld 日本 🎉"


def endless(path: Path) -> list[str | Path]:
    """Arguments under which the small llama writes for longer than any test waits."""
    vocabulary = ggufs.llama_vocabulary()
    banned = [f"--logit-bias={vocabulary.ids[t]}=-inf" for t in ("<|im_end|>", "<|endoftext|>")]
    return [path, "1,2", "--gen", "1000000", "--ctx", "1000000", "--threads=1", "--quiet", *banned]


@pytest.fixture(scope="session")
def beginning(llama_path: Path) -> str:
    """How the endless answer begins."""
    arguments = [str(a) for a in endless(llama_path)]
    arguments[arguments.index("1000000")] = "16"
    result = run(*arguments, "--json")
    assert result.code == 0, result.err
    return str(json.loads(result.out)["text"])


@pytest.fixture(scope="session")
def thinker(models: Path) -> Path:
    """A qwen3 whose template opens a block of thoughts: they are shown on a terminal's stderr."""
    return ggufs.build_qwen3(models / "thinker.gguf", template="{{ messages[0].content }}<think>\n")


def thoughts_without_end(path: Path) -> list[str | Path]:
    ends = ("</think>", "<|im_end|>", "<|endoftext|>")
    banned = [f"--logit-bias={ggufs.QWEN3_SPECIALS[text]}=-inf" for text in ends]
    return [path, "--chat", "hi", "--greedy", "--gen=100000", "--ctx=110000", *banned]


@contextlib.contextmanager
def terminal() -> Iterator[tuple[int, int]]:
    """Both ends of a pseudo-terminal: what to read from, and what a command writes to."""
    here, there = os.openpty()
    try:
        yield here, there
    finally:
        os.close(here)
        with contextlib.suppress(OSError):
            os.close(there)


def shown_on_a_terminal(arguments: list[str], **changes: str | None) -> bytes:
    """All that a command writes with stdout and stderr on one terminal."""
    with terminal() as (here, there):
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=there,
            stderr=there,
            env=environment(**changes),
            start_new_session=True,
        )
        os.close(there)
        shown = b""
        until = time.monotonic() + PATIENCE
        with contextlib.suppress(AssertionError):
            while True:
                shown += read_some(here, until)
        assert process.wait(PATIENCE) in (0, 2)
        return shown


# -- Ctrl-C --------------------------------------------------------------------------------------


@pytest.mark.parametrize("whom", ["group", "parent"])
def test_ctrl_c_keeps_what_was_printed_and_exits_130(
    whom: str, llama_path: Path, beginning: str, start: Callable[..., Running]
) -> None:
    running = start(*endless(llama_path))
    running.wait_for(beginning.encode())
    running.interrupt(whom)
    code, out, err = running.end()
    assert (code, err) == (130, "")
    assert out.startswith(beginning)
    assert out.endswith("\n")


@pytest.mark.model
def test_ctrl_c_keeps_what_a_real_model_said(smollm2: Path, start: Callable[..., Running]) -> None:
    running = start(smollm2, "--prompt", "1 2 3 4 5 6 7 8", "--gen", "2000", "--logit-bias=2=-inf")
    running.wait_for(b" 9")
    running.interrupt()
    code, out, err = running.end()
    assert (code, err) == (130, "")
    assert out.startswith(" 9")


def test_ctrl_c_under_a_constraint_exits_130_and_not_3(
    llama_path: Path, start: Callable[..., Running]
) -> None:
    running = start(*endless(llama_path), "--regex", "[a-z]{1000,}")
    running.wait_for_output()
    running.interrupt()
    code, out, err = running.end()
    assert (code, err) == (130, "")
    assert out.strip().isalpha()


@pytest.mark.parametrize("whom", ["group", "parent"])
def test_an_interrupted_record_is_on_stdout(
    whom: str, thinker: Path, start: Callable[..., Running]
) -> None:
    with terminal() as (here, there):
        running = start(*thoughts_without_end(thinker), "--json", family="qwen3", stderr=there)
        shown, until = b"", time.monotonic() + PATIENCE
        while shown.count(b"\x1b[2m") < 3:  # thoughts: it generates
            shown += read_some(here, until)
        running.interrupt(whom)
        code, out, _ = running.end()
    assert code == 130
    assert out.count("\n") == 1
    record = json.loads(out)
    assert record["stop_reason"] == "interrupted"
    assert record["thinking"]
    assert record["tokens"]
    assert record["decode"]["committed"] == len(record["tokens"])


@pytest.mark.parametrize("whom", ["group", "parent"])
@pytest.mark.parametrize(
    "sign",
    [b"loaded meta data", b"llama_context: constructing", b"sched_reserve: reserve took"],
    ids=["load", "context", "compile"],
)
def test_ctrl_c_before_the_first_token_exits_130_with_nothing_on_stdout(
    sign: bytes, whom: str, qwen3_path: Path, start: Callable[..., Running]
) -> None:
    schema = '{"type":"array","items":{"type":"string"},"minItems":9}'
    running = start(
        qwen3_path, "1", "--gen=9000", "--verbose", "--json-schema", schema, family="qwen3"
    )
    running.wait_for(sign, stream=2)
    running.interrupt(whom)
    code, out, err = running.end()
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert "Exception ignored" not in err
    assert "error:" not in err


def test_a_second_ctrl_c_while_winding_up_changes_nothing(
    llama_path: Path, beginning: str, start: Callable[..., Running]
) -> None:
    running = start(*endless(llama_path))
    running.wait_for(beginning.encode())
    running.interrupt("parent")
    running.interrupt("parent")
    code, out, err = running.end()
    assert (code, err) == (130, "")
    assert out.startswith(beginning)


_DEAF = """
import os, sys, time
from fucina_cli.cli.process.supervisor import supervise
def work():
    while True:
        try:
            print("ready", flush=True)
            time.sleep(1000)
        except KeyboardInterrupt:
            pass
sys.exit(supervise(work))
"""


def test_the_third_ctrl_c_kills_work_that_does_not_end() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _DEAF], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        for _ in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)  # signals of one kind that come at once count once
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=PATIENCE)
        assert (process.returncode, err) == (130, b"")
    finally:
        process.kill()


_INTERRUPTED_IN_A_CALLBACK = """
import ctypes, os, signal, sys, time
from fucina_cli.cli.process.supervisor import supervise

@ctypes.CFUNCTYPE(None)
def callback():
    os.kill(os.getpid(), signal.SIGINT)
    for _ in range(1000):
        pass

def work():
    callback()
    print("still there", flush=True)
    time.sleep(1000)
    return 0

sys.exit(supervise(work))
"""


def test_an_interrupt_inside_a_native_callback_is_not_lost() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _INTERRUPTED_IN_A_CALLBACK],
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (130, b"")


def test_held_interrupts_wait_also_where_another_thread_could_take_the_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "_own_process", True)
    idle = threading.Event()
    other = threading.Thread(target=idle.wait)  # as a BLAS library has them
    other.start()
    seen: list[bool] = []

    def call() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        until = time.monotonic() + PATIENCE
        while not interrupt_waits() and time.monotonic() < until:
            time.sleep(0)
        seen.append(interrupt_waits())

    callback = ctypes.CFUNCTYPE(None)(call)

    def hold() -> None:
        with interrupts_held():
            callback()
            seen.append(interrupt_waits())

    previous = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            hold()
        assert seen == [True, True]
        assert not interrupt_waits()
        with interrupts_held():
            assert not interrupt_waits()
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, previous)
        idle.set()
        other.join()


def test_ctrl_c_while_the_parser_works_exits_130(
    run_here: RunHere, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(_name: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("importlib.metadata.version", interrupted)
    result = run_here("--version")
    assert (result.code, result.out) == (130, "")
    assert "error" not in result.err


# -- being ended ---------------------------------------------------------------------------------


def children(pid: int) -> list[int]:
    return [int(p) for p in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def runs(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] not in ("Z", "X")


def gone(pid: int) -> bool:
    until = time.monotonic() + PATIENCE
    while runs(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


@linux
@pytest.mark.parametrize("whom", ["group", "parent"])
@pytest.mark.parametrize(
    ("number", "expected"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
)
def test_signals_that_end_the_command_leave_no_child(
    number: signal.Signals,
    expected: int,
    whom: str,
    llama_path: Path,
    beginning: str,
    start: Callable[..., Running],
) -> None:
    running = start(*endless(llama_path))
    running.wait_for(beginning.encode())
    (child,) = children(running.process.pid)
    running.send(number, whom)
    code, out, err = running.end()
    assert (code, err) == (expected, "")
    assert out.startswith(beginning)
    assert gone(child)


@linux
@pytest.mark.parametrize("ignored", ["", "TERM", "HUP INT TERM"])
def test_a_killed_parent_leaves_no_orphan(ignored: str, llama_path: Path) -> None:
    trap = f"trap '' {ignored}; " if ignored else ""
    process = subprocess.Popen(
        ["sh", "-c", trap + 'exec "$@"', "sh", *command(*endless(llama_path))],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        read_some(process.stdout.fileno(), time.monotonic() + PATIENCE)
        (child,) = children(process.pid)
        process.kill()
        process.communicate(timeout=PATIENCE)  # to the end of what the child can write
        assert process.returncode == -signal.SIGKILL
        assert gone(child)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


@linux
def test_a_killed_child_is_told_in_one_line_that_names_the_model(
    llama_path: Path, beginning: str, start: Callable[..., Running]
) -> None:
    running = start(*endless(llama_path))
    running.wait_for(beginning.encode())
    (child,) = children(running.process.pid)
    os.kill(child, signal.SIGKILL)
    code, _, err = running.end()
    assert code == 2
    assert err.startswith(f"error: '{llama_path}': the system killed the process")
    assert err.count("\n") == 1


# -- readers that go -----------------------------------------------------------------------------


def test_a_reader_that_stops_after_one_line_ends_the_command_quietly(
    llama_path: Path, beginning: str, start: Callable[..., Running]
) -> None:
    running = start(*endless(llama_path))
    running.wait_for(beginning.encode())
    assert running.process.stdout is not None
    running.process.stdout.close()
    running.process.stdout = None
    code, _, err = running.end()
    assert (code, err) == (0, "")


def looks(llama_path: Path, tmp_path: Path) -> dict[str, list[str | Path]]:
    """A command of every kind of output."""
    text = tmp_path / "text.txt"
    text.write_text("The user asks. " * 20_000)
    return {
        "answer": [llama_path, "1,2", "--gen", "9"],
        "record": [llama_path, "1,2", "--gen", "9", "--json"],
        "top": [llama_path, "1,2"],
        "top as json": [llama_path, "1,2", "--json"],
        "info": [llama_path, "--info"],
        "tokenize": [llama_path, "--tokenize", text],
        "help": ["--help"],
        "version": ["--version"],
    }


LOOKS = ("answer", "record", "top", "top as json", "info", "tokenize", "help", "version")


@pytest.mark.parametrize("look", LOOKS)
def test_a_reader_that_was_never_there_is_no_failure(
    look: str, llama_path: Path, tmp_path: Path
) -> None:
    read, write = os.pipe()
    os.close(read)
    try:
        done = subprocess.run(
            command(*looks(llama_path, tmp_path)[look]),
            stdin=subprocess.DEVNULL,
            stdout=write,
            stderr=subprocess.PIPE,
            timeout=PATIENCE,
            check=False,
        )
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_head_ends_a_pipeline_quietly_also_when_it_reads_stderr(llama_path: Path) -> None:
    lines = [*endless(llama_path), "--regex", "([a-z]{1,9}\n){100000,}"]
    for redirection in ("", " 2>&1"):
        done = subprocess.run(
            ["sh", "-c", f'"$@"{redirection} | head -n 1', "sh", *command(*lines)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.count(b"\n") == 1
        assert b"error" not in done.stdout


# -- standard files that are closed or full ------------------------------------------------------


def shell(
    redirections: str, *arguments: str | Path, family: str = "generic"
) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a command under redirections of the shell."""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirections}', "sh", *command(*arguments, family=family)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=PATIENCE,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


@pytest.mark.parametrize("look", LOOKS)
def test_a_closed_stdout_is_refused(look: str, llama_path: Path, tmp_path: Path) -> None:
    code, out, err = shell(">&-", *looks(llama_path, tmp_path)[look])
    assert (code, out) == (2, "")
    assert err.startswith("error: output: ")
    assert err.count("\n") == 1


@linux
@pytest.mark.parametrize("look", LOOKS)
def test_a_full_disk_under_stdout_is_refused(look: str, llama_path: Path, tmp_path: Path) -> None:
    code, out, err = shell(">/dev/full", *looks(llama_path, tmp_path)[look])
    assert (code, out) == (2, "")
    assert err == "error: output: No space left on device\n"


def test_a_closed_stderr_changes_neither_answer_nor_exit_code(
    llama_path: Path, tmp_path: Path
) -> None:
    arguments: list[str | Path] = [llama_path, "1,2", "--gen", "9"]
    kept = tmp_path / "ids"
    expected = shell("", *arguments)
    assert expected[0] == 0
    extras: list[list[str | Path]] = [[], ["--verbose"], ["--tokens-out", kept]]
    for extra in extras:
        assert shell("2>&-", *arguments, *extra) == expected
    assert all(line.isdigit() for line in kept.read_text().splitlines())
    assert shell("2>&-", tmp_path / "missing.gguf", "1") == (2, "", "")
    assert shell("2>&-", llama_path, "--no-such-flag") == (2, "", "")
    crash = ggufs.build_llama(tmp_path / "crash.gguf", overrides={"llama.block_count": 0})
    assert shell("2>&-", crash, "1,2", "--gen", "2") == (2, "", "")
    assert shell("2>/dev/full", tmp_path / "missing.gguf", "1") == (2, "", "")


def test_with_all_standard_files_closed_no_file_of_ours_takes_their_place(
    llama_path: Path, tmp_path: Path
) -> None:
    before = llama_path.read_bytes()
    kept = tmp_path / "ids"
    arguments: list[str | Path] = [llama_path, "1,2", "--gen", "9", "--tokens-out", kept]
    assert shell("<&- >&- 2>&-", *arguments) == (2, "", "")
    assert shell("<&- >&- 2>&-", tmp_path / "missing.gguf", "1") == (2, "", "")
    code, out, err = shell("<&-", *arguments)
    assert (code, err) == (0, "")
    assert out
    assert llama_path.read_bytes() == before


# -- standard input ------------------------------------------------------------------------------

TEXT_FLAGS = (
    "--prompt",
    "--chat",
    "--json-schema",
    "--regex",
    "--lark",
    "--choice",
    "--tokenize",
    "--stop",
)


@pytest.mark.parametrize("flag", TEXT_FLAGS)
def test_standard_input_that_is_no_utf8_is_refused_with_the_flags_name(
    flag: str, llama_path: Path, run_here: RunHere
) -> None:
    run_here(llama_path, flag, "-", stdin=b"abc \xff\xfe").refused(
        flag, "standard input is not valid UTF-8 (byte 4)"
    )


def test_standard_input_that_is_no_utf8_is_refused_by_the_command(llama_path: Path) -> None:
    run(llama_path, "--chat", "-", stdin=b"\xc3").refused("--chat", "not valid UTF-8")
    run(llama_path, "--chat", "a", "--system", "-", stdin=b"\xc3").refused("--system", "UTF-8")


@pytest.mark.parametrize("flag", TEXT_FLAGS)
def test_a_closed_standard_input_is_refused_with_the_flags_name(
    flag: str, llama_path: Path
) -> None:
    code, out, err = shell("<&-", llama_path, flag, "-")
    assert (code, out) == (2, "")
    assert err == f"error: {flag}: there is no standard input\n"


# -- terminals and locales -----------------------------------------------------------------------


def test_without_a_terminal_nothing_is_coloured(llama_path: Path, tmp_path: Path) -> None:
    for arguments in looks(llama_path, tmp_path).values():
        done = subprocess.run(
            command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(),
            start_new_session=True,
            timeout=PATIENCE,
            check=True,
        )
        assert b"\x1b" not in done.stdout + done.stderr


PLAIN: tuple[dict[str, str | None], ...] = (
    {"NO_COLOR": "1"},
    {"TERM": "dumb"},
    {"NO_COLOR": "1", "TERM": "dumb"},
)


@pytest.mark.parametrize("changes", PLAIN, ids=["NO_COLOR", "dumb", "both"])
@pytest.mark.parametrize("look", ["help", "info", "top", "error", "bad flag", "thoughts"])
def test_a_terminal_that_wants_no_colours_gets_no_escape_codes(
    changes: dict[str, str | None], look: str, llama_path: Path, thinker: Path, tmp_path: Path
) -> None:
    if look == "thoughts":
        arguments = [str(a) for a in thoughts_without_end(thinker)]
        arguments[arguments.index("--gen=100000")] = "--gen=4"
        arguments = command(*arguments, family="qwen3")
    elif look == "error":
        arguments = command("missing.gguf", "1")
    elif look == "bad flag":
        arguments = command(llama_path, "--no-such-flag")
    else:
        arguments = command(*looks(llama_path, tmp_path)[look])
    shown = shown_on_a_terminal(arguments, **changes)
    assert shown.strip()
    assert b"\x1b" not in shown


def test_a_hostile_model_can_not_write_escape_codes_into_errors(tmp_path: Path) -> None:
    evil = "\x1b[2J\x07evil\u202e"
    files = [
        ggufs.build_llama(tmp_path / "a.gguf", overrides={"general.architecture": evil}),
        ggufs.build_llama(tmp_path / "b.gguf", overrides={"tokenizer.ggml.model": evil}),
        ggufs.build_llama(tmp_path / "c.gguf", overrides={"tokenizer.ggml.pre": evil}),
        ggufs.build_llama(tmp_path / "d.gguf", overrides={"llama.rope.scaling.type": evil}),
    ]
    for path in files:
        for family in ("generic", "qwen3"):
            err = run(path, "1,2", "--gen=1", family=family).refused(str(path))
            assert err[:-1].isprintable(), err


LOCALES: tuple[dict[str, str | None], ...] = (
    {"LC_ALL": "C"},
    {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"},
    {"LC_ALL": "C", "PYTHONUTF8": "0"},
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": None, "LANG": "C", "PYTHONIOENCODING": "latin-1"},
)


@pytest.mark.parametrize("changes", LOCALES, ids=range(len(LOCALES)))
def test_answers_are_utf8_whatever_the_locale_says(
    changes: dict[str, str | None], llama_path: Path, tmp_path: Path
) -> None:
    named = ggufs.build_llama(tmp_path / "l.gguf", overrides={"general.name": TEXT})
    pattern = tmp_path / "pattern"
    pattern.write_text(TEXT, encoding="utf-8")

    def said(*arguments: str | Path) -> bytes:
        done = subprocess.run(
            command(*arguments),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(**changes),
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    assert said(named, "1,2", "--regex", f"@{pattern}") == f"{TEXT}\n".encode()
    assert json.loads(said(named, "1", "--regex", f"@{pattern}", "--json"))["text"] == TEXT
    assert json.loads(said(named, "--info", "--json"))["name"] == TEXT
    assert b"llo w" in said(named, "--info")
    assert b"probability" in said(named, "1,2")
    assert b"--regex" in said("--help")


def test_errors_are_told_whatever_the_locale_says(tmp_path: Path) -> None:
    for changes in LOCALES:
        done = subprocess.run(
            command(tmp_path / "né\u65e5.gguf", "1"),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=environment(**changes),
            timeout=PATIENCE,
            check=False,
        )
        assert (done.returncode, done.stdout) == (2, b"")
        assert done.stderr.startswith(b"error: '")
        assert done.stderr.endswith(b": no such file; check the path\n")


# -- the log -------------------------------------------------------------------------------------


def test_the_verbose_log_goes_to_stderr_only(llama_path: Path) -> None:
    arguments: list[str | Path] = [llama_path, "1,2", "--gen", "9", "--threads", "1"]
    plain, verbose = run(*arguments), run(*arguments, "--verbose")
    assert (plain.code, plain.err) == (0, "")
    assert (verbose.code, verbose.out) == (0, plain.out)
    assert "llama_model_loader" in verbose.err
    record = run(*arguments, "--verbose", "--json")
    assert record.out.count("\n") == 1
    assert json.loads(record.out)["text"] == plain.out[:-1]
