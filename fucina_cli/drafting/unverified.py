"""The gate learns how drafts that were not verified would have held, without a forward."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fucina_cli.drafting.source import Outlook
from fucina_cli.llama.prefix import common_prefix

if TYPE_CHECKING:  # not imported by runs without drafts
    from fucina_cli.drafting.gate import Gate


@dataclass
class _Chain:
    """A draft that has held so far: its next tokens, and where the first of them would stand."""

    outlook: Outlook
    position: int
    rest: Sequence[int]


@dataclass(frozen=True)
class _Unaffordable:
    """What would have been verified of a draft had the gate afforded it, and beside which rows."""

    outlook: Outlook
    position: int
    draft: Sequence[int]
    rows: int
    logit_rows: int


class UnverifiedDrafts:
    """Follows the drafts of one stream that the gate left out, and tells it how they did.

    Plain decoding commits the next tokens anyway; comparing them with what was suggested says how
    far the draft would have held. Of every draft the first token is counted, and one of each kind
    is followed to its first wrong token. Of those that the gate could not afford, one at a time is
    settled with the gain that it would have had.
    """

    def __init__(self) -> None:
        self._new: _Chain | None = None  # nothing of it is known yet
        self._chains: dict[str, _Chain] = {}
        self._unaffordable: _Unaffordable | None = None

    def add(self, outlook: Outlook, draft: Sequence[int], position: int) -> None:
        """Follow a draft of at least one token whose first would stand at `position`."""
        self._new = _Chain(outlook, position, draft)

    def add_unaffordable(
        self, outlook: Outlook, draft: Sequence[int], position: int, *, rows: int, logit_rows: int
    ) -> None:
        """Settle what `Gate.unaffordable` told, unless an earlier one is still open."""
        if self._unaffordable is None:
            self._unaffordable = _Unaffordable(outlook, position, draft, rows, logit_rows)

    def settle(self, gate: Gate, tokens: Sequence[int]) -> None:
        """Compare with `tokens`, all of the stream's."""
        if self._unaffordable is not None:
            self._settle_unaffordable(gate, self._unaffordable, tokens)
        for chain in list(self._chains.values()):
            self._follow(gate, chain, tokens)
        new = self._new
        if new is None or new.position >= len(tokens):
            return
        self._new = None
        kind = new.outlook.kind
        held = tokens[new.position] == new.rest[0]
        gate.learn_first(new.outlook, held)
        if held and len(new.rest) > 1 and kind not in self._chains:
            self._chains[kind] = _Chain(new.outlook, new.position + 1, new.rest[1:])
            self._follow(gate, self._chains[kind], tokens)

    def _settle_unaffordable(
        self, gate: Gate, missed: _Unaffordable, tokens: Sequence[int]
    ) -> None:
        new = tokens[missed.position : missed.position + len(missed.draft)]
        held = common_prefix(missed.draft, new)
        if held < len(new) or held == len(missed.draft):
            gate.settle_unaffordable(
                len(missed.draft),
                held,
                missed.outlook,
                rows=missed.rows,
                logit_rows=missed.logit_rows,
            )
            self._unaffordable = None

    def _follow(self, gate: Gate, chain: _Chain, tokens: Sequence[int]) -> None:
        new = tokens[chain.position : chain.position + len(chain.rest)]
        held = common_prefix(chain.rest, new)
        failed = held < len(new)
        if held or failed:
            gate.learn_next(chain.outlook, held, failed)
        chain.position, chain.rest = chain.position + held, chain.rest[held:]
        if failed or not chain.rest:
            del self._chains[chain.outlook.kind]
