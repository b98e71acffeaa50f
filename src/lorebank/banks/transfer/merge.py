"""Adding the documents of an archive to a bank that has content of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from lorebank.banks.chunk_ids import bank_prefix, moved
from lorebank.banks.transfer.rows import BATCH, Rows, batches
from lorebank.banks.transfer.snapshot import DOCUMENT_THREAD
from lorebank.clock import Micros
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankWriter
from lorebank.storage.rows import Chunk, DocumentEvent, Link, NewMemory, StoredMemory

Conflicts = Literal["skip", "replace", "new-id"]


class Merge:
    """One merge in one transaction: documents first, then what rests on them.

    A document that exists is left alone (`skip`), replaced with all its memories (`replace`), or
    stored beside it under a new id (`new-id`). A memory that the bank knows as the same fact gains a
    proof; a memory whose id is taken gets a new one. Earlier versions of memories do not travel.
    """

    def __init__(
        self,
        writer: BankWriter,
        rows: Rows,
        bank_id: str,
        conflict: Conflicts,
        operation_id: str,
        now: Micros,
    ) -> None:
        self._writer = writer
        self._rows = rows
        self._bank_id = bank_id
        self._conflict = conflict
        self._operation_id = operation_id
        self._now = now
        self._documents: dict[str, str] = {}
        self._entities: dict[str, tuple[str, str]] = {}
        self._keys: dict[str, int] = {}
        self._shifts: dict[str, int] = {}
        self.counts = {"documents": 0, "documents_skipped": 0, "chunks": 0, "memories": 0}

    def run(self, *, observations: bool = True) -> None:
        """Merge everything."""
        self._merge_documents()
        for chunks in batches(self._rows.chunks(), BATCH):
            kept = [self._chunk(chunk) for chunk in chunks if chunk.document_id in self._documents]
            self._writer.put_chunks(kept)
            self.counts["chunks"] += len(kept)
        for _ in self._rows.events():
            pass  # the history of a document starts anew here; the archive is checked whole all the same
        self._entities = {entity.id: (entity.name, entity.type) for entity in self._rows.entities()}
        self._merge_memories(observations)
        self._merge_links()
        for _ in self._rows.vectors():
            pass  # made anew: the neighbours of a memory may be others here

    def _merge_documents(self) -> None:
        for document in self._rows.documents():
            new_id = self._place(document.id)
            if new_id is None:
                self.counts["documents_skipped"] += 1
                continue
            self._documents[document.id] = new_id
            self._writer.put_document(replace(document, id=new_id))
            event = DocumentEvent(new_id, "retain", self._now, self._operation_id)
            self._writer.add_document_event(event)
            self.counts["documents"] += 1

    def _place(self, document_id: str) -> str | None:
        """The id under which a document is stored, None when it is skipped."""
        if self._writer.document(document_id) is None:
            return document_id
        if self._conflict == "skip":
            return None
        if self._conflict == "replace":
            self._writer.delete_document(document_id)
            return document_id
        return new_uuid()

    def _chunk(self, chunk: Chunk) -> Chunk:
        document_id = self._documents[chunk.document_id]
        return replace(
            chunk, chunk_id=self._chunk_id(chunk.document_id, chunk.chunk_id), document_id=document_id
        )

    def _chunk_id(self, document_id: str, chunk_id: str) -> str:
        here = moved(chunk_id, self._rows.bank_id, self._bank_id)
        start = f"{bank_prefix(self._bank_id)}{document_id}:"
        new_id = self._documents[document_id]
        if new_id == document_id or not here.startswith(start):
            return here
        return f"{bank_prefix(self._bank_id)}{new_id}:{here[len(start) :]}"

    # memories

    def _merge_memories(self, observations: bool) -> None:
        batch: list[StoredMemory] = []
        for stored in self._rows.memories():
            is_observation = stored.memory.fact_type == "observation"
            if is_observation and batch:  # its sources have keys only once they are added
                self._add(batch)
                batch = []
            kept = self._here(stored)
            if kept.sources or (is_observation and observations and kept.memory.source_ids):
                batch.append(kept)
            if len(batch) == BATCH:
                self._add(batch)
                batch = []
        self._add(batch)

    def _here(self, stored: StoredMemory) -> StoredMemory:
        """The memory with those of its sources that came along."""
        sources = tuple(self._source(*source) for source in stored.sources if source[0] in self._documents)
        facts = tuple(source for source in stored.memory.source_ids if source in self._keys)
        return replace(stored, sources=sources, memory=replace(stored.memory, source_ids=facts))

    def _source(self, document_id: str | None, chunk_id: str | None) -> tuple[str | None, str | None]:
        if document_id is None:
            return None, None
        chunk = None if chunk_id is None else self._chunk_id(document_id, chunk_id)
        return self._documents[document_id], chunk

    def _add(self, memories: Sequence[StoredMemory]) -> None:
        for stored in memories:
            if stored.memory.state == "invalidated":
                self._add_invalidated(stored)
        valid = [stored for stored in memories if stored.memory.state == "valid"]
        ready = [(stored.memory.id, member) for stored in valid for member in self._members(stored)]
        keys = self._writer.add_memories([member for _, member in ready], self._now)
        for (memory_id, _), key in zip(ready, keys, strict=True):
            self._keys[memory_id] = key
        self.counts["memories"] += len(valid)

    def _add_invalidated(self, stored: StoredMemory) -> None:
        """Add a memory that was taken back, unless that would take back one that is valid here."""
        members = self._members(stored)
        if self._writer.find_duplicates(members[:1]):
            return
        (key, *_) = self._writer.add_memories(members, self._now)
        changes = {"state": "invalidated", "invalidation_reason": stored.memory.invalidation_reason}
        self._writer.edit_memory(key, changes, self._now, "invalidated")
        self._keys[stored.memory.id] = key
        self.counts["memories"] += 1

    def _members(self, stored: StoredMemory) -> list[NewMemory]:
        """The memory once for each of its sources: the store makes further proofs of the repeats."""
        row = stored.memory
        taken = self._writer.memory(row.id) is not None
        first = NewMemory(
            id=new_uuid() if taken else row.id,
            text=row.text,
            context=row.context,
            fact_type=row.fact_type,
            terms=stored.terms,
            tokens=row.tokens,
            occurred_start=row.occurred_start,
            occurred_end=row.occurred_end,
            precision=row.precision,
            mentioned_at=row.mentioned_at,
            metadata=row.metadata,
            tags=row.tags,
            thread=self._thread(stored),
            position=row.position + self._shift(stored),
            speaker=stored.speaker,
            asks=stored.asks,
            entities=tuple(self._entities[entity_id] for entity_id in stored.entity_ids),
            source_keys=tuple(self._keys[source] for source in row.source_ids),
        )
        sources = stored.sources or ((None, None),)
        return [replace(first, document_id=document, chunk_id=chunk) for document, chunk in sources]

    def _thread(self, stored: StoredMemory) -> str | None:
        """The conversation; one that is a document (`doc:ID`, `doc:ID#PART`) follows it to its new id."""
        thread = stored.memory.thread
        if thread is None or not thread.startswith(DOCUMENT_THREAD):
            return thread
        name = thread.removeprefix(DOCUMENT_THREAD)
        if name in self._documents:
            return DOCUMENT_THREAD + self._documents[name]
        document_id, mark, part = name.rpartition("#")
        return f"{DOCUMENT_THREAD}{self._documents.get(document_id, document_id)}{mark}{part}"

    def _shift(self, stored: StoredMemory) -> int:
        """How far positions move so that they follow what the conversation holds here already."""
        thread = self._thread(stored)
        if thread is None:
            return 0
        if thread not in self._shifts:
            begin = self._writer.next_position(thread)
            self._shifts[thread] = max(0, begin - stored.memory.position)
        return self._shifts[thread]

    def _merge_links(self) -> None:
        """Causes travel; links by meaning are made anew from vectors."""
        for links in batches(self._rows.links(), BATCH):
            made = [
                Link(self._keys[link.source], self._keys[link.target], link.type, link.weight)
                for link in links
                if link.type == "causal" and link.source in self._keys and link.target in self._keys
            ]
            self._writer.put_links([link for link in made if link.source != link.target])
