"""The JSON objects of an archive's lines -> rows, with everything that can be derived made anew."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from lorebank.banks.transfer import encode
from lorebank.banks.transfer.fields import Fields
from lorebank.banks.transfer.rows import LinkRow
from lorebank.clock import Micros, parse_iso
from lorebank.errors import InvalidInput
from lorebank.search.passage import PRECISIONS, asks
from lorebank.search.tokenize import terms
from lorebank.storage.rows import (
    Chunk,
    Document,
    DocumentEvent,
    Entity,
    FactType,
    LinkType,
    Memory,
    MemoryState,
    MemoryVersion,
    StoredMemory,
)

EVENT_KINDS = (
    "retain",
    "append",
    "reprocess",
    "retag",
    "fact_edited",
    "fact_invalidated",
    "fact_restored",
    "fact_deleted",
    "observations_cleared",
    "consolidation",
)
_COUNT = 10**9
_MANY = 100_000
_HISTORY = 10_000


def document(row: Fields, most_chars: int) -> Document:
    """A document; `most_chars` bounds its text."""
    text = row.maybe_text("text", most_chars)
    return Document(
        id=row.id("id"),
        text=text,
        text_length=row.whole("text_length", 0, most_chars) if text is None else len(text),
        content_hash=row.text("content_hash", 128),
        metadata=row.object("metadata"),
        retain_params=row.object("retain_params", 2**26),
        tags=row.tags("tags"),
        observation_scopes=row.plain("observation_scopes"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
    )


def chunk(row: Fields) -> Chunk:
    """A chunk without its token count."""
    return Chunk(
        chunk_id=row.id("chunk_id"),
        document_id=row.id("document_id"),
        chunk_index=row.whole("chunk_index", 0, _COUNT),
        text=row.text("text", row.limits.content_chars),
        hash=row.text("hash", 128),
        tokens=0,
        created_at=row.time("created_at"),
    )


def event(row: Fields) -> DocumentEvent:
    """An entry of a document's history."""
    return DocumentEvent(
        document_id=row.id("document_id"),
        kind=row.one_of("kind", EVENT_KINDS),
        at=row.time("at"),
        fact_id=row.maybe_text("fact_id", 64),
        facts_added=row.whole("facts_added", 0, _COUNT),
        facts_removed=row.whole("facts_removed", 0, _COUNT),
    )


def entity(row: Fields) -> Entity:
    """An entity; the store counts its mentions itself."""
    return Entity(0, row.uuid("id"), row.name("name"), row.text("type", 200), 0, None, None)


def memory(row: Fields, names: Mapping[str, str]) -> StoredMemory:
    """A memory without its token count; `names` are the known entities, id -> name."""
    entity_ids = row.uuids("entities", _MANY)
    if unknown := [entity_id for entity_id in entity_ids if entity_id not in names]:
        raise row.wrong("entities", f"names {unknown[0]}, which is not in entities.jsonl")
    sources = tuple((s.maybe_id("document_id"), s.maybe_id("chunk_id")) for s in row.nested("sources", _MANY))
    text = row.text("text", row.limits.content_chars)
    state: MemoryState = row.one_of("state", get_args(MemoryState))
    kind: FactType = row.one_of("fact_type", get_args(FactType))
    first = sources[0] if sources else (None, None)
    stored = Memory(
        key=0,
        id=row.uuid("id"),
        text=text,
        context=row.text("context", row.limits.context_chars),
        fact_type=kind,
        tokens=0,
        occurred_start=row.maybe_time("occurred_start"),
        occurred_end=row.maybe_time("occurred_end"),
        precision=row.one_of("precision", (*PRECISIONS, None)),
        mentioned_at=row.maybe_time("mentioned_at"),
        document_id=first[0],
        chunk_id=first[1],
        metadata=row.texts("metadata"),
        tags=row.tags("tags"),
        thread=row.maybe_text("thread", _MANY),
        position=row.whole("position", 0, _COUNT),
        proof_count=max(1, len(sources)),
        state=state,
        invalidation_reason=row.maybe_text("invalidation_reason", row.limits.context_chars),
        invalidated_at=row.maybe_time("invalidated_at"),
        edited_at=row.maybe_time("edited_at"),
        created_at=row.time("created_at"),
        updated_at=row.time("updated_at"),
        entities=tuple(names[entity_id] for entity_id in entity_ids),
        source_ids=row.uuids("source_memories", _MANY),
    )
    return StoredMemory(
        memory=stored,
        terms=" ".join(terms(text)),
        speaker=row.maybe_text("speaker", 1000),
        asks=asks(text),
        sources=sources,
        entity_ids=entity_ids,
        history=tuple(version(v) for v in row.nested("history", _HISTORY)),
    )


def version(row: Fields) -> MemoryVersion:
    """One earlier version of a memory."""
    before = row.object("before", 2**26)
    return MemoryVersion(
        at=row.time("at"),
        change=row.text("change", 100),
        before={name: _value(row, name, value) for name, value in before.items()},
    )


def _value(row: Fields, name: str, value: Any) -> Any:
    if not encode.is_time(name) or value is None:
        return value
    try:
        moment: Micros = parse_iso(value if isinstance(value, str) else "", name)
    except InvalidInput as exc:
        raise row.wrong(f"before.{name}", "must be an ISO 8601 time", exc) from exc
    return moment


def link(row: Fields) -> LinkRow:
    """A link."""
    return LinkRow(
        source=row.uuid("source"),
        target=row.uuid("target"),
        type=row.one_of("type", get_args(LinkType)),
        weight=row.number("weight", 0.0, 1.0),
    )
