"""What an answer took: the JSON record, and the lines for stderr."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fucina_cli.cli import exits, output, session
from fucina_cli.cli.compiling import Compiled
from fucina_cli.cli.options import Options
from fucina_cli.constraint.validation import Verdict
from fucina_cli.conversation import Answer
from fucina_cli.llama.exactness import Exactness
from fucina_cli.sampling.config import SamplingConfig

if TYPE_CHECKING:
    from fucina_cli.drafting.speculation import Speculation


def record(
    answer: Answer,
    sampling: SamplingConfig,
    compiled: Compiled | None,
    verdict: Verdict,
    load_s: float,
    exactness: Exactness | None,
    speculation: Speculation | None,
) -> dict[str, Any]:
    """The record of `--json`: plain JSON values, times in seconds (masks in microseconds)."""
    counts, constraint = answer.counts, answer.constraint
    committed = counts.committed
    return {
        "text": answer.text,
        "thinking": answer.thinking or None,
        "tokens": answer.tokens,
        "stop_reason": answer.stop_reason,
        "prompt_tokens": answer.prompt_tokens,
        "seed": sampling.seed,
        "sampling": {k: v for k, v in sampling.as_dict().items() if k != "seed"},
        "timing": {
            "load_s": _rounded(load_s),
            "compile_s": _rounded(compiled.seconds) if compiled else None,
            "prefill_s": _rounded(answer.prefill_s),
            "decode_s": _rounded(answer.decode_s),
            "first_token_s": _rounded(answer.first_token_s),
            "tokens_per_s": _rate(committed, answer),
        },
        "constraint": None
        if compiled is None or constraint is None
        else {
            "kind": compiled.grammar.source.kind,
            "complete": answer.complete,
            "valid": verdict.valid,
            "errors": list(verdict.errors),
            "mask_us_p50": _quantile(constraint.mask_seconds, 0.50),
            "mask_us_p99": _quantile(constraint.mask_seconds, 0.99),
        },
        "decode": {
            "forwards": counts.forwards,
            "committed": committed,
            "forced": counts.forced,
            "drafted": counts.drafted,
            "accepted": counts.accepted,
            "tokens_per_forward": _rounded(committed / counts.forwards)
            if counts.forwards
            else None,
            **_drafting(answer, speculation),
        },
        "exact": exactness.exact if exactness else None,
    }


def _drafting(answer: Answer, speculation: Speculation | None) -> dict[str, Any]:
    """What drafts came to, by source, and what the gate thinks."""
    sources: dict[str, dict[str, int]] = {
        name: {"drafted": drafted, "accepted": accepted}
        for name, (drafted, accepted) in answer.sources.items()
    }
    if answer.masked is not None:
        sources.setdefault("draft model", {})["masked"] = answer.masked
    return {"sources": sources, "gate": speculation.gate.state() if speculation else None}


def tell_outcome(
    options: Options,
    n_ctx: int,
    answer: Answer,
    compiled: Compiled | None,
    verdict: Verdict,
    *,
    who: str = "",
) -> int:
    """A line on stderr about an answer that is not what was asked for; the exit code.

    `who` comes before it, where there are several answers.
    """
    if answer.stop_reason == "interrupted":
        return exits.INTERRUPTED
    if compiled is not None and answer.constraint is not None:
        flag = who + (options.constraint_flag or "constraint")
        if not answer.complete:
            why = ended_by(options, n_ctx, answer)
            output.error(f"{flag}: the answer is not complete: {why}")
            return exits.UNSATISFIED
        if verdict.valid is False:
            output.error(f"{flag}: the answer is not valid: {'; '.join(verdict.errors)}")
            return exits.UNSATISFIED
        if verdict.valid is None and verdict.errors and not options.quiet:
            output.warning(f"{flag}: the answer was not validated: {'; '.join(verdict.errors)}")
    elif answer.stop_reason == "length" and options.gen is None and not options.quiet:
        output.note(f"{who}cut short: {ended_by(options, n_ctx, answer)}")
    return exits.OK


def ended_by(options: Options, n_ctx: int, answer: Answer) -> str:
    """Why an answer ended before it was complete, in words that name the flag to change."""
    if answer.stop_reason != "length":
        ended = answer.stop_reason.replace("_", " ")
        return f"the turn ended early, by {ended}" + (" (--stop)" if options.stop else "")
    spent = len(answer.tokens)
    if answer.prompt_tokens + spent >= n_ctx and spent < session.answer_limit(options.gen):
        return f"the context of {n_ctx} tokens is full (--ctx)"
    return f"the budget of {spent} tokens is used up (--gen)"


@dataclass
class Drafting:
    """What drafting came to over any number of answers."""

    committed: int = 0
    forced: int = 0
    sources: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, answer: Answer) -> None:
        """Count an answer too."""
        self.committed += answer.counts.committed
        self.forced += answer.counts.forced
        for name, (drafted, accepted) in answer.sources.items():
            before = self.sources.get(name, (0, 0))
            self.sources[name] = (before[0] + drafted, before[1] + accepted)

    def tell(self, forwards: int, speculation: Speculation) -> None:
        """One line on stderr; `forwards` are those of all answers, common ones counted once."""
        parts = [f"{forwards} forward" if forwards == 1 else f"{forwards} forwards"]
        if forwards:
            parts.append(f"{self.committed / forwards:.2f} tokens per forward")
        shares = [f"{name} {a}/{d}" for name, (d, a) in self.sources.items() if d]
        output.note(
            f"{', '.join(parts)}; {self.forced} forced; "
            f"accepted/drafted: {', '.join(shares) or 'none'}; {gate_state(speculation)}"
        )


def gate_state(speculation: Speculation) -> str:
    """Which kinds of drafts are in use."""
    kinds = speculation.gate.state()["kinds"]
    on = [name for name, kind in kinds.items() if kind["on"]]
    return f"gate on: {', '.join(on) or 'nothing'}"


def tell_timing(answer: Answer, load_s: float, compiled: Compiled | None) -> None:
    """One line on stderr: where the time went."""
    counts = answer.counts
    rate = _rate(counts.committed, answer)
    output.note(
        f"load {load_s:.3f} s, "
        + (f"compile {compiled.seconds:.3f} s, " if compiled else "")
        + f"prefill {answer.prefill_s:.3f} s ({answer.prompt_tokens} tokens), "
        f"decode {answer.decode_s:.3f} s ({counts.committed} tokens"
        + (f", {rate:.1f} tokens/s" if rate else "")
        + f", {counts.forwards} forwards, {counts.forced} forced)"
    )


def _rate(committed: int, answer: Answer) -> float | None:
    """Tokens per second after the first forward, which belongs to the prefill."""
    if committed < 2 or answer.decode_s <= 0:
        return None
    return _rounded((committed - 1) / answer.decode_s)


def _quantile(seconds: list[float], share: float) -> float | None:
    """A quantile in microseconds."""
    if not seconds:
        return None
    ordered = sorted(seconds)
    return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))] * 1e6, 1)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)
