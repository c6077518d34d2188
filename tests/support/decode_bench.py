"""A real model, its context and its compiled grammars, for tests that decode."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fucina_cli.answer import Answer
from fucina_cli.constraint import grammar
from fucina_cli.constraint.grammar import Grammar
from fucina_cli.decoding.reply import OnText, Reply
from fucina_cli.decoding.step import step
from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.gated import Gated
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.engine import Engine
from fucina_cli.llama.context import Context
from fucina_cli.llama.exactness import probe
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt
from fucina_cli.request import Request
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import ForcesBytes, LogitProcessor, Structured
from fucina_cli.sampling.sampler import Sampler
from tests.support.grammars import SOURCES

GREEDY = SamplingConfig()
SAMPLED = SamplingConfig(
    temperature=0.8, top_k=40, repeat_penalty=1.2, frequency_penalty=0.1, seed=7
)
_LIMIT = 48
STREAMS = 3
#: On every machine, and where a worker has one core too: work that llama.cpp splits between threads
#: is work whose sums could come to depend on how many rows there are.
THREADS = 2


class Bench:
    """A model with a context of a few streams and its compiled grammars."""

    def __init__(self, path: Path) -> None:
        self.model = Model(path)
        self.context = Context(self.model, n_ctx=700, n_slots=STREAMS, threads=THREADS)
        self.exactness = probe(self.context)
        stop = self.model.vocabulary.eos
        assert stop is not None
        self.stop = stop
        self.limit = _LIMIT if self.model.n_params < 50_000_000 else _LIMIT // 3
        self.tokens = grammar.build_tokens(self.model.vocabulary, stop)
        self._grammars: dict[str, Grammar] = {}

    def grammar(self, name: str) -> Grammar:
        if name not in self._grammars:
            prepared = SOURCES[name].prepare()
            self._grammars[name] = grammar.compile_grammar(prepared, self.tokens)
        return self._grammars[name]

    def prompt(self, text: str) -> list[int]:
        return self.model.vocabulary.tokenize(text)

    def stream(
        self,
        config: SamplingConfig,
        processor: LogitProcessor | None,
        *,
        prompt: str = "Ticket: I was charged twice. Triage:",
        slot: int = 0,
        limit: int | None = None,
        drafts: Gated | None = None,
        forced_spans: bool = True,
    ) -> Stream:
        self.context.clear(slot)
        return Stream(
            slot=slot,
            tokens=self.prompt(prompt),
            sampler=Sampler(config, processor=processor),
            reply=Reply(self.model.vocabulary.token_bytes),
            is_end=self.model.vocabulary.is_end,
            limit=self.limit if limit is None else limit,
            drafts=drafts,
            forced_spans=forced_spans,
        )

    def run(self, *streams: Stream) -> None:
        while step(self.context, streams):
            pass


def generate(
    context: Context,
    prompt: Prompt,
    request: Request,
    *,
    speculation: Speculation | None = None,
    on_first_forward: Callable[[], None] | None = None,
) -> Answer:
    """One answer, in a context that is emptied first."""
    alone = Engine(context, speculation=speculation)
    return alone.decode(replace(request, prompt=prompt), on_first_forward)


class Decoder:
    """An engine whose requests have names."""

    def __init__(
        self, context: Context, *, speculation: Speculation | None = None, share: bool = True
    ) -> None:
        self.engine = Engine(context, speculation=speculation, share=share)
        self._names: list[Hashable] = []

    @property
    def free(self) -> int:
        return self.engine.free

    @property
    def running(self) -> int:
        return self.engine.running

    def submit(
        self, name: Hashable, prompt: Prompt, request: Request, on_text: OnText | None = None
    ) -> None:
        index = len(self._names)
        self._names.append(name)
        self.engine.submit(replace(request, prompt=prompt, on_text=on_text, index=index))

    def advance(self) -> list[tuple[Hashable, Answer]]:
        return self._named(self.engine.advance())

    def interrupt(self) -> list[tuple[Hashable, Answer]]:
        return self._named(self.engine.interrupt())

    def _named(self, answers: list[Answer]) -> list[tuple[Hashable, Answer]]:
        return [(self._names[answer.index], answer) for answer in answers]


class Logged:
    """A processor around another that keeps what was committed, in order."""

    def __init__(self, inner: LogitProcessor) -> None:
        assert isinstance(inner, Structured)
        self.inner = inner
        self.log: list[int] = []

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        self.inner.process(logits, history)

    def commit(self, token: int) -> None:
        self.log.append(token)
        self.inner.commit(token)

    def reset(self) -> None:
        self.inner.reset()

    def fork(self) -> Logged:
        return Logged(self.inner.fork())

    def forced_tokens(self, limit: int) -> list[int]:
        return self.inner.forced_tokens(limit)

    def forced_bytes(self) -> bytes:
        return self.inner.forced_bytes() if isinstance(self.inner, ForcesBytes) else b""

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        return self.inner.valid_prefix_len(tokens)

    def mask_words(self) -> NDArray[np.uint32]:
        return self.inner.mask_words()

    def is_allowed(self, token: int) -> bool:
        return self.inner.is_allowed(token)
