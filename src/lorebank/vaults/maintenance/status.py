"""What operators see of maintenance: schedule, next and last run, counts of the stores of their agents."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from lorebank.access.knowledge import KnowledgeData, KnowledgeFacts
from lorebank.clock import to_iso
from lorebank.storage.knowledge_ports import KnowledgeRegistry
from lorebank.vaults.maintenance.results import PassResult, StoreResult, totals
from lorebank.vaults.maintenance.review import outcome_of
from lorebank.vaults.maintenance.service import Maintenance

Sees = Callable[[Iterable[str]], bool]
"""Whether an operator may see a store that these agents use (`assignments.operator.Operator.sees`)."""


def status(
    maintenance: Maintenance, facts: KnowledgeFacts, registry: KnowledgeRegistry, sees: Sees
) -> dict[str, Any]:
    """JSON-ready. Looking makes nothing."""
    data = facts.data
    settings = data.settings.maintenance
    upcoming, last = maintenance.next_run(), maintenance.last()
    zone = maintenance.schedule.zone.name if maintenance.schedule is not None else settings.timezone
    return {
        "enabled": settings.enabled,
        "writesEnabled": data.settings.writes_enabled,
        "schedule": settings.schedule,
        "timezone": zone,
        "error": data.problem or maintenance.error,
        "reviewJobId": settings.review_job_id,
        "running": maintenance.running,
        "nextRun": to_iso(upcoming if settings.enabled and data.problem is None else None),
        "lastRun": None if last is None else run_json(last, data, registry, sees),
    }


def run_json(
    result: PassResult, data: KnowledgeData, registry: KnowledgeRegistry, sees: Sees
) -> dict[str, Any]:
    """One pass as this operator may see it; the sums are those of the stores shown."""
    shown = [one for one in result.stores if sees(users(data, one.binding))]
    found: dict[str, Any] = {
        "trigger": result.trigger,
        "slot": to_iso(result.slot),
        "startedAt": to_iso(result.started_at),
        "endedAt": to_iso(result.ended_at),
        "outcome": "ended" if result.ended else "done",
        **totals(shown),
        "stores": [_store(one) for one in shown],
        "review": None,
    }
    if result.review is not None:
        outcome = outcome_of(registry, result.review)
        found["review"] = {"id": result.review.id, "outcome": outcome, "left": found["left"]}
    return found


def users(data: KnowledgeData, binding: str) -> set[str]:
    """The agents whom a store concerns: those who use it, and the one whose own it is."""
    named = {agent for store in data.settings.stores.values() for agent in store.agents}
    agents = named | (data.known or frozenset()) | data.removed
    found = {agent for agent in agents if data.membership(agent).binding == binding}
    kind, _, name = binding.partition(":")
    return found | ({name} if kind == "own" else set())


def _store(one: StoreResult) -> dict[str, Any]:
    return {
        "vaultId": one.vault,
        "store": one.binding or None,
        "outcome": one.outcome,
        "reason": one.reason,
        "conversations": one.conversations,
        "examined": one.examined,
        "linked": one.linked,
        "tiers": one.tiers,
        "ambiguous": one.ambiguous,
        "no_subject": one.no_subject,
        "failed": one.failed,
        "left": one.left,
    }
