"""Writing documents and chunks. A memory lives as long as one of its sources does."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lorebank.clock import Micros
from lorebank.ids import new_uuid
from lorebank.storage.rows import Chunk, Document, DocumentEvent, NewMemory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.reader_base import MEMORIES, array
from lorebank.storage.sqlite.writer_base import WRITE
from lorebank.storage.sqlite.writer_memories import FULL_ROW, MemoryWrites, digest_of_row
from lorebank.tags import encode


class DocumentWrites(MemoryWrites):
    """The document methods of a writer; the port's docstrings are the contract."""

    def put_document(self, document: Document) -> None:
        self._refuse_hidden([document.id])
        self._touch()
        self._rows(
            WRITE.put_document,
            id=document.id,
            text_length=document.text_length,
            content_hash=document.content_hash,
            metadata=values.to_json(dict(document.metadata)),
            retain_params=values.to_json(dict(document.retain_params)),
            tags=encode(document.tags),
            observation_scopes=values.to_json(document.observation_scopes),
            created_at=document.created_at,
            updated_at=document.updated_at,
            text=document.text,
        )

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        if not chunks:
            return
        self._refuse_hidden({chunk.document_id for chunk in chunks})
        self._touch()
        rows = (
            (c.chunk_id, c.document_id, c.chunk_index, c.text, c.hash, c.tokens, c.created_at) for c in chunks
        )
        self._many(WRITE.put_chunk, rows)

    def remove_chunks(self, chunk_ids: Sequence[str]) -> int:
        visible = array(row[0] for row in self._rows(WRITE.visible_chunks, ids=array(chunk_ids)))
        self._touch()
        deleted = self._remove_sources(self._rows(WRITE.chunk_sources, ids=visible).fetchall())
        self._rows(WRITE.delete_chunks, ids=visible)
        return deleted

    def delete_document(self, document_id: str) -> int:
        if self._one("SELECT 1 FROM documents d WHERE d.id = :id AND {docs}", id=document_id) is None:
            return 0
        self._touch()
        deleted = self._remove_sources(self._rows(WRITE.document_sources, id=document_id).fetchall())
        self._rows(WRITE.delete_document, id=document_id)
        return deleted

    def retag_document(self, document_id: str, tags: tuple[str, ...], now: Micros) -> int:
        old = self._one("SELECT d.tags FROM documents d WHERE d.id = :id AND {docs}", id=document_id)
        if old is None:
            return 0
        self._touch()
        self._rows(WRITE.retag_document, id=document_id, tags=encode(tags), now=now)
        resting: dict[int, list[int]] = {}
        for key, ordinal in self._rows(WRITE.document_sources, id=document_id):
            resting.setdefault(key, []).append(ordinal)
        change = (frozenset(values.tags_of(old[0])), frozenset(tags))
        return sum(self._retag_memory(key, ordinals, change, now) for key, ordinals in resting.items())

    def add_document_event(self, event: DocumentEvent) -> None:
        self._rows(
            WRITE.insert_event,
            document_id=event.document_id,
            kind=event.kind,
            at=event.at,
            operation_id=event.operation_id,
            fact_id=event.fact_id,
            facts_added=event.facts_added,
            facts_removed=event.facts_removed,
        )

    def _remove_sources(self, sources: Iterable[tuple[int, int]]) -> int:
        """Take sources away; memories without any left are deleted. Returns how many were."""
        gone = list(sources)
        self._many(WRITE.delete_source, gone)
        keys = {key for key, _ in gone}
        left = {
            row[0]
            for row in self._rows(
                "SELECT DISTINCT memory_key FROM memory_sources"
                " WHERE memory_key IN (SELECT value FROM json_each(:keys))",
                keys=array(keys),
            )
        }
        if left:
            self._rows(WRITE.settle_sources, keys=array(left), seq=self._touch())
        return self._delete(sorted(keys - left))

    def _retag_memory(
        self, key: int, ordinals: Sequence[int], change: tuple[frozenset[str], frozenset[str]], now: Micros
    ) -> int:
        """Retag one memory; 1 when its tags were others.

        A memory that other documents prove as well keeps its tags for them: the document's part
        of it becomes a memory of its own, or a proof of the same fact under the new tags.
        """
        row = self._db.execute(WRITE.full_row.replace("{seen}", "1"), {"key": key}).fetchone()
        memory = dict(zip(FULL_ROW, row, strict=True))
        old, new = change
        tags = encode((frozenset(values.tags_of(memory["tags"])) - old) | new)
        if memory["tags"] == tags:
            return 0
        digest = digest_of_row(memory | {"tags": tags})
        sources = self._rows(WRITE.sources_of, key=key).fetchall()
        alone = len(sources) == len(ordinals) and not self._known_fact(digest)
        if alone or memory["state"] != "valid":
            stale = [key, *self._followers([key])]
            self._many(WRITE.retag_memory, [(tags, digest, self._touch(), now, key)])
            self._make_stale(stale)
            return 1
        entities = [(name, "") for _, name in self._rows(MEMORIES.entity_names, keys=array([key]))]
        moved = [
            _moved(memory, values.tags_of(tags), (document, chunk), entities)
            for ordinal, document, chunk in sources
            if ordinal in ordinals
        ]
        self.add_memories(moved, now)
        self._remove_sources((key, ordinal) for ordinal in ordinals)
        return 1

    def _known_fact(self, digest: str) -> bool:
        same = MEMORIES.same_facts.replace("{seen}", "1")
        return self._db.execute(same, {"digests": array([digest])}).fetchone() is not None


def _moved(
    memory: dict[str, Any],
    tags: tuple[str, ...],
    source: tuple[str | None, str | None],
    entities: Sequence[tuple[str, str]],
) -> NewMemory:
    """The part of a memory that rests on one source, as a new memory under other tags.

    It has no thread: its place there stays with the memory that it was a part of.
    """
    kept = ("text", "context", "fact_type", "terms", "tokens", "occurred_start", "occurred_end")
    return NewMemory(
        id=new_uuid(),
        tags=tags,
        metadata=values.from_json(memory["metadata"]),
        document_id=source[0],
        chunk_id=source[1],
        entities=tuple(entities),
        asks=bool(memory["asks"]),
        **{name: memory[name] for name in (*kept, "precision", "mentioned_at", "speaker")},
    )
