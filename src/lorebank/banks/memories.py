"""Listing, reading and clearing the memories of a bank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lorebank.banks.filters import TimeRange, seen_versions
from lorebank.banks.retain import waiting
from lorebank.errors import BadRequest, NotFound
from lorebank.storage.ports import BankHandle, BankReader, Listing, MemoryQuery, Page
from lorebank.storage.rows import FactType, Memory, MemoryVersion

TIME_FIELDS = ("created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end")
#: Nothing is consolidated until observations come, so every fact is pending and none is done.
_CONSOLIDATION = ("pending", "done", "consolidated", "failed")


@dataclass(frozen=True, slots=True)
class MemoryDetail:
    """A memory, its earlier versions (newest first), and the facts that an observation rests on."""

    memory: Memory
    history: Sequence[MemoryVersion]
    sources: Sequence[Memory]


def listing(
    reader: BankReader, query: MemoryQuery, times: TimeRange | None, consolidation: str | None, page: Page
) -> Listing[Memory]:
    """A page of memories; `consolidation` is one of pending, done, consolidated, failed, or None."""
    if consolidation and consolidation not in _CONSOLIDATION:
        raise BadRequest(f"consolidation_state must be one of {', '.join(_CONSOLIDATION)}")
    if consolidation and consolidation != "pending":
        return Listing((), 0)
    if times is not None:
        query = replace(query, time_field=times.field, start=times.start, end=times.end)
    return reader.memories(query, page)


def detail(handle: BankHandle, memory_id: str) -> MemoryDetail:
    """One memory in any state with its history; `NotFound` when there is none."""
    with handle.read() as reader:
        row = found(reader, memory_id)
        sources = [m for m in map(reader.memory, row.source_ids) if m is not None]
        earlier = seen_versions(handle.grant.filter, reader.memory_history(memory_id))
        return MemoryDetail(row, earlier, sources)


def history(handle: BankHandle, memory_id: str) -> Sequence[MemoryVersion]:
    """The earlier versions of a memory, newest first; `NotFound` when there is no such memory."""
    with handle.read() as reader:
        found(reader, memory_id)
        return seen_versions(handle.grant.filter, reader.memory_history(memory_id))


def found(reader: BankReader, memory_id: str) -> Memory:
    """The memory, or `NotFound`."""
    row = reader.memory(memory_id)
    if row is None:
        raise NotFound(f"Memory '{memory_id}' not found")
    return row


def clear(handle: BankHandle, kind: FactType | None) -> int:
    """Delete all memories of a type (None: all); documents and entities stay. How many there were.

    With all memories goes what waits to become some.
    """
    with handle.write() as writer:
        if kind is None:
            waiting.forget_all(writer, handle.grant.filter)
        return writer.clear_memories(kind)
