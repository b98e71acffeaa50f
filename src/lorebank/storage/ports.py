"""What banks need from storage. These docstrings are the contract that every engine keeps.

Rules for all methods: a reader sees one consistent snapshot of one bank; memories and documents
hidden by the grant's filter do not exist for it, in lists, counts, totals and look-ups alike, and
neither do operations that others started where the grant carries `own_operations`;
a document of which a memory or a part is hidden is hidden whole from a reader, because its text shows
it, while a writer finds it by its own tags: who may not read all of it may still add to it; lists are
ordered as their docstring says, with the id (or key) as the last tie-break, so that paging never
skips or repeats. Times are microseconds UTC. Look-ups return None for what is not there; nothing
raises `NotFound` here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, BinaryIO, Generic, Protocol, TypeVar

from lorebank.access.grant import Grant
from lorebank.clock import Micros
from lorebank.ids import BankId, StoreId
from lorebank.storage.rows import (
    BankRow,
    Chunk,
    Derived,
    Document,
    DocumentEvent,
    Entity,
    FactType,
    IndexRow,
    Lease,
    Link,
    Memory,
    MemoryVersion,
    NewMemory,
    Operation,
    OperationStatus,
    StoredMemory,
)
from lorebank.tags import TagFilter

Row = TypeVar("Row", covariant=True)


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a listing: at most `limit` rows after skipping `offset`."""

    limit: int
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Listing(Generic[Row]):
    """One page of rows and the number of rows on all pages."""

    rows: Sequence[Row]
    total: int


@dataclass(frozen=True, slots=True)
class MemoryQuery:
    """Which memories to list. None means: no restriction by this field.

    `text` is a case-insensitive substring of the memory's text or context; `time_field` is one of
    created_at, updated_at, mentioned_at, occurred_start, occurred_end and applies with
    `start`/`end` (inclusive start, exclusive end).
    """

    fact_type: FactType | None = None
    text: str | None = None
    state: str | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    entity_id: str | None = None
    tags: TagFilter | None = None
    time_field: str | None = None
    start: Micros | None = None
    end: Micros | None = None


@dataclass(frozen=True, slots=True)
class DocumentQuery:
    """Which documents to list; `text` is a case-insensitive substring of id or text."""

    text: str | None = None
    tags: TagFilter | None = None
    time_field: str | None = None
    start: Micros | None = None
    end: Micros | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of a bank: its visible memories by type, links by type, documents, entities."""

    memories: Mapping[str, int]
    links: Mapping[str, int]
    links_by_fact_type: Mapping[str, Mapping[str, int]]
    documents: int
    entities: int
    operations: Mapping[str, int]
    last_memory_write_at: Micros | None
    last_document_at: Micros | None
    pending_vectors: int


@dataclass(frozen=True, slots=True)
class Unembedded:
    """A memory that waits for its vector; `seq` is the change at which it was read."""

    key: int
    seq: int
    text: str
    previous: str | None


class BankReader(Protocol):
    """One consistent snapshot of a bank, seen through the grant of its handle."""

    # memories
    def memories(self, query: MemoryQuery, page: Page) -> Listing[Memory]:
        """Memories, newest `created_at` first."""

    def memories_by_key(self, keys: Sequence[int]) -> dict[int, Memory]:
        """Valid memories by key; keys that are gone, invalidated or hidden are left out."""

    def memory(self, memory_id: str) -> Memory | None:
        """A memory in any state by its public id."""

    def memory_history(self, memory_id: str) -> Sequence[MemoryVersion]:
        """Earlier versions, newest first."""

    def next_position(self, thread: str) -> int:
        """One more than the largest position in the thread (memories in any state), 0 when it is new."""

    def find_duplicates(self, memories: Sequence[NewMemory]) -> dict[int, int]:
        """For the members that are already stored as the same fact: index -> key (see `add_memories`)."""

    # documents and chunks
    def documents(self, query: DocumentQuery, page: Page) -> Listing[Document]:
        """Documents without their text, most recently updated first."""

    def documents_matching_text(self, ids: Sequence[str], text: str) -> Mapping[str, Sequence[str]]:
        """Which of `id`, `original_text` of each document contain `text`, case-insensitively."""

    def document(self, document_id: str) -> Document | None:
        """A document with its text."""

    def document_events(self, document_id: str, page: Page) -> Listing[DocumentEvent]:
        """The history of a document, newest first."""

    def fact_types_of_document(self, document_id: str) -> Mapping[str, int]:
        """How many visible memories of each type rest on the document."""

    def chunks(self, document_id: str, page: Page) -> Listing[Chunk]:
        """The chunks of a document in order."""

    def chunk(self, chunk_id: str) -> Chunk | None:
        """One chunk. Hidden when its document is hidden."""

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> Mapping[str, Chunk]:
        """Chunks by id; hidden or missing ones are left out."""

    # entities and tags
    def entities(self, tags: TagFilter | None, page: Page) -> Listing[Entity]:
        """Entities that a visible memory matching `tags` names, most mentioned first."""

    def entity(self, entity_id: str, tags: TagFilter | None) -> Entity | None:
        """One entity, None when no visible memory matching `tags` names it."""

    def entity_memories(self, entity_id: str, tags: TagFilter | None, limit: int) -> Sequence[Memory]:
        """Visible valid memories that name the entity, newest first."""

    def entity_names(self) -> Sequence[tuple[str, str]]:
        """(name, type) of every entity: the bank's own known entities, for extraction."""

    def entities_named(self, names: Sequence[str]) -> Mapping[str, Entity]:
        """Entities by exactly these names, as far as a visible memory names them."""

    def entities_of(self, keys: Sequence[int]) -> Mapping[int, Sequence[Entity]]:
        """The entities of each memory, in order of mention."""

    def entity_pairs(
        self, tags: TagFilter | None, min_count: int, limit: int
    ) -> Listing[tuple[str, str, int, Micros | None]]:
        """Pairs (entity id, entity id, memories naming both, latest time), most frequent first."""

    def tags(self, text: str | None, page: Page) -> Listing[tuple[str, int]]:
        """Tags of visible memories with counts, most frequent first; `text` may hold `*` wildcards."""

    # graph and numbers
    def links_between(self, keys: Sequence[int]) -> Sequence[Link]:
        """Stored links whose two ends are both among `keys`."""

    def counts(self) -> Counts:
        """The numbers of the bank."""

    def time_buckets(self, time_field: str, start: Micros, width: str) -> Sequence[tuple[str, str, int]]:
        """(bucket ISO start, fact type, count) since `start`, `width` minute|hour|day|week|month."""

    # operations
    def operation(self, operation_id: str) -> Operation | None:
        """An operation with its payload."""

    def operations(
        self, status: str | None, type: str | None, exclude_parents: bool, page: Page
    ) -> Listing[Operation]:
        """Operations, newest first, without payloads."""

    def operation_children(self, operation_id: str) -> Sequence[Operation]:
        """The parts of an operation in order."""

    def runnable_at(self, now: Micros) -> Micros | None:
        """The earliest time at which an operation can be leased (`now` or earlier: at once), None
        when none waits. Operations on lease count with the end of their lease."""

    def blob(self, blob_id: str) -> bytes | None:
        """Bytes that wait for a job (an uploaded file)."""

    # derived data
    def meta(self, name: str) -> Any:
        """A small stored value of the bank (JSON), None when never set."""

    def seq(self) -> int:
        """The sequence number of the last change that this snapshot holds."""

    def index_rows(self, after: int) -> Iterator[IndexRow]:
        """Every memory changed after `after`, by sequence number; unfiltered, for the index only."""

    def deleted_keys(self, after: int) -> Sequence[int]:
        """Keys of memories deleted after `after`; unfiltered, for the index only."""

    def vectors(self, model_id: str, after_seq: int) -> Iterator[tuple[Sequence[int], bytes]]:
        """(keys, float16 little-endian rows) in batches: vectors that were written after `after_seq`, and
        those of memories that changed after it (the index drops a changed row's vector)."""

    def missing_vectors(self, model_id: str, limit: int) -> Sequence[Unembedded]:
        """Valid memories without a vector of `model_id`, oldest first, each with the text of the
        valid memory before it in its thread (largest smaller position) where that carries exactly
        the same tags: what a caller may not read must not colour what it may."""

    def vector_models(self) -> Mapping[str, int]:
        """model id -> number of vectors stored."""

    def links(self, after_seq: int) -> Iterator[Link]:
        """Stored links written after `after_seq`; unfiltered, for the index only."""

    # archives
    def dump_memories(self) -> Iterator[StoredMemory]:
        """Every visible memory in any state with all that is stored for it, by key. `source_ids`
        and `sources` name only what is visible too."""


class BankWriter(BankReader, Protocol):
    """A write transaction: all of it becomes durable at its end, or none of it."""

    # memories
    def add_memories(self, memories: Sequence[NewMemory], now: Micros) -> Sequence[int]:
        """Store memories and return their keys, in order.

        The same fact twice is one memory with two proofs: where the normalised text (NFKC, case
        and white space folded), type, tags, metadata and occurred dates equal those of a valid
        stored memory or an earlier member, the member becomes one more source of it and
        `proof_count` rises, unless that document chunk is its source already.
        Entities are found or made by name (NFC, case-folded).
        """

    def edit_memory(self, key: int, changes: Mapping[str, Any], now: Micros, change: str) -> None:
        """Change columns of a memory (text, terms, tokens, context, times, fact_type, entities,
        state, invalidation_reason), keeping its version before in the history. A changed text
        drops its vectors and semantic links. `entities` is a sequence of (name, type)."""

    def delete_memories(self, keys: Sequence[int]) -> int:
        """Delete memories with all that hangs on them; returns how many were there.

        Wherever a memory goes or its text or tags change, the vector of the memory after it in
        its thread is dropped too, since it was made with the text before it in view."""

    def clear_memories(self, fact_type: FactType | None) -> int:
        """Delete the visible memories of a type (None: all). Documents and entities stay."""

    # documents
    def put_document(self, document: Document) -> None:
        """Insert or replace the document row; sources and chunks stay as they are."""

    def put_chunks(self, chunks: Sequence[Chunk]) -> None:
        """Insert chunks, or replace those with the same chunk id."""

    def remove_chunks(self, chunk_ids: Sequence[str]) -> int:
        """Delete chunks and every memory whose last source they were; returns memories deleted."""

    def delete_document(self, document_id: str) -> int:
        """Delete a document, its chunks, history and memories resting on it alone; memories deleted."""

    def retag_document(self, document_id: str, tags: tuple[str, ...], now: Micros) -> int:
        """Set the tags of a document and of the memories resting on it; returns memories changed.

        A memory keeps the tags that it has beyond the document's old ones (tags of labels and the
        mark `labels:pending`): its new tags are (its own - the document's old) + the new ones."""

    def add_document_event(self, event: DocumentEvent) -> None:
        """Append to a document's history."""

    # operations
    def put_operation(self, operation: Operation) -> None:
        """Insert an operation or replace all its columns but the lease."""

    def lease_operation(self, now: Micros, seconds: float) -> Lease | None:
        """Take the oldest runnable operation (pending and due, or processing with a lapsed lease).

        Leases of another process are lapsed. Operations with parts are never taken: they end with
        their last part. Two operations on one document never run side by side. `processed` is
        kept, so that a job can go on where it was."""

    def renew_lease(self, operation_id: str, token: int, until: Micros) -> bool:
        """Extend a lease; False when the token is no longer the holder's."""

    def progress(self, operation_id: str, token: int, stage: str, processed: int, total: int) -> bool:
        """Note progress; False when the token is no longer the holder's or the operation was cancelled."""

    def finish_operation(
        self,
        operation_id: str,
        token: int | None,
        status: OperationStatus,
        now: Micros,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        next_retry_at: Micros | None = None,
    ) -> bool:
        """End an operation or put it back to pending; False when `token` is not the holder's.

        Completed and cancelled operations lose their payload and blobs."""

    def delete_operation(self, operation_id: str) -> bool:
        """Delete an operation that has ended, with its parts."""

    def put_blob(self, blob_id: str, data: bytes) -> None:
        """Keep bytes until the operation that names them, in the list `blobs` of its payload, ends."""

    # derived data
    def put_derived(self, rows: Sequence[Derived]) -> int:
        """Replace what is derived from texts; rows whose text has changed are skipped. Returns how
        many were written."""

    def set_meta(self, name: str, value: Any) -> None:
        """Store a small value (JSON); None deletes it."""

    def put_vectors(self, model_id: str, rows: Sequence[tuple[int, int, bytes]]) -> int:
        """Store (key, seq the text was read at, float16 row); rows whose memory changed since are
        skipped. Returns how many were stored."""

    def drop_vectors(self, model_id: str | None) -> int:
        """Delete the vectors of one model, or of all."""

    def put_links(self, links: Sequence[Link]) -> None:
        """Insert or replace links; those with a missing end are skipped."""

    def drop_links(self, type: str) -> int:
        """Delete all links of a type."""

    # archives
    def load_entities(self, entities: Sequence[Entity]) -> None:
        """Insert entities with their ids (keys are made anew, counts and times come from memories).
        One whose name is there already under another id keeps the stored id."""

    def load_memories(self, memories: Sequence[StoredMemory]) -> Sequence[int]:
        """Insert memories exactly as given, with ids, times, states, proof counts and history, and
        return their new keys, in order. No duplicates are looked for: ids must be new. Entities
        must be loaded before (by id; unknown ones are made from `memory.entities` names where the
        two sequences are equally long), observations after the memories that they rest on."""


class BankHandle(Protocol):
    """An opened bank: the only way to its content. It re-resolves its grant when the epoch moved.

    Raises `NotFound` from `read`/`write` when the bank was deleted meanwhile, `Corrupt` when the
    store is damaged, `Unavailable` when the disk is full or the store cannot be opened.
    """

    @property
    def grant(self) -> Grant:
        """The grant that this handle was opened with."""

    @property
    def bank(self) -> BankRow:
        """The bank's registry row when the handle was opened."""

    @property
    def store_id(self) -> StoreId:
        """The identity of the store."""

    def seq(self) -> int:
        """The sequence number of the last committed change, without a transaction."""

    def read(self) -> AbstractContextManager[BankReader]:
        """A read transaction. Never waits for a writer."""

    def write(self) -> AbstractContextManager[BankWriter]:
        """The bank's writer lane: waits its turn, commits durably at the end, rolls back on error."""

    def compact(self) -> None:
        """Rewrite the store's files so that no byte of deleted text is left in them."""

    def write_export(self, name: str) -> AbstractContextManager[BinaryIO]:
        """A new file among the bank's exports; it appears whole at the end of the block, or not at
        all. `name` is made by lorebank: letters, digits, `-` and `.` only. `compact` and deleting
        the bank delete all exports; backups leave them out."""

    def read_export(self, name: str) -> BinaryIO | None:
        """An export opened for reading, None when there is none of this name."""

    def drop_exports(self, before: Micros) -> int:
        """Delete exports written before `before` and left-overs of killed writers; how many."""

    def check(self) -> Sequence[str]:
        """What is wrong with the store, one plain sentence each; empty when nothing is."""


class Banks(Protocol):
    """All banks of a data directory. Every method takes the grant that allows it."""

    def open(self, grant: Grant) -> BankHandle:
        """The bank that the grant names; `NotFound` (`Bank 'x' not found`) when there is none."""

    def create(self, grant: Grant, name: str | None, now: Micros) -> BankHandle:
        """Open the bank that the grant names, making it when missing (atomic, two callers get one)."""

    def delete(self, grant: Grant) -> None:
        """Delete the bank with all files; a kill at any moment ends in all or nothing. Waits for a
        write that runs. `NotFound` when there is none."""

    def update(self, grant: Grant, changes: Mapping[str, Any], now: Micros) -> BankRow:
        """Change name, mission, disposition or config (whole values) of the bank the grant names."""

    def listing(self, grant: Grant, text: str | None, page: Page) -> Listing[BankRow]:
        """Banks that the holder sees (`Resolver.shows`) and whose id, name or an alias contains `text`,
        by bank id. Page and total say nothing of others; `Unavailable` when the rules keep changing."""

    def all_rows(self, grant: Grant) -> Sequence[BankRow]:
        """Every bank, for work on the whole directory (a ticket, or root)."""

    def canonical(self, bank_id: str) -> BankId:
        """The bank id that `bank_id` is an alias of, or itself. Says nothing of existence."""

    def aliases(self, grant: Grant) -> Sequence[tuple[str, bool]]:
        """(alias, primary) of the bank the grant names, by alias."""

    def put_alias(self, grant: Grant, alias: str, primary: bool) -> None:
        """Add an alias or set whether it is primary; `Conflict` if it names another bank or is a bank id."""

    def delete_alias(self, grant: Grant, alias: str) -> bool:
        """Remove an alias; False when it was not there."""

    def mark_work(self, handle: BankHandle, kind: str) -> None:
        """Remember durably that the bank has background work (jobs, vectors), before it is committed."""

    def clear_work(self, handle: BankHandle, kind: str) -> bool:
        """Forget such a mark; called only when no work of that kind is left.

        False, and the mark stays, when it was set again since the handle was opened: open the
        handle before looking whether work is left."""

    def marked_work(self, grant: Grant) -> Iterable[tuple[BankId, str]]:
        """The marks that stand, for recovery after a restart."""
