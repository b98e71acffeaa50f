"""What can be decided about one claim."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Tier = Literal["page", "hint", "mention"]
Kind = Literal["linked", "ambiguous", "no_subject"]
TIERS: Final[tuple[Tier, ...]] = ("page", "hint", "mention")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A decision; `tier` and `subject` (a page's id) are there exactly for `linked`."""

    kind: Kind
    tier: Tier | None = None
    subject: str | None = None


NO_SUBJECT: Final = Outcome("no_subject")
AMBIGUOUS: Final = Outcome("ambiguous")
