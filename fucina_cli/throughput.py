"""Measures requests one after another and side by side, and compares their tokens."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fucina_cli.answer import Answer
from fucina_cli.drafting.speculation import Speculation
from fucina_cli.engine import Engine
from fucina_cli.llama.context import Context
from fucina_cli.request import Request
from fucina_cli.sampling.processor import LogitBias

#: Makes a request for a stream, by its number.
Make = Callable[[int], Request]


@dataclass(frozen=True)
class Pass:
    """Answers and their total cost. Times in seconds.

    The first token of each answer belongs to the prefill. `forwards` and `rows` are those after it.
    """

    answers: list[Answer]
    prefill_s: float
    decode_s: float
    forwards: int
    rows: int

    @property
    def decoded(self) -> int:
        """Tokens decoded after the first of each answer."""
        return sum(max(0, answer.counts.committed - 1) for answer in self.answers)

    @property
    def rate(self) -> float:
        """Tokens per second of all together."""
        return self.decoded / self.decode_s if self.decode_s > 0 else 0.0

    @property
    def rates(self) -> list[float]:
        """Tokens per second of each answer in its own time; answers of one token left out."""
        return [
            (answer.counts.committed - 1) / answer.decode_s
            for answer in self.answers
            if answer.counts.committed > 1 and answer.decode_s > 0
        ]


def one_by_one(
    context: Context, make: Make, n: int, speculation: Speculation | None = None
) -> Pass:
    """`n` answers, each alone and with its own prefill. Raises the error of one that fails."""
    answers: list[Answer] = []
    forwards = rows = 0

    def count() -> None:
        nonlocal forwards, rows
        forwards -= context.total_forwards
        rows -= context.total_rows

    for number in range(n):
        alone = Engine(context, speculation=speculation)  # with an empty cache
        answers.append(_complete(alone.decode(make(number), on_first_forward=count)))
        forwards += context.total_forwards
        rows += context.total_rows
    return Pass(
        answers,
        prefill_s=sum(answer.prefill_s for answer in answers),
        decode_s=sum(answer.decode_s for answer in answers),
        forwards=forwards,
        rows=rows,
    )


def side_by_side(
    context: Context, make: Make, n: int, speculation: Speculation | None = None
) -> Pass:
    """`n` answers in common forwards; the prompt is computed once. Raises as `one_by_one`."""
    together = Engine(context, speculation=speculation)
    begin = time.perf_counter()
    for number in range(n):
        request = make(number)
        request.index = number
        together.submit(request)
    answers = together.advance()
    prefilled = time.perf_counter()
    forwards, rows = context.total_forwards, context.total_rows
    while together.running:
        answers += together.advance()
    end = time.perf_counter()
    answers.sort(key=lambda answer: answer.index)
    return Pass(
        [_complete(answer) for answer in answers],
        prefill_s=prefilled - begin,
        decode_s=end - prefilled,
        forwards=context.total_forwards - forwards,
        rows=context.total_rows - rows,
    )


def _complete(answer: Answer) -> Answer:
    """The answer; raises its failure or KeyboardInterrupt, to end the whole measurement."""
    if answer.failure is not None:
        raise answer.failure
    if answer.stop_reason == "interrupted":
        raise KeyboardInterrupt
    return answer


@dataclass(frozen=True)
class Difference:
    """Where two arms first chose different tokens.

    Attributes:
        stream, position: number of the answer, and index of its first differing token.
        tokens: of the lockstep and of the sequential arm; None where that answer had ended.
        logits: of both tokens in the lockstep arm and in the sequential one; None as above.
        noise: largest difference between the arms' logits there, None where unknown.
        greedy: whether the tokens were chosen greedily.
    """

    stream: int
    position: int
    tokens: tuple[int | None, int | None]
    logits: tuple[tuple[float, float], tuple[float, float]] | None
    noise: float | None
    greedy: bool

    @property
    def within_noise(self) -> bool | None:
        """Whether a greedy choice's tokens are closer to each other than the arms are.

        None where unknown, and for a draw: it falls between probabilities of whole sets of tokens,
        which noise moves whatever the distance of these two.
        """
        if self.logits is None or self.noise is None or not self.greedy:
            return None
        gap = min(abs(a - b) for a, b in self.logits)
        return gap <= 2 * self.noise


def first_difference(lockstep: Pass, sequential: Pass) -> tuple[int, int] | None:
    """Stream and position of the first difference, None where there is none."""
    for stream, (a, b) in enumerate(zip(lockstep.answers, sequential.answers, strict=True)):
        if a.tokens != b.tokens:
            pairs = zip(a.tokens, b.tokens, strict=False)
            shorter = min(len(a.tokens), len(b.tokens))
            return stream, next((i for i, (x, y) in enumerate(pairs) if x != y), shorter)
    return None


def explain(
    at: tuple[int, int], contexts: tuple[Context, Context], make: Make, n: int
) -> Difference:
    """Decode both arms once more, without drafts, and compare the logits at that place."""
    stream, position = at
    first = make(stream)
    seen: list[NDArray[np.float32] | None] = []
    tokens: list[int | None] = []
    for context, run in zip(contexts, (side_by_side, one_by_one), strict=True):
        tap = _Tap(len(first.prompt.tokens) + position, context.model.n_vocab)

        def tapped(number: int, tap: _Tap = tap) -> Request:
            request = make(number)
            if number == stream:
                request.processors = (tap, *request.processors)
            return request

        answer = run(context, tapped, n).answers[stream]
        seen.append(tap.taken[0] if tap.taken else None)
        tokens.append(answer.tokens[position] if position < len(answer.tokens) else None)
    pair = (tokens[0], tokens[1])
    greedy = first.sampling.greedy
    lockstep, sequential = seen
    if lockstep is None or sequential is None:
        return Difference(stream, position, pair, None, None, greedy)
    noise = float(np.max(np.abs(lockstep - sequential)))
    if pair[0] is None or pair[1] is None:
        return Difference(stream, position, pair, None, noise, greedy)
    logits = tuple((float(row[pair[0]]), float(row[pair[1]])) for row in (lockstep, sequential))
    return Difference(stream, position, pair, (logits[0], logits[1]), noise, greedy)


class _Tap(LogitBias):
    """Copies the model's logits at one place, and changes nothing."""

    def __init__(self, length: int, n_vocab: int) -> None:
        super().__init__({}, n_vocab)
        self._length = length
        self.taken: list[NDArray[np.float32]] = []  # shared with its forks

    def process(self, logits: NDArray[np.float32], history: Sequence[int]) -> None:
        """Copy the row that follows `length` tokens."""
        if len(history) == self._length and not self.taken:
            self.taken.append(logits.copy())
