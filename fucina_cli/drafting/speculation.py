"""Which sources draft in a run, combined for each stream."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from weakref import WeakValueDictionary

from fucina_cli.drafting.automaton import Reference
from fucina_cli.drafting.cascade import Cascade
from fucina_cli.drafting.constrained import ConstrainedSource
from fucina_cli.drafting.draft_model import DraftModelSource
from fucina_cli.drafting.either import Either
from fucina_cli.drafting.gate import Gate
from fucina_cli.drafting.gated import Gated
from fucina_cli.drafting.source import DraftSource
from fucina_cli.llama.context import Context
from fucina_cli.llama.vocabulary import Vocabulary
from fucina_cli.sampling.processor import DraftMasks, LogitProcessor, Structured


@dataclass
class Speculation:
    """Makes the drafts of the streams of a context, which share its gate.

    Attributes:
        cascade: draft from the conversation, the references and recycled bigrams.
        references: documents to draft from, by name.
        draft_context: draft with the model of this context, too; a stream has a slot of it until
            its drafts are closed.
        gate: decides how much of a draft is verified; one for all streams of a context.
    """

    cascade: bool = True
    references: Mapping[str, Reference] = field(default_factory=dict)
    draft_context: Context | None = None
    gate: Gate = field(default_factory=Gate)
    # By slot of the draft context, the stream's drafts that had it last.
    _users: WeakValueDictionary[int, Gated] = field(
        default_factory=WeakValueDictionary, init=False, repr=False
    )

    def drafts(self, processor: LogitProcessor | None, vocabulary: Vocabulary) -> Gated | None:
        """Drafts for a stream with this processor; None when there is nothing to draft from.

        Raises ValueError when all slots of the draft context are taken.
        """
        cascade = Cascade(self.references) if self.cascade else None
        source: DraftSource | None = cascade
        model, slot = None, 0
        if self.draft_context is not None:
            slot = self._free_slot(self.draft_context)
            model = DraftModelSource(
                self.draft_context,
                processor if isinstance(processor, DraftMasks) else None,
                self.gate,
                n_vocab=vocabulary.size,
                is_end=vocabulary.is_end,
                slot=slot,
            )
            source = model if cascade is None else Either(cascade, model)
        if isinstance(processor, Structured):
            source = ConstrainedSource(
                processor,
                source,
                tokenize=vocabulary.tokenize_inside,
                token_bytes=vocabulary.token_bytes,
                ask_always=model is None,
            )
        if source is None:
            return None
        drafts = Gated(source, self.gate, model=model)
        if model is not None:
            self._users[slot] = drafts
        return drafts

    def _free_slot(self, context: Context) -> int:
        for slot in range(context.n_slots):
            user = self._users.get(slot)
            if user is None or user.closed:
                return slot
        raise ValueError(f"all {context.n_slots} slots of the draft model are taken")
