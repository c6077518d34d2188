"""The experiment on tickets, with a random-weight model: what it counts and what it compares."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from rich.console import Console

from fucina_cli.constraint.kinds.choice import Choice
from fucina_cli.decoding.prefill import last_logits
from fucina_cli.prompts import Prompt
from fucina_cli.sampling.mask import allowed_ids
from fucina_cli.tiny.corpus.ticket_held_out import HELD_OUT
from fucina_cli.tiny.corpus.ticket_labels import CATEGORIES
from fucina_cli.tiny.experiment import __main__ as experiment
from fucina_cli.tiny.experiment.__main__ import main
from fucina_cli.tiny.experiment.bias import Biased
from fucina_cli.tiny.experiment.category import (
    TAUGHT,
    UNTAUGHT,
    Categories,
    categories,
    score_options,
)
from fucina_cli.tiny.experiment.lab import (
    Lab,
    MaskAfterArgmax,
    is_masked_argmax,
    mass,
    open_lab,
    wilson,
)
from fucina_cli.tiny.experiment.report import Report, run
from fucina_cli.tiny.experiment.tables import show

TICKETS = HELD_OUT[::12]
OPTIONS = TAUGHT.options
CHOICES = Choice(list(OPTIONS.values()))
ROOM = 24


@pytest.fixture(scope="module")
def lab(llama_path: Path) -> Iterator[Lab]:
    with open_lab(llama_path) as opened:
        yield opened


@pytest.fixture(scope="module")
def report(lab: Lab) -> Report:
    return run(lab, TICKETS, 3)


def _asked(lab: Lab) -> Iterator[tuple[Prompt, NDArray[np.float32]]]:
    """Each ticket's prompt and the raw row after it."""
    for ticket in TICKETS:
        prompt = lab.prompt(TAUGHT.prompt(ticket), ROOM)
        yield prompt, last_logits(lab.context, prompt.tokens)


# -- statistics ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("successes", "trials", "low", "high"),
    [  # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 3; the chapter's 11/48
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (11, 48, 0.13, 0.37),
    ],
)
def test_wilson_intervals_are_the_published_ones(
    successes: int, trials: int, low: float, high: float
) -> None:
    digits = 2 if trials == 48 else 4
    interval = wilson(successes, trials)
    assert [round(end, digits) for end in interval] == [low, high]
    mirrored = wilson(trials - successes, trials)
    assert mirrored == pytest.approx((1 - interval[1], 1 - interval[0]))


@pytest.mark.parametrize(("successes", "trials"), [(0, 0), (-1, 3), (4, 3)])
def test_an_interval_of_nothing_is_refused(successes: int, trials: int) -> None:
    with pytest.raises(ValueError, match="successes"):
        wilson(successes, trials)


# -- scores --------------------------------------------------------------------------------------


def _log_softmax(row: NDArray[np.float32]) -> NDArray[np.float64]:
    exponentials = np.exp(row.astype(np.float64))
    scores: NDArray[np.float64] = np.log(exponentials / exponentials.sum())
    return scores


def test_scores_are_those_of_a_log_softmax_over_one_forward_per_token(lab: Lab) -> None:
    for prompt, row in _asked(lab):
        scores = score_options(lab, prompt, row, OPTIONS)
        for name, text in OPTIONS.items():
            tokens = lab.model.vocabulary.tokenize(text)
            by_hand = sum(
                float(_log_softmax(last_logits(lab.context, prompt.tokens + tokens[:i]))[token])
                for i, token in enumerate(tokens)
            )
            assert len(tokens) > 1
            assert scores[name].tokens == len(tokens)
            assert scores[name].total == pytest.approx(by_hand, abs=1e-6)
            assert scores[name].per_token == pytest.approx(by_hand / len(tokens), abs=1e-6)


def test_the_mass_is_that_of_every_token_that_can_begin_an_option(lab: Lab) -> None:
    words = lab.compile(CHOICES).constraint().mask_words()
    allowed = allowed_ids(words, lab.model.n_vocab)
    begins = [
        token
        for token in range(lab.model.n_vocab)
        if (data := lab.model.vocabulary.token_bytes(token))
        and any(option.encode().startswith(data) for option in OPTIONS.values())
    ]
    assert allowed.tolist() == begins
    for _, row in _asked(lab):
        assert mass(row, allowed) == pytest.approx(np.exp(_log_softmax(row))[begins].sum())
        assert mass(row, np.arange(row.shape[0])) == pytest.approx(1.0)


# -- the chapter's bug ---------------------------------------------------------------------------


def test_mask_after_argmax_gives_the_lowest_id_where_the_favourite_is_forbidden(lab: Lab) -> None:
    compiled = lab.compile(CHOICES)
    forbidden = 0
    for prompt, row in _asked(lab):
        allowed = allowed_ids(compiled.constraint().mask_words(), lab.model.n_vocab).tolist()
        favourite = int(row.argmax())
        expected = favourite if favourite in allowed else min(allowed)
        forbidden += favourite not in allowed
        answer = lab.ask(prompt, ROOM, processor=MaskAfterArgmax(compiled.constraint()))
        assert answer.tokens[0] == expected
        assert answer.text in OPTIONS.values()
    assert forbidden


def test_mask_after_argmax_keeps_a_favourite_that_is_allowed(lab: Lab) -> None:
    constraint = lab.compile(CHOICES).constraint()
    allowed = allowed_ids(constraint.mask_words(), lab.model.n_vocab)
    row = np.zeros(lab.model.n_vocab, dtype=np.float32)
    row[allowed[-1]] = 1.0
    MaskAfterArgmax(constraint).process(row, [])
    assert np.flatnonzero(row > -np.inf).tolist() == [allowed[-1]]


def test_constrained_greedy_is_the_argmax_of_the_masked_row_and_the_bug_is_not(lab: Lab) -> None:
    compiled = lab.compile(CHOICES)
    buggy_ones = 0
    for prompt, row in _asked(lab):
        ours = lab.ask(prompt, ROOM, constraint=compiled.constraint()).tokens
        bug = lab.ask(prompt, ROOM, processor=MaskAfterArgmax(compiled.constraint())).tokens
        last_logits(lab.context, prompt.tokens)
        assert is_masked_argmax(lab.context, prompt, row, ours, compiled.constraint())
        same = is_masked_argmax(lab.context, prompt, row, bug, compiled.constraint())
        assert same == (bug == ours)
        buggy_ones += not same
    assert buggy_ones


# -- the report ----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["categories", "untaught"])
def test_every_way_to_answer_is_counted(report: Report, name: str) -> None:
    part: Categories = getattr(report, name)
    answers = [text.strip() for text in part.question.options.values()]
    outcomes = {outcome.name: outcome for outcome in part.outcomes}
    assert list(outcomes) == [
        "free_greedy",
        "constrained_sampled",
        "constrained_greedy",
        "mask_after_argmax",
        "scored_total",
        "scored_per_token",
        "majority",
    ]
    n = len(TICKETS)
    assert outcomes.pop("free_greedy").parses == 0
    assert {outcome.parses for outcome in outcomes.values()} == {n}
    for outcome in outcomes.values():
        assert outcome.interval == wilson(outcome.correct, n)
        assert outcome.most_common in answers
        assert 1 <= outcome.distinct <= n - outcome.most_common_count + 1
    assert part.masked_argmax == n
    assert 0 < part.favourite_forbidden <= n
    assert 0 < part.mass.min <= part.mass.median <= part.mass.max < 1
    assert part.favourite_forbidden <= part.lowest_buggy <= n
    assert list(part.first_scores) == answers
    best = max(part.first_scores, key=lambda name: part.first_scores[name].total)
    assert outcomes["scored_total"].first == best


def test_an_option_is_graded_as_the_category_that_it_stands_for(lab: Lab, report: Report) -> None:
    assert list(UNTAUGHT.options) == list(CATEGORIES)
    assert len(set(UNTAUGHT.options.values())) == len(CATEGORIES)
    compiled = lab.compile(Choice(list(UNTAUGHT.options.values())))
    correct = 0
    for ticket in TICKETS:
        prompt = lab.prompt(UNTAUGHT.prompt(ticket), ROOM)
        answer = lab.ask(prompt, ROOM, constraint=compiled.constraint()).text
        named = next(c for c, text in UNTAUGHT.options.items() if text == answer)
        correct += named == ticket.category
    outcomes = {outcome.name: outcome for outcome in report.untaught.outcomes}
    assert outcomes["constrained_greedy"].correct == correct
    taught = {outcome.name: outcome for outcome in report.categories.outcomes}["majority"]
    assert outcomes["majority"].correct == taught.correct > 0
    assert UNTAUGHT.options[taught.first] == f" {outcomes['majority'].first}"


@pytest.mark.model
def test_asked_as_never_taught_the_bug_gives_one_answer_and_masked_first_does_not(
    tiny_qwen3: Path,
) -> None:
    with open_lab(tiny_qwen3) as opened:
        part = categories(opened, UNTAUGHT, HELD_OUT, 0)
    outcomes = {outcome.name: outcome for outcome in part.outcomes}
    n = len(HELD_OUT)
    assert part.mass.median < 0.1
    assert part.favourite_forbidden > n / 2
    assert part.lowest_buggy >= part.favourite_forbidden
    assert outcomes["mask_after_argmax"].most_common_count >= part.favourite_forbidden
    assert outcomes["constrained_greedy"].distinct > 1
    assert part.lowest_greedy < n / 2
    assert part.masked_argmax == n


def test_constrained_objects_fit_the_schema_and_one_has_its_space(report: Report) -> None:
    free, spaced, bare = report.triage.outcomes
    assert (free.parses, free.valid) == (0, 0)
    for outcome in (spaced, bare):
        assert outcome.parses == outcome.valid == len(TICKETS)
    assert spaced.first.startswith(' {"category":"')
    assert bare.first.startswith('{"category":"')
    pieces = report.triage.pieces
    assert "".join(piece.text for piece in pieces) == spaced.first
    logs = [math.log(piece.probability) for piece in pieces]
    assert report.triage.log_probability == pytest.approx(sum(logs))


def test_a_bias_bans_nudges_and_forces(report: Report) -> None:
    none, ban, nudge, force = report.logit_bias.cases

    def first(case: Biased) -> str:
        return case.top[0][0]

    assert [case.name for case in report.logit_bias.cases] == ["none", "ban", "nudge", "force"]
    assert none.token is None
    assert first(none) == ban.token_text
    assert first(ban) == first(nudge) == nudge.token_text
    assert nudge.top[1][0] == ban.token_text
    assert nudge.top[0][1] - nudge.top[1][1] < 0.02
    assert ban.token_text not in dict(ban.top)
    assert force.text == (force.token_text or "") * 16
    assert none.text != nudge.text


def test_a_seed_decides_and_decides_everything(lab: Lab, report: Report) -> None:
    assert run(lab, TICKETS, 3) == report
    other = run(lab, TICKETS, 4)
    assert other.triage.outcomes[0].first != report.triage.outcomes[0].first
    assert other.logit_bias == report.logit_bias


def test_tables_take_no_text_for_markup_and_no_colour_is_plain(
    report: Report, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "120")
    show(report, Console(width=120, highlight=False))
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "the bug: argmax first, mask after" in out
    assert "mask_after_argmax" not in out
    taught, untaught = (f"4 held-out tickets: {asked.title}" for asked in (TAUGHT, UNTAUGHT))
    assert 0 < out.index(taught) < out.index(untaught)
    assert out.count("the constraint does the work") == 1


# -- the command ---------------------------------------------------------------------------------


def test_json_is_the_whole_report_on_one_line(
    llama_path: Path,
    report: Report,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(experiment, "HELD_OUT", TICKETS)
    main(["--model", str(llama_path), "--seed", "3", "--json"])
    out = capsys.readouterr().out
    assert out.count("\n") == 1
    record: dict[str, Any] = json.loads(out)
    assert set(record) == {
        *("model", "architecture", "quantization", "tickets", "seed"),
        *("categories", "untaught", "triage", "logit_bias"),
    }
    for part in ("categories", "untaught"):
        assert set(record[part]) == {
            *("question", "outcomes", "first_tokens", "mass", "favourite_forbidden"),
            *("masked_argmax", "lowest_greedy", "lowest_buggy"),
            *("chosen", "first_ticket", "first_scores"),
        }
        assert set(record[part]["question"]) == {"title", "cue", "options"}
    assert set(record["categories"]["outcomes"][0]) == {
        *("name", "parses", "correct", "interval", "distinct"),
        *("most_common", "most_common_count", "first"),
    }
    assert set(record["triage"]) == {"outcomes", "pieces", "log_probability"}
    assert set(record["logit_bias"]) == {"ticket", "cases"}
    assert record == json.loads(json.dumps(asdict(report)))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--model", "nowhere.gguf"], "nowhere.gguf"),
        (["--model", __file__], "GGUF"),
        (["--seed", "-1"], "--seed"),
        (["--seed", "x"], "--seed"),
        (["llama"], "invalid choice"),
        (["--frob"], "--frob"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert said in printed.err


def test_a_prompt_beyond_the_context_is_an_error_of_the_file(
    llama_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ticket = type(TICKETS[0])("far too long " * 400, "bug", "low")
    monkeypatch.setattr(experiment, "HELD_OUT", (ticket,))
    with pytest.raises(SystemExit) as caught:
        main(["--model", str(llama_path)])
    assert caught.value.code == 2
    assert "do not fit" in capsys.readouterr().err
