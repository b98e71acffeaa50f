"""The hand-over to an agent: what relink left, asked for once a pass, taken and answered by a gateway.

lorebank starts no agent. It writes one request down, with an id that follows from the pass; a gateway takes
it, queues the automation that the request names, and answers what became of it (seed 002, Agent review).
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Final, get_args

from lorebank.clock import Clock, Micros, now
from lorebank.errors import InvalidInput, NotFound
from lorebank.storage.knowledge_ports import KnowledgeRegistry, ReviewOutcome, ReviewRow
from lorebank.vaults.maintenance.results import ReviewNote

SKILL: Final = "knowledge-unlinked-claims"
"""The skill that the automation's agent follows; `lorebank vault skill` prints it."""
OUTCOMES: Final[tuple[ReviewOutcome, ...]] = get_args(ReviewOutcome)
ANSWERS: Final[tuple[ReviewOutcome, ...]] = ("enqueued", "skipped", "unavailable", "failed")
"""What a gateway can say; `not_needed` is for lorebank to say."""
_REVIEWS: Final = uuid.UUID("c1a0a5c2-54f8-4d37-8a55-0f9d6c2f6f5e")


def ask(
    registry: KnowledgeRegistry, job: str | None, passed: str, left: int, at: Micros
) -> ReviewNote | None:
    """Record the request of one pass. None when no job is set; nothing is recorded when nothing is left.

    A request of an earlier pass for the same job that no gateway has taken is answered as unavailable: two
    of them would send an agent twice to the same claims.
    """
    if job is None:
        return None
    if left == 0:
        return ReviewNote(None, 0, "not_needed")
    id = review_id(job, passed)
    for row in registry.reviews(open_only=True):
        if row.job_id == job and row.taken_at is None and row.id != id:
            registry.answer_review(row.id, "unavailable", at)
    registry.add_review(ReviewRow(id, job, left, at, None, None, None))
    return ReviewNote(id, left)


def review_id(job: str, passed: str) -> str:
    """A pure function of the job and the pass: the same pass never asks twice."""
    return str(uuid.uuid5(_REVIEWS, f"{job}\n{passed}"))


def outcome_of(registry: KnowledgeRegistry, note: ReviewNote) -> str:
    """What became of it by now: an outcome, `requested` before a gateway takes it, `taken` after."""
    if note.outcome is not None:
        return note.outcome
    row = next((row for row in registry.reviews(open_only=False) if row.id == note.id), None)
    if row is None:
        return "unavailable"
    return row.outcome or ("requested" if row.taken_at is None else "taken")


class Reviews:
    """The gateway's side of the hand-over."""

    def __init__(self, registry: KnowledgeRegistry, clock: Clock = now) -> None:
        self._registry = registry
        self._clock = clock

    def waiting(self) -> Sequence[ReviewRow]:
        """The requests that are not answered, oldest first."""
        return sorted(self._registry.reviews(open_only=True), key=lambda row: (row.requested_at, row.id))

    def take(self, id: str) -> ReviewRow:
        """Take one; taking it again gives the same row. `NotFound`."""
        return _there(self._registry.take_review(id, self._clock()))

    def answer(self, id: str, outcome: str) -> ReviewRow:
        """Say what became of it; the first answer stays. `InvalidInput` for another word, `NotFound`."""
        known = next((word for word in ANSWERS if word == outcome), None)
        if known is None:
            raise InvalidInput(f"outcome must be one of: {', '.join(ANSWERS)}")
        return _there(self._registry.answer_review(id, known, self._clock()))


def _there(row: ReviewRow | None) -> ReviewRow:
    if row is None:
        raise NotFound("Review not found")
    return row
