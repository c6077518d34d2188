"""The outcome of an answer: lines for stderr, and the exit code."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fucina_cli.cli.commandline import CommandLine
from fucina_cli.cli.process import exits, output
from fucina_cli.job import DEFAULT_GEN

if TYPE_CHECKING:
    from fucina_cli.answer import Answer


def tell(line: CommandLine, answer: Answer, prefix: str = "") -> int:
    """A line on stderr about an answer that failed or is not complete or valid; the exit code.

    `prefix` begins the line, where there are several answers.
    """
    if answer.error is not None:
        output.error(f"{prefix}{answer.error.describe(line.names)}")
        return exits.BAD_INPUT
    if answer.stop_reason == "interrupted":
        return exits.INTERRUPTED
    if answer.compiled is not None:
        flag = prefix + (line.flag(line.kind.name) if line.kind else "constraint")
        if not answer.complete:
            output.error(f"{flag}: the answer is not complete: {_ended_by(line, answer)}")
            return exits.UNSATISFIED
        errors = "; ".join(answer.errors)
        if answer.valid is False:
            output.error(f"{flag}: the answer is not valid: {errors}")
            return exits.UNSATISFIED
        if answer.valid is None and errors and not line.quiet:
            output.warning(f"{flag}: the answer was not validated: {errors}")
    elif answer.stop_reason == "length" and line["gen"] is None and not line.quiet:
        output.note(f"{prefix}cut short: {_ended_by(line, answer)}")
    return exits.OK


def _ended_by(line: CommandLine, answer: Answer) -> str:
    """Why an answer ended before it was complete, in words that name the flag to change."""
    if answer.stop_reason != "length":
        ended = answer.stop_reason.replace("_", " ")
        return f"the turn ended early, by {ended}" + (" (--stop)" if line.given("stop") else "")
    spent = len(answer.tokens)
    limit = DEFAULT_GEN if line["gen"] is None else line["gen"]
    if answer.prompt_tokens + spent >= answer.size and spent < limit:
        return f"the context of {answer.size} tokens is full (--ctx)"
    return f"the budget of {spent} tokens is used up (--gen)"


@dataclass
class Drafts:
    """Totals of drafting over any number of answers."""

    committed: int = 0
    forced: int = 0
    sources: dict[str, tuple[int, int]] = field(default_factory=dict)
    kinds: list[str] = field(default_factory=list)  # that the gate has on

    def add(self, answer: Answer) -> None:
        """Count an answer."""
        self.committed += answer.counts.committed
        self.forced += answer.counts.forced
        for name, (drafted, accepted) in answer.sources.items():
            before = self.sources.get(name, (0, 0))
            self.sources[name] = (before[0] + drafted, before[1] + accepted)
        if answer.gate is not None:
            self.kinds = [name for name, kind in answer.gate["kinds"].items() if kind["on"]]

    def tell(self, forwards: int) -> None:
        """One line on stderr; `forwards` are those of all answers; one over several counts once."""
        parts = [f"{forwards} forward" if forwards == 1 else f"{forwards} forwards"]
        if forwards:
            parts.append(f"{self.committed / forwards:.2f} tokens per forward")
        shares = [f"{name} {a}/{d}" for name, (d, a) in self.sources.items() if d]
        output.note(
            f"{', '.join(parts)}; {self.forced} forced; "
            f"accepted/drafted: {', '.join(shares) or 'none'}; "
            f"gate on: {', '.join(self.kinds) or 'nothing'}"
        )


def tell_timing(answer: Answer) -> None:
    """One line on stderr: where the time went."""
    counts, rate = answer.counts, answer.rate
    output.note(
        f"load {answer.load_s:.3f} s, "
        + (f"compile {answer.compiled.seconds:.3f} s, " if answer.compiled else "")
        + f"prefill {answer.prefill_s:.3f} s ({answer.prompt_tokens} tokens), "
        f"decode {answer.decode_s:.3f} s ({counts.committed} tokens"
        + (f", {rate:.1f} tokens/s" if rate else "")
        + f", {counts.forwards} forwards, {counts.forced} forced)"
    )
