"""What a pass did, as values and as the JSON that the registry keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from lorebank.clock import Micros
from lorebank.vaults.relink.outcome import TIERS
from lorebank.vaults.relink.values import Report

StoreOutcome = Literal["done", "skipped", "failed", "ended"]
Trigger = Literal["schedule", "catch_up", "manual"]


@dataclass(slots=True)
class StoreResult:
    """One store's part. `reason` is a code (`access.reasons`, or an error's) where it was skipped or failed.

    `conversations` counts the conversation partitions that were gone through; `left` the claims of the
    private partition without linked page and source page, None when they could not be counted.
    """

    vault: str
    binding: str
    outcome: StoreOutcome = "done"
    reason: str | None = None
    conversations: int = 0
    examined: int = 0
    tiers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(TIERS, 0))
    ambiguous: int = 0
    no_subject: int = 0
    failed: int = 0
    left: int | None = None

    @property
    def linked(self) -> int:
        """Links of all tiers."""
        return sum(self.tiers.values())

    def add(self, report: Report) -> None:
        """Count a page of claims."""
        self.examined += report.examined
        self.ambiguous += report.counts["ambiguous"]
        self.no_subject += report.counts["no_subject"]
        self.failed += report.counts["failed"]
        for tier, count in report.tiers.items():
            self.tiers[tier] += count


@dataclass(frozen=True, slots=True)
class ReviewNote:
    """What was decided on a review: the request's id (None: none was recorded), and how many claims were
    left. `outcome` is known at once for `not_needed`; otherwise the gateway answers."""

    id: str | None
    left: int
    outcome: str | None = None


@dataclass(frozen=True, slots=True)
class PassResult:
    """A pass. `slot` is the time for which it was scheduled; `ended` tells that it did not get to the end."""

    trigger: Trigger
    slot: Micros | None
    started_at: Micros
    ended_at: Micros
    ended: bool
    stores: tuple[StoreResult, ...]
    review: ReviewNote | None

    @property
    def id(self) -> str:
        """The same for a pass that is taken up again after a crash."""
        return pass_id(self.trigger, self.slot, self.started_at)

    def kept(self) -> dict[str, Any]:
        """JSON-ready."""
        return asdict(self)


def pass_id(trigger: Trigger, slot: Micros | None, started_at: Micros) -> str:
    """What names a pass: its slot; a pass by hand has none and is named by its beginning."""
    return f"manual {started_at}" if slot is None or trigger == "manual" else f"slot {slot}"


def from_kept(said: Any) -> PassResult | None:
    """The pass that was kept; None for nothing, or for what another release kept differently."""
    try:
        review = said["review"]
        return PassResult(
            trigger=said["trigger"],
            slot=said["slot"],
            started_at=int(said["started_at"]),
            ended_at=int(said["ended_at"]),
            ended=bool(said["ended"]),
            stores=tuple(StoreResult(**one) for one in said["stores"]),
            review=None if review is None else ReviewNote(**review),
        )
    except (TypeError, KeyError, ValueError):
        return None


def totals(stores: Sequence[StoreResult]) -> Mapping[str, int]:
    """Sums over stores."""
    return {
        "examined": sum(one.examined for one in stores),
        "linked": sum(one.linked for one in stores),
        "ambiguous": sum(one.ambiguous for one in stores),
        "no_subject": sum(one.no_subject for one in stores),
        "failed": sum(one.failed for one in stores),
        "left": sum(one.left or 0 for one in stores),
    }
