"""What drafts in a run: which sources, put together for a stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.constrained import ConstrainedSource
from fucina_cli.drafting.draft_model import DraftModelSource
from fucina_cli.drafting.either import Either
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.source import DraftSource
from fucina_cli.llama.context import Context
from fucina_cli.llama.vocabulary import Vocabulary
from fucina_cli.sampling.processor import DraftMasks, LogitProcessor, Structured


@dataclass
class Speculation:
    """Sources for the streams of a context, and its gate.

    Attributes:
        cascade: draft from the conversation, the references and recycled bigrams.
        references: documents to draft from, by name.
        draft_context: draft with the model of this context, too.
        gate: decides how much of a draft is verified; one for all streams of a context.
    """

    cascade: bool = True
    references: Mapping[str, Reference] = field(default_factory=dict)
    draft_context: Context | None = None
    gate: Gate = field(default_factory=Gate)
    _models: dict[int, DraftModelSource] = field(default_factory=dict, repr=False)

    def masked(self, slot: int = 0) -> int | None:
        """Proposals that the mask changed, of a slot's last source; None without draft model."""
        model = self._models.get(slot)
        return None if model is None else model.masked

    def source(
        self, processor: LogitProcessor | None, vocabulary: Vocabulary, *, slot: int = 0
    ) -> DraftSource | None:
        """A source for a stream with this processor; None when there is nothing to draft from.

        `slot` is the stream's in the draft model's context.
        """
        inner = self._inner(processor, vocabulary, slot)
        if not isinstance(processor, Structured):
            return inner
        return ConstrainedSource(
            processor,
            inner,
            tokenize=vocabulary.tokenize_inside,
            token_bytes=vocabulary.token_bytes,
            ask_always=self.draft_context is None,
        )

    def _inner(
        self, processor: LogitProcessor | None, vocabulary: Vocabulary, slot: int
    ) -> DraftSource | None:
        cascade = Cascade(self.references) if self.cascade else None
        if self.draft_context is None:
            return cascade
        model = DraftModelSource(
            self.draft_context,
            processor if isinstance(processor, DraftMasks) else None,
            self.gate,
            n_vocab=vocabulary.size,
            is_end=vocabulary.is_end,
            slot=slot,
        )
        self._models[slot] = model
        return model if cascade is None else Either(cascade, model)
