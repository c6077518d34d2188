"""Lockstep on real forwards: beside others every request gets what it gets alone."""

from __future__ import annotations

import contextlib
import itertools
import random
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from llguidance._lib import LLMatcher, LLParserLimits
from numpy.typing import NDArray

from fucina_cli import engine
from fucina_cli.answer import Answer
from fucina_cli.constraint import grammar
from fucina_cli.constraint.constraint import Constraint, ConstraintError
from fucina_cli.constraint.deferred import AfterThinking
from fucina_cli.decoding.lockstep import Lockstep, SharedConstraint
from fucina_cli.decoding.reply import ThinkingTokens
from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.source import Outlook
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.llama.context import Context, Row
from fucina_cli.llama.model import Model
from fucina_cli.prompts import Prompt
from fucina_cli.request import Request, answered
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.sampling.processor import LogitBias, LogitProcessor, ProcessorChain
from fucina_cli.sampling.sampler import Sampler
from tests.support import ggufs
from tests.support.decode_bench import (
    GREEDY,
    SAMPLED,
    THREADS,
    Bench,
    Decoder,
    Logged,
    generate,
)
from tests.support.gates import Fickle
from tests.support.grammars import SOURCES

N_CTX = 700
SLOTS = 8
LENGTHS = (1, 2, 7, 8, 9, 30, 70, 150, 255, 256, 257, 300, 511, 512, 513, 600)
#: Ordinary ids in the part of thinking markers, likely enough that random weights close a block.
THINKING = ThinkingTokens(opens=21, closes=22)
CLOSING = ((THINKING.closes, 9.0),)


@dataclass(frozen=True)
class Spec:
    """A request that can be looked up: what `Request` and `Prompt` are made of."""

    prompt: tuple[int, ...]
    config: SamplingConfig = GREEDY
    limit: int = 12
    grammar: str | None = None
    stop_ids: frozenset[int] = frozenset()
    stop_texts: tuple[str, ...] = ()
    biases: tuple[tuple[int, float], ...] = ()
    thinks: bool = False
    forced_spans: bool = True


class House(Bench):
    """A bench with a context for each number of streams, one of its own for those alone."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.single = Context(self.model, n_ctx=N_CTX, threads=THREADS)
        self._contexts: dict[int, Context] = {}
        self._alone: dict[Spec, Answer] = {}
        size = self.model.n_vocab
        self.documents = [
            (self.prompt('Ticket 7: {"category":"billing","priority":"high"} ') * 80)[:710],
            [(i * i * 31 + 7 * i + 5) % size for i in range(710)],
            (self.prompt("naïve café 日本 (12+345)-6 AB-12.ab ") * 80)[:710],
        ]

    def many(self, streams: int) -> Context:
        """The same one every time, with what the last test left in it."""
        if streams not in self._contexts:
            self._contexts[streams] = Context(
                self.model, n_ctx=N_CTX, n_slots=streams, threads=THREADS
            )
        return self._contexts[streams]

    def request(self, spec: Spec) -> tuple[Prompt, Request]:
        size = self.model.n_vocab
        prompt = Prompt(list(spec.prompt), THINKING if spec.thinks else None)
        request = Request(
            prompt,
            spec.config,
            spec.limit,
            stop_ids=spec.stop_ids,
            stop_texts=spec.stop_texts,
            processors=(LogitBias(dict(spec.biases), size),) if spec.biases else (),
            constraint=self.grammar(spec.grammar).constraint() if spec.grammar else None,
            forbidden_while_thinking=(self.stop,) if spec.thinks else (),
            forced_spans=spec.forced_spans,
        )
        return prompt, request

    def alone(self, spec: Spec) -> Answer:
        """Token by token, without drafts, in a context of one stream."""
        spec = replace(spec, forced_spans=False)
        if spec not in self._alone:
            self._alone[spec] = generate(self.single, *self.request(spec))
        return self._alone[spec]


class Generous(Gate):
    """A gate that lets every draft through, up to a length."""

    def __init__(self, most: int = 99) -> None:
        super().__init__()
        self._most = most

    def budget(self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1) -> int:
        return min(limit, self._most)


@pytest.fixture(
    scope="module", params=["qwen3_path", "gemma4_path", "llama_path", "tiny_qwen3", "tiny_gemma4"]
)
def house(request: pytest.FixtureRequest) -> House:
    return House(request.getfixturevalue(request.param))


@pytest.fixture(scope="module")
def llama(llama_path: Path) -> House:
    return House(llama_path)


def together(
    house: House,
    decoder: Decoder,
    specs: Sequence[Spec],
    rng: random.Random,
    eagerness: float = 1.0,
) -> list[Answer]:
    """Answers in the order of `specs`; a free slot is taken with this probability at each step."""
    waiting, answers = list(range(len(specs))), dict[Hashable, Answer]()
    shown = ["" for _ in specs]
    rng.shuffle(waiting)
    while waiting or decoder.running:
        while waiting and decoder.free:
            if decoder.running and rng.random() > eagerness:
                break
            key = waiting.pop()

            def show(text: str, channel: str, key: int = key) -> None:
                shown[key] += text

            decoder.submit(key, *house.request(specs[key]), show)
        answers.update(decoder.advance())
    assert decoder.running == 0
    ordered = [answers[key] for key in range(len(specs))]
    assert [answer.thinking + answer.text for answer in ordered] == shown
    return ordered


def gist(answer: Answer) -> tuple[object, ...]:
    """All of an answer that others beside it must not change."""
    complete = answer.constraint.complete if answer.constraint else None
    return (
        answer.tokens,
        answer.text,
        answer.thinking,
        answer.stop_reason,
        answer.prompt_tokens,
        answer.counts.committed,
        complete,
    )


def tails(house: House, count: int, length: int = 10) -> list[tuple[int, ...]]:
    """Texts that differ from the first token on, and from how the documents go on."""
    size = house.model.n_vocab
    return [tuple((k * 83 + 7 * i + 100) % size for i in range(length)) for k in range(count)]


# -- 1. the same as alone ------------------------------------------------------------------------


def any_prompt(house: House, rng: random.Random, others: Sequence[Spec]) -> tuple[int, ...]:
    """One of its own, or one that has something to do with those before it."""
    size = house.model.n_vocab
    tail = tuple(rng.randrange(size) for _ in range(rng.randrange(1, 12)))
    kind = rng.randrange(10)
    if others and kind < 5:
        other = rng.choice(others)
        reply = house.alone(other).tokens
        longer = other.prompt + tuple(reply[: rng.randrange(len(reply) + 1)])
        shorter = other.prompt[: rng.randrange(1, len(other.prompt) + 1)]
        return [other.prompt, shorter, shorter + tail, longer, longer + tail][kind][: N_CTX - 4]
    document = house.documents[rng.randrange(len(house.documents))]
    if kind == 9:  # the end of the context comes before the limit, or before the first token
        return tuple(document[: N_CTX - rng.randrange(-5, 12)])
    return tuple(document[: rng.choice(LENGTHS)]) + (tail if kind % 2 else ())


def any_spec(house: House, rng: random.Random, others: Sequence[Spec]) -> Spec:
    sampled = SamplingConfig(
        temperature=0.8,
        top_k=rng.choice([1, 20, 40]),
        repeat_penalty=rng.choice([1.0, 1.3]),
        frequency_penalty=rng.choice([0.0, 0.2]),
        presence_penalty=rng.choice([0.0, 0.3]),
        repeat_last_n=rng.choice([16, 64, -1]),
        seed=rng.randrange(3),
    )
    spec = Spec(
        any_prompt(house, rng, others),
        rng.choice([GREEDY, sampled]),
        limit=rng.choice([1, 1, 2, 5, 12, 24]),
        grammar=rng.choice([None, None, None, *SOURCES]),
        forced_spans=rng.random() < 0.7,
    )
    if spec.grammar and rng.random() < 0.6:
        spec = replace(spec, limit=45)
    if spec.grammar and rng.random() < 0.2:
        spec = replace(spec, thinks=True, biases=CLOSING)
    elif rng.random() < 0.2:
        token = rng.choice([house.stop, rng.randrange(house.model.n_vocab)])
        spec = replace(spec, biases=((token, 7.0),))
    free = house.alone(spec)
    if free.tokens and rng.random() < 0.15:
        spec = replace(spec, stop_ids=frozenset([rng.choice(free.tokens)]))
    elif free.text and rng.random() < 0.25:
        start = rng.randrange(len(free.text))
        spec = replace(spec, stop_texts=(free.text[start : start + rng.randrange(1, 5)], "never"))
    return spec


def some_speculation(rng: random.Random) -> Speculation | None:
    kind = rng.randrange(3)
    if not kind:
        return None
    return Speculation() if kind == 1 else Speculation(gate=Fickle(rng.randrange(9)))


@pytest.mark.parametrize("seed", range(20))
def test_any_requests_in_any_order_of_arrival_get_what_each_gets_alone(
    house: House, seed: int
) -> None:
    assert house.exactness.exact, house.exactness.reason
    rng = random.Random(seed)
    specs: list[Spec] = []
    for _ in range(rng.randrange(3, 11)):
        specs.append(any_spec(house, rng, specs))
    slots = rng.randrange(1, SLOTS + 1)
    context = house.many(slots)
    decoder = Decoder(context, speculation=some_speculation(rng), share=rng.random() < 0.85)
    answers = together(house, decoder, specs, rng, rng.choice([0.2, 0.6, 1.0]))
    for spec, answer in zip(specs, answers, strict=True):
        assert gist(answer) == gist(house.alone(spec)), (slots, spec)


def test_the_property_sees_every_kind_of_end_and_of_request(llama: House) -> None:
    rng = random.Random(0)
    specs: list[Spec] = []
    for _ in range(100):
        specs.append(any_spec(llama, rng, specs[-10:]))
    reasons = {llama.alone(spec).stop_reason for spec in specs}
    assert reasons >= {"eos", "stop_token", "stop_sequence", "constraint", "length"}
    assert {spec.grammar for spec in specs} == {None, *SOURCES}
    assert any(llama.alone(s).thinking and llama.alone(s).text for s in specs if s.thinks)
    assert any(len(s.prompt) >= 512 and s.limit > 5 for s in specs)
    assert any(len(s.prompt) > N_CTX for s in specs)


# -- 2. one constraint, one stream ---------------------------------------------------------------


@pytest.mark.parametrize("nesting", ["bare", "in a chain", "after thinking", "both"])
def test_a_constraint_of_two_streams_is_refused_before_anything_is_decoded(
    llama: House, nesting: str
) -> None:
    size, context = llama.model.n_vocab, llama.many(4)
    constraint = llama.grammar("triage").constraint()
    spec = Spec(tuple(llama.documents[0][:60]), grammar="triage", limit=24)

    def nested() -> LogitProcessor:
        inner: LogitProcessor = constraint
        if nesting in ("after thinking", "both"):
            inner = AfterThinking(
                constraint,
                opens=THINKING.opens,
                closes=THINKING.closes,
                inside=False,
                forbidden=[llama.stop],
                n_vocab=size,
            )
        if nesting in ("in a chain", "both"):
            return ProcessorChain([LogitBias({5: 1.0}, size), inner], size)
        return inner

    def stream(processor: LogitProcessor) -> Stream:
        made = llama.stream(GREEDY, processor, limit=24)
        made.tokens[:] = spec.prompt
        made.prompt_length = len(spec.prompt)
        return made

    for first, second in ((constraint, nested()), (nested(), constraint)):
        constraint.reset()
        lockstep = Lockstep(context)
        running = stream(first)
        lockstep.add(running)
        forwards = context.total_forwards
        with pytest.raises(SharedConstraint):
            lockstep.add(stream(second))
        assert context.total_forwards == forwards
        assert lockstep.streams == [running]
        while not lockstep.advance():  # and it is refused as long as the first runs
            with pytest.raises(SharedConstraint):
                lockstep.add(stream(second))
        if first is constraint:
            assert running.reply_tokens == llama.alone(spec).tokens
        constraint.reset()
        again = stream(constraint)
        lockstep.add(again)
        while not lockstep.advance():
            pass
        assert again.reply_tokens == llama.alone(spec).tokens


def test_requests_with_one_constraint_get_a_copy_each(llama: House) -> None:
    spec = Spec(tuple(llama.documents[0][:60]), grammar="triage", limit=24)
    decoder = Decoder(llama.many(2))
    prompt, request = llama.request(spec)
    for name in ("first", "second"):
        decoder.submit(name, prompt, request)
    answers = dict[Hashable, Answer]()
    while decoder.running:
        answers.update(decoder.advance())
    for name in ("first", "second"):
        assert gist(answers[name]) == gist(llama.alone(spec))


def test_a_sampler_a_chain_or_its_member_of_two_streams_is_refused_and_free_once_one_ended(
    llama: House,
) -> None:
    size, context = llama.model.n_vocab, llama.context

    def stream(processor: LogitProcessor | None, sampler: Sampler | None = None) -> Stream:
        made = llama.stream(GREEDY, processor, limit=3)
        made.sampler = sampler or made.sampler
        return made

    bias = LogitBias({3: 1.0}, size)
    constraint = llama.grammar("triage").constraint()
    chain = ProcessorChain([bias, constraint], size)
    deferred = AfterThinking(
        constraint, opens=21, closes=22, inside=False, forbidden=(), n_vocab=size
    )
    sampler = Sampler(GREEDY)

    def nested(part: LogitProcessor) -> ProcessorChain:
        return ProcessorChain([LogitBias({4: 1.0}, size), ProcessorChain([part], size)], size)

    pairs: dict[str, tuple[Stream, Stream]] = {
        "sampler": (stream(None, sampler), stream(None, sampler)),
        "sampler's processor": (stream(bias), stream(None, Sampler(SAMPLED, processor=bias))),
        "chain": (stream(chain), stream(chain)),
        "a bias in a chain": (stream(chain), stream(bias)),
        "a constraint in a chain": (stream(constraint), stream(nested(constraint))),
        "a chain in a chain": (stream(nested(chain)), stream(constraint)),
        "deferred": (stream(deferred), stream(constraint)),
        "deferred in a chain": (stream(constraint), stream(nested(deferred))),
        "deferred and chain": (stream(nested(deferred)), stream(chain)),
    }
    for what, (first, second) in pairs.items():
        for one, other in ((first, second), (second, first)):
            lockstep = Lockstep(context)
            before = context.total_forwards
            lockstep.add(one)
            with pytest.raises(SharedConstraint):
                lockstep.add(other)
            assert context.total_forwards == before, what
            assert lockstep.streams == [one], what
            lockstep.remove(one)
            lockstep.add(other)
            assert lockstep.streams == [other], what
    one = llama.stream(GREEDY, chain, limit=3)
    lockstep = Lockstep(context)
    lockstep.add(one)
    while not lockstep.advance():
        pass
    lockstep.add(stream(chain))
    lockstep.add(stream(chain.fork()))
    assert len(lockstep.streams) == 2


# -- 3. who fails, fails alone -------------------------------------------------------------------


class Breaks(LogitBias):
    """Allows everything, and writes NaN or raises at its n-th row."""

    def __init__(self, n_vocab: int, *, at: int, error: Exception | None = None) -> None:
        super().__init__({}, n_vocab)
        self._left, self._error = at, error

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        self._left -= 1
        if self._left == 0:
            if self._error:
                raise self._error
            logits[len(logits) // 2] = np.nan


class GivesUp(Logged):
    """A constraint whose engine gives up after n tokens, in one of its methods."""

    def __init__(self, inner: LogitProcessor, method: str, after: int) -> None:
        super().__init__(inner)
        self.method, self.after = method, after

    def fork(self) -> GivesUp:
        return GivesUp(self.inner.fork(), self.method, self.after)

    def _check(self, method: str) -> None:
        if method == self.method and len(self.log) >= self.after:
            raise ConstraintError("the grammar engine gave up")

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        self._check("process")
        super().process(logits, history)

    def commit(self, token: int) -> None:
        self._check("commit")
        super().commit(token)

    def forced_tokens(self, limit: int) -> list[int]:
        self._check("forced_tokens")
        return super().forced_tokens(limit)

    def valid_prefix_len(self, tokens: Sequence[int]) -> int:
        self._check("valid_prefix_len")
        return super().valid_prefix_len(tokens)


def failing(house: House) -> dict[str, tuple[Request, type[Exception]]]:
    size = house.model.n_vocab

    def request(*processors: LogitProcessor, constraint: Constraint | None = None) -> Request:
        return Request(Prompt([]), GREEDY, 20, processors=processors, constraint=constraint)

    constraint = house.grammar("triage").constraint()
    spans = [constraint.forced_tokens(9)]
    while not spans[-1] or len(spans) < 3:  # a forced token after some free ones
        free = [t for t in range(size) if constraint.is_allowed(t)]
        token = spans[-1][0] if spans[-1] else free[-1]
        constraint.commit(token)
        spans.append(constraint.forced_tokens(9))
    ban = LogitBias({spans[-1][-1]: -np.inf}, size)
    triage = house.grammar("triage")
    return {
        "a ban of a forced token": (
            request(ban, constraint=triage.constraint()),
            AllTokensMasked,
        ),
        "NaN at the first row": (request(Breaks(size, at=1)), NonFiniteLogits),
        "NaN later": (request(Breaks(size, at=4)), NonFiniteLogits),
        "an opaque error": (
            request(Breaks(size, at=3, error=ConstraintError("no"))),
            ConstraintError,
        ),
        **{
            f"{method} after {after}": (
                request(GivesUp(house.grammar("deep").constraint(), method, after)),
                ConstraintError,
            )
            for method in ("process", "commit", "forced_tokens")
            for after in (0, 9)
        },
    }


@pytest.mark.parametrize("drafts", [False, True], ids=["plain", "drafts"])
def test_a_stream_that_fails_ends_alone_and_changes_nothing_for_the_others(
    llama: House, drafts: bool
) -> None:
    document = llama.documents[0]
    good = [
        Spec(tuple(document[:80]), SAMPLED, 20),
        Spec((*document[:80], 5, 6, 7), GREEDY, 20, "free string"),
        Spec(tuple(llama.documents[1][:530]), SAMPLED, 14),
        Spec(tuple(document[:40]), SAMPLED, 17, "recursive lark"),
    ]
    for what, (request, error) in failing(llama).items():
        prompt = Prompt(document[:85])
        fresh = replace(request, constraint=request.constraint and request.constraint.fork())
        with pytest.raises(error):
            generate(llama.single, prompt, fresh)
        for position in (0, 2, len(good)):
            speculation = Speculation(gate=Fickle(position)) if drafts else None
            decoder = Decoder(llama.many(len(good) + 1), speculation=speculation)
            answers = dict[Hashable, Answer]()
            for key, spec in enumerate(good[:position]):
                decoder.submit(key, *llama.request(spec))
            fresh = replace(request, constraint=request.constraint and request.constraint.fork())
            decoder.submit("bad", prompt, fresh)
            for key, spec in enumerate(good[position:], position):
                decoder.submit(key, *llama.request(spec))
            after = False
            while decoder.running:
                answers.update(decoder.advance())
                if "bad" in answers and not after:  # its place, and what it computed, serve another
                    after = True
                    decoder.submit("after", *llama.request(good[1]))
            for key, spec in enumerate(good):
                assert gist(answers[key]) == gist(llama.alone(spec)), (what, position, key)
            assert gist(answers["after"]) == gist(llama.alone(good[1])), (what, position)
            bad = answers["bad"]
            assert bad.stop_reason == "failed", (what, position)
            assert isinstance(bad.failure, error), (what, position)


def test_a_grammar_that_gives_up_while_a_draft_is_looked_at_fails_alone_and_forwards_nothing(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = [Spec(tuple(llama.documents[0][: 40 + k]), SAMPLED, 12) for k in range(2)]
    context = llama.many(3)
    decode, forwards = context.decode, list[list[Row]]()

    def spy(rows: Sequence[Row]) -> None:
        forwards.append(list(rows))
        decode(rows)

    monkeypatch.setattr(context, "decode", spy)
    hook = GivesUp(llama.grammar("recursive lark").constraint(), "valid_prefix_len", 0)
    decoder = Decoder(context, speculation=Speculation(gate=Generous()))
    decoder.submit(0, *llama.request(specs[0]))
    request = Request(Prompt([]), SAMPLED, 12, processors=(hook,))
    decoder.submit("bad", Prompt(llama.documents[2][:50]), request)
    decoder.submit(1, *llama.request(specs[1]))
    answers = dict[Hashable, Answer]()
    while decoder.running:
        done = dict(decoder.advance())
        if "bad" in done:
            assert {row.slot for row in forwards[-1]} == {0, 2}
        answers.update(done)
    assert isinstance(answers["bad"].failure, ConstraintError)
    assert [gist(answers[key]) for key in (0, 1)] == [gist(llama.alone(s)) for s in specs]


def test_what_a_failed_stream_had_produced_is_in_its_answer(llama: House) -> None:
    spec = Spec(tuple(llama.documents[0][:40]), SAMPLED)
    _, request = llama.request(spec)
    for at in (1, 4, 9):
        for speculation in (None, Speculation(gate=Fickle(1))):
            broken = replace(request, processors=(Breaks(llama.model.n_vocab, at=at),))
            decoder = Decoder(llama.many(2), speculation=speculation)
            decoder.submit("good", *llama.request(spec))
            decoder.submit("bad", Prompt(list(spec.prompt)), broken)
            answers = dict[Hashable, Answer]()
            while decoder.running:
                answers.update(decoder.advance())
            assert answers["bad"].tokens == llama.alone(spec).tokens[: at - 1]
            assert gist(answers["good"]) == gist(llama.alone(spec))


def test_a_grammar_engine_out_of_fuel_fails_its_own_stream_only(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(grammar, "LIMITS", LLParserLimits(max_items_in_row=3))
    prepared = SOURCES["recursive lark"].prepare()
    hungry = grammar.compile_grammar(prepared, llama.tokens)
    spec = Spec(tuple(llama.documents[0][:50]), SAMPLED, 24)
    request = Request(Prompt([]), SAMPLED, 60, constraint=hungry.constraint())
    decoder = Decoder(llama.many(3))
    decoder.submit(0, *llama.request(spec))
    decoder.submit("hungry", Prompt(llama.documents[0][:50]), request)
    decoder.submit(1, *llama.request(spec))
    answers = dict[Hashable, Answer]()
    while decoder.running:
        answers.update(decoder.advance())
    assert isinstance(answers["hungry"].failure, ConstraintError), answers["hungry"]
    assert answers["hungry"].stop_reason == "failed"
    assert gist(answers[0]) == gist(answers[1]) == gist(llama.alone(spec))


def test_an_error_that_is_no_streams_own_reaches_the_caller_and_all_can_go_on(
    llama: House,
) -> None:
    specs = [Spec(tuple(llama.documents[k % 2][: 60 + k]), SAMPLED, 9 + k) for k in range(4)]
    for at in (1, 5):
        for speculation in (None, Speculation(gate=Fickle(1))):
            decoder = Decoder(llama.many(4), speculation=speculation)
            for key, spec in enumerate(specs):
                prompt, request = llama.request(spec)
                if key == 1:
                    boom = Breaks(llama.model.n_vocab, at=at, error=RuntimeError("boom"))
                    request = replace(request, processors=(boom,))
                decoder.submit(key, prompt, request)
            answers, errors = dict[Hashable, Answer](), list[str]()
            while decoder.running:
                try:
                    answers.update(decoder.advance())
                except RuntimeError as error:
                    errors.append(str(error))
            assert errors == ["boom"]
            for key, spec in enumerate(specs):  # the one at fault included: it raised only once
                assert gist(answers[key]) == gist(llama.alone(spec)), (at, key)


# -- 4. a common beginning is computed once ------------------------------------------------------


def needed(answers: Sequence[Answer]) -> int:
    """Rows of their replies: the last token of a reply that ran out of budget is not forwarded."""
    return sum(len(a.tokens) - (a.stop_reason == "length") for a in answers)


@pytest.mark.parametrize("slots", [8, 3, 2, 1])
@pytest.mark.parametrize("share", [True, False], ids=["shared", "each anew"])
def test_a_prefix_of_eight_requests_is_computed_once_and_copying_changes_no_token(
    house: House, slots: int, share: bool
) -> None:
    prefix = tuple(house.documents[1][:150])
    specs = [Spec(prefix + tail, SAMPLED, 12) for tail in tails(house, 8)]
    alone = [house.alone(spec) for spec in specs]
    context = house.many(slots)
    before = context.total_rows
    answers = together(house, Decoder(context, share=share), specs, random.Random(slots))
    assert [gist(answer) for answer in answers] == [gist(answer) for answer in alone]
    rows = context.total_rows - before
    rest = sum(len(spec.prompt) - len(prefix) for spec in specs)
    if share:
        assert rows == len(prefix) + rest + needed(alone)
    else:
        assert rows == 8 * len(prefix) + rest + needed(alone)


def test_identical_prompts_and_prompts_that_begin_others_are_computed_once(llama: House) -> None:
    document = tuple(llama.documents[1])
    lengths = [200, 200, 120, 200, 260, 260, 50]
    specs = [Spec(document[:n], replace(SAMPLED, seed=i), 6) for i, n in enumerate(lengths)]
    context = llama.many(8)
    decoder = Decoder(context)
    before = context.total_rows
    for key, spec in enumerate(specs):
        decoder.submit(key, *llama.request(spec))
    answers = dict[Hashable, Answer]()
    while decoder.running:
        answers.update(decoder.advance())
    alone = [llama.alone(spec) for spec in specs]
    assert [gist(answers[key]) for key in range(len(specs))] == [gist(a) for a in alone]
    # The last token of each prompt is forwarded for its logits.
    assert context.total_rows - before <= 260 + len(specs) + needed(alone)


def test_a_conversation_that_goes_on_computes_only_what_is_new(llama: House) -> None:
    first = Spec(tuple(llama.documents[0][:300]), SAMPLED, 20)
    tail = (9, 8, 7, 6)
    second = Spec(first.prompt + tuple(llama.alone(first).tokens) + tail, SAMPLED, 8)
    alone = llama.alone(second)
    context = llama.many(3)
    decoder = Decoder(context)
    answers: list[Answer] = []
    for spec in (first, second):
        before = context.total_rows
        decoder.submit(0, *llama.request(spec))
        while decoder.running:
            answers += [answer for _, answer in decoder.advance()]
    assert gist(answers[1]) == gist(alone)
    assert context.total_rows - before <= 1 + len(tail) + needed([alone])


def test_requests_one_at_a_time_with_two_beginnings_in_turn_compute_each_beginning_once(
    llama: House,
) -> None:
    beginnings = [tuple(document[:300]) for document in llama.documents[:2]]
    context = llama.many(8)
    decoder = Decoder(context)
    before = context.total_rows
    for turn in range(6):
        decoder.submit(turn, *llama.request(Spec((*beginnings[turn % 2], turn), limit=2)))
        while decoder.running:
            decoder.advance()
    assert context.total_rows - before < 3 * 300


# -- 5. slots stay dense -------------------------------------------------------------------------


@pytest.fixture
def spied(llama: House, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[list[Row]]]:
    """Rows of every forward of the context with eight streams."""
    context, forwards = llama.many(SLOTS), list[list[Row]]()
    decode = context.decode

    def spy(rows: Sequence[Row]) -> None:
        forwards.append(list(rows))
        decode(rows)

    with monkeypatch.context() as patch:
        patch.setattr(context, "decode", spy)
        yield forwards


def test_after_streams_have_ended_the_rest_move_together_and_stay_right(
    llama: House, spied: list[list[Row]]
) -> None:
    document = llama.documents[1]
    limits = [3, 20, 5, 20, 7, 9, 20, 4]
    specs = [
        Spec(tuple(document[k : k + 40 + 60 * k]), SAMPLED, limit) for k, limit in enumerate(limits)
    ]
    decoder = Decoder(llama.many(SLOTS))
    for key, spec in enumerate(specs):
        decoder.submit(key, *llama.request(spec))
    answers = dict[Hashable, Answer]()
    checked = 0
    while decoder.running:
        running = decoder.running
        spied.clear()
        done = decoder.advance()
        answers.update(done)
        for rows in spied[-1:]:
            numbers = sorted({row.slot for row in rows})
            if not done:  # nobody has left in the middle of it
                assert numbers == list(range(numbers[0], numbers[0] + running))
                checked += len(answers) > 0
    assert checked > 5
    for key, spec in enumerate(specs):
        assert gist(answers[key]) == gist(llama.alone(spec)), key


def test_streams_that_have_used_up_their_budget_leave_no_gap_in_a_forward(
    llama: House, spied: list[list[Row]]
) -> None:
    specs = [
        Spec(tuple(llama.documents[1][k : k + 20]), SAMPLED, limit)
        for k, limit in enumerate([3, 9, 5, 9])
    ]
    decoder = Decoder(llama.many(SLOTS))
    for key, spec in enumerate(specs):
        decoder.submit(key, *llama.request(spec))
    while decoder.running:
        decoder.advance()
    for rows in spied:
        numbers = sorted({row.slot for row in rows})
        assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


# -- 6. one compiled grammar ---------------------------------------------------------------------


@pytest.mark.parametrize("drafts", [False, True], ids=["plain", "drafts"])
def test_a_grammar_is_compiled_once_for_eight_streams(
    llama: House, monkeypatch: pytest.MonkeyPatch, drafts: bool
) -> None:
    real, made = LLMatcher, 0

    class Counting:
        def __new__(cls, *arguments: Any, **options: Any) -> Any:
            nonlocal made
            made += 1
            return real(*arguments, **options)

        def __getattr__(self, name: str) -> Any:
            return getattr(real, name)

    specs = [
        Spec(tuple(llama.documents[0][: 20 + k]), replace(SAMPLED, seed=k), 24, "deep")
        for k in range(8)
    ]
    alone = [llama.alone(spec) for spec in specs]
    prepared = SOURCES["deep"].prepare()
    monkeypatch.setattr(grammar, "LLMatcher", Counting)
    compiled = grammar.compile_grammar(prepared, llama.tokens)
    decoder = Decoder(llama.many(8), speculation=Speculation(gate=Fickle(1)) if drafts else None)
    for key, spec in enumerate(specs):
        prompt, request = llama.request(replace(spec, grammar=None))
        request = replace(request, constraint=compiled.constraint())
        decoder.submit(key, prompt, request)
    answers = dict[Hashable, Answer]()
    while decoder.running:
        answers.update(decoder.advance())
    assert made == 1
    assert [gist(answers[key]) for key in range(8)] == [gist(a) for a in alone]
    assert len({tuple(a.tokens) for a in alone}) > 1  # they do go different ways


# -- 7. interrupts -------------------------------------------------------------------------------


class Interrupt:
    """A decode that is interrupted once, before or after its n-th forward."""

    def __init__(self, context: Context, at: int, before: bool) -> None:
        self.decode, self.left, self.before = context.decode, at, before

    def __call__(self, rows: Sequence[Row]) -> None:
        self.left -= 1
        if self.left == 0 and self.before:
            raise KeyboardInterrupt
        self.decode(rows)
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("before", [True, False], ids=["before", "after"])
@pytest.mark.parametrize("drafts", [False, True], ids=["plain", "drafts"])
def test_an_interrupt_in_any_forward_gives_what_was_produced_and_leaves_the_context_usable(
    llama: House, monkeypatch: pytest.MonkeyPatch, before: bool, drafts: bool
) -> None:
    document = llama.documents[0]
    specs = [
        Spec(tuple(document[:300]), SAMPLED, 10),
        Spec((*document[:300], 7, 8), SAMPLED, 12, "free string"),
        Spec(tuple(document[:600]), GREEDY, 5),
        Spec(tuple(document[:350]), SAMPLED, 4, "triage"),
        Spec(tuple(llama.documents[2][:20]), SAMPLED, 9),
    ]
    context = llama.many(3)
    interrupted = at = 0
    while interrupted == at:
        at += 1
        speculation = Speculation(gate=Fickle(at)) if drafts else None
        decoder = Decoder(context, speculation=speculation)
        waiting, answers = list(range(len(specs))), dict[Hashable, Answer]()
        submitted: set[Hashable] = set()
        with monkeypatch.context() as patch:
            patch.setattr(context, "decode", Interrupt(context, at, before))
            try:
                while waiting or decoder.running:
                    while waiting and decoder.free:
                        decoder.submit(waiting[0], *llama.request(specs[waiting[0]]))
                        submitted.add(waiting.pop(0))
                    answers.update(decoder.advance())
            except KeyboardInterrupt:
                interrupted += 1
        partial = dict(decoder.interrupt())
        assert decoder.running == 0
        assert set(answers) | set(partial) == submitted
        for key, spec in enumerate(specs):
            whole = llama.alone(spec)
            if key in answers:
                assert gist(answers[key]) == gist(whole), (at, key)
            elif key in partial:
                answer = partial[key]
                count = len(answer.tokens)
                assert answer.tokens == whole.tokens[:count], (at, key)
                assert answer.counts.committed == count
                if answer.stop_reason != "interrupted":  # it was over before
                    assert gist(answer) == gist(whole)
                data = b"".join(map(llama.model.vocabulary.token_bytes, answer.tokens))
                assert answer.text == data.decode(errors="replace")
        # The context goes on to be right, for those who begin anew and for those who go on.
        if at % 2:
            decoder = Decoder(context, speculation=speculation)
        rest = [specs[1], specs[0], specs[4]]
        for spec, answer in zip(
            rest, together(llama, decoder, rest, random.Random(at)), strict=True
        ):
            assert gist(answer) == gist(llama.alone(spec)), at
    assert interrupted > 12


def test_an_interrupt_while_a_shared_prefix_is_computed_leaves_the_first_request_right(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tuple(llama.documents[0][:600])
    first, second = Spec((*document, 3), SAMPLED, 6), Spec((*document, 4, 5), SAMPLED, 6)
    context = llama.many(2)
    for at in (1, 2):
        for before in (True, False):
            decoder = Decoder(context)
            decoder.submit(0, *llama.request(first))
            with monkeypatch.context() as patch:
                patch.setattr(context, "decode", Interrupt(context, at, before))
                with pytest.raises(KeyboardInterrupt):
                    decoder.submit(1, *llama.request(second))
            assert decoder.running == 1
            decoder.submit(1, *llama.request(second))
            answers = dict[Hashable, Answer]()
            while decoder.running:
                answers.update(decoder.advance())
            assert gist(answers[0]) == gist(llama.alone(first))
            assert gist(answers[1]) == gist(llama.alone(second))


def test_an_interrupt_in_a_copy_leaves_nothing_that_a_later_request_could_mistake_for_its_own(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = tuple(llama.documents[0][:100])
    brief, lasting = Spec(document, SAMPLED, 2), Spec((*document[:50], 9, 8), SAMPLED, 12)
    context = llama.many(3)
    decoder = Decoder(context)
    decoder.submit("long", *llama.request(replace(lasting, limit=14)))
    decoder.submit("brief", *llama.request(brief))
    decoder.submit("lasting", *llama.request(lasting))
    while decoder.running == 3:
        decoder.advance()

    def interrupted(source: int, target: int, length: int) -> None:
        context.clear(target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(context, "copy", interrupted)
        with pytest.raises(KeyboardInterrupt):
            decoder.advance()
    decoder.interrupt()
    answers = together(llama, decoder, [brief], random.Random(0))
    assert gist(answers[0]) == gist(llama.alone(brief))


def test_an_interrupt_in_the_copy_for_a_new_request_leaves_nothing_mistakable_either(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    brief = Spec(tuple(llama.documents[0][:100]), SAMPLED, 2)
    lasting = Spec(tuple(llama.documents[1][:90]), SAMPLED, 12)
    alike = Spec((*lasting.prompt, 3), SAMPLED, 3)
    context = llama.many(2)
    decoder = Decoder(context)
    decoder.submit("lasting", *llama.request(lasting))
    decoder.submit("brief", *llama.request(brief))
    while decoder.running == 2:
        decoder.advance()

    def interrupted(source: int, target: int, length: int) -> None:
        context.clear(target)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(context, "copy", interrupted)
        with pytest.raises(KeyboardInterrupt):
            decoder.submit("alike", *llama.request(alike))
    decoder.submit("brief", *llama.request(brief))
    answers = dict[Hashable, Answer]()
    while decoder.running:
        answers.update(decoder.advance())
    assert gist(answers["brief"]) == gist(llama.alone(brief))
    assert gist(answers["lasting"]) == gist(llama.alone(lasting))


def test_an_interrupt_while_an_answer_is_made_does_not_lose_it(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = Spec(tuple(llama.documents[0][:30]), SAMPLED, 3)
    decoder = Decoder(llama.many(2))
    decoder.submit(0, *llama.request(spec))
    decoder.submit(1, *llama.request(spec))
    answers, make, calls = dict[Hashable, Answer](), answered, itertools.count()

    def interrupted(*arguments: Any) -> Answer:
        if not next(calls):
            raise KeyboardInterrupt
        return make(*arguments)

    monkeypatch.setattr(engine, "answered", interrupted)
    with contextlib.suppress(KeyboardInterrupt):
        while decoder.running:
            answers.update(decoder.advance())
    answers.update(decoder.interrupt())
    assert answers.keys() == {0, 1}


def test_an_interrupt_right_after_a_reply_of_one_forward_gives_that_reply(llama: House) -> None:
    spec = Spec(tuple(llama.documents[0][:30]))
    spec = replace(spec, stop_ids=frozenset(llama.alone(spec).tokens[:1]))

    def interrupted() -> None:
        raise KeyboardInterrupt

    answer = generate(llama.single, *llama.request(spec), on_first_forward=interrupted)
    assert gist(answer) == gist(llama.alone(spec))


def test_a_reply_that_is_complete_when_another_is_interrupted_keeps_its_stop_reason(
    llama: House,
) -> None:
    spec = Spec(tuple(llama.documents[0][:30]), SAMPLED)
    spec = replace(spec, stop_ids=frozenset(llama.alone(spec).tokens[:1]))
    decoder = Decoder(llama.many(2))
    decoder.submit("complete", *llama.request(spec))

    class Interrupting(LogitBias):
        def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
            raise KeyboardInterrupt

    prompt, request = llama.request(replace(spec, stop_ids=frozenset()))
    processors = (Interrupting({}, llama.model.n_vocab),)
    decoder.submit("other", prompt, replace(request, processors=processors))
    with pytest.raises(KeyboardInterrupt):
        decoder.advance()
    answers = dict(decoder.interrupt())
    assert gist(answers["complete"]) == gist(llama.alone(spec))


# -- 8. more rows than a batch holds -------------------------------------------------------------


@pytest.mark.parametrize("share", [True, False], ids=["shared", "each anew"])
def test_long_prompts_at_once_are_forwarded_in_batches_that_fit(
    house: House, monkeypatch: pytest.MonkeyPatch, share: bool
) -> None:
    size = house.model.n_vocab
    specs = [
        Spec(
            tuple((i * i * (31 + k) + 7 * i + k) % size for i in range(400 + 40 * k)),
            replace(SAMPLED, seed=k),
            6,
            "recursive lark" if k == 3 else None,
        )
        for k in range(6)
    ]
    context = house.many(6)
    widths, decode = list[int](), context.decode

    def spy(rows: Sequence[Row]) -> None:
        widths.append(len(rows))
        decode(rows)

    with monkeypatch.context() as patch:
        patch.setattr(context, "decode", spy)
        for speculation in (None, Speculation(gate=Fickle(3))):
            decoder = Decoder(context, speculation=speculation, share=share)
            answers = together(house, decoder, specs, random.Random(1))
            for k, (spec, answer) in enumerate(zip(specs, answers, strict=True)):
                assert gist(answer) == gist(house.alone(spec)), k
    assert max(widths) <= context.batch_rows
    assert sum(widths) > 2 * sum(len(spec.prompt) for spec in specs)


def test_drafts_of_many_streams_leave_each_other_room_for_logits(
    llama: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    specs = [Spec(tuple(llama.documents[0][: 60 + k]), SAMPLED, 12) for k in range(SLOTS)]
    context = llama.many(SLOTS)
    widths, decode = list[int](), context.decode

    def spy(rows: Sequence[Row]) -> None:
        widths.append(sum(row.wants_logits for row in rows))
        decode(rows)

    with monkeypatch.context() as patch:
        patch.setattr(context, "decode", spy)
        decoder = Decoder(context, speculation=Speculation(gate=Generous()))
        for key, spec in enumerate(specs):
            decoder.submit(key, *llama.request(spec))
        answers = dict[Hashable, Answer]()
        while decoder.running:
            answers.update(decoder.advance())
    assert max(widths) == context.logits_rows
    for key, spec in enumerate(specs):
        assert gist(answers[key]) == gist(llama.alone(spec)), key


# -- 9. a draft model ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drafter(models: Path) -> Model:
    """The vocabulary of the llama, one layer, other weights."""
    return Model(ggufs.build_llama(models / "lockstep-draft.gguf", n_layer=1, seed=5))


def requests_to_draft_for(house: House) -> list[Spec]:
    document = house.documents[0]
    return [
        Spec(tuple(document[: 20 + 45 * k]), config, 16, name)
        for k, (config, name) in enumerate(
            (config, name)
            for config in (GREEDY, SAMPLED)
            for name in (None, "deep", None, "free string", "recursive lark")
        )
    ]


@pytest.mark.parametrize("cascade", [True, False], ids=["with the cascade", "alone"])
def test_a_draft_model_for_four_streams_changes_no_token(
    llama: House, drafter: Model, cascade: bool
) -> None:
    specs = requests_to_draft_for(llama)
    for model in (drafter, llama.model):
        draft_context = Context(model, n_ctx=500, n_slots=4)
        speculation = Speculation(cascade, {}, draft_context, Fickle(5))
        for seed in range(2):
            decoder = Decoder(llama.many(4), speculation=speculation)
            answers = together(llama, decoder, specs, random.Random(seed), 0.7)
            for spec, answer in zip(specs, answers, strict=True):
                assert gist(answer) == gist(llama.alone(spec)), spec
        drafted, accepted = np.sum(
            [answer.sources.get("draft model", (0, 0)) for answer in answers], axis=0
        )
        assert drafted > 40
        if model is llama.model:
            assert accepted > 10
        draft_context.close()


def test_a_request_without_a_free_slot_is_refused_and_disturbs_nobody(llama: House) -> None:
    specs = requests_to_draft_for(llama)[:2]
    decoder = Decoder(llama.many(2), speculation=Speculation(gate=Fickle(1)))
    for key, spec in enumerate(specs):
        decoder.submit(key, *llama.request(spec))
    answers = dict[Hashable, Answer]()
    with pytest.raises(ValueError, match="slots are taken"):
        decoder.submit("more", *llama.request(specs[0]))
    while decoder.running:
        answers.update(decoder.advance())
    assert [gist(answers[key]) for key in (0, 1)] == [gist(llama.alone(s)) for s in specs]


def test_a_request_without_a_free_slot_spoils_no_draft_of_a_draft_model(llama: House) -> None:
    specs = [Spec(tuple(llama.documents[0][:k]), GREEDY, 24) for k in (20, 60)]
    sources = []
    for refused in (False, True):
        drafter = Context(llama.model, n_ctx=300, n_slots=2)
        speculation = Speculation(False, {}, drafter, Generous(3))
        decoder = Decoder(llama.many(2), speculation=speculation)
        for key, spec in enumerate(specs):
            decoder.submit(key, *llama.request(spec))
        answers = dict[Hashable, Answer](decoder.advance())
        if refused:
            with pytest.raises(ValueError, match="slots are taken"):
                decoder.submit("more", *llama.request(specs[0]))
        while decoder.running:
            answers.update(decoder.advance())
        assert [gist(answers[key]) for key in (0, 1)] == [gist(llama.alone(s)) for s in specs]
        sources.append([answers[key].sources for key in (0, 1)])
        drafter.close()
    assert sources[0] == sources[1]


def test_a_draft_context_of_fewer_streams_is_refused_at_once(llama: House, drafter: Model) -> None:
    draft_context = Context(drafter, n_ctx=300, n_slots=1)
    with pytest.raises(ValueError, match="streams"):
        Decoder(llama.many(2), speculation=Speculation(False, {}, draft_context))
