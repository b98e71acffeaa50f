"""Operations that count."""

from __future__ import annotations

from dataclasses import replace

from lorebank.banks import stats
from lorebank.clock import to_iso
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import Counts

_UNFINISHED = ("pending", "processing")


def get_agent_stats(call: Call) -> Wire:
    """BankStatsResponse. Counted anew on every call, so `refresh` changes nothing."""
    with call.handle.read() as reader:
        counts = reader.counts()
    if call.grant.filter is not None:  # what others do to what is hidden is hidden too
        counts = replace(counts, operations={})
    return {"bank_id": call.handle.bank.bank_id} | _stats(counts)


def _stats(counts: Counts) -> Wire:
    by_status = dict(counts.operations)
    breakdown = {fact: dict(links) for fact, links in counts.links_by_fact_type.items()}
    return {
        "total_nodes": sum(counts.memories.values()),
        "total_links": sum(counts.links.values()),
        "total_documents": counts.documents,
        "total_entities": counts.entities,
        "nodes_by_fact_type": dict(counts.memories),
        "links_by_link_type": dict(counts.links),
        "links_by_fact_type": {fact: sum(found.values()) for fact, found in breakdown.items()},
        "links_breakdown": breakdown,
        "pending_operations": sum(by_status.get(status, 0) for status in _UNFINISHED),
        "failed_operations": by_status.get("failed", 0),
        "operations_by_status": by_status,
        "last_consolidated_at": None,
        "last_memory_write_at": to_iso(counts.last_memory_write_at),
        "pending_consolidation": 0,
        "failed_consolidation": 0,
        "total_observations": counts.memories.get("observation", 0),
        "pending_vectors": counts.pending_vectors,
    }


def get_memories_timeseries(call: Call) -> Wire:
    """MemoriesTimeseriesResponse: buckets without gaps, oldest first."""
    period, time_field = call.params["period"], call.params["time_field"]
    with call.handle.read() as reader:
        series = stats.timeseries(reader, period, time_field, call.context.clock())
    return {
        "bank_id": call.handle.bank.bank_id,
        "period": period,
        "trunc": series.width,
        "time_field": time_field,
        "buckets": [{"time": to_iso(start), **counts} for start, counts in series.buckets],
    }


OPERATIONS = (
    Operation("get_agent_stats", "bank:stats", Scope.BANK, get_agent_stats),
    Operation("get_memories_timeseries", "bank:stats", Scope.BANK, get_memories_timeseries),
)
