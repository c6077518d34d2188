"""The step: one forward for all streams, then rows sampled left to right.

Rows of one stream are its carried tokens (committed but not yet in the KV cache: the last sampled
token, forced tokens, at first the prompt), the last of them with logits, then drafts, each with
logits. Row i is sampled only after rows 0..i-1 were committed; the first sampled token that is not
the draft is the correction, and full acceptance earns one token more. No sampled token is ever
discarded, so neither sampler nor constraint ever rewinds; only the KV cache does. (Verify rule of
speculative sampling, Leviathan et al. 2023, with the target's own sampler in the place of the
rejection test: a draft is accepted only if it is what plain decoding would have chosen.)

Streams are ragged: each brings what it has to one common forward. What a stream's own processor
or model row does wrong ends that stream and no other.

Plain decoding is the same step without drafts. The gate decides how much of a draft is worth its
rows, and learns from each forward; it never decides what is committed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.decoding.stream import Stream
from fucina_cli.drafting.source import UNKNOWN, LearnsTopK, Outlook
from fucina_cli.llama.context import Context, Row
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits
from fucina_cli.sampling.topk import top_order

if TYPE_CHECKING:
    from fucina_cli.drafting.gate import Gate

#: Most tokens of a draft that are verified at once.
DRAFT_LIMIT = 24
#: Errors that are a stream's own.
STREAM_FAILURES = (AllTokensMasked, NonFiniteLogits, ConstraintError)


@dataclass
class _Draft:
    """Tokens to verify, and what the gate has to know of them afterwards."""

    tokens: list[int]
    outlook: Outlook
    rows: int  # of the forward before the draft's
    logit_rows: int
    seconds: float  # that it took to make


_NONE = _Draft([], UNKNOWN, 0, 0, 0.0)


@dataclass
class _Part:
    """The rows of one stream in a forward."""

    stream: Stream
    draft: _Draft
    first_logits: int  # row number of its last carried token
    end: int  # tokens that the cache holds after the forward
    prompt: bool  # whether its carried tokens are of the prompt


def step(context: Context, streams: Sequence[Stream], *, gate: Gate | None = None) -> bool:
    """Advance every unfinished stream by at least one token; False when none is left.

    Without a gate drafts are verified whole. The cache never keeps a draft that was not accepted,
    also when the forward or the sampling raises. One of STREAM_FAILURES ends its stream, which
    keeps it as `failure`, and is raised only after the other streams have advanced.
    """
    rows: list[Row] = []
    parts: list[_Part] = []
    failures: list[Exception] = []
    for stream in streams:
        if not stream.finished:
            with _own_failure(stream, failures):
                stream.commit_forced()
    going = [stream for stream in streams if not stream.finished]
    for done, stream in enumerate(going, 1):
        before = len(rows)
        with _own_failure(stream, failures):
            parts.append(_plan(context, stream, rows, gate, others=len(going) - done))
        if stream.failure is not None:
            del rows[before:]
    try:
        if parts:
            _forward(context, rows, parts, gate)
        for part in parts:
            with _own_failure(part.stream, failures):
                _verify(context, part, gate)
                part.stream.commit_forced()  # now, so that what is over makes room at once
    finally:
        for part in parts:
            stream = part.stream
            if not stream.finished:
                # One token is always left to forward, also after an error: it brings the logits.
                stream.cached = min(stream.cached, len(stream.tokens) - 1)
            if part.end > stream.cached:
                _forget(context, stream)
    if failures:
        raise failures[0]
    return bool(parts)


@contextmanager
def _own_failure(stream: Stream, failures: list[Exception]) -> Iterator[None]:
    """An error of this stream ends it, and is kept for later."""
    try:
        yield
    except STREAM_FAILURES as error:
        stream.fail(error)
        failures.append(error)


def _forward(
    context: Context, rows: Sequence[Row], parts: Sequence[_Part], gate: Gate | None
) -> None:
    begin = time.perf_counter()
    context.decode(rows)
    seconds = time.perf_counter() - begin
    if gate is not None and not any(part.prompt for part in parts):
        gate.record(len(rows), sum(row.wants_logits for row in rows), seconds)


def prefill(context: Context, stream: Stream, end: int) -> None:
    """Bring the stream's tokens before `end` into the cache, in forwards of their own.

    The cache is left as `stream.cached` says, also by an interrupt.
    """
    before = context.total_forwards
    try:
        context.prefill(stream.slot, stream.tokens[stream.cached : end], stream.cached)
    except BaseException:  # Ctrl-C too
        _forget(context, stream)
        raise
    stream.cached = end
    stream.counts.forwards += context.total_forwards - before


def _forget(context: Context, stream: Stream) -> None:
    """Take what is not accepted out of the cache; a recurrent state can't, and never has drafts."""
    if context.model.can_rewind:
        context.truncate(stream.slot, stream.cached)


def _plan(
    context: Context, stream: Stream, rows: list[Row], gate: Gate | None, *, others: int
) -> _Part:
    """Append the stream's rows; a long carry is forwarded ahead in chunks of its own.

    `others` streams that come after it need at least one row each.
    """
    tokens, slot = stream.tokens, stream.slot
    room = context.batch_rows - len(rows) - others
    if len(tokens) - stream.cached > room:
        carried = len(tokens) - stream.cached
        # The last chunk may stay in the common forward if it fits there.
        ahead = -(-(carried - room) // context.batch_rows) * context.batch_rows
        prefill(context, stream, min(stream.cached + ahead, len(tokens) - 1))
    prompt = stream.cached < stream.prompt_length
    last = len(tokens) - 1
    rows.extend(Row(tokens[i], i, slot, i == last) for i in range(stream.cached, last + 1))
    first_logits = len(rows) - 1
    draft = _draft(context, stream, rows, gate, others)
    rows.extend(Row(token, last + 1 + i, slot, True) for i, token in enumerate(draft.tokens))
    stream.counts.forwards += 1
    return _Part(stream, draft, first_logits, last + 1 + len(draft.tokens), prompt)


def _draft(
    context: Context, stream: Stream, rows: Sequence[Row], gate: Gate | None, others: int
) -> _Draft:
    """What the source suggests, cut where it could not be committed or would not pay."""
    source = stream.source
    if source is None:
        return _NONE
    logit_rows = sum(row.wants_logits for row in rows)
    room = min(
        DRAFT_LIMIT,
        stream.room - 1,
        context.n_ctx - len(stream.tokens),
        context.batch_rows - len(rows) - others,
        context.logits_rows - logit_rows - others,
    )
    if room <= 0:
        return _NONE
    begin = time.perf_counter()
    suggested = source.suggest(stream.tokens, room)
    seconds = time.perf_counter() - begin
    tokens = suggested[:room]
    for i, token in enumerate(tokens):
        if stream.ends_turn(token):  # a turn's end only ever arrives as a sampled token
            tokens = tokens[:i]
            break
    outlook = stream.forecast.outlook if stream.forecast else UNKNOWN
    if gate is not None and tokens:
        beside = {"rows": len(rows), "logit_rows": logit_rows}
        budget = gate.budget(len(tokens), outlook, **beside)
        if not budget:
            shadow, position = stream.shadow, len(stream.tokens)
            shadow.add(outlook, tokens, position)
            if missed := gate.unaffordable(len(tokens), outlook, **beside):
                shadow.add_unaffordable(outlook, tokens[:missed], position, **beside)
        tokens = tokens[:budget]
    if len(tokens) < len(suggested):
        source.truncate_pending(len(tokens))
    return _Draft(tokens, outlook, len(rows), logit_rows, seconds)


def _verify(context: Context, part: _Part, gate: Gate | None) -> None:
    stream, draft = part.stream, part.draft
    before = len(stream.tokens)
    stream.cached = before
    held = 0
    for i in range(len(draft.tokens) + 1):
        if i and stream.end_is_forced():
            break  # the answer is complete; the next step ends the stream as on every path
        token = stream.sampler.next(context.logits(part.first_logits + i), stream.tokens)
        stream.accept(token)
        matched = i < len(draft.tokens) and token == draft.tokens[i]
        if stream.finished or not matched:
            break
        stream.cached += 1
        held += 1
    if stream.learner is not None and held < len(draft.tokens):
        _teach(context, part, held + 1, stream.learner)
    # All accounts are settled together: an interrupt before leaves this draft out of all of them.
    stream.counts.drafted += len(draft.tokens)
    stream.counts.accepted += held
    if stream.source is not None:
        stream.source.observe(stream.tokens[before:])
    if gate is not None:
        stream.shadow.settle(gate, stream.tokens)
        gate.settle(
            len(draft.tokens),
            held,
            draft.outlook,
            rows=draft.rows,
            logit_rows=draft.logit_rows,
            seconds=draft.seconds,
        )


def _teach(context: Context, part: _Part, first: int, source: LearnsTopK) -> None:
    """Show the source what the model rates best after a draft's rejected tokens.

    These are the rows from `first` on, which no mask has touched. What follows the accepted ones
    it is told anyway: it was committed.
    """
    width = source.wants_topk
    if width:
        source.observe_topk(
            (head, top_order(context.logits(part.first_logits + row), width).tolist())
            for row, head in enumerate(part.draft.tokens[first - 1 :], first)
        )
