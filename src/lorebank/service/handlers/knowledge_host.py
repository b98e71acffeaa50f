"""What a gateway tells and takes: its agents and conversations, ended runs, requests for a review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lorebank.access.actions import KNOWLEDGE_HOST
from lorebank.clock import to_iso
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.knowledge_ports import ReviewRow

if TYPE_CHECKING:
    from lorebank.vaults.maintenance.review import Reviews


def report_knowledge_host(call: Call) -> Wire:
    """Replace the report. It feeds listings and takes access from agents that are gone; it gives none."""
    asked = call.request
    conversations = [one.model_dump(by_alias=True) for one in asked.conversations]
    done = call.context.knowledge.host.report(asked.agents, conversations)
    return {
        "agents": done.agents,
        "conversations": done.conversations,
        "removed": list(done.removed),
    }


def end_knowledge_invocation(call: Call) -> Wire:
    """The run's work stops at its next check."""
    call.context.knowledge.host.end_invocation(call.request.invocation, call.request.host)
    return {"ended": True}


def list_knowledge_reviews(call: Call) -> Wire:
    """Requests for a review that nobody has answered yet."""
    return {"reviews": [_review(row) for row in _reviews(call).waiting()]}


def take_knowledge_review(call: Call) -> Wire:
    """Note that the gateway has it. Taking it twice is fine; queueing is told by its answer."""
    return _review(_reviews(call).take(call.params["review_id"]))


def answer_knowledge_review(call: Call) -> Wire:
    """What became of it. The first answer stays."""
    return _review(_reviews(call).answer(call.params["review_id"], call.request.outcome))


def _reviews(call: Call) -> Reviews:
    from lorebank.vaults.maintenance.review import Reviews

    return Reviews(call.context.knowledge.registry, call.context.clock)


def _review(row: ReviewRow) -> Wire:
    return {
        "id": row.id,
        "jobId": row.job_id,
        "claimsLeft": row.claims_left,
        "requestedAt": to_iso(row.requested_at),
        "takenAt": None if row.taken_at is None else to_iso(row.taken_at),
        "outcome": row.outcome,
        "answeredAt": None if row.answered_at is None else to_iso(row.answered_at),
    }


OPERATIONS = (
    Operation("report_knowledge_host", KNOWLEDGE_HOST, Scope.SERVER, report_knowledge_host),
    Operation("end_knowledge_invocation", KNOWLEDGE_HOST, Scope.SERVER, end_knowledge_invocation),
    Operation("list_knowledge_reviews", KNOWLEDGE_HOST, Scope.SERVER, list_knowledge_reviews, reads=True),
    Operation("take_knowledge_review", KNOWLEDGE_HOST, Scope.SERVER, take_knowledge_review),
    Operation("answer_knowledge_review", KNOWLEDGE_HOST, Scope.SERVER, answer_knowledge_review),
)
