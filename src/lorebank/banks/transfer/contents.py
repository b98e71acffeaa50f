"""The rows of an archive, each checked by itself and against the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from lorebank.banks.transfer import decode
from lorebank.banks.transfer import format as fmt
from lorebank.banks.transfer.fields import Fields
from lorebank.banks.transfer.format import bad
from lorebank.banks.transfer.read import Archive
from lorebank.banks.transfer.rows import BATCH, LinkRow, VectorRow, batches
from lorebank.limits import Limits
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, StoredMemory
from lorebank.tokens import count_many

_DOCUMENT_CHARS = fmt.MAX_LINE
T = TypeVar("T")


class Contents:
    """The rows of an archive (`rows.Rows`); every method raises `BadRequest` at the first thing wrong.

    Ids must be unique, and what a row names must be in the archive too.
    """

    def __init__(self, archive: Archive, limits: Limits) -> None:
        self._archive = archive
        self._limits = limits
        self._documents: set[str] = set()
        self._chunks: set[str] = set()
        self._entities: dict[str, str] = {}
        self._memories: set[str] = set()

    @property
    def bank_id(self) -> str:
        """The bank that was exported."""
        return self._archive.manifest.bank_id

    def documents(self) -> Iterator[Document]:
        """Documents with their text."""
        for row in self._rows(fmt.DOCUMENTS):
            document = decode.document(row, _DOCUMENT_CHARS)
            _new(row, "id", document.id, self._documents)
            yield document

    def chunks(self) -> Iterator[Chunk]:
        """Chunks with their token counts."""
        return _counted(self._plain_chunks(), lambda c: c.text, lambda c, n: replace(c, tokens=n))

    def _plain_chunks(self) -> Iterator[Chunk]:
        for row in self._rows(fmt.CHUNKS):
            chunk = decode.chunk(row)
            _new(row, "chunk_id", chunk.chunk_id, self._chunks)
            _known(row, "document_id", chunk.document_id, self._documents)
            yield chunk

    def events(self) -> Iterator[DocumentEvent]:
        """The history of the documents."""
        for row in self._rows(fmt.EVENTS):
            event = decode.event(row)
            _known(row, "document_id", event.document_id, self._documents)
            yield event

    def entities(self) -> Iterator[Entity]:
        """Entities."""
        seen: set[str] = set()
        for row in self._rows(fmt.ENTITIES):
            entity = decode.entity(row)
            _new(row, "id", entity.id, seen)
            self._entities[entity.id] = entity.name
            yield entity

    def memories(self) -> Iterator[StoredMemory]:
        """Memories with their token counts."""
        return _counted(self._plain_memories(), lambda s: s.memory.text, _with_tokens)

    def _plain_memories(self) -> Iterator[StoredMemory]:
        for row in self._rows(fmt.MEMORIES):
            stored = decode.memory(row, self._entities)
            for document_id, chunk_id in stored.sources:
                _known(row, "sources", document_id, self._documents)
                _known(row, "sources", chunk_id, self._chunks)
            for source in stored.memory.source_ids:
                _known(row, "source_memories", source, self._memories)
            _new(row, "id", stored.memory.id, self._memories)
            yield stored

    def links(self) -> Iterator[LinkRow]:
        """Links between memories."""
        for row in self._rows(fmt.LINKS):
            link = decode.link(row)
            _known(row, "source", link.source, self._memories)
            _known(row, "target", link.target, self._memories)
            yield link

    def vector_model(self) -> str | None:
        """The model that the vectors come from."""
        return self._archive.manifest.model

    def vectors(self) -> Iterator[VectorRow]:
        """Vectors of finite numbers, at most one for each memory."""
        seen: set[str] = set()
        rows = self._rows(fmt.VECTOR_IDS)
        for data in self._archive.vectors():
            row = next(rows, None)
            if row is None:
                raise bad(f"{fmt.VECTOR_IDS} has fewer lines than there are vectors")
            memory_id = row.uuid("memory")
            _new(row, "memory", memory_id, seen)
            _known(row, "memory", memory_id, self._memories)
            if not np.isfinite(np.frombuffer(data, dtype="<f2")).all():
                raise row.wrong("memory", "has a vector with numbers that are not finite")
            yield VectorRow(memory_id, data)
        if next(rows, None) is not None:
            raise bad(f"{fmt.VECTOR_IDS} has more lines than there are vectors")

    def _rows(self, part: str) -> Iterator[Fields]:
        for number, data in self._archive.lines(part):
            yield Fields(part, number, data, self._limits)


def _new(row: Fields, field: str, value: str, seen: set[str]) -> None:
    if value in seen:
        raise row.wrong(field, "is there twice")
    seen.add(value)


def _known(row: Fields, field: str, value: str | None, known: set[str]) -> None:
    if value is not None and value not in known:
        raise row.wrong(field, "names something that is not in the archive")


def _with_tokens(stored: StoredMemory, tokens: int) -> StoredMemory:
    return replace(stored, memory=replace(stored.memory, tokens=tokens))


def _counted(rows: Iterator[T], text: Callable[[T], str], counted: Callable[[T, int], T]) -> Iterator[T]:
    for batch in batches(rows, BATCH):
        counts: list[Any] = list(count_many([text(row) for row in batch]))
        yield from map(counted, batch, counts)
