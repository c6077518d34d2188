"""Speculation never changes the output: real forwards, every source, every grammar, many seeds."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Sequence

import pytest

from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.gated import Gated
from fucina_cli.drafting.source import DraftSource, Outlook
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.llama.context import Context
from fucina_cli.prompts import Prompt
from fucina_cli.request import Request
from fucina_cli.sampling.config import SamplingConfig
from fucina_cli.sampling.processor import LogitBias, ProcessorChain
from tests.support.decode_bench import Bench, Logged, generate
from tests.support.gates import Fickle
from tests.support.grammars import SOURCES

#: A prompt that repeats itself, so that there is something to draft from.
PROMPT = 'Ticket 7: {"category":"billing","priority":"high"} Ticket 8: {"category":"billing",'
SEEDS = range(7)


class Whole(Gate):
    """A gate that lets through whole drafts."""

    def budget(self, limit: int, outlook: Outlook, *, rows: int = 1, logit_rows: int = 1) -> int:
        return limit


@pytest.mark.parametrize("name", ["none", *SOURCES])
def test_drafting_changes_no_token_no_commit_and_no_draw(bench: Bench, name: str) -> None:
    assert bench.exactness.exact, bench.exactness.reason
    drafter = Context(bench.model, n_ctx=200)
    reference = Reference(bench.prompt('{"category":"bug","priority":"low","escalate":false}'))
    configs = [SamplingConfig()] + [
        SamplingConfig(
            temperature=0.8, top_k=20, repeat_penalty=1.1, presence_penalty=0.1, seed=seed
        )
        for seed in SEEDS
    ]
    # A vocabulary of 152k and 135M weights take their time; the other models go through all seeds.
    some = 2 if bench.model.n_params > 50_000_000 else 3 if bench.model.n_vocab > 100_000 else None
    drafted = 0
    for number, config in enumerate(configs[:some]):
        streams: dict[str, Stream] = {}
        for kind, forced_spans, gate in (
            ("token by token", False, None),
            ("forced spans", True, None),
            ("drafts, all verified", True, None),
            ("drafts, partly verified", True, Fickle(number)),
            ("drafts, gate by the clock", True, Gate()),
            ("drafts for forced tokens too", False, Fickle(number + 1)),
            ("drafts by a model", True, Fickle(number + 2)),
        ):
            hook = None if name == "none" else Logged(bench.grammar(name).constraint())
            drafts = None
            if "drafts" in kind:
                speculation = Speculation(references={"tickets": reference}, gate=gate or Whole())
                if "model" in kind:
                    speculation = Speculation(number % 2 == 0, {}, drafter, speculation.gate)
                drafts = speculation.drafts(hook, bench.model.vocabulary)
            stream = bench.stream(
                config, hook, prompt=PROMPT, drafts=drafts, forced_spans=forced_spans
            )
            bench.run(stream)
            streams[kind] = stream
        plain = streams["token by token"]
        for kind, stream in streams.items():
            assert stream.reply_tokens == plain.reply_tokens, (kind, config)
            assert stream.finished == plain.finished, (kind, config)
            assert stream.sampler.committed == plain.sampler.committed, (kind, config)
            assert stream.reply.text == plain.reply.text, (kind, config)
            if isinstance(plain.sampler.processor, Logged):
                assert isinstance(stream.sampler.processor, Logged)
                assert stream.sampler.processor.log == plain.sampler.processor.log, (kind, config)
            drafted += stream.counts.drafted
    drafter.close()
    assert drafted or name != "none"  # short grammars may leave nothing to draft


def test_ragged_streams_with_drafts_in_lockstep_give_what_each_gives_alone(llama: Bench) -> None:
    names = ["triage", "none", "free string"]
    config = SamplingConfig(temperature=0.8, top_k=20, seed=3)
    speculation = Speculation(gate=Fickle(2))

    def stream(slot: int, *, drafts: bool) -> Stream:
        name = names[slot]
        hook = None if name == "none" else Logged(llama.grammar(name).constraint())
        made = speculation.drafts(hook, llama.model.vocabulary) if drafts else None
        prompt = PROMPT * (slot + 1)
        return llama.stream(config, hook, prompt=prompt, slot=slot, drafts=made)

    alone = []
    for slot in range(3):
        alone.append(stream(slot, drafts=False))
        llama.run(alone[-1])
    together = [stream(slot, drafts=True) for slot in range(3)]
    llama.run(*together)
    assert [s.reply_tokens for s in together] == [s.reply_tokens for s in alone]
    assert sum(s.counts.drafted for s in together) > 0


class Stubborn(DraftSource):
    """Drafts what it is told to, whatever the context."""

    def __init__(self, tokens: Callable[[Sequence[int]], list[int]]) -> None:
        self._tokens = tokens

    def suggest(self, context: Sequence[int], limit: int) -> list[int]:
        return self._tokens(context)

    def observe(self, committed: Sequence[int]) -> None:
        pass

    def truncate_pending(self, length: int) -> None:
        pass


@pytest.mark.parametrize("name", ["none", *SOURCES])
def test_illegal_repeated_and_overlong_drafts_change_nothing(llama: Bench, name: str) -> None:
    size = llama.model.n_vocab

    def hook() -> Logged | None:
        return None if name == "none" else Logged(llama.grammar(name).constraint())

    plain = llama.stream(SamplingConfig(), hook(), prompt=PROMPT, forced_spans=False)
    llama.run(plain)
    ends = itertools.cycle([llama.stop, 5])
    drafts: dict[str, Callable[[Sequence[int]], list[int]]] = {
        "illegal": lambda context: [(context[-1] * 7 + 3) % size, 1, 2],
        "the same again": lambda context: [context[-1]] * 9,
        "far more than asked for": lambda context: list(range(3, 300)),
        "the stop token": lambda context: [llama.stop] * 3,
        "beyond the stop token": lambda context: [next(ends), next(ends), 9],
    }
    for kind, tokens in drafts.items():
        stream = llama.stream(
            SamplingConfig(), hook(), prompt=PROMPT, drafts=Gated(Stubborn(tokens))
        )
        llama.run(stream)
        assert stream.reply_tokens == plain.reply_tokens, kind
        assert stream.finished == plain.finished, kind


def test_a_bias_beside_a_grammar_stays_lossless_and_boundaries_still_draft(llama: Bench) -> None:
    def chain() -> ProcessorChain:
        size = llama.model.n_vocab
        bias = LogitBias({7: 3.0, 9: float("-inf")}, size)
        return ProcessorChain([bias, llama.grammar("deep").constraint()], size)

    plain = llama.stream(SamplingConfig(), chain(), forced_spans=False)
    llama.run(plain)
    hook = chain()
    drafts = Speculation(cascade=False, gate=Whole()).drafts(hook, llama.model.vocabulary)
    drafted = llama.stream(SamplingConfig(), hook, drafts=drafts)
    llama.run(drafted)
    assert drafted.reply_tokens == plain.reply_tokens


def test_a_whole_turn_with_and_without_drafts_past_512_cells(bench: Bench) -> None:
    tokens = (bench.prompt(PROMPT) * 60)[:560]
    prompt = Prompt(tokens)
    config = SamplingConfig(temperature=0.8, top_k=20, seed=11)
    answers = [
        generate(
            bench.context,
            prompt,
            Request(
                prompt,
                config,
                bench.limit,
                constraint=bench.grammar("deep").constraint() if constrained else None,
            ),
            speculation=speculation,
        )
        for constrained in (False, True)
        for speculation in (None, Speculation())
    ]
    assert answers[0].tokens == answers[1].tokens
    assert answers[2].tokens == answers[3].tokens
    assert answers[0].sources == {}
    assert set(answers[3].sources) == {"forced", "boundary", "history", "recycling"}
    assert sum(drafted for drafted, _ in answers[1].sources.values()) == answers[1].counts.drafted


def test_the_gates_state_is_plain_json(llama: Bench) -> None:
    speculation = Speculation()
    prompt = Prompt(llama.prompt(PROMPT))
    request = Request(prompt, SamplingConfig(), 30)
    generate(llama.context, prompt, request, speculation=speculation)
    state = json.loads(json.dumps(speculation.gate.state()))
    assert state["steps"] > 0
