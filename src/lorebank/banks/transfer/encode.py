"""Rows -> the JSON objects of an archive's lines. Times are ISO 8601; what can be derived is left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank.banks.transfer.rows import LinkRow
from lorebank.clock import to_iso
from lorebank.storage.rows import BankRow, Chunk, Document, DocumentEvent, Entity, MemoryVersion, StoredMemory

Line = dict[str, Any]
DERIVED = frozenset({"terms", "tokens", "asks"})
"""Columns that are made from the text when an archive is read."""


def is_time(name: str) -> bool:
    """Whether a column of this name holds a time."""
    return name.endswith("_at") or name in ("occurred_start", "occurred_end")


def bank(row: BankRow) -> Line:
    """bank.json: who the bank is, and what it overrides."""
    return {
        "bank_id": row.bank_id,
        "name": row.name,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "config": dict(row.config),
    }


def document(row: Document) -> Line:
    """A line of documents.jsonl."""
    return {
        "id": row.id,
        "text": row.text,
        "text_length": row.text_length,
        "content_hash": row.content_hash,
        "metadata": dict(row.metadata),
        "retain_params": dict(row.retain_params),
        "tags": list(row.tags),
        "observation_scopes": row.observation_scopes,
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
    }


def chunk(row: Chunk) -> Line:
    """A line of chunks.jsonl."""
    return {
        "chunk_id": row.chunk_id,
        "document_id": row.document_id,
        "chunk_index": row.chunk_index,
        "text": row.text,
        "hash": row.hash,
        "created_at": to_iso(row.created_at),
    }


def event(row: DocumentEvent) -> Line:
    """A line of document_events.jsonl. Operations do not travel, so none is named."""
    return {
        "document_id": row.document_id,
        "kind": row.kind,
        "at": to_iso(row.at),
        "fact_id": row.fact_id,
        "facts_added": row.facts_added,
        "facts_removed": row.facts_removed,
    }


def entity(row: Entity) -> Line:
    """A line of entities.jsonl."""
    return {"id": row.id, "name": row.name, "type": row.type}


def memory(stored: StoredMemory) -> Line:
    """A line of memories.jsonl."""
    row = stored.memory
    return {
        "id": row.id,
        "text": row.text,
        "context": row.context,
        "fact_type": row.fact_type,
        "occurred_start": to_iso(row.occurred_start),
        "occurred_end": to_iso(row.occurred_end),
        "precision": row.precision,
        "mentioned_at": to_iso(row.mentioned_at),
        "metadata": dict(row.metadata),
        "tags": list(row.tags),
        "entities": list(stored.entity_ids),
        "sources": [{"document_id": document, "chunk_id": chunk} for document, chunk in stored.sources],
        "source_memories": list(row.source_ids),
        "thread": row.thread,
        "position": row.position,
        "speaker": stored.speaker,
        "state": row.state,
        "invalidation_reason": row.invalidation_reason,
        "invalidated_at": to_iso(row.invalidated_at),
        "edited_at": to_iso(row.edited_at),
        "created_at": to_iso(row.created_at),
        "updated_at": to_iso(row.updated_at),
        "history": [version(row) for row in stored.history],
    }


def link(row: LinkRow) -> Line:
    """A line of links.jsonl."""
    return {"source": row.source, "target": row.target, "type": row.type, "weight": row.weight}


def version(row: MemoryVersion) -> Line:
    """One earlier version of a memory."""
    return {"at": to_iso(row.at), "change": row.change, "before": _before(row.before)}


def _before(values: Mapping[str, Any]) -> Line:
    kept = {name: value for name, value in values.items() if name not in DERIVED}
    return {name: to_iso(value) if is_time(name) else value for name, value in kept.items()}
