"""A GGUF's own chat template, rendered without trusting it or the text put into it.

The template comes out of a model file, so it runs in Jinja's sandbox, within limits of time and
size. The messages come from users, so whatever they spell stays text: a guard character (a
Unicode noncharacter that neither side contains) is put inside every spelling of a marker, and at
every edge where user text and template text could together spell one. Only markers without a
guard inside them, which the template itself wrote, become control tokens.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.parser
import jinja2.sandbox
from jinja2.exceptions import SecurityError

from fucina_cli.limits import TimeLimit, time_limit
from fucina_cli.prompts.errors import TemplateError
from fucina_cli.text import printable

__all__ = ["Marker", "Rendered", "TemplateError", "render"]

_SECONDS = 5.0
_MEMORY_BYTES = 1 << 28
#: Characters that a template may write: so many, and so many times those of the messages.
_OWN_CHARS, _TIMES_MESSAGES = 1_000_000, 4
#: Characters, or elements, of a value that an operator of a template may make.
_MAX_VALUE = 10_000_000


@dataclass(frozen=True)
class Rendered:
    """A prompt in parts: `str` for text to tokenize as data, `Marker` for a control token."""

    parts: tuple[str | Marker, ...]

    @property
    def text(self) -> str:
        """The prompt as one string, as the template alone would have written it."""
        return "".join(p.text if isinstance(p, Marker) else p for p in self.parts)


@dataclass(frozen=True)
class Marker:
    """A control token or marker that the template wrote."""

    text: str


def render(
    template: str,
    messages: Sequence[Mapping[str, str]],
    *,
    markers: Collection[str],
    thinking: bool | None = None,
    bos: str = "",
    eos: str = "",
) -> Rendered:
    """Render `messages` (`role` and `content` each) up to the assistant's next turn.

    Args:
        template: Jinja source.
        markers: texts of all tokens that structure a conversation.
        thinking: value of `enable_thinking`; None leaves it undefined.
        bos, eos: texts of the BOS and EOS token, which templates may print.

    Raises:
        TemplateError: on a syntax error, a refusal of the template itself, access to Python
            internals, or more time or text than the limits.
    """
    contents = [message["content"] for message in messages]
    guard = _unused_character([template, *markers, *contents])
    with _time_and_memory_limit():
        shield = _Shield(markers, guard)
        variables: dict[str, Any] = {
            "messages": [{**m, "content": shield.protect(m["content"])} for m in messages],
            "add_generation_prompt": True,
            "bos_token": bos,
            "eos_token": eos,
            "tools": None,
            "documents": None,
        }
        if thinking is not None:
            variables["enable_thinking"] = thinking
        limit = _OWN_CHARS + _TIMES_MESSAGES * sum(map(len, contents))
        parts = tuple(shield.split(_render(template, variables, limit)))
    if not parts:
        raise TemplateError("the chat template writes nothing")
    return Rendered(parts)


@contextlib.contextmanager
def _time_and_memory_limit() -> Iterator[None]:
    try:
        with time_limit(_SECONDS), _memory_limit(_MEMORY_BYTES):
            yield
    except TimeLimit:
        raise TemplateError(f"the chat template did not end within {_SECONDS:.0f} s") from None
    except MemoryError:
        raise TemplateError("the chat template takes more memory than a prompt can need") from None


def _render(template: str, variables: Mapping[str, Any], limit: int) -> str:
    """The text of the template, at most `limit` characters. Raises TemplateError."""
    try:
        chunks: list[str] = []
        size = 0
        for chunk in _environment().from_string(template).generate(**variables):
            size += len(chunk)
            if size > limit:
                raise TemplateError(f"the chat template writes over {limit} characters")
            chunks.append(chunk)
        text = "".join(chunks)
        text.encode("utf-8")
    except (TemplateError, MemoryError):
        raise
    except UnicodeEncodeError:
        raise TemplateError("the chat template writes a lone surrogate, which is no text") from None
    except SecurityError as error:
        raise TemplateError(f"the chat template is not safe: {_line(error)}") from None
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(
            f"the chat template has a syntax error at line {error.lineno}: {_line(error)}"
        ) from None
    except jinja2.TemplateError as error:
        raise TemplateError(f"the chat template failed: {_line(error)}") from None
    except RecursionError:
        raise TemplateError("the chat template is nested too deeply, or calls itself") from None
    except Exception as error:  # from a hostile template: wrong types, overflow, …
        raise TemplateError(
            f"the chat template failed: {type(error).__name__}: {_line(error)}"
        ) from None
    return text


class _Sandbox(jinja2.sandbox.ImmutableSandboxedEnvironment):
    """Jinja's sandbox, with a size limit on the operators that can make huge values."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        if operator == "*":
            sizes = [(left, right), (right, left)]
            for value, times in sizes:
                sized = hasattr(value, "__len__") and isinstance(times, int)
                if sized and len(value) * times > _MAX_VALUE:
                    raise SecurityError("a value of absurd size")
        elif operator == "**" and (abs(left) > 10_000 or abs(right) > 64):
            raise SecurityError("a power of absurd size")
        elif operator == "%" and isinstance(left, str) and re.search(r"%[^a-zA-Z%]*\d{5,}", left):
            raise SecurityError("a format of absurd width")
        return super().call_binop(context, operator, left, right)

    def unsafe_undefined(self, obj: Any, attribute: str) -> jinja2.Undefined:
        """Refuse access to internals at once; Jinja's own sandbox prints nothing and goes on."""
        if jinja2.sandbox.modifies_known_mutable(obj, attribute):
            return super().unsafe_undefined(obj, attribute)  # raises when it is called
        raise SecurityError(f"it reaches for the attribute '{attribute}' of a {type(obj).__name__}")


class _Generation(jinja2.ext.Extension):
    """`{% generation %}…{% endgeneration %}`, which marks the assistant's text for training."""

    tags = {"generation"}  # noqa: RUF012 (Jinja's own declaration)

    def parse(self, parser: jinja2.parser.Parser) -> list[jinja2.nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _environment() -> jinja2.sandbox.ImmutableSandboxedEnvironment:
    """The dialect that chat templates are written in (that of Hugging Face transformers)."""
    environment = _Sandbox(
        trim_blocks=True, lstrip_blocks=True, extensions=[jinja2.ext.loopcontrols, _Generation]
    )
    environment.filters["tojson"] = _to_json
    environment.globals["raise_exception"] = _refuse
    environment.globals["strftime_now"] = _now
    return environment


def _to_json(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    return json.dumps(
        value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys
    )


def _refuse(message: str) -> None:
    raise jinja2.TemplateError(message)


def _now(form: str) -> str:
    return datetime.datetime.now().strftime(form)


class _Shield:
    """Puts guards into user text and takes them out of the rendered prompt."""

    def __init__(self, markers: Collection[str], guard: str) -> None:
        self._guard = guard
        self._texts = sorted((m for m in markers if m), key=len, reverse=True)
        self._heads = {m[0] for m in self._texts}
        self._tails = {c for m in self._texts for c in m[1:]}
        self._pattern = (
            re.compile("|".join(re.escape(m) for m in self._texts)) if self._texts else None
        )

    def protect(self, text: str) -> str:
        """`text` with a guard after every character that could begin a marker.

        One more stands before the first visible character (the first one at all, if white space
        is part of a marker) when it could continue a marker that the template began. Templates
        may still trim the text: white space stays at its ends.
        """
        guarded = "".join(c + self._guard if c in self._heads else c for c in text)
        for start in (len(guarded) - len(guarded.lstrip()), 0):
            if guarded[start : start + 1] in self._tails:
                guarded = guarded[:start] + self._guard + guarded[start:]
        return guarded

    def split(self, rendered: str) -> Iterator[str | Marker]:
        """The rendered prompt, cut at the markers of the template; guards removed."""
        at = 0
        for match in self._pattern.finditer(rendered) if self._pattern else ():
            if plain := rendered[at : match.start()].replace(self._guard, ""):
                yield plain
            yield Marker(match.group())
            at = match.end()
        if plain := rendered[at:].replace(self._guard, ""):
            yield plain


def _unused_character(texts: Sequence[str]) -> str:
    used = set().union(*(set(t) for t in texts)) if texts else set()
    noncharacters = [*range(0xFDD0, 0xFDF0), *range(0xF0000, 0xFFFFE)]
    for code in noncharacters:
        if chr(code) not in used:
            return chr(code)
    raise TemplateError("the messages use every private character of Unicode")


@contextlib.contextmanager
def _memory_limit(extra: int) -> Iterator[None]:
    """Let the block allocate at most about `extra` bytes, where the system can enforce it."""
    try:
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        with open("/proc/self/status", encoding="ascii") as file:
            used = next(int(line.split()[1]) for line in file if line.startswith("VmData:")) * 1024
        limit = used + extra
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
    except (ImportError, OSError, ValueError, StopIteration):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _line(error: BaseException) -> str:
    """The message on one line of printable characters: a template may have written it."""
    return printable(" ".join(str(error).split())[:200])
