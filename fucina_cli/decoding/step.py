"""The step: one forward for all streams, then rows sampled left to right.

Rows of one stream are its carried tokens (committed but not yet in the KV cache: the last sampled
token, forced tokens, at first the prompt), the last of them with logits, then drafts, each with
logits. Row i is sampled only after rows 0..i-1 were committed; the first sampled token that is not
the draft is the correction, and full acceptance earns one token more. No sampled token is ever
discarded, so neither sampler nor constraint ever rewinds; only the KV cache does. (Verify rule of
speculative sampling, Leviathan et al. 2023, with the target's own sampler in the place of the
rejection test: a draft is accepted only if it is what plain decoding would have chosen.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fucina_cli.decoding.stream import Stream
from fucina_cli.llama.context import Context, Row


@dataclass
class _Part:
    """The rows of one stream in a forward."""

    stream: Stream
    drafts: list[int]
    first_logits: int  # row number of its last carried token
    end: int  # tokens that the cache holds after the forward


def step(context: Context, streams: Sequence[Stream], *, draft_limit: int = 16) -> bool:
    """Advance every unfinished stream by at least one token; False when none is left.

    The cache never keeps a draft that was not accepted, also when the forward or the sampling
    raises.
    """
    rows: list[Row] = []
    parts: list[_Part] = []
    for stream in streams:
        if stream.finished:
            continue
        stream.commit_forced()
        if not stream.finished:
            parts.append(_plan(context, stream, rows, draft_limit))
    if not parts:
        return False
    try:
        context.decode(rows)
        for part in parts:
            _verify(context, part)
    finally:
        for part in parts:
            stream = part.stream
            if not stream.finished:
                # One token is always left to forward, also after an error: it brings the logits.
                stream.cached = min(stream.cached, len(stream.tokens) - 1)
            if part.end > stream.cached:
                context.truncate(stream.slot, stream.cached)
    return True


def _plan(context: Context, stream: Stream, rows: list[Row], draft_limit: int) -> _Part:
    """Append the stream's rows; a long carry is forwarded ahead in chunks of its own."""
    tokens, slot = stream.tokens, stream.slot
    while len(tokens) - stream.cached > context.batch_rows:
        end = stream.cached + context.batch_rows
        context.decode([Row(tokens[i], i, slot, False) for i in range(stream.cached, end)])
        stream.cached = end
        stream.counts.forwards += 1
    last = len(tokens) - 1
    rows.extend(Row(tokens[i], i, slot, i == last) for i in range(stream.cached, last + 1))
    first_logits = len(rows) - 1
    drafts = _drafts(context, stream, draft_limit)
    rows.extend(Row(token, last + 1 + i, slot, True) for i, token in enumerate(drafts))
    stream.counts.forwards += 1
    stream.counts.drafted += len(drafts)
    return _Part(stream, drafts, first_logits, last + 1 + len(drafts))


def _drafts(context: Context, stream: Stream, draft_limit: int) -> list[int]:
    """What the source suggests, cut where it could not be committed anyway."""
    if stream.source is None or len(stream.tokens) - stream.cached > 1:
        return []
    room = min(draft_limit, stream.room - 1, context.n_ctx - len(stream.tokens))
    if room <= 0:
        return []
    suggested = stream.source.suggest(stream.tokens, room)
    drafts = suggested[:room]
    for i, token in enumerate(drafts):
        if stream.ends_turn(token):  # a turn's end only ever arrives as a sampled token
            drafts = drafts[:i]
            break
    if len(drafts) < len(suggested):
        stream.source.truncate_pending(len(drafts))
    return drafts


def _verify(context: Context, part: _Part) -> None:
    stream = part.stream
    before = len(stream.tokens)
    stream.cached = before
    for i in range(len(part.drafts) + 1):
        if i and stream.end_is_forced():
            break  # the answer is complete; the next step ends the stream as on every path
        token = stream.sampler.next(context.logits(part.first_logits + i), stream.tokens)
        stream.accept(token)
        matched = i < len(part.drafts) and token == part.drafts[i]
        if stream.finished or not matched:
            break
        stream.cached += 1
        stream.counts.accepted += 1
    if stream.source is not None:
        stream.source.observe(stream.tokens[before:])
