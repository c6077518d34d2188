"""What drafts in a run: which sources, put together for a stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.constrained import ConstrainedSource
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.source import DraftSource
from fucina_cli.sampling.processor import LogitProcessor, Structured


@dataclass
class Speculation:
    """Sources for one stream, and the gate of the context it runs in.

    Attributes:
        cascade: draft from the conversation, the references and recycled bigrams.
        references: documents to draft from, by name.
        gate: decides how much of a draft is verified; one for all streams of a context.
    """

    cascade: bool = True
    references: Mapping[str, Reference] = field(default_factory=dict)
    gate: Gate = field(default_factory=Gate)

    def source(
        self,
        processor: LogitProcessor | None,
        *,
        tokenize: Callable[[str], Sequence[int]],
        token_bytes: Callable[[int], bytes],
    ) -> DraftSource | None:
        """A source for a stream with this processor; None when there is nothing to draft from.

        `tokenize` and `token_bytes` as for ConstrainedSource.
        """
        inner = Cascade(self.references) if self.cascade else None
        if not isinstance(processor, Structured):
            return inner
        return ConstrainedSource(processor, inner, tokenize=tokenize, token_bytes=token_bytes)
