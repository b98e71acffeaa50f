"""Rows -> the JSON objects of the wire (Hindsight 1.1.0), exactly as its client's models read them.

Ids and times are strings, absent times are null, sets of tags are lists. Nothing here reads
storage: what an object needs besides its row is a parameter.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lorebank.clock import to_iso
from lorebank.storage.ports import Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, Memory, MemoryVersion, Operation

Wire = dict[str, Any]
_TIMES = ("occurred_start", "occurred_end")
_INTERNAL = frozenset({"terms", "tokens", "thread", "position", "speaker", "asks"})


def page(name: str, rows: Iterable[Wire], total: int, page: Page) -> Wire:
    """A page of a listing under the member `name`."""
    return {name: list(rows), "total": total, "limit": page.limit, "offset": page.offset}


# memories


def joined(names: Iterable[str]) -> str:
    """Entity names as listings of memories carry them: one text, comma-separated."""
    return ", ".join(names)


def date_of(memory: Memory) -> str:
    """When it happened, or else when it was said; empty when neither is known."""
    when = memory.occurred_start if memory.occurred_start is not None else memory.mentioned_at
    return to_iso(when) or ""


def memory(row: Memory) -> Wire:
    """MemoryUnitListItem."""
    return {
        "id": row.id,
        "text": row.text,
        "context": row.context,
        "date": date_of(row),
        "date_precision": row.precision,
        "fact_type": row.fact_type,
        "document_id": row.document_id,
        "chunk_id": row.chunk_id,
        **_times(row),
        "entities": joined(row.entities),
        "proof_count": row.proof_count,
        "tags": list(row.tags),
        "metadata": dict(row.metadata),
        "consolidated_at": None,
        "consolidation_failed_at": None,
        "state": row.state,
        "invalidation_reason": row.invalidation_reason,
        "invalidated_at": to_iso(row.invalidated_at),
        "edited_at": to_iso(row.edited_at),
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "source_memory_ids": list(row.source_ids),
    }


def _times(row: Memory) -> Wire:
    return {
        "mentioned_at": to_iso(row.mentioned_at),
        "occurred_start": to_iso(row.occurred_start),
        "occurred_end": to_iso(row.occurred_end),
    }


def memory_detail(row: Memory, history: Sequence[MemoryVersion], sources: Sequence[Memory] = ()) -> Wire:
    """One memory with its earlier versions and the facts that it rests on."""
    facts = [memory(source) for source in sources]
    return memory(row) | {"history": [version(v) for v in history], "source_facts": facts}


def version(row: MemoryVersion) -> Wire:
    """What a memory was before a change: `previous_<field>` for each field of it."""
    before = {
        f"previous_{name}": to_iso(value) if name in _TIMES or name.endswith("_at") else _plain(value)
        for name, value in row.before.items()
        if name not in _INTERNAL
    }
    return {"changed_at": to_iso(row.at), "change": row.change, **before}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def recalled(row: Memory) -> Wire:
    """RecallResult without its scores; `entities` is a list here, unlike in listings."""
    return {
        "id": row.id,
        "text": row.text,
        "type": row.fact_type,
        "entities": list(row.entities),
        "context": row.context,
        **_times(row),
        "document_id": row.document_id,
        "metadata": {key: str(value) for key, value in row.metadata.items()},
        "chunk_id": row.chunk_id,
        "tags": list(row.tags),
        "source_fact_ids": list(row.source_ids) or None,
    }


# documents


def document_item(row: Document, bank_id: str, matched_fields: Sequence[str] = ()) -> Wire:
    """DocumentListItem."""
    return {
        "id": row.id,
        "bank_id": bank_id,
        "content_hash": row.content_hash,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "text_length": row.text_length,
        "memory_unit_count": row.memory_count,
        "retain_params": dict(row.retain_params),
        "document_metadata": dict(row.metadata),
        "tags": list(row.tags),
        "matched_fields": list(matched_fields),
    }


def document(row: Document, bank_id: str, fact_types: Mapping[str, int]) -> Wire:
    """DocumentResponse; `original_text` is null where the bank keeps no document text."""
    return {
        "id": row.id,
        "bank_id": bank_id,
        "original_text": row.text,
        "content_hash": row.content_hash,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "memory_unit_count": row.memory_count,
        "nodes_by_fact_type": dict(fact_types),
        "tags": list(row.tags),
        "document_metadata": dict(row.metadata),
        "retain_params": dict(row.retain_params),
        "observation_scopes": _plain(row.observation_scopes),
        "attachments": None,
    }


def document_event(row: DocumentEvent) -> Wire:
    """DocumentEvent of a document's history; observations belong to reasoning and are none yet."""
    nothing = {"count": 0, "ids": []}
    return {
        "document_id": row.document_id,
        "kind": row.kind,
        "created_at": to_iso(row.at),
        "operation_id": row.operation_id,
        "fact_id": row.fact_id,
        "facts_added": row.facts_added,
        "facts_removed": row.facts_removed,
        "observations_created": nothing,
        "observations_updated": nothing,
        "observations_removed": nothing,
    }


def chunk(row: Chunk, bank_id: str) -> Wire:
    """ChunkResponse."""
    return {
        "chunk_id": row.chunk_id,
        "document_id": row.document_id,
        "bank_id": bank_id,
        "chunk_index": row.chunk_index,
        "chunk_text": row.text,
        "created_at": to_iso(row.created_at),
        "attachments": None,
    }


# entities


def entity(row: Entity) -> Wire:
    """EntityListItem."""
    return {
        "id": row.id,
        "canonical_name": row.name,
        "mention_count": row.mention_count,
        "first_seen": to_iso(row.first_seen),
        "last_seen": to_iso(row.last_seen),
        "metadata": {"type": row.type},
    }


def entity_detail(row: Entity, memories: Sequence[Memory]) -> Wire:
    """EntityDetailResponse: the entity with what its memories say."""
    said = [{"text": m.text, "mentioned_at": to_iso(m.mentioned_at)} for m in memories]
    return entity(row) | {"observations": said}


# operations


def operation_item(row: Operation) -> Wire:
    """OperationResponse, as listings carry it."""
    return {
        "id": row.id,
        "operation_id": row.id,
        "task_type": row.type,
        "operation_type": row.type,
        "items_count": row.items_count,
        "document_id": row.document_id,
        "filename": row.filename,
        "mental_model_id": None,
        "details": None,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "status": row.status,
        "error_message": row.error,
        "retry_count": row.retry_count,
        "next_retry_at": to_iso(row.next_retry_at),
        "progress": _progress(row),
    }


def _progress(row: Operation) -> Wire | None:
    if row.stage is None:
        return None
    at = to_iso(row.updated_at)
    return {"stage": row.stage, "at": at, "processed": row.processed, "total": row.total, "detail": None}


def operation_status(row: Operation, children: Sequence[Operation], *, payload: bool) -> Wire:
    """OperationStatusResponse; the input of the job only where `payload` asks for it."""
    parts = [_child(child, index) for index, child in enumerate(children)]
    return {
        "operation_id": row.id,
        "id": row.id,
        "status": row.status,
        "operation_type": row.type,
        "task_type": row.type,
        "mental_model_id": None,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "completed_at": to_iso(row.completed_at),
        "error_message": row.error,
        "retry_count": row.retry_count,
        "next_retry_at": to_iso(row.next_retry_at),
        "progress": _progress(row),
        "result_metadata": None if row.result is None else _plain(row.result),
        "details": None,
        "child_operations": parts or None,
        "task_payload": _plain(row.payload) if payload and row.payload is not None else None,
    }


def _child(row: Operation, index: int) -> Wire:
    return {
        "operation_id": row.id,
        "status": row.status,
        "sub_batch_index": index,
        "items_count": row.items_count,
        "error_message": row.error,
    }


def unknown_operation(operation_id: str) -> Wire:
    """OperationStatusResponse of a well-formed id that names nothing (the wire answers 200)."""
    return {"operation_id": operation_id, "status": "not_found"}
