"""Changes that a caller makes to one memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from lorebank.banks.filters import seen_versions
from lorebank.banks.retain.items import DEFAULT_ENTITY_TYPE
from lorebank.banks.retain.service import Tools
from lorebank.clock import Micros
from lorebank.errors import BadRequest, InvalidInput, NotFound
from lorebank.ids import parse_uuid
from lorebank.search.passage import asks, speaker_of
from lorebank.search.tokenize import terms
from lorebank.storage.ports import BankHandle, BankWriter
from lorebank.storage.rows import DocumentEvent, Memory, MemoryVersion
from lorebank.tokens import count

TIMES: Final = ("occurred_start", "occurred_end", "mentioned_at")
FIELDS: Final = ("text", "context", *TIMES, "fact_type", "entities", "state")


def edit(
    handle: BankHandle, tools: Tools, memory_id: str, changes: Mapping[str, Any], reason: str | None
) -> tuple[Memory, Sequence[MemoryVersion]]:
    """The memory after `changes`, and its earlier versions, newest first.

    `changes` holds only what the caller sent, of `FIELDS`: a time in microseconds or None (clears
    it), entities as names. Everything derived from the text follows it; the version before is kept.
    """
    wanted = parse_uuid(memory_id, "memory_id")
    with handle.write() as writer:
        memory = writer.memory(wanted)
        if memory is None:
            raise NotFound(f"Memory '{wanted}' not found")
        columns = _columns(writer, memory, changes, reason)
        if columns:
            _write(writer, memory, columns, tools.clock())
        after = writer.memory(wanted)
        history = seen_versions(handle.grant.filter, writer.memory_history(wanted))
    tools.vectors(handle)
    if after is None:  # an edit may move it out of what this caller sees
        raise NotFound(f"Memory '{wanted}' not found")
    return after, history


def _write(writer: BankWriter, memory: Memory, columns: Mapping[str, Any], now: Micros) -> None:
    change = _what(memory, columns)
    writer.edit_memory(memory.key, columns, now, change)
    if memory.document_id is not None:
        event = DocumentEvent(memory.document_id, f"fact_{change}", now, fact_id=memory.id)
        writer.add_document_event(event)


def _columns(
    writer: BankWriter, memory: Memory, changes: Mapping[str, Any], reason: str | None
) -> dict[str, Any]:
    """The columns to change; `BadRequest` or `InvalidInput` that names the wrong field."""
    columns = {name: changes[name] for name in (*TIMES, "fact_type") if name in changes}
    if "context" in changes:
        columns["context"] = changes["context"] or ""
    if "text" in changes:
        columns |= _text(changes["text"])
    if "entities" in changes:
        columns["entities"] = _entities(writer, memory, changes["entities"] or ())
    if "state" in changes:
        columns |= _state(changes["state"], reason)
    if columns.get("fact_type", memory.fact_type) is None:
        raise InvalidInput("fact_type: must be 'world' or 'experience'")
    _check_order(memory, columns)
    return columns


def _text(text: str | None) -> dict[str, Any]:
    if text is None or not text.strip():
        raise InvalidInput("text: must not be empty; to withdraw a memory send state 'invalidated'")
    return {
        "text": text,
        "terms": " ".join(terms(text)),
        "tokens": count(text),
        "speaker": speaker_of(text),
        "asks": asks(text),
    }


def _entities(writer: BankWriter, memory: Memory, names: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """The names with their types: those of this memory's entities stay, a new one gets the default."""
    types = {e.name.casefold(): e.type for e in writer.entities_of([memory.key]).get(memory.key, ())}
    return tuple((name, types.get(name.casefold(), DEFAULT_ENTITY_TYPE)) for name in dict.fromkeys(names))


def _state(state: str | None, reason: str | None) -> dict[str, Any]:
    if state not in ("valid", "invalidated"):
        raise InvalidInput("state: must be 'valid' or 'invalidated'")
    return {"state": state, "invalidation_reason": reason if state == "invalidated" else None}


def _check_order(memory: Memory, columns: Mapping[str, Any]) -> None:
    start = columns.get("occurred_start", memory.occurred_start)
    end = columns.get("occurred_end", memory.occurred_end)
    if start is not None and end is not None and start > end:
        raise BadRequest("occurred_end: must not be before occurred_start; send both, or null to clear one")


def _what(memory: Memory, columns: Mapping[str, Any]) -> str:
    """What the histories call the change."""
    state = columns.get("state", memory.state)
    if state == memory.state:
        return "edited"
    return "invalidated" if state == "invalidated" else "restored"
