"""A real model, its context and its compiled grammars, for tests that decode."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fucina_cli.constraint import grammar
from fucina_cli.constraint.grammar import Grammar
from fucina_cli.decoding.reply import Reply
from fucina_cli.decoding.step import step
from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.gated import Gated
from fucina_cli.llama.context import Context
from fucina_cli.llama.exactness import probe
from fucina_cli.llama.model import Model
from fucina_cli.sampling import LogitProcessor, Sampler, SamplingConfig, Structured
from fucina_cli.sampling.processor import ForcesBytes
from tests.support.grammars import SOURCES

GREEDY = SamplingConfig()
SAMPLED = SamplingConfig(
    temperature=0.8, top_k=40, repeat_penalty=1.2, frequency_penalty=0.1, seed=7
)
_LIMIT = 48
STREAMS = 3


class Bench:
    """A model with a context of a few streams and its compiled grammars."""

    def __init__(self, path: Path) -> None:
        self.model = Model(path)
        self.context = Context(self.model, n_ctx=700, n_slots=STREAMS)
        self.exactness = probe(self.context)
        stop = self.model.vocabulary.eos
        assert stop is not None
        self.stop = stop
        self.limit = _LIMIT if self.model.n_params < 50_000_000 else _LIMIT // 2
        self.tokens = grammar.build_tokens(self.model.vocabulary, stop)
        self._grammars: dict[str, Grammar] = {}

    def grammar(self, name: str) -> Grammar:
        if name not in self._grammars:
            prepared = grammar.prepare(SOURCES[name])
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
