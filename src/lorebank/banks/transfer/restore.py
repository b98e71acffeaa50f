"""Writing the rows of a whole bank into an empty one, exactly as they are."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from lorebank.banks.chunk_ids import moved
from lorebank.banks.embedders import ACTIVE_MODEL
from lorebank.banks.transfer.rows import BATCH, Rows, VectorRow, batches
from lorebank.storage.ports import BankHandle, BankReader, BankWriter
from lorebank.storage.rows import Chunk, Link, StoredMemory

NEWEST = 2**62
"""A sequence number that no change is later than: the vectors belong to the texts just written."""


@dataclass(slots=True)
class Restored:
    """How many rows were written, and memory id -> key in the bank."""

    counts: dict[str, int] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)


def is_empty(handle: BankHandle, reader: BankReader) -> bool:
    """Whether the bank holds nothing: a restore never mixes two banks.

    Who does not see everything is told of an empty bank only where nothing was ever written.
    """
    if handle.grant.filter is not None:
        return reader.seq() == 0
    counts = reader.counts()
    return not (counts.documents or counts.entities or sum(counts.memories.values()))


def not_empty(bank_id: str) -> str:
    """What to tell who wants to restore into a bank that holds something."""
    return (
        f"bank '{bank_id}' holds memories already; restore into a bank that does not exist yet, "
        "or import with mode 'merge'"
    )


def restore(writer: BankWriter, rows: Rows, bank_id: str, model_id: str) -> Restored:
    """Write all rows into the empty bank `bank_id`, in the caller's transaction.

    Ids stay; chunk ids change their bank when it has another name. Vectors, and the
    links made of them, are taken where they come from the model `model_id`; otherwise the server makes
    them anew.
    """
    done = Restored()
    for document in rows.documents():
        writer.put_document(document)
        _count(done, "documents", 1)
    for chunks in batches(rows.chunks(), BATCH):
        writer.put_chunks([_moved_chunk(chunk, rows.bank_id, bank_id) for chunk in chunks])
        _count(done, "chunks", len(chunks))
    for event in rows.events():
        writer.add_document_event(event)
    for entities in batches(rows.entities(), BATCH):
        writer.load_entities(entities)
        _count(done, "entities", len(entities))
    for memories in batches(rows.memories(), BATCH):
        keys = writer.load_memories([_moved_memory(m, rows.bank_id, bank_id) for m in memories])
        done.keys |= zip((m.memory.id for m in memories), keys, strict=True)
        _count(done, "memories", len(memories))
    same_model = rows.vector_model() == model_id
    for links in batches(rows.links(), BATCH):
        kept = [link for link in links if same_model or link.type != "semantic"]
        writer.put_links([Link(done.keys[k.source], done.keys[k.target], k.type, k.weight) for k in kept])
        _count(done, "links", len(kept))
    _restore_vectors(writer, rows, done, model_id, same_model=same_model)
    return done


def _restore_vectors(
    writer: BankWriter, rows: Rows, done: Restored, model_id: str, *, same_model: bool
) -> None:
    """All vectors are read even where they are not wanted, so that an archive is checked whole."""
    for vectors in batches(rows.vectors(), BATCH):
        if same_model:
            writer.put_vectors(model_id, [_vector(done, row) for row in vectors])
            writer.set_meta(ACTIVE_MODEL, model_id)
            _count(done, "vectors", len(vectors))


def _vector(done: Restored, row: VectorRow) -> tuple[int, int, bytes]:
    return done.keys[row.memory_id], NEWEST, row.data


def _moved_chunk(chunk: Chunk, source: str, target: str) -> Chunk:
    return chunk if source == target else replace(chunk, chunk_id=moved(chunk.chunk_id, source, target))


def _moved_memory(stored: StoredMemory, source: str, target: str) -> StoredMemory:
    if source == target:
        return stored
    sources = tuple((d, None if c is None else moved(c, source, target)) for d, c in stored.sources)
    chunk_id = sources[0][1] if sources else None
    return replace(stored, sources=sources, memory=replace(stored.memory, chunk_id=chunk_id))


def _count(done: Restored, what: str, number: int) -> None:
    done.counts[what] = done.counts.get(what, 0) + number
