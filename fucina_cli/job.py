"""A job: what to answer and how, a value made from flags, lines of a batch or Python."""

from __future__ import annotations

import functools
import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fucina_cli.constraint.kind import GrammarError, Spec, spec_of
from fucina_cli.errors import InputError, Part
from fucina_cli.options import Option, contradiction, option, options_of
from fucina_cli.sampling.config import SamplingConfig

#: A turn of a conversation: "role" and "content".
Message = Mapping[str, str]
#: A stop: some text, or a token id.
Stop = str | int

#: Most tokens of an answer where `gen` is not given.
DEFAULT_GEN = 2048
_MAX_BIAS = 1e6
_BAN = float("-inf")
#: Low enough for "temp" to be taken for "temperature".
_SIMILAR = 0.5


@dataclass(frozen=True)
class Text:
    """Start from a raw text, which is data: it never becomes a control token."""

    text: str

    def __post_init__(self) -> None:
        _require_text(self.text)


@dataclass(frozen=True)
class Ids:
    """Start from token ids, taken as they are."""

    tokens: tuple[int, ...]

    def __post_init__(self) -> None:
        try:  # numpy's integers too
            object.__setattr__(self, "tokens", tuple(map(operator.index, self.tokens)))
        except TypeError:
            raise InputError("prompt", "token ids are integers") from None


@dataclass(frozen=True)
class Chat:
    """Start from a conversation, rendered by the model's own template."""

    messages: tuple[Message, ...]

    def __post_init__(self) -> None:
        for message in self.messages:
            if not isinstance(message, Mapping) or set(message) != {"role", "content"}:
                raise InputError("prompt", 'a message is a dict of "role" and "content"')
            for text in message.values():
                _require_text(text)


Start = Text | Ids | Chat


@dataclass(frozen=True)
class Generation:
    """How long an answer may be and what ends it; None where nothing was given."""

    PANEL: ClassVar = "Generation"

    gen: int | None = option(
        None, f"Most tokens of the answer ({DEFAULT_GEN}).", "N", short="-n",
        within=(0, 10_000_000), unit="tokens",
        elsewhere=(
            (-1, f"leave it out for {DEFAULT_GEN}"), (-2, "leave it out, and set the context"),
        ),
    )  # fmt: skip
    stop: tuple[Stop, ...] = option(
        (), "Also stop at this token id or text (repeatable).", "ID_OR_TEXT", type=str,
        repeatable=True,
    )  # fmt: skip
    think: bool | None = option(
        None, "Let the model think first, or not. Default: the template's; no with a constraint.",
        negative="--no-think", rank=70,
    )  # fmt: skip
    greedy: bool = option(False, "Same as --temp 0.", panel=SamplingConfig.PANEL, rank=70)
    logit_bias: tuple[tuple[str | int, float], ...] = option(
        (), "Add to a token's logit at every step, -inf bans it; TOKEN is an id or the "
        "text of one token (repeatable).", "TOKEN=BIAS", type=str, repeatable=True,
        panel=SamplingConfig.PANEL, rank=80,
    )  # fmt: skip


@functools.cache
def job_options() -> Mapping[str, Option]:
    """Every option of a job, by keyword."""
    return {each.name: each for each in (*options_of(Generation), *options_of(SamplingConfig))}


@dataclass(frozen=True)
class Job:
    """What to answer and how.

    Attributes:
        start: what the answer follows.
        constraint: what the answer must match; None for anything.
        settings: the options given, by keyword (see `job_options`). Sampling options not given
            are the model family's in a chat, and greedy elsewhere.
        id: your own name for the job; it comes back with the answer.

    Raises InputError for an option that does not exist, one out of range, options that contradict
    each other and what is no constraint; the constructors below also for an empty start.
    """

    start: Start
    constraint: Spec | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    id: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", _listed(self.settings))
        check_settings(self.settings)
        if self.constraint is not None:
            try:
                object.__setattr__(self, "constraint", spec_of(self.constraint))
            except GrammarError as error:
                raise InputError("constraint", *error.message) from None
            except ValueError as error:
                raise InputError("constraint", str(error)) from None

    @classmethod
    def chat(
        cls,
        message: str,
        constraint: Any = None,
        *,
        system: str | None = None,
        id: Any = None,
        **settings: Any,
    ) -> Job:
        """Answer a message.

        Args:
            message: the user's text.
            constraint: a JsonSchema, Regex, Lark or Choice, or a value that becomes one: a dict or
                a class with `model_json_schema`, a compiled pattern, a list of strings.
            system: system text that comes before the message.
            id: your own name for the job; it comes back with the answer.
            settings: options by keyword, such as `temperature=0.0` or `gen=100`.
        """
        before = [] if system is None else [{"role": "system", "content": system}]
        messages = [*before, {"role": "user", "content": message}]
        return cls.messages(messages, constraint, id=id, **settings)

    @classmethod
    def messages(
        cls, messages: Sequence[Message], constraint: Any = None, *, id: Any = None, **settings: Any
    ) -> Job:
        """Answer the last message of a conversation; each has "role" and "content"."""
        chat = Chat(tuple(messages))
        if not messages or not chat.messages[-1]["content"]:
            raise InputError("prompt", "the text is empty; there is nothing to answer")
        return cls(chat, constraint, settings, id)

    @classmethod
    def prompt(cls, text: str, constraint: Any = None, *, id: Any = None, **settings: Any) -> Job:
        """Continue a raw text."""
        start = Text(text)
        if not text:
            raise InputError("prompt", "the text is empty; there is nothing to answer")
        return cls(start, constraint, settings, id)

    @classmethod
    def ids(
        cls, tokens: Sequence[int], constraint: Any = None, *, id: Any = None, **settings: Any
    ) -> Job:
        """Continue token ids."""
        start = Ids(tuple(tokens))
        if not start.tokens:
            raise InputError("prompt", "there are no ids; there is nothing to answer")
        return cls(start, constraint, settings, id)

    @property
    def is_chat(self) -> bool:
        """Whether the model's chat template renders the prompt."""
        return isinstance(self.start, Chat)

    @property
    def has_system(self) -> bool:
        """Whether it is a chat that begins with a system text."""
        return (
            isinstance(self.start, Chat)
            and len(self.start.messages) > 1
            and self.start.messages[0]["role"] == "system"
            and bool(self.start.messages[0]["content"].strip())
        )

    @property
    def think(self) -> bool | None:
        """Whether the model may think first: as given, not under a constraint, or its template's
        default (None)."""
        think: bool | None = self.settings.get("think")
        return False if think is None and self.constraint is not None else think


def _require_text(text: object) -> None:
    """Raise InputError for what is no string, or a string that UTF-8 can't express."""
    if not isinstance(text, str):
        raise InputError("prompt", f"must be text, not {type(text).__name__}")
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError("prompt", "has half of a surrogate pair, which is no text") from None


def _listed(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings without those that are None, a single stop as a list and biases as pairs."""
    given = {name: value for name, value in settings.items() if value is not None}
    if isinstance(given.get("stop"), str | int):
        given["stop"] = (given["stop"],)
    if isinstance(given.get("logit_bias"), Mapping):
        given["logit_bias"] = tuple(given["logit_bias"].items())
    return given


def check_settings(settings: Mapping[str, Any]) -> None:
    """Raise InputError for options that don't exist, are out of range or contradict each other."""
    known = job_options()
    for name, value in settings.items():
        if name not in known:
            import difflib  # slow to load

            similar = difflib.get_close_matches(name, known, 1, _SIMILAR)
            hint = ("; did you mean ", Part(similar[0]), "?") if similar else ()
            raise InputError(name, "there is no such option", *hint)
        known[name].check(value)
    temperature = settings.get("temperature")
    if settings.get("greedy") and temperature:
        raise contradiction("greedy", "temperature", f" {temperature:g}")
    for stop in settings.get("stop", ()):
        if not isinstance(stop, str) and type(stop) is not int:
            raise InputError("stop", f"must be texts and token ids, not {stop!r:.40}")
        if stop == "":
            raise InputError("stop", "the text is empty; give a token id or some text")
    for token, bias in settings.get("logit_bias", ()):
        check_bias(token, bias)


def check_bias(token: str | int, bias: float) -> None:
    """Raise InputError for an empty token and for a bias that is NaN or out of range."""
    if token == "":
        raise InputError("logit_bias", "a token is empty")
    if not isinstance(token, str) and type(token) is not int:
        raise InputError("logit_bias", f"a token is a text or an id, not {token!r:.40}")
    if not isinstance(bias, int | float) or isinstance(bias, bool):
        raise InputError("logit_bias", f"a bias is a number, not {bias!r:.40}")
    if not bias == bias or (abs(bias) > _MAX_BIAS and bias != _BAN):
        raise InputError(
            "logit_bias", f"{bias:g} is out of range; give -1e6 to 1e6, or -inf to ban"
        )


def merge_settings(defaults: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """`defaults` overridden by `given`, where `greedy` and `temperature` override each other."""
    rest = dict(defaults)
    if given.get("temperature") is not None:
        rest.pop("greedy", None)
    elif given.get("greedy"):
        rest.pop("temperature", None)
    return {**rest, **given}
