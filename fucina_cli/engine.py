"""Requests in the slots of one context, each decoded as if it were alone.

A single answer is the case of one slot. Knows no flag and prints nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from fucina_cli.answer import Answer
from fucina_cli.constraint.compiler import Compiled
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.decoding.lockstep import Lockstep
from fucina_cli.decoding.reply import Channel, OnText
from fucina_cli.errors import InputError
from fucina_cli.llama.context import Context
from fucina_cli.request import Request, answered, begin, judged
from fucina_cli.sampling.draws import LIMIT

if TYPE_CHECKING:  # not imported by runs without drafts
    from fucina_cli.drafting.speculation import Speculation

#: Most answers drawn where the grammar alone can't make them valid.
ATTEMPTS = 4

#: Called before another attempt: the request, and the reason in words.
OnRetry = Callable[[Request, str], None]
#: Compiles a request's constraint anew.
Recompile = Callable[[Request], Compiled]


class Engine:
    """Decodes requests side by side.

    Args:
        context: has one slot per request; nothing else may use it meanwhile.
        speculation: makes their drafts.
        share: copy what prompts have in common instead of computing it again.
        on_retry: called before each further draw.
        recompile: gives a request whose grammar engine failed one more attempt with a grammar of
            its own; without it the request fails.

    Raises ValueError when the draft model's context has fewer slots.
    """

    def __init__(
        self,
        context: Context,
        *,
        speculation: Speculation | None = None,
        share: bool = True,
        on_retry: OnRetry | None = None,
        recompile: Recompile | None = None,
    ) -> None:
        drafter = speculation.draft_context if speculation else None
        if drafter is not None and drafter.n_slots < context.n_slots:
            slots, streams = drafter.n_slots, context.n_slots
            raise ValueError(f"{slots} slots of a draft model are too few for {streams} streams")
        self.context, self.speculation = context, speculation
        self._lockstep = Lockstep(context, share=share)
        self._on_retry, self._recompile = on_retry, recompile
        self._running: list[Request | None] = [None] * context.n_slots
        self._answers: list[Answer] = []  # not yet handed out

    @property
    def free(self) -> int:
        """Requests that there is room for."""
        return self._lockstep.free

    @property
    def running(self) -> int:
        """Requests that are being decoded."""
        return len(self._requests)

    def submit(self, request: Request) -> None:
        """Begin a request. Raises what Lockstep.add raises."""
        if not self.free:
            raise ValueError(f"all {self.context.n_slots} slots are taken")
        if request.on_text is not None:
            request.on_text = _Shown(request, request.on_text)
        self._begin(request)

    def advance(self) -> list[Answer]:
        """One forward for all; the answers that are final."""
        self._lockstep.advance()
        now = time.perf_counter()
        for request in self._requests:
            if request.prefilled is None:
                request.prefilled = now
            assert request.stream is not None
            if request.stream.finished:
                self._settle(request, now)
        return self._handed_out()

    def interrupt(self) -> list[Answer]:
        """End all requests where they are; their answers so far, whole ones among them."""
        now = time.perf_counter()
        for request in self._requests:
            assert request.stream is not None
            if not request.stream.finished:
                request.stream.reply.finish()
            self._conclude(request, self._answer(request, now))
        for stream in self._lockstep.streams:
            self._lockstep.remove(stream)
        return self._handed_out()

    def decode(
        self, request: Request, on_first_forward: Callable[[], None] | None = None
    ) -> Answer:
        """Answer one request; the others must have ended.

        An interrupt (Ctrl-C) ends it early, and the answer holds what was produced. Raises the
        error of a reply that failed.
        """
        self.submit(request)
        answers: list[Answer] = []
        try:
            answers = self.advance()
            if on_first_forward:
                on_first_forward()
            while not answers:
                answers = self.advance()
        except KeyboardInterrupt:
            answers = answers or self.interrupt()
        if answers[0].failure is not None:
            raise answers[0].failure
        return answers[0]

    # ----------------------------------------------------------------------------------------

    def _begin(self, request: Request) -> None:
        stream = begin(request, self.context)
        if self.speculation is not None and self.context.model.can_rewind:
            stream.drafts = self.speculation.drafts(
                stream.sampler.processor, self.context.model.vocabulary
            )
        self._lockstep.add(stream)
        self._running[self._running.index(None)] = request

    def _answer(self, request: Request, now: float) -> Answer:
        answer = answered(request, self.context, now)
        if self.speculation is not None:
            answer.gate = self.speculation.gate.state()
        answer.verdict = judged(answer)
        return answer

    def _settle(self, request: Request, now: float) -> None:
        """Conclude with the answer, unless another attempt may do better."""
        answer = self._answer(request, now)
        if isinstance(answer.failure, ConstraintError) and self._recompiled(request):
            self._again(request, same_text=True)
        elif self._may_do_better(request, answer):
            if self._on_retry is not None:
                self._on_retry(request, "; ".join(answer.errors))
            seed = (request.sampling.seed + 1) % LIMIT
            request.sampling = replace(request.sampling, seed=seed)
            self._again(request, same_text=False)
        else:
            self._conclude(request, answer)

    def _recompiled(self, request: Request) -> bool:
        """Whether the constraint was compiled anew.

        Copies of a grammar share its engine's budget: others may have used it up.
        """
        if request.recompiled or self._recompile is None or request.compiled is None:
            return False
        request.recompiled = True
        try:
            request.compiled = self._recompile(request)
        except InputError:
            return False
        request.constraint = request.compiled.grammar.constraint()
        return True

    @staticmethod
    def _may_do_better(request: Request, answer: Answer) -> bool:
        """Whether another draw may be valid: not where the user or a stop cut the answer short.

        Nor where the limit did and the grammar leaves nothing to the judge: the next is as long.
        """
        cut = answer.stop_reason in ("interrupted", "stop_token", "stop_sequence")
        compiled = request.compiled
        cut = cut or (compiled is not None and not compiled.grammar.relaxed)
        return (
            request.draws_again
            and request.attempts < ATTEMPTS
            and answer.valid is False
            and answer.failure is None
            and not (cut and not answer.complete)
        )

    def _again(self, request: Request, *, same_text: bool) -> None:
        if isinstance(request.on_text, _Shown):
            request.on_text.again(same_text=same_text)
        self._leave(request)
        self._begin(request)

    def _conclude(self, request: Request, answer: Answer) -> None:
        # In this order: an interrupt in between must not lose the answer.
        self._answers.append(answer)
        self._leave(request)
        if isinstance(request.on_text, _Shown):
            request.on_text.final(answer.text)

    def _leave(self, request: Request) -> None:
        self._running = [None if other is request else other for other in self._running]

    @property
    def _requests(self) -> list[Request]:
        return [request for request in self._running if request is not None]

    def _handed_out(self) -> list[Answer]:
        answers, self._answers = self._answers, []
        return answers


class _Shown:
    """Passes each piece of a request's text on once, even where it is decoded again.

    An answer that may be drawn again is held back until it is final.
    """

    def __init__(self, request: Request, take: OnText) -> None:
        self._request, self._take = request, take
        self._sent: dict[Channel, int] = {"answer": 0, "thinking": 0}
        self._seen = dict(self._sent)

    def __call__(self, text: str, channel: Channel) -> None:
        if channel == "answer" and self._request.draws_again:
            return
        new = text[max(0, self._sent[channel] - self._seen[channel]) :]
        self._seen[channel] += len(text)
        if new:
            self._sent[channel] = self._seen[channel]
            self._take(new, channel)

    def again(self, *, same_text: bool) -> None:
        """Another attempt begins; with `same_text` it first repeats the text so far."""
        self._seen = dict.fromkeys(self._seen, 0)
        if not same_text:
            self._sent = dict(self._seen)

    def final(self, text: str) -> None:
        """The answer is final."""
        if self._request.draws_again and text:
            self._take(text, "answer")
