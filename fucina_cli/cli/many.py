"""Questions answered side by side, each exactly as `complete` would answer it alone."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace

from fucina_cli.cli import asking, output
from fucina_cli.cli.asking import Question
from fucina_cli.cli.compiling import Compiled, Compiler
from fucina_cli.constraint.constraint import ConstraintError
from fucina_cli.constraint.grammar import Prepared
from fucina_cli.constraint.validation import Verdict
from fucina_cli.conversation import Answer, Conversations, Request
from fucina_cli.decoding.reply import OnText
from fucina_cli.families.family import Family
from fucina_cli.llama.model import Model
from fucina_cli.sampling.config import SamplingConfig


@dataclass(frozen=True)
class Done:
    """An answer with the verdict on it, and the sampling that led to it."""

    key: Hashable
    question: Question
    compiled: Compiled | None
    answer: Answer
    verdict: Verdict
    sampling: SamplingConfig


@dataclass
class _Pending:
    question: Question
    prepared: Prepared | None
    compiled: Compiled | None
    request: Request
    on_text: OnText | None
    who: str
    attempts: int = 1
    recompiled: bool = False


class Many:
    """Answers questions in the slots of a context, with second attempts where those are due."""

    def __init__(
        self, family: Family, model: Model, compiler: Compiler, conversations: Conversations
    ) -> None:
        self._family, self._model, self._compiler = family, model, compiler
        self._conversations = conversations
        self._pending: dict[Hashable, _Pending] = {}

    @property
    def free(self) -> int:
        """Questions that there is room for."""
        return self._conversations.free

    @property
    def running(self) -> int:
        """Questions on their way."""
        return self._conversations.running

    def submit(
        self,
        key: Hashable,
        question: Question,
        prepared: Prepared | None,
        on_text: OnText | None = None,
        *,
        who: str,
        source_name: str | None = None,
    ) -> None:
        """Begin with a question. Raises FlagError when its constraint does not compile.

        `on_text` is left out where an answer may turn out to be drawn again. `who` begins what is
        said of this answer alone; `source_name` is what warnings call the constraint, where that is
        not its flag.
        """
        compiled = self._compiler.compile(question.options, prepared, source_name=source_name)
        request = asking.constrained(question, self._family, self._model, compiled)
        if asking.may_draw_again(request, compiled):
            on_text = None
        self._begin(key, _Pending(question, prepared, compiled, request, on_text, who))

    def advance(self) -> list[Done]:
        """One forward for all; the answers that are final."""
        return [
            done
            for key, answer in self._conversations.advance()
            if (done := self._settle(key, answer)) is not None
        ]

    def interrupt(self) -> list[Done]:
        """End all where they are; what there is of their answers."""
        return [
            self._done(key, answer, asking.judge(self._pending[key].compiled, answer))
            for key, answer in self._conversations.interrupt()
        ]

    def _begin(self, key: Hashable, pending: _Pending) -> None:
        question = pending.question
        self._pending[key] = pending
        self._conversations.submit(key, question.prompt, pending.request, pending.on_text)

    def _settle(self, key: Hashable, answer: Answer) -> Done | None:
        """The final answer, or None where another attempt was begun."""
        pending = self._pending[key]
        if isinstance(answer.failure, ConstraintError) and not pending.recompiled:
            # Perhaps the others of its grammar used up the budget that they share.
            pending.recompiled = True
            pending.compiled = self._compiler.compile(
                pending.question.options, pending.prepared, anew=True
            )
            fresh = pending.compiled.grammar.constraint() if pending.compiled else None
            pending.request = replace(pending.request, constraint=fresh)
            pending.on_text = None
            self._begin(key, pending)
            return None
        verdict = asking.judge(pending.compiled, answer)
        again = asking.may_draw_again(pending.request, pending.compiled)
        if (
            again
            and asking.wants_another(answer, verdict)
            and answer.failure is None
            and pending.attempts < asking.ATTEMPTS
        ):
            pending.attempts += 1
            if not pending.question.options.quiet:
                output.note(pending.who + asking.not_valid(pending.request, verdict))
            pending.request = asking.with_next_seed(pending.request, pending.compiled)
            self._begin(key, pending)
            return None
        return self._done(key, answer, verdict)

    def _done(self, key: Hashable, answer: Answer, verdict: Verdict) -> Done:
        pending = self._pending.pop(key)
        return Done(
            key, pending.question, pending.compiled, answer, verdict, pending.request.sampling
        )
