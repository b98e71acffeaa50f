"""What a reader of a bank sees, as rows to write into an archive or another bank."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypeVar

from lorebank.banks.embedders import ACTIVE_MODEL
from lorebank.banks.filters import seen_versions
from lorebank.banks.transfer.rows import LinkRow, VectorRow, batches
from lorebank.storage.ports import BankReader, DocumentQuery, Listing, Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, StoredMemory
from lorebank.tags import TagFilter

DOCUMENT_THREAD = "doc:"
"""How the name of a conversation begins that is a document (`doc:ID`, `doc:ID#PART`)."""
_PAGE = 500
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Choice:
    """What to take of a bank. `documents` None means all; observations are facts of their own."""

    kind: Literal["bank", "documents"] = "bank"
    data: bool = True
    config: bool = True
    documents: frozenset[str] | None = None
    observations: bool = True


class Snapshot:
    """The rows of one read transaction (`rows.Rows`); `memories` may come before `entities` too."""

    def __init__(self, reader: BankReader, bank_id: str, choice: Choice, visible: TagFilter | None) -> None:
        self._reader = reader
        self._visible = visible
        self._bank_id = bank_id
        self._choice = choice
        self._documents: list[str] = []
        self._ids: dict[int, str] = {}
        self._known: set[str] = set()

    @property
    def bank_id(self) -> str:
        """The bank that is read."""
        return self._bank_id

    def documents(self) -> Iterator[Document]:
        """The chosen documents with their text."""
        chosen = self._choice.documents
        for row in _all(partial(self._reader.documents, DocumentQuery())):
            whole = self._reader.document(row.id) if chosen is None or row.id in chosen else None
            if whole is not None:
                self._documents.append(whole.id)
                yield whole

    def chunks(self) -> Iterator[Chunk]:
        """Their chunks."""
        for document_id in self._documents:
            yield from _all(partial(self._reader.chunks, document_id))

    def events(self) -> Iterator[DocumentEvent]:
        """Their histories."""
        for document_id in self._documents:
            yield from _all(partial(self._reader.document_events, document_id))

    def entities(self) -> Iterator[Entity]:
        """The entities that these memories name, invalidated ones too, in the order of their keys."""
        memories = iter(self._ids) if self._ids else (stored.memory.key for stored in self.memories())
        found: dict[int, Entity] = {}
        for keys in batches(memories, _PAGE):
            for named in self._reader.entities_of(keys).values():
                found |= {entity.key: entity for entity in named}
        yield from (found[key] for key in sorted(found))

    def memories(self) -> Iterator[StoredMemory]:
        """The memories, in any state."""
        chosen = None if self._choice.documents is None else frozenset(self._documents)
        for stored in map(self._as_seen, self._reader.dump_memories()):
            if stored.memory.fact_type == "observation" and not self._choice.observations:
                continue
            kept = stored if chosen is None else self._resting_on(stored, chosen)
            if kept is not None:
                self._ids[kept.memory.key] = kept.memory.id
                self._known.add(kept.memory.id)
                yield kept

    def links(self) -> Iterator[LinkRow]:
        """The links of which both ends were yielded."""
        for link in self._reader.links(0):
            source, target = self._ids.get(link.source), self._ids.get(link.target)
            if source is not None and target is not None:
                yield LinkRow(source, target, link.type, link.weight)

    def vector_model(self) -> str | None:
        """The bank's active model."""
        model = self._reader.meta(ACTIVE_MODEL)
        return model if isinstance(model, str) else None

    def vectors(self) -> Iterator[VectorRow]:
        """The vectors of the active model; one of another width than the first is left out."""
        model, width = self.vector_model(), 0
        for keys, data in self._reader.vectors(model, 0) if model else ():
            size = len(data) // max(1, len(keys))
            width = width or size
            for index, key in enumerate(keys):
                if key in self._ids and size == width:
                    yield VectorRow(self._ids[key], bytes(data[index * size : (index + 1) * size]))

    def _as_seen(self, stored: StoredMemory) -> StoredMemory:
        """Without versions that were hidden when they were in force, and without the name of a hidden
        document, which is also that of the conversation in it."""
        if self._visible is None:
            return stored
        memory = stored.memory
        if not self._names_seen_document(memory.thread):
            memory = replace(memory, thread=None, position=0)
        return replace(stored, memory=memory, history=tuple(seen_versions(self._visible, stored.history)))

    def _names_seen_document(self, thread: str | None) -> bool:
        if thread is None or not thread.startswith(DOCUMENT_THREAD):
            return True
        name = thread.removeprefix(DOCUMENT_THREAD)
        return not {name, name.rpartition("#")[0]}.isdisjoint(self._documents)

    def _resting_on(self, stored: StoredMemory, documents: frozenset[str]) -> StoredMemory | None:
        """The memory as far as these documents prove it, None when they do not."""
        sources = tuple(source for source in stored.sources if source[0] in documents)
        facts = tuple(source for source in stored.memory.source_ids if source in self._known)
        if not sources and not facts:
            return None
        document, chunk = sources[0] if sources else (None, None)
        proofs = len(sources) or len(facts)
        memory = replace(
            stored.memory, document_id=document, chunk_id=chunk, proof_count=proofs, source_ids=facts
        )
        return replace(stored, sources=sources, memory=memory)


def _all(fetch: Callable[[Page], Listing[T]]) -> Iterator[T]:
    """Every row of a listing, page by page."""
    offset = 0
    while True:
        rows = fetch(Page(_PAGE, offset)).rows
        yield from rows
        if len(rows) < _PAGE:
            return
        offset += _PAGE
