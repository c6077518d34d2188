"""From options to loaded things: model, prompt, sampling, constraint, context.

Whatever a flag or the model file gets wrong becomes a FlagError here.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from fucina_cli import prompts
from fucina_cli.cli import output, values
from fucina_cli.cli.exits import FlagError
from fucina_cli.cli.options import Options
from fucina_cli.cli.supervisor import BOARD
from fucina_cli.cli.values import TextReader
from fucina_cli.constraint import grammar, source, validation
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.constraint.grammar import Prepared
from fucina_cli.constraint.source import GrammarError, Source
from fucina_cli.decoding.step import STREAM_FAILURES
from fucina_cli.families.errors import TemplateError
from fucina_cli.families.family import Family
from fucina_cli.families.registry import FAMILIES, WrongFamily, check_family
from fucina_cli.llama import header, native
from fucina_cli.llama.context import CACHE_TYPES, Context
from fucina_cli.llama.errors import ModelError
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Message, Prompt
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.sampling.processor import LogitBias
from fucina_cli.tiny import builtin

_DEFAULT_GEN = 2048
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class Texts:
    """What to answer, read: files and standard input resolved."""

    messages: list[Message] | None
    prompt: str | None
    source: Source | None
    stops: tuple[tuple[str, bool], ...]  # (value, may it be a token id)
    system: str | None = None


def read_texts(options: Options, reader: TextReader) -> Texts:
    """Resolve every text-valued flag. Raises FlagError naming the flag that can't be read."""

    def text(flag: str, value: str | None) -> str | None:
        return None if value is None else reader.text(flag, value)

    chat, prompt = text("--chat", options.chat), text("--prompt", options.prompt)
    for flag, value in (("--chat", chat), ("--prompt", prompt)):
        if value == "":
            raise FlagError(flag, "the text is empty; there is nothing to answer")
    stops = [(reader.text("--stop", stop), not reader.is_file(stop)) for stop in options.stop or []]
    if any(not stop for stop, _ in stops):
        raise FlagError("--stop", "the text is empty; give a token id or some text")
    system = text("--system", options.system)
    messages = [] if system is None else [{"role": "system", "content": system}]
    return Texts(
        messages=None if chat is None else [*messages, {"role": "user", "content": chat}],
        prompt=prompt,
        source=_read_source(options, reader),
        stops=tuple(stops),
        system=system,
    )


def _read_source(options: Options, reader: TextReader) -> Source | None:
    flag = options.constraint_flag
    if flag is None:
        return None
    readers = {
        "--json-schema": (options.json_schema, source.json_schema),
        "--regex": (options.regex, source.regex),
        "--lark": (options.lark, source.lark),
    }
    with grammar_errors(flag + file_of(options, flag)):
        if flag == "--choice":
            return source.choice(_read_choices(options.choice or [], reader))
        value, read = readers[flag]
        return read(reader.text(flag, value or ""))


def _read_choices(given: list[str], reader: TextReader) -> list[str]:
    answers: list[str] = []
    for value in given:
        text = reader.text("--choice", value)
        if reader.is_file(value):
            lines = (line.removesuffix("\r") for line in text.split("\n"))
            answers.extend(line for line in lines if line)
        else:
            answers.append(text)
    return answers


def prepare_grammar(options: Options, given: Source | None) -> Prepared | None:
    """Check the constraint before any model is loaded. Raises FlagError."""
    flag = options.constraint_flag
    if given is None or flag is None:
        return None
    flag += file_of(options, flag)
    with blame(flag), grammar_errors(flag):
        if given.kind == "json_schema":
            validation.check_schema(given.schema)
        return grammar.prepare(given, json_whitespace=options.json_whitespace)


def file_of(options: Options, flag: str) -> str:
    value = {
        "--json-schema": options.json_schema,
        "--regex": options.regex,
        "--lark": options.lark,
    }.get(flag)
    if value and value.startswith("@") and not value.startswith("@@"):
        return f" ('{value[1:]}')"
    return ""


def model_path(flag: str, name: str, family: Family) -> Path:
    """The file that MODEL stands for. Raises FlagError where there is no built-in one."""
    if name != builtin.NAME:
        return Path(name)
    path = builtin.builtin_path(family.name)
    if path is None:
        with_one = [f"{f.command} {name}" for f in FAMILIES if builtin.builtin_path(f.name)]
        ways = [*with_one, f"the path of a .gguf file (./{name} for one of that name)"]
        raise FlagError(flag, f"{family.command} has no built-in model; give {', or '.join(ways)}")
    return path


def load_model(options: Options, family: Family, *, vocab_only: bool = False) -> Model:
    """Load the file for its family. Raises FlagError that names the file."""
    flag = f"'{options.model}'"
    path = model_path(flag, options.model, family)
    native.LOG.verbose = options.verbose
    try:
        architecture = header.architecture(path)
        if architecture is not None:
            check_family(family, architecture)
        with blame(flag):
            native.library(exact=options.exact)
            native.on_abort(BOARD.last_words)
            model = Model(
                path,
                exact=options.exact,
                gpu_layers=-1 if options.gpu_layers is None else options.gpu_layers,
                vocab_only=vocab_only,
            )
        check_family(family, model.architecture)
    except (ModelError, WrongFamily) as error:
        raise FlagError(flag, str(error)) from None
    return model


def make_prompt(
    options: Options, family: Family, model: Model, texts: Texts, *, thinking: bool | None
) -> Prompt:
    """The ids to start from. Raises FlagError when there are none, or for a bad template."""
    if texts.messages is not None:
        try:
            return prompts.messages_prompt(model, family, texts.messages, thinking=thinking)
        except TemplateError as error:
            way_out = "" if model.chat_template else " (--prompt)"
            raise FlagError(f"'{options.model}'", f"{error}{way_out}") from None
    if texts.prompt is not None:
        prompt = prompts.text_prompt(model, texts.prompt)
    elif options.token_ids is not None:
        prompt = Prompt(values.token_ids(options.token_ids, model.n_vocab))
    else:
        raise FlagError("MODEL", "nothing to do; give --chat, --prompt, TOKEN_IDS or --info")
    if not prompt.tokens:
        raise FlagError(options.prompt_flag or "--prompt", "the text has no tokens in this model")
    return prompt


def sampling_config(
    options: Options, family: Family, model: Model, *, thinking: bool
) -> SamplingConfig:
    """The family's defaults in a chat and greedy elsewhere, overridden by flags."""
    if options.chat is not None:
        defaults = family.sampling(thinking, model.number)
        temperature, top_k = defaults.temperature, defaults.top_k
        top_p, min_p = defaults.top_p, defaults.min_p
    else:
        temperature, top_k, top_p, min_p = 0.0, 0, 1.0, 0.0
    if options.greedy:
        temperature = 0.0
    elif options.temp is not None:
        temperature = options.temp
    seed = options.seed
    if seed is None:
        seed = int.from_bytes(os.urandom(4), "little") if temperature else 0
    try:
        return SamplingConfig(
            temperature=temperature,
            top_k=_or(options.top_k, top_k),
            top_p=_or(options.top_p, top_p),
            min_p=_or(options.min_p, min_p),
            repeat_penalty=_or(options.repeat_penalty, 1.0),
            repeat_last_n=_or(options.repeat_last_n, 64),
            frequency_penalty=_or(options.freq_penalty, 0.0),
            presence_penalty=_or(options.presence_penalty, 0.0),
            seed=seed,
        )
    except ValueError as error:  # only the file's own defaults can still be out of range
        raise FlagError(f"'{options.model}'", f"its general.sampling defaults: {error}") from None


def logit_biases(options: Options, model: Model) -> tuple[LogitBias, ...]:
    """The bias list as a processor; empty when no bias was given. Raises FlagError."""
    if not options.logit_bias:
        return ()
    table: dict[int, float] = {}
    for item in options.logit_bias:
        written, bias = values.bias(item)
        if written.isascii() and written.isdigit():
            token = values.vocabulary_id("--logit-bias", written, model.n_vocab)
        else:
            marker = model.vocabulary.marker_id(written)
            tokens = model.vocabulary.tokenize(written) if marker is None else [marker]
            if len(tokens) != 1:
                raise FlagError(
                    "--logit-bias",
                    f"'{written[:40]}' is {len(tokens)} tokens in this vocabulary, not one; "
                    f"give an id ({','.join(map(str, tokens[:8]))})",
                )
            token = tokens[0]
        table[token] = table.get(token, 0.0) + bias
    return (LogitBias(table, model.n_vocab),)


def stops(texts: Texts, model: Model) -> tuple[frozenset[int], tuple[str, ...]]:
    """Stop ids and stop texts. Raises FlagError for ids out of range."""
    ids = {
        values.vocabulary_id("--stop", value, model.n_vocab)
        for value, may_be_id in texts.stops
        if may_be_id and value.isascii() and value.isdigit()
    }
    sequences: list[str] = []
    for value, may_be_id in texts.stops:
        if may_be_id and value.isascii() and value.isdigit():
            continue
        marker = model.vocabulary.marker_id(value)
        if marker is None:
            sequences.append(value)
        else:
            ids.add(marker)  # a control token has no text to wait for
    return frozenset(ids), tuple(sequences)


def stop_for(options: Options, family: Family, model: Model) -> int:
    """The token that ends a reply of this run; of a run without a prompt, that of a chat."""
    raw = options.prompt is not None or options.token_ids is not None
    try:
        return prompts.stop_token(model, family, chat=not raw)
    except ModelError as error:
        raise FlagError(f"'{options.model}'", str(error)) from None


def make_context(
    options: Options,
    model: Model,
    prompt: Prompt,
    *,
    gen: int | None,
    n_slots: int = 1,
) -> Context:
    """A context of `n_slots` slots, each for the prompt and `gen` more tokens.

    Raises FlagError when it can't hold them.
    """
    return open_context(
        options, model, context_size(options, model, prompt, gen=gen), n_slots=n_slots
    )


def context_size(options: Options, model: Model, prompt: Prompt, *, gen: int | None) -> int:
    """Tokens of context for the prompt and `gen` more. Raises FlagError when they are too many."""
    needed = len(prompt.tokens) + (_DEFAULT_GEN if gen is None else gen)
    trained = model.n_ctx_train
    size = options.ctx if options.ctx is not None else max(1, min(trained, needed))
    if len(prompt.tokens) + (gen != 0) > size:
        what = options.prompt_flag or "the prompt"
        raise FlagError(
            what,
            f"{len(prompt.tokens)} tokens and an answer do not fit the context of {size} tokens; "
            + ("shorten it" if size >= trained else f"raise --ctx (the model has {trained})"),
        )
    return size


def open_context(options: Options, model: Model, size: int, *, n_slots: int = 1) -> Context:
    """A context of `n_slots` slots of `size` tokens each. Raises FlagError when it can't be."""
    kinds = None
    if options.cache_type is not None:
        kinds = values.cache_type(options.cache_type, sorted(CACHE_TYPES))
    trained = model.n_ctx_train
    try:
        with blame(f"'{options.model}'"):
            context = Context(
                model,
                n_ctx=size,
                n_slots=n_slots,
                cache_type=kinds,
                threads=options.threads,
            )
    except ModelError as error:
        raise FlagError("--ctx" if options.ctx else f"'{options.model}'", str(error)) from None
    if size > trained and not options.quiet:
        output.warning(f"--ctx: {size} tokens; the model was trained for {trained}")
    return context


def answer_limit(gen: int | None) -> int:
    """Most tokens of an answer."""
    return _DEFAULT_GEN if gen is None else gen


@contextlib.contextmanager
def blame_first_forward(options: Options) -> Iterator[None]:
    """A crash within the block is the model file's fault: its graph was never computed before."""
    with blame(f"'{options.model}'"):
        yield


def stop_blaming() -> None:
    """From here on a native crash is no longer blamed on a flag, but on the model file at most."""
    BOARD.blame("")


@contextlib.contextmanager
def blame(what: str) -> Iterator[None]:
    """A crash within the block is the fault of `what`."""
    BOARD.blame(what)
    try:
        yield
    finally:
        BOARD.blame("")


@contextlib.contextmanager
def decoding_errors(options: Options) -> Iterator[None]:
    """What makes decoding fail becomes the fault of a flag or of the model file."""
    try:
        yield
    except (*STREAM_FAILURES, ModelError) as error:
        raise decoding_error(options, error) from None


def decoding_error(options: Options, error: Exception) -> FlagError:
    """The flag or file that a failed reply is the fault of."""
    if isinstance(error, AllTokensMasked):
        return FlagError(
            "--logit-bias" if options.logit_bias else options.constraint_flag or "--stop",
            "leaves no token to choose from; loosen the bias or the constraint",
        )
    if isinstance(error, ConstraintError):
        return FlagError(options.constraint_flag or "constraint", str(error))
    if isinstance(error, NonFiniteLogits):
        error = ModelError("the model computes logits that are no numbers; the file is damaged")
    return FlagError(f"'{options.model}'", str(error))


@contextlib.contextmanager
def grammar_errors(flag: str) -> Iterator[None]:
    try:
        yield
    except GrammarError as error:
        raise FlagError(flag, str(error)) from None


def _or(value: _Number | None, default: _Number) -> _Number:
    return default if value is None else value
