"""What it takes to add something: one file, or one field, and nothing else has to know of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import fucina_cli

PACKAGE = Path(fucina_cli.__file__).parent


class Copy:
    """A copy of the package, to be changed and run."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.package = root / "fucina_cli"
        shutil.copytree(
            PACKAGE, self.package, ignore=shutil.ignore_patterns("__pycache__", "*.gguf")
        )
        for model in (PACKAGE / "tiny").glob("*.gguf"):
            (self.package / "tiny" / model.name).symlink_to(model)
        self._environment = {**os.environ, "PYTHONPATH": str(root), "COLUMNS": "120"}

    def add(self, name: str, text: str) -> None:
        """A new file."""
        path = self.package / name
        assert not path.exists()
        path.write_text(text)

    def run(self, *arguments: str | Path, family: str = "qwen3", stdin: str = "") -> str:
        """Stdout of a command that succeeds."""
        return self._done(family, arguments, stdin, 0).stdout

    def refused(self, *arguments: str | Path, family: str = "qwen3") -> str:
        """Stderr of a command that is bad input."""
        return self._done(family, arguments, "", 2).stderr

    def python(self, code: str) -> str:
        """Stdout of some Python."""
        command = [sys.executable, "-c", code]
        return subprocess.run(
            command,
            env=self._environment,
            cwd=self._root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout

    def _done(
        self, family: str, arguments: tuple[str | Path, ...], stdin: str, code: int
    ) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", f"fucina_cli.{family}", *map(str, arguments)]
        done = subprocess.run(
            command,
            env=self._environment,
            cwd=self._root,
            capture_output=True,
            text=True,
            input=stdin,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return done


@pytest.fixture
def package(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_a_setting_is_one_field_and_then_flag_range_key_keyword_record_and_advice(
    package: Copy,
) -> None:
    path = package.package / "sampling" / "config.py"
    text = path.read_text()
    before = "    seed: int = option("
    assert text.count(before) == 1
    field = """    sparkle: float = option(
        0.5, "A toy.", "S", within=(0, 1), metadata="general.sampling.sparkle"
    )
"""
    path.write_text(text.replace(before, field + before))

    assert "--sparkle" in package.run("--help")
    base = ("tiny", "--prompt", "Rome is", "--gen", "2", "--json")
    assert json.loads(package.run(*base))["sampling"]["sparkle"] == 0.5
    assert json.loads(package.run(*base, "--sparkle", "0.25"))["sampling"]["sparkle"] == 0.25
    assert "--sparkle: 2 is out of range; give 0 to 1" in package.refused(*base, "--sparkle", "2")
    lines = '{"prompt": "Rome is", "gen": 2, "sparkle": 0.75}\n'
    record = json.loads(package.run("tiny", "--batch", "-", "--quiet", stdin=lines))
    assert record["sampling"]["sparkle"] == 0.75
    assert json.loads(package.run("tiny", "--info", "--json"))["sampling"]["sparkle"] == 0.5
    assert "sparkle 0.5" in package.run("tiny", "--info")
    said = package.python(
        "from fucina_cli import InputError, Job\n"
        "print(Job.prompt('a', sparkle=0.1).settings)\n"
        "try: Job.prompt('a', sparkle=7)\n"
        "except InputError as error: print(error)\n"
    )
    assert said == "{'sparkle': 0.1}\nsparkle=: 7 is out of range; give 0 to 1\n"


_MODE = """
from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.mode import MODES, Mode
from fucina_cli.cli.process import output
from fucina_cli.options import Option


def run(line: CommandLine) -> int:
    output.answer(f"{line['shrug']} of {line.model}\\n")
    return 0


SHRUG = Mode(run=run, option=Option("shrug", "Shrug.", "HOW", panel=MODES))
"""


def test_a_mode_is_one_file_and_what_it_excludes_follows(package: Copy) -> None:
    package.add("cli/modes/shrug.py", _MODE)
    assert "--shrug" in package.run("--help")
    assert package.run("any.gguf", "--shrug", "slowly") == "slowly of any.gguf\n"
    for arguments, words in (
        (["--info"], "--info and --shrug: can't be given together: they are modes of their own"),
        (["--chat", "a"], "--shrug and --chat: can't be given together"),
        (["--regex", "a"], "--regex: constrains nothing: --shrug writes no answer"),
        (["--spec"], "--spec: speeds nothing up: --shrug writes no answer"),
        (["--out", "x"], "--out: needs --batch"),
    ):
        assert words in package.refused("any.gguf", "--shrug", "slowly", *arguments)


_KIND = '''
from dataclasses import dataclass

from fucina_cli.constraint.kind import GrammarError, Kind, Prepared, Verdict
from fucina_cli.options import Option


@dataclass(frozen=True)
class Shout:
    """So many capital letters."""

    count: int
    kind = "shout"

    @property
    def identity(self):
        return self.kind, self.count

    def prepare(self):
        from llguidance._lib import LLMatcher

        from fucina_cli.constraint.trial import checked

        return checked(LLMatcher.grammar_from_regex("[A-Z]{%d}" % self.count))

    def judge(self, text):
        return Verdict(text.isupper() and len(text) == self.count)

    def value(self, text):
        return text.lower()


def _read(text):
    if not text.isdigit():
        raise GrammarError("how many letters?")
    return Shout(int(text))


KIND = Kind(
    Option("shout", "Capital letters.", "N", rank=60),
    spec=Shout,
    read=_read,
    takes=lambda value: False,
)
'''


def test_a_kind_of_constraint_is_one_file_and_then_flag_key_record_and_class(
    package: Copy,
) -> None:
    package.add("constraint/kinds/shout.py", _KIND)
    assert "--shout" in package.run("--help")
    base = ("tiny", "--chat", "Rome!", "--greedy")
    answer = package.run(*base, "--shout", "3").strip()
    assert (len(answer), answer.isupper()) == (3, True)
    record = json.loads(package.run(*base, "--shout", "3", "--json"))["constraint"]
    assert (record["kind"], record["complete"], record["valid"]) == ("shout", True, True)
    line = json.dumps({"chat": "Rome!", "shout": "3", "temp": 0})
    batch = json.loads(package.run("tiny", "--batch", "-", "--quiet", stdin=line))
    assert batch["text"] == answer
    assert "--shout: how many letters?" in package.refused(*base, "--shout", "x")
    words = "--regex and --shout: can't be given together"
    assert words in package.refused(*base, "--shout", "3", "--regex", "a")
    said = package.python(
        "from fucina_cli import Job, Runner, Shout\n"
        "with Runner.open('tiny', family='qwen3') as runner:\n"
        "    print(runner.answer(Job.chat('Rome!', Shout(3), greedy=True)).value)\n"
    )
    assert said.strip() == answer.lower()


_FAMILY = """
from fucina_cli.families.family import Family

TOY = Family(
    name="toy",
    command="fucina-toy",
    architectures=frozenset({"llama"}),
    stop_texts=(),
    thinking=None,
    markers=frozenset(),
    sampling=lambda thinking, metadata: {"temperature": 0.25},
)
"""
_ENTRY = """
from fucina_cli.cli.main import run
from fucina_cli.families.toy import TOY

run(TOY)
"""


def test_a_family_is_one_file_and_its_entry_point(package: Copy, llama_path: Path) -> None:
    package.add("families/toy.py", _FAMILY)
    package.add("toy.py", _ENTRY)
    described = json.loads(package.run(llama_path, "--info", "--json", family="toy"))
    assert (described["family"], described["sampling"]["temperature"]) == ("toy", 0.25)
    refused = package.refused(llama_path, "--info", family="generic")
    assert "use fucina-toy for this file" in refused
    opened = f"with Runner.open({str(llama_path)!r}) as r: print(r.host.family.name)"
    assert package.python(f"from fucina_cli import Runner\n{opened}") == "toy\n"


@pytest.mark.parametrize(
    ("kinds", "ask"),
    [
        ("modes", lambda: __import__("fucina_cli.cli.mode", fromlist=["modes"]).modes()),
        ("kinds", lambda: __import__("fucina_cli.constraint.kind", fromlist=["kinds"]).kinds()),
    ],
)
def test_whatever_file_is_there_is_found(kinds: str, ask: Callable[[], tuple[object, ...]]) -> None:
    folder = PACKAGE / ("cli/modes" if kinds == "modes" else "constraint/kinds")
    files = [path for path in folder.glob("*.py") if path.name != "__init__.py"]
    assert len(ask()) >= len(files) >= 4
