"""What a ticket is, and what it can be about."""

from __future__ import annotations

from dataclasses import dataclass

#: What a ticket can be about.
CATEGORIES = ("billing", "bug", "how_to", "account_access", "feature_request", "cancellation")
#: How much a ticket hurries, as its cue says.
PRIORITIES = ("low", "normal", "high", "urgent")


@dataclass(frozen=True)
class Ticket:
    """A ticket of a customer, with its right labels."""

    text: str
    category: str
    priority: str
