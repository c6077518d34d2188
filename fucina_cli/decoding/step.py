"""The step: one forward for all streams, then rows sampled left to right.

Rows of one stream are its carried tokens (committed but not yet in the KV cache: the last sampled
token, forced tokens, at first the prompt), the last of them with logits, then drafts, each with
logits. Row i is sampled only after rows 0..i-1 were committed; the first sampled token that is not
the draft is the correction, and full acceptance earns one token more. No sampled token is ever
discarded, so neither sampler nor constraint ever rewinds; only the KV cache does. (Verify rule of
speculative sampling, Leviathan et al. 2023, with the target's own sampler in the place of the
rejection test: a draft is accepted only if it is what plain decoding would have chosen.)

Streams are ragged: each adds as many rows as it has to one common forward. An error of a stream's
own processor or logits row ends that stream and no other.

Plain decoding is the same step without drafts; drafts only decide how many rows a forward has,
never what is committed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.decoding.stream import Stream
from fucina_cli.llama.context import Context, Row
from fucina_cli.sampling.errors import AllTokensMasked, NonFiniteLogits

#: Errors that are a stream's own.
STREAM_FAILURES = (AllTokensMasked, NonFiniteLogits, ConstraintError)


@dataclass
class _Part:
    """The rows of one stream in a forward."""

    stream: Stream
    draft: list[int]
    first_logits: int  # row number of its last carried token
    end: int  # tokens that the cache holds after the forward
    prompt: bool  # whether its carried tokens are of the prompt


def step(context: Context, streams: Sequence[Stream]) -> bool:
    """Advance every unfinished stream by at least one token; False when none is left.

    The cache never keeps a draft that was not accepted, also when the forward or the sampling
    raises. One of STREAM_FAILURES ends its stream, which keeps it as `failure`, and is raised only
    after the other streams have advanced.
    """
    rows: list[Row] = []
    failures: list[Exception] = []
    parts = _schedule(context, streams, rows, failures)
    try:
        if parts:
            _forward(context, rows, parts)
        for part in parts:
            with _own_failure(part.stream, failures):
                _settle(context, part, held=_verify(context, part))
                part.stream.commit_forced()  # now, so that ended streams free their slots at once
    finally:
        for part in parts:
            stream = part.stream
            if not stream.finished:
                # One token is always left to forward, also after an error: it brings the logits.
                stream.cached = min(stream.cached, len(stream.tokens) - 1)
            if part.end > stream.cached:
                _truncate(context, stream)
    if failures:
        raise failures[0]
    return bool(parts)


@contextmanager
def _own_failure(stream: Stream, failures: list[Exception]) -> Iterator[None]:
    """An error of this stream ends it, and is appended to `failures`."""
    try:
        yield
    except STREAM_FAILURES as error:
        stream.fail(error)
        failures.append(error)


# -- schedule ------------------------------------------------------------------------------------


def _schedule(
    context: Context, streams: Sequence[Stream], rows: list[Row], failures: list[Exception]
) -> list[_Part]:
    """Append the rows of the unfinished streams to `rows`; the part of each stream."""
    for stream in streams:
        if not stream.finished:
            with _own_failure(stream, failures):
                stream.commit_forced()
    going = [stream for stream in streams if not stream.finished]
    parts: list[_Part] = []
    for done, stream in enumerate(going, 1):
        before = len(rows)
        with _own_failure(stream, failures):
            parts.append(_plan(context, stream, rows, others=len(going) - done))
        if stream.failure is not None:
            del rows[before:]
    return parts


def _plan(context: Context, stream: Stream, rows: list[Row], *, others: int) -> _Part:
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
    draft = _draft(context, stream, rows, others)
    rows.extend(Row(token, last + 1 + i, slot, True) for i, token in enumerate(draft))
    stream.counts.forwards += 1
    return _Part(stream, draft, first_logits, last + 1 + len(draft), prompt)


def _draft(context: Context, stream: Stream, rows: Sequence[Row], others: int) -> list[int]:
    """A draft that can be committed, and that has room in the forward and the cache."""
    if stream.drafts is None:
        return []
    logit_rows = sum(row.wants_logits for row in rows)
    room = min(
        stream.room - 1,
        context.n_ctx - len(stream.tokens),
        context.batch_rows - len(rows) - others,
        context.logits_rows - logit_rows - others,
    )
    return stream.drafts.draft(
        stream.tokens, room, stream.ends_turn, rows=len(rows), logit_rows=logit_rows
    )


# -- forward -------------------------------------------------------------------------------------


def _forward(context: Context, rows: Sequence[Row], parts: Sequence[_Part]) -> None:
    """One forward for all; the gates of the drafts learn what its rows cost."""
    begin = time.perf_counter()
    context.decode(rows)
    seconds = time.perf_counter() - begin
    if any(part.prompt for part in parts):
        return  # a prompt: its cost says nothing about decode steps
    for gate in {part.stream.drafts.gate for part in parts if part.stream.drafts}:
        if gate is not None:
            gate.record(len(rows), sum(row.wants_logits for row in rows), seconds)


def prefill(context: Context, stream: Stream, end: int) -> None:
    """Bring the stream's tokens before `end` into the cache, in forwards of their own.

    The cache is left as `stream.cached` says, also by an interrupt.
    """
    before = context.total_forwards
    try:
        context.prefill(stream.slot, stream.tokens[stream.cached : end], stream.cached)
    except BaseException:  # Ctrl-C too
        _truncate(context, stream)
        raise
    stream.cached = end
    stream.counts.forwards += context.total_forwards - before


def _truncate(context: Context, stream: Stream) -> None:
    """Remove rejected drafts from the cache; not from a recurrent state, which never has drafts."""
    if context.model.can_rewind:
        context.truncate(stream.slot, stream.cached)


# -- verify, settle ------------------------------------------------------------------------------


def _verify(context: Context, part: _Part) -> int:
    """Sample the stream's rows and commit them, up to the first that differs from its draft.

    Returns how many drafted tokens held.
    """
    stream, draft = part.stream, part.draft
    stream.cached = len(stream.tokens)
    held = 0
    for i in range(len(draft) + 1):
        if i and stream.end_is_forced():
            break  # the answer is complete; the next step ends the stream as on every path
        token = stream.sampler.next(context.logits(part.first_logits + i), stream.tokens)
        stream.accept(token)
        if stream.finished or i == len(draft) or token != draft[i]:
            break
        stream.cached += 1
        held += 1
    return held


def _settle(context: Context, part: _Part, held: int) -> None:
    """Count the draft everywhere together; an interrupt before this leaves it uncounted."""
    stream = part.stream
    stream.counts.drafted += len(part.draft)
    stream.counts.accepted += held
    if stream.drafts is not None:
        stream.drafts.settle(stream.tokens, held, lambda i: context.logits(part.first_logits + i))
