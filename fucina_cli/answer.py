"""An answer: the result of a job. A value that loads nothing native."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from fucina_cli.constraint.kind import Verdict
from fucina_cli.decoding.counts import Counts, StopReason
from fucina_cli.errors import InputError
from fucina_cli.job import Job
from fucina_cli.sampling.config import SamplingConfig

if TYPE_CHECKING:
    from fucina_cli.constraint.compiler import Compiled
    from fucina_cli.constraint.constraint import Constraint


@dataclass
class Answer:
    """A reply and its cost. Times in seconds; `first_token_s` from the start of prefill.

    Attributes:
        text, thinking: the answer, and the thoughts before it.
        tokens: ids of the reply, without the stop token.
        stop_reason: "failed" where `error` or `failure` tells why.
        complete: whether the text, without a stop token or sequence, is a whole answer of the
            constraint; None without a constraint.
        verdict: of the independent judge.
        sources: drafted and accepted tokens per source of drafts.
        masked: proposals of a draft model that the mask changed, None without a draft model.
        gate: state of the gate of drafts when the reply ended, None without drafts.
        failure: the exception that ended a failed reply.
        error: the same in terms of the input; the only content where nothing was decoded.
        load_s: seconds that loading the model took.
        exact: whether the model was found to be exact; None where that was not probed.
        size: tokens of context that the job could use.

    Of an answer decoded beside others, times are wall time, in which the others advanced too.
    """

    job: Job | None
    index: int
    text: str = ""
    thinking: str = ""
    tokens: list[int] = field(default_factory=list)
    stop_reason: StopReason | Literal["interrupted"] = "failed"
    prompt_tokens: int = 0
    counts: Counts = field(default_factory=Counts)
    prefill_s: float = 0.0
    decode_s: float = 0.0
    first_token_s: float | None = None
    constraint: Constraint | None = None
    compiled: Compiled | None = None
    complete: bool | None = None
    verdict: Verdict = field(default_factory=lambda: Verdict(None))
    sampling: SamplingConfig = field(default_factory=SamplingConfig)
    sources: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    masked: int | None = None
    gate: dict[str, Any] | None = None
    failure: Exception | None = None
    error: InputError | None = None
    load_s: float = 0.0
    exact: bool | None = None
    size: int = 0

    @property
    def valid(self) -> bool | None:
        """The judge's verdict on the answer; None where there is no judge or it can't tell."""
        return self.verdict.valid

    @property
    def errors(self) -> tuple[str, ...]:
        """Why the answer is not valid, or was not judged."""
        return self.verdict.errors

    @property
    def satisfied(self) -> bool:
        """Whether the answer has no error, is not incomplete, and was not judged invalid."""
        return self.error is None and self.complete is not False and self.valid is not False

    @property
    def value(self) -> Any:
        """The answer as a Python value: parsed JSON under a JSON schema, else the text.

        Of a schema taken from a class it is an instance of that class. None for a constrained
        answer that is not complete.
        """
        if self.job is None or self.job.constraint is None:
            return self.text
        # The job's own: the compiled one may be that of an equal constraint.
        return self.job.constraint.value(self.text) if self.complete else None

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the constraint asks for that is only checked afterwards."""
        return () if self.compiled is None else self.compiled.warnings

    @property
    def rate(self) -> float | None:
        """Tokens per second after the first forward, which belongs to the prefill."""
        if self.counts.committed < 2 or self.decode_s <= 0:
            return None
        return (self.counts.committed - 1) / self.decode_s

    def record(self) -> dict[str, Any]:
        """The record of `--json`: plain JSON values, times in seconds (masks in microseconds)."""
        counts, constraint = self.counts, self.constraint
        sources: dict[str, dict[str, int]] = {
            name: {"drafted": drafted, "accepted": accepted}
            for name, (drafted, accepted) in self.sources.items()
        }
        if self.masked is not None:
            sources.setdefault("draft model", {})["masked"] = self.masked
        settings = self.sampling.as_dict()
        return {
            "text": self.text,
            "thinking": self.thinking or None,
            "tokens": self.tokens,
            "stop_reason": self.stop_reason,
            "prompt_tokens": self.prompt_tokens,
            "seed": settings.pop("seed"),
            "sampling": settings,
            "timing": {
                "load_s": _rounded(self.load_s),
                "compile_s": _rounded(self.compiled.seconds) if self.compiled else None,
                "prefill_s": _rounded(self.prefill_s),
                "decode_s": _rounded(self.decode_s),
                "first_token_s": _rounded(self.first_token_s),
                "tokens_per_s": _rounded(self.rate),
            },
            "constraint": None
            if self.compiled is None or constraint is None
            else {
                "kind": self.compiled.spec.kind,
                "complete": self.complete,
                "valid": self.valid,
                "errors": list(self.errors),
                "mask_us_p50": _quantile(constraint.mask_seconds, 0.50),
                "mask_us_p99": _quantile(constraint.mask_seconds, 0.99),
            },
            "decode": {
                "forwards": counts.forwards,
                "committed": counts.committed,
                "forced": counts.forced,
                "drafted": counts.drafted,
                "accepted": counts.accepted,
                "tokens_per_forward": _rounded(counts.committed / counts.forwards)
                if counts.forwards
                else None,
                "sources": sources,
                "gate": self.gate,
            },
            "exact": self.exact,
        }


def _quantile(seconds: list[float], share: float) -> float | None:
    """A quantile in microseconds."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e6, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
