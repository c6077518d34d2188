"""Ways out for what other tools accept and these commands do not."""

from __future__ import annotations

import difflib
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from fucina_cli.options import Option

#: Flags of llama.cpp, vLLM, Ollama, transformers and APIs without dashes, and ours in order of
#: preference. A value without dashes at its beginning is said as it is.
FLAGS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("temperature", "t-temp"), ("--temp",)),
    **dict.fromkeys(
        (
            "max-tokens", "max-new-tokens", "max-completion-tokens", "max-output-tokens",
            "n-predict", "num-predict", "predict", "tokens", "max-length", "length", "limit",
        ),
        ("--gen",),
    ),
    **dict.fromkeys(
        (
            "ctx-size", "num-ctx", "n-ctx", "context", "context-size", "context-length",
            "max-model-len", "c",
        ),
        ("--ctx",),
    ),
    **dict.fromkeys(("frequency-penalty",), ("--freq-penalty",)),
    **dict.fromkeys(("repetition-penalty", "penalty"), ("--repeat-penalty",)),
    **dict.fromkeys(("system-prompt", "sys", "system-prompt-file", "sysf"), ("--system",)),
    **dict.fromkeys(("message", "user", "ask", "question", "query", "msg", "m-user"), ("--chat",)),
    **dict.fromkeys(("n-gpu-layers", "ngl", "num-gpu", "gpu"), ("--gpu-layers",)),
    **dict.fromkeys(("num-threads", "n-threads", "t", "num-thread"), ("--threads",)),
    **dict.fromkeys(
        ("stop-sequence", "stop-sequences", "reverse-prompt", "r", "eos", "stop-words"),
        ("--stop",),
    ),
    **dict.fromkeys(("grammar", "grammar-file"), ("--gbnf", "--lark")),
    **dict.fromkeys(("guided-grammar", "ebnf"), ("--lark",)),
    **dict.fromkeys(
        (
            "json-schema-file", "jf", "j", "schema", "response-format", "format", "guided-json",
            "structured-output", "output-schema",
        ),
        ("--json-schema",),
    ),
    **dict.fromkeys(("guided-regex", "pattern", "regexp"), ("--regex",)),
    **dict.fromkeys(("guided-choice", "choices", "enum", "options"), ("--choice",)),
    **dict.fromkeys(("p", "text", "completion"), ("--prompt",)),
    **dict.fromkeys(("f", "file", "prompt-file"), ("--prompt @FILE",)),
    **dict.fromkeys(("s", "rng-seed", "random-seed"), ("--seed",)),
    **dict.fromkeys(
        ("i", "interactive", "interactive-first", "cnv", "conversation"), ("--repl", "--chat")
    ),
    **dict.fromkeys(("o", "output", "output-file"), ("--out", "--tokens-out")),
    **dict.fromkeys(("input", "input-file", "requests", "jsonl"), ("--batch",)),
    **dict.fromkeys(("draft", "model-draft", "md", "speculative-model"), ("--draft-model",)),
    **dict.fromkeys(("parallel", "np", "best-of", "num-return-sequences"), ("--streams",)),
    **dict.fromkeys(("cache-type-k", "cache-type-v", "ctk", "ctv"), ("--cache-type",)),
    **dict.fromkeys(
        ("no-thinking", "disable-thinking", "nothink", "no-reasoning"), ("--no-think",)
    ),
    **dict.fromkeys(("reasoning", "thinking", "enable-thinking"), ("--think",)),
    **dict.fromkeys(("v", "log", "log-verbose"), ("--verbose",)),
    **dict.fromkeys(("q", "silent", "log-disable"), ("--quiet",)),
    **dict.fromkeys(("model", "m", "hf-repo", "hf", "hf-file", "model-path"), ("MODEL",)),
}  # fmt: skip

#: Share of equal letters from which an unknown flag is taken for a misspelled one.
_SIMILAR = 0.6
_SHORTEST, _LONGEST = 3, 40
_MOST_PATH = 4096
#: What a path of a text looks like: no white space, and the ending of a text's name.
_PATH = re.compile(r"[^\s{}()\"'|*?]+\.(json|jsonl|schema|lark|gbnf|ebnf|txt|md|regex|ya?ml)", re.I)


def flag(written: str, flags: Collection[str]) -> str:
    """What an unknown flag was probably meant to be, for a message; "" where nothing is near."""
    name = written.lstrip("-").partition("=")[0].replace("_", "-").lower()[:_LONGEST]
    if f"--{name}" in flags:
        return f"did you mean --{name}?"
    if name in FLAGS:
        return _meant(FLAGS[name], flags)
    if len(name) < _SHORTEST:
        return ""
    long: dict[str, tuple[str, ...]] = {
        each[2:]: (each,) for each in flags if each.startswith("--")
    }
    long = {**{key: ours for key, ours in FLAGS.items() if len(key) >= _SHORTEST}, **long}
    similar = difflib.get_close_matches(name, long, 1, _SIMILAR)
    similar += [each for each in long if each.startswith(name)]
    return _meant(long[similar[0]], flags) if similar else ""


def _meant(ours: Iterable[str], flags: Collection[str]) -> str:
    """A question that names the first of several flags that exists."""
    for each in ours:
        if each == "MODEL":
            return "the model comes first, without a flag"
        if each.split()[0] in flags:
            return f"did you mean {each}?"
    return ""


def repeated(arguments: Iterable[str], options: Iterable[Option]) -> list[str]:
    """The flags that a command line has more than once although only the last one counts."""
    by_flag = {name: each for each in options for name in (each.flag, each.short) if name}
    counts: Counter[str] = Counter()
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            break
        name, separator, _value = argument.partition("=")
        each = by_flag.get(name)
        if each is None or each.type is bool:
            continue
        counts[each.flag] += not each.repeatable
        if not separator:
            next(rest, None)  # its value, which may look like a flag
    return [name for name, count in counts.items() if count > 1]


def is_file(value: str) -> bool:
    """Whether a text reads as the path of a file that exists."""
    if not 0 < len(value) < _MOST_PATH or "\n" in value or not re.search(r"[./\\]", value):
        return False
    try:
        return os.path.isfile(value)
    except ValueError:
        return False


def is_path(value: str) -> bool:
    """Whether a text reads as the path of a file of text, existing or not; not `@FILE`."""
    if value.startswith("@"):
        return False
    return is_file(value) or (len(value) < _MOST_PATH and bool(_PATH.fullmatch(value)))
