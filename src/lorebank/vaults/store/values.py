"""The contract between the rooms of a vault: what a query sees, what a publication is, what a handle does.

Everything that reads goes through `VaultHandle.reading`, everything that writes through
`VaultHandle.publish`; both check authority, manifest, checkpoint and partition before and after
(seed 000, Storage layout and Caller authority).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal, Protocol, runtime_checkable

from lorebank.access.audience import Partition
from lorebank.access.vault_grant import VaultGrant
from lorebank.clock import Micros
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.record.ontology import Ontology
from lorebank.vaults.record.values import Finding, Record


@dataclass(frozen=True, slots=True)
class Stamp:
    """A file's identity and state by `fstat`; equal stamps are taken for equal contents."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int


@dataclass(frozen=True, slots=True)
class Entry:
    """One record file of a partition, by the catalogue.

    `key` is the row in the catalogue and the key in the search index; never reused. `record` is None for
    a withheld file. `revision` is the effective one: an edit from outside that left the number in the
    file as it was counts as the next (so that an expected revision notices it).
    """

    key: int
    path: str
    stamp: Stamp
    sha256: str
    record: Record | None
    revision: int


@dataclass(frozen=True, slots=True)
class Descriptor:
    """A retained source (specs, Record formats): immutable. `path` is of the content, relative to the
    partition; `origin` tells how it came: `knowledge_remember`, `knowledge_attach_file`, `import`."""

    id: str
    path: str
    sha256: str
    size: int
    origin: str
    attribution: str | None = None
    filename: str | None = None
    media_type: str | None = None
    retained_at: str | None = None


class View(Protocol):
    """An immutable, verified picture of one partition. Nothing of another partition is in it."""

    @property
    def partition(self) -> Partition: ...

    @property
    def ontology(self) -> Ontology:
        """Shipped, with the private extension in the private partition only."""

    @property
    def entries(self) -> Mapping[str, Entry]:
        """By path, in order of path. Withheld files are in it with `record` None."""

    @property
    def snapshot(self) -> Snapshot:
        """The search index over records; the key of a passage is `Entry.key`."""

    def by_id(self, record_id: str) -> Entry | None:
        """The one readable record with that id; None when there is none, or more than one."""

    def by_key(self, key: int) -> Entry | None:
        """The entry of a search hit."""

    def descriptor(self, source_id: str) -> Descriptor | None:
        """A retained source of this partition."""

    @property
    def descriptors(self) -> Mapping[str, Descriptor]: ...

    @property
    def findings(self) -> Sequence[Finding]:
        """All diagnostics of the partition, ordered by path and line."""

    def read(self, entry: Entry) -> bytes:
        """The file's bytes now; `Unavailable` when they are not those of the view (ask again)."""

    def open_source(self, descriptor: Descriptor) -> AbstractContextManager[BinaryIO]:
        """The retained file for streaming reads, opened safely below the partition."""


@runtime_checkable
class LooksAgain(Protocol):
    """A view that can tell cheaply whether a file is what it was: for search hits that are not read."""

    def fresh(self, entry: Entry) -> bool:
        """Whether the file has the stamp that it had; false for one that is gone."""


FileAction = Literal["write", "retain"]


@dataclass(frozen=True, slots=True)
class FileChange:
    """One file of a publication. `path` is relative to the partition.

    `content` or `staged` (a file in the store's staging folder, moved into place) is what it shall be.
    `expected` is the SHA-256 that it must have before, None: it must not exist (or, for `staged` and
    `retain`, exist with the very same content).
    """

    path: str
    content: bytes | None = None
    staged: Path | None = None
    sha256: str = ""
    expected: str | None = None
    action: FileAction = "write"


@dataclass(frozen=True, slots=True)
class RecordChange:
    """What history notes of one record in a publication."""

    id: str
    revision: int
    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Draft:
    """What a plan wants published, all or nothing. `answer` is JSON-ready and is stored with the receipt:
    a replay answers with it."""

    files: tuple[FileChange, ...]
    records: tuple[RecordChange, ...]
    answer: Mapping[str, Any] = field(default_factory=dict)
    message: str = ""


@dataclass(frozen=True, slots=True)
class Receipt:
    """A publication that is done. `commit` is None while git is behind (it is caught up). `replayed` tells
    that the request had been published before and nothing was done now."""

    request_id: str
    generation: int
    publication_id: str
    published_at: Micros
    records: tuple[RecordChange, ...]
    answer: Mapping[str, Any]
    commit: str | None
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One revision of one record. `change` is save, external_edit, external_delete, external_add,
    external_rename, restore, relink or import; `agent` who wrote it (None for a person's editor)."""

    seq: int
    record_id: str | None
    revision: int | None
    path: str
    change: str
    agent: str | None
    at: Micros
    sha256: str | None
    blob: str | None
    commit: str | None
    request_id: str | None
    message: str


class VaultHandle(Protocol):
    """One partition of one store, opened with a grant. Safe from any thread."""

    @property
    def grant(self) -> VaultGrant: ...

    def check(self) -> None:
        """Authority, store and partition as they are now; raises when anything is not as it was at the
        opening (statement 1.6.60). Called before and after every slow step."""

    def reading(self) -> AbstractContextManager[View]:
        """A verified view. Recovery runs before the first one, external edits are recorded, and leaving
        the block checks everything again: what was made inside must be given away only after it."""

    def publish(
        self, request_id: str, digest: str, plan: Callable[[View], Draft], *, change: str = "save"
    ) -> Receipt:
        """Publish what `plan` makes of the newest view, in the store's lane.

        The same `request_id` and `digest` (of the request) give the same receipt without calling `plan`;
        another digest is `Conflict`. `WritesDisabled`, `Forbidden` (a read-only grant),
        `RevisionConflict` from the plan: nothing was changed.
        """

    def stage(
        self, chunks: Iterator[bytes], *, size: int | None, sha256: str | None
    ) -> tuple[Path, str, int]:
        """A durable file in the store's staging folder, its SHA-256 and size; `InvalidInput` when they are
        not the given ones. Not part of the vault until a publication takes it; swept when nothing does."""

    def history(self, record_id: str, *, before: int | None, limit: int) -> Sequence[HistoryRow]:
        """Newest first; `before` is a `seq`."""

    def recent(self, limit: int) -> Sequence[HistoryRow]:
        """The newest changes of this partition, one a record (Recent projection)."""

    def content_of(self, row: HistoryRow) -> bytes | None:
        """The record's bytes at that revision, from git; None for a deletion."""


class Vaults(Protocol):
    """All knowledge stores of one server."""

    def open(self, grant: VaultGrant) -> VaultHandle:
        """The partition of the grant. Makes store and partition when the grant may (`may_create`), raises
        `NotCreated` when nobody has used it yet, `StoreUnavailable` when it cannot be trusted. A store
        that existed is never made anew (seed 000, Stores)."""
