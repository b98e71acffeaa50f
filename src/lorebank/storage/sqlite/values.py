"""Between columns and the frozen rows of `storage.rows`."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from lorebank.clock import Micros
from lorebank.errors import Corrupt
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, IndexRow, Memory, Operation

Columns = Sequence[Any]

MEMORY = (
    "m.key, m.id, m.text, m.context, m.fact_type, m.tokens, m.occurred_start, m.occurred_end, m.precision, "
    "m.mentioned_at, m.document_id, m.chunk_id, m.metadata, m.tags, m.thread, m.position, m.proof_count, "
    "m.state, m.invalidation_reason, m.invalidated_at, m.edited_at, m.created_at, m.updated_at"
)
CHUNK = "c.id, c.document_id, c.chunk_index, c.text, c.hash, c.tokens, c.created_at"
OPERATION = (
    "o.id, o.type, o.status, o.items_count, o.created_at, o.updated_at, o.completed_at, o.document_id, "
    "o.filename, o.parent_id, o.error, o.retry_count, o.next_retry_at, o.stage, o.processed, o.total, "
    "o.result"
)


# Made once: json.dumps would make an encoder for every value.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


def to_json(value: Any) -> str:
    """The stored form of a JSON value."""
    return _ENCODER.encode(value)


def from_json(text: str | None) -> Any:
    """The value of a stored JSON text; None stays None; `Corrupt` when it is no JSON."""
    if text is None:
        return None
    if text == "{}":
        return {}
    try:
        return json.loads(text)
    except ValueError as exc:
        raise Corrupt("a stored value cannot be read; run 'lorebank doctor'", cause=exc) from exc


@lru_cache(maxsize=8192)
def tags_of(text: str) -> tuple[str, ...]:
    """The tags of a stored tag column; few different sets serve many rows."""
    return tuple(from_json(text))


def memory(
    row: Columns, entities: tuple[str, ...], sources: tuple[str, ...] = (), *, hide_document: bool = False
) -> Memory:
    """A memory from the columns `MEMORY`."""
    document = (None, None) if hide_document else (row[10], row[11])
    return Memory(*(*row[:10], *document, from_json(row[12]), tags_of(row[13]), *row[14:], entities, sources))


def chunk(row: Columns) -> Chunk:
    """A chunk from the columns `CHUNK`."""
    return Chunk(*row)


def document(row: Columns) -> Document:
    """A document from id, text, text_length, content_hash, metadata, retain_params, tags,
    observation_scopes, created_at, updated_at and memory count."""
    json = (from_json(row[4]), from_json(row[5]), tags_of(row[6]), from_json(row[7]))
    return Document(*(*row[:4], *json, *row[8:]))


def event(row: Columns) -> DocumentEvent:
    """An event from its columns in the order of the class."""
    return DocumentEvent(*row)


def entity(row: Columns) -> Entity:
    """An entity from key, id, name, type, count, first and last seen."""
    return Entity(*row)


def index_row(row: Columns) -> IndexRow:
    """An index row from its columns, with entity and source keys joined by commas."""
    return IndexRow(
        *(
            *row[:3],
            tags_of(row[3]),
            *row[4:14],
            bool(row[14]),
            keys_of(row[15]),
            keys_of(row[16]),
            bool(row[17]),
        )
    )


def keys_of(text: str | None) -> tuple[int, ...]:
    """Keys that a statement joined by commas."""
    return tuple(map(int, text.split(","))) if text else ()


def operation(row: Columns, payload: str | None = None, principal: str | None = None) -> Operation:
    """An operation from the columns `OPERATION` and, where they were read, payload and principal."""
    json = (from_json(row[16]), from_json(payload), from_json(principal))
    return Operation(*(*row[:16], *json))


def name_key(name: str) -> str:
    """The form under which an entity name is unique: NFC, case-folded, white space collapsed."""
    folded = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    return " ".join(folded.split())


def dedup_key(
    text: str,
    fact_type: str,
    tags: Sequence[str],
    metadata: Mapping[str, str],
    occurred_start: Micros | None,
    occurred_end: Micros | None,
) -> str:
    """A 128-bit digest that two memories share exactly when they are the same fact."""
    normal = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    parts = (normal, fact_type, sorted(set(tags)), sorted(metadata.items()), occurred_start, occurred_end)
    return hashlib.blake2b(to_json(parts).encode("utf-8"), digest_size=16).hexdigest()
