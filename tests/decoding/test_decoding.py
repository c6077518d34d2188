"""The decode core on real forwards: the same tokens on every path, whatever is guessed."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from fucina_cli.decoding.prefill import last_logits
from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.gated import Gated
from fucina_cli.drafting.source import DraftSource
from fucina_cli.llama.context import Row
from fucina_cli.llama.model import Model
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitBias, ProcessorChain
from fucina_cli.sampling.sampler import Sampler
from tests.support.decode_bench import GREEDY, SAMPLED, STREAMS, Bench, Logged
from tests.support.grammars import SOURCES


class Script(DraftSource):
    """Drafts from a known continuation, spoilt as `spoil` says."""

    def __init__(self, prompt: int, reply: Sequence[int], spoil: Callable[[int, int], int]) -> None:
        self.prompt, self.reply, self.spoil = prompt, list(reply), spoil
        self.observed: list[int] = []

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        at = len(context) - self.prompt
        ahead = (self.reply + [1, 2, 3, 4, 5] * 8)[at : at + limit]
        return [self.spoil(at + i, token) for i, token in enumerate(ahead)]

    def observe(self, committed: Sequence[int]) -> None:
        self.observed.extend(committed)

    def truncate_pending(self, length: int) -> None:
        assert length >= 0


class Learner(Script):
    """Notes the texts that it is taught successors of, and those; wants the best three."""

    wants_topk = 3

    def __init__(self, prompt: int, reply: Sequence[int], spoil: Callable[[int, int], int]) -> None:
        super().__init__(prompt, reply, spoil)
        self.drafted: list[int] = []
        self.before: list[int] = []
        self.taught: list[tuple[list[int], list[int]]] = []

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        self.before, self.drafted = list(context), super().suggest(context, min(limit, 5))
        return self.drafted

    def observe_topk(self, rows: Iterable[tuple[int, Sequence[int]]]) -> None:
        rows = list(rows)
        first = len(self.drafted) - len(rows)
        for at, (head, best) in enumerate(rows, first + 1):
            assert head == self.drafted[at - 1]
            self.taught.append(([*self.before, *self.drafted[:at]], list(best)))


class Failing(LogitBias):
    """A processor that raises at its n-th row."""

    def __init__(self, n_vocab: int, *, at: int) -> None:
        super().__init__({}, n_vocab)
        self._left = at

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        self._left -= 1
        if self._left == 0:
            raise RuntimeError("boom")


SPOILERS: dict[str, Callable[[int, int], int]] = {
    "perfect": lambda at, token: token,
    "garbage": lambda at, token: (at * 7919 + 13) % 600,
    "alternating": lambda at, token: token if at % 3 else 11,
}


def test_rows_alone_and_in_company_are_bitwise_equal_over_512_cells(bench: Bench) -> None:
    assert bench.exactness.exact, bench.exactness.reason
    context, count = bench.context, 600
    tokens = [(i * i * 31 + 7 * i + 5) % bench.model.n_vocab for i in range(count)]
    context.clear_all()
    alone: dict[int, NDArray[np.float32]] = {}
    for begin, end in ((0, 108), (292, 300), (500, count)):  # what lies between comes in chunks
        last_logits(context, tokens[:begin])
        for i in range(begin, end):
            context.decode([Row(tokens[i], i, 0, True)])
            alone[i] = context.logits(0).copy()
    for end in (40, 107, 300, 600):  # prompts forwarded in chunks
        assert np.array_equal(last_logits(context, tokens[:end]), alone[end - 1])
    context.clear_all()
    for at in range(0, 512, 256):
        context.decode([Row(tokens[i], i, 1, False) for i in range(at, at + 256)])
    context.copy(1, 2, 512)
    for rows in (2, 3, 8, 16):  # verify batches after a truncation, two streams side by side
        batch = [Row(tokens[i], i, s, True) for s in (1, 2) for i in range(512, 512 + rows)]
        context.decode(batch)
        for k, row in enumerate(batch):
            assert np.array_equal(context.logits(k), alone[row.position]), (rows, row)
        context.truncate(1, 512)
        context.truncate(2, 512)


@pytest.mark.parametrize("name", ["none", *SOURCES])
@pytest.mark.parametrize("config", [GREEDY, SAMPLED], ids=["greedy", "sampled"])
def test_forced_spans_drafts_and_lockstep_give_the_tokens_of_plain_decoding(
    bench: Bench, name: str, config: SamplingConfig
) -> None:
    def processor() -> Logged | None:
        return None if name == "none" else Logged(bench.grammar(name).constraint())

    def log_of(stream: Stream) -> list[int]:
        hook = stream.sampler.processor
        return hook.log if isinstance(hook, Logged) else []

    plain = bench.stream(config, processor(), forced_spans=False)
    bench.run(plain)
    assert plain.counts.forced == 0
    assert plain.sampler.committed == len(plain.reply_tokens) + (plain.finished != "length")
    others = {"forced": bench.stream(config, processor())}
    bench.run(others["forced"])
    for kind, spoil in SPOILERS.items():
        source = Script(plain.prompt_length, plain.reply_tokens, spoil)
        stream = bench.stream(config, processor(), drafts=Gated(source))
        bench.run(stream)
        others[kind] = stream
        if kind == "perfect" and len(plain.reply_tokens) > 8:
            assert stream.counts.forwards < plain.counts.forwards
    lockstep = [
        bench.stream(config, processor(), slot=slot, forced_spans=slot > 0)
        for slot in range(STREAMS)
    ]
    bench.run(*lockstep)
    others |= {f"lockstep {s.slot}": s for s in lockstep}
    for kind, stream in others.items():
        assert stream.reply_tokens == plain.reply_tokens, kind
        assert stream.finished == plain.finished, kind
        assert log_of(stream) == log_of(plain), kind
        assert stream.sampler.committed == plain.sampler.committed, kind
        assert stream.reply.text == plain.reply.text, kind


@pytest.mark.parametrize("name", SOURCES)
def test_at_every_forced_position_the_mask_holds_exactly_that_token(
    llama: Bench, name: str
) -> None:
    constraint = llama.grammar(name).constraint()
    seen = 0
    draw = itertools.count()
    while not constraint.finished and seen < 40:
        for token in constraint.forced_tokens(30):
            words = constraint.mask_words()
            assert int(np.bitwise_count(words).sum()) == 1
            assert constraint.is_allowed(token)
            constraint.commit(token)
            seen += 1
        allowed = [t for t in range(llama.model.n_vocab) if constraint.is_allowed(t)]
        choices = [t for t in allowed if t != constraint.stop_token]
        if not choices:
            break
        constraint.commit(choices[next(draw) % len(choices)])
        seen += 1


def test_a_draft_never_passes_the_end_of_a_turn_or_the_budget(llama: Bench) -> None:
    plain = llama.stream(GREEDY, None, limit=12)
    llama.run(plain)
    ends = [*plain.reply_tokens[:4], llama.stop, *plain.reply_tokens[4:]]
    for limit in (1, 5, 12):
        source = Script(plain.prompt_length, ends, lambda at, token: token)
        stream = llama.stream(GREEDY, None, limit=limit, drafts=Gated(source))
        llama.run(stream)
        assert stream.reply_tokens == plain.reply_tokens[:limit]
        assert stream.finished == "length"
        assert source.observed == stream.reply_tokens


def test_a_source_is_taught_what_the_model_would_say_after_rejected_tokens_and_no_other(
    llama: Bench,
) -> None:
    plain = llama.stream(GREEDY, None, limit=12)
    llama.run(plain)
    source = Learner(
        plain.prompt_length, plain.reply_tokens, lambda at, token: (token + at % 3) % 600
    )
    # A mask on every sampled row: what is taught must not have passed through it.
    banned = LogitBias({plain.reply_tokens[0]: -np.inf}, llama.model.n_vocab)
    llama.run(llama.stream(GREEDY, banned, limit=12, drafts=Gated(source)))
    masked = llama.stream(GREEDY, banned, limit=12)
    llama.run(masked)
    assert len(source.taught) > 10
    for text, best in source.taught:
        assert text != masked.tokens[: len(text)]
        llama.context.clear(0)
        llama.context.decode([Row(t, i, 0, i == len(text) - 1) for i, t in enumerate(text)])
        logits = llama.context.logits(len(text) - 1)
        assert best == sorted(range(len(logits)), key=lambda i: (-logits[i], i))[:3]


def test_the_cache_is_truncated_to_what_was_accepted_also_when_sampling_fails(
    llama: Bench,
) -> None:
    plain = llama.stream(GREEDY, None, limit=20)
    llama.run(plain)
    source = Script(plain.prompt_length, plain.reply_tokens, lambda at, token: token)
    broken = llama.stream(
        GREEDY, Failing(llama.model.n_vocab, at=5), limit=20, drafts=Gated(source)
    )
    with pytest.raises(RuntimeError, match="boom"):
        llama.run(broken)
    assert 0 < len(broken.reply_tokens) < 20
    # Whoever goes on from here must find exactly the committed tokens in the cache.
    broken.sampler = Sampler(GREEDY)
    broken.structure = None
    broken.drafts = None
    llama.run(broken)
    assert broken.reply_tokens == plain.reply_tokens


def test_penalties_look_at_the_hypothetical_prefix_and_not_at_a_stale_history(
    llama: Bench,
) -> None:
    config = SamplingConfig(repeat_penalty=1.8, frequency_penalty=1.0, repeat_last_n=32)
    plain = llama.stream(config, None, limit=24)
    llama.run(plain)
    source = Script(plain.prompt_length, plain.reply_tokens, lambda at, token: token)
    drafted = llama.stream(config, None, limit=24, drafts=Gated(source))
    llama.run(drafted)
    assert drafted.reply_tokens == plain.reply_tokens
    assert drafted.counts.accepted > 10
    # The same rows under the history from before the verify step choose another token somewhere.
    llama.context.clear(0)
    tokens = plain.tokens
    start = plain.prompt_length
    llama.context.decode([Row(t, i, 0, i >= start - 1) for i, t in enumerate(tokens[:-1])])
    stale = [
        Sampler(config).next(llama.context.logits(i).copy(), tokens[:start])
        for i in range(start - 1, len(tokens) - 1)
    ]
    assert stale != plain.reply_tokens


def test_a_forced_token_that_is_banned_raises_instead_of_passing(llama: Bench) -> None:
    from fucina_cli.sampling.errors import AllTokensMasked

    constraint = llama.grammar("triage").constraint()
    banned = constraint.forced_tokens(1)[0]
    size = llama.model.n_vocab
    chain = ProcessorChain([LogitBias({banned: float("-inf")}, size), constraint], size)
    with pytest.raises(AllTokensMasked):
        llama.run(llama.stream(GREEDY, chain))


def test_an_answer_that_fits_its_budget_exactly_is_complete(llama: Bench) -> None:
    free = llama.stream(GREEDY, llama.grammar("triage").constraint())
    llama.run(free)
    assert free.finished == "constraint"
    length = len(free.reply_tokens)
    for forced_spans in (True, False):
        exact = llama.stream(
            GREEDY, llama.grammar("triage").constraint(), limit=length, forced_spans=forced_spans
        )
        llama.run(exact)
        assert exact.finished == "constraint"
        assert exact.reply_tokens == free.reply_tokens
        short = llama.stream(
            GREEDY,
            llama.grammar("triage").constraint(),
            limit=length - 1,
            forced_spans=forced_spans,
        )
        llama.run(short)
        assert short.finished == "length"
        assert short.reply_tokens == free.reply_tokens[:-1]


def test_forced_spans_save_forwards(llama: Bench) -> None:
    with_spans = llama.stream(GREEDY, llama.grammar("triage").constraint())
    llama.run(with_spans)
    without = llama.stream(GREEDY, llama.grammar("triage").constraint(), forced_spans=False)
    llama.run(without)
    assert with_spans.counts.forced >= 8
    assert with_spans.counts.forwards <= without.counts.forwards - with_spans.counts.forced + 1


def test_a_prompt_longer_than_one_batch_is_forwarded_in_chunks(llama: Bench) -> None:
    prompt = "abc 123 " * 90
    length = len(llama.prompt(prompt))
    assert 512 < length < 690
    a = llama.stream(GREEDY, None, prompt=prompt, limit=4)
    llama.run(a)
    assert a.counts.forwards == 2 + 3
    row = last_logits(llama.context, llama.prompt(prompt))
    assert a.reply_tokens[0] == int(row.argmax())


def test_an_interrupt_in_the_middle_of_a_long_prompt_leaves_the_cache_as_counted(
    llama: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompt = "abc 123 " * 90
    whole = llama.stream(GREEDY, None, prompt=prompt, limit=4)
    llama.run(whole)
    broken = llama.stream(GREEDY, None, prompt=prompt, limit=4)
    decode = llama.context.decode

    def interrupted(rows: Sequence[Row]) -> None:
        decode(rows)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(llama.context, "decode", interrupted)
        with pytest.raises(KeyboardInterrupt):
            llama.run(broken)
    llama.run(broken)
    assert broken.reply_tokens == whole.reply_tokens


def test_a_recurrent_model_reports_the_error_that_happened(
    llama: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(slot: int, length: int) -> None:
        raise AssertionError("a recurrent cache can't be truncated")

    monkeypatch.setattr(Model, "can_rewind", False)
    monkeypatch.setattr(llama.context, "truncate", never)
    with pytest.raises(RuntimeError, match="boom"):
        llama.run(llama.stream(GREEDY, Failing(llama.model.n_vocab, at=1)))


def test_a_draft_whose_verification_fails_is_in_no_account(llama: Bench) -> None:
    plain = llama.stream(GREEDY, None, limit=20)
    llama.run(plain)
    source = Script(plain.prompt_length, plain.reply_tokens, lambda at, token: token)
    broken = llama.stream(
        GREEDY, Failing(llama.model.n_vocab, at=3), limit=20, drafts=Gated(source)
    )
    with pytest.raises(RuntimeError, match="boom"):
        llama.run(broken)
    assert (broken.counts.drafted, broken.counts.accepted, source.observed) == (0, 0, [])
