"""Operations that list, read and clear memories."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from lorebank.banks import memories
from lorebank.banks.filters import TimeRange, expanded, time_range
from lorebank.clock import Micros, to_micros
from lorebank.ids import parse_uuid
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import MemoryQuery, Page


def times_of(params: Mapping[str, Any], allowed: tuple[str, ...]) -> TimeRange | None:
    """The range of `time_field`, `start_date` and `end_date` of a listing."""
    first, last = _micros(params["start_date"]), _micros(params["end_date"])
    return time_range(params["time_field"], first, last, allowed)


def _micros(when: datetime | None) -> Micros | None:
    return None if when is None else to_micros(when)


def list_memories(call: Call) -> Wire:
    """ListMemoryUnitsResponse; invalidated memories only where `state` asks for them."""
    params = call.params
    page = Page(params["limit"], params["offset"])
    times = times_of(params, memories.TIME_FIELDS)
    with call.handle.read() as reader:
        query = MemoryQuery(
            fact_type=params["type"],
            text=params["q"] or None,
            state=params["state"] or "valid",
            document_id=params["document_id"],
            entity_id=params["entity_id"],
            tags=expanded(reader, params["tag_filter"]),
        )
        found = memories.listing(reader, query, times, params["consolidation_state"], page)
    return render.page("items", map(render.memory, found.rows), found.total, page)


def get_memory(call: Call) -> Wire:
    """The list item's fields with history and source facts."""
    found = memories.detail(call.handle, parse_uuid(call.params["memory_id"], "memory_id"))
    return render.memory_detail(found.memory, found.history, found.sources)


def get_observation_history(call: Call) -> list[Wire]:
    """Earlier versions of a memory, newest first."""
    memory_id = parse_uuid(call.params["memory_id"], "memory_id")
    return [render.version(row) for row in memories.history(call.handle, memory_id)]


def clear_bank_memories(call: Call) -> Wire:
    """DeleteResponse: memories of one type or all; documents, entities and the profile stay."""
    removed = memories.clear(call.handle, call.params["type"])
    return {"success": True, "message": f"{removed} memories deleted", "deleted_count": removed}


OPERATIONS = (
    Operation("list_memories", "bank:memories:list", Scope.BANK, list_memories),
    Operation("get_memory", "bank:memories:get", Scope.BANK, get_memory),
    Operation("get_observation_history", "bank:memories:get", Scope.BANK, get_observation_history),
    Operation("clear_bank_memories", "bank:memories:delete", Scope.BANK, clear_bank_memories),
)
