"""The two databases of knowledge as the rooms above use them: `knowledge/registry.sqlite` and a store's
`state.sqlite` (seed 000, Storage layout). Each method is one transaction, durable when it returns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol

from lorebank.access.knowledge import ConversationGrant
from lorebank.clock import Micros
from lorebank.errors import StoreUnavailable

StoreState = Literal["creating", "ready"]
ReviewOutcome = Literal["enqueued", "not_needed", "skipped", "unavailable", "failed"]


# --- registry.sqlite


@dataclass(frozen=True, slots=True)
class StoreRow:
    """A physical store: its id, where it is (relative to the knowledge folder; stores of earlier releases
    may be elsewhere, statement 1.4.40), the name it last had, and whether its making was completed."""

    vault: str
    location: str
    state: StoreState
    last_name: str | None
    created_at: Micros


@dataclass(frozen=True, slots=True)
class AssignmentRow:
    """One journaled change of the store map (statement 1.2.20): the configuration file's SHA-256 before and
    after, and the bindings to set (None: remove) once the file is written."""

    id: str
    operation: str
    before: str
    after: str
    bindings: Mapping[str, str | None]
    state: Literal["planned", "done", "cancelled"]
    at: Micros
    by: str


@dataclass(frozen=True, slots=True)
class ConversationRow:
    """A conversation that the host reported; for listings only, never an authority."""

    agent: str
    session_key: str
    kind: str
    label: str | None
    reported_at: Micros


@dataclass(frozen=True, slots=True)
class ReviewRow:
    """A recorded request for an agent's review, which a gateway takes and answers once (seed 002)."""

    id: str
    job_id: str
    claims_left: int
    requested_at: Micros
    taken_at: Micros | None
    outcome: ReviewOutcome | None
    answered_at: Micros | None


@dataclass(frozen=True, slots=True)
class RegistryPicture:
    """What decisions need of the registry, all from one moment. `known` and `removed` as in
    `access.knowledge.KnowledgeData`; `open` is the assignment that is not settled."""

    bindings: Mapping[str, str]
    grants: Sequence[ConversationGrant]
    known: frozenset[str] | None
    removed: frozenset[str]
    ended: frozenset[str]
    open: AssignmentRow | None


class KnowledgeRegistry(Protocol):
    """Store identities, bindings, journal, grants, sessions, schedule, host report.

    A registry that cannot be trusted is an object all the same (a server serves its banks without one):
    `problem` says why, and every other method raises it. One that nobody has needed yet is empty; the
    first change makes it. Each change is durable when its method returns.
    """

    @property
    def problem(self) -> StoreUnavailable | None:
        """Why nothing can be read or changed (needs_recovery, foreign_store, newer_version, damaged). Looks
        whether the file is still in its place (one `stat`)."""

    def listen(self, changed: Callable[[bool], None]) -> None:
        """`changed(rights)` is called after every change of what `picture` shows, from the thread that made
        it, before its method returns. `rights`: somebody may have gained or lost something."""

    def picture(self) -> RegistryPicture: ...

    def stores(self) -> Sequence[StoreRow]: ...

    def bindings(self) -> Mapping[str, str]:
        """`own:<agent>` or `named:<name>` -> vault id."""

    def begin_store(self, vault: str, location: str, binding: str, at: Micros) -> StoreRow:
        """Bind a new id, state creating. When the binding is taken the existing row is given back.
        `StoreUnavailable` (busy) while an assignment is open: it may be about to bind this very name."""

    def store_ready(self, vault: str) -> None: ...

    def add_store(self, row: StoreRow, binding: str | None) -> None:
        """An imported or legacy store; `Conflict` when id or binding is taken."""

    def plan_assignment(self, row: AssignmentRow) -> None:
        """Write it down before the file is touched. `Conflict` while another one is open."""

    def settle_assignment(self, id: str, state: Literal["done", "cancelled"]) -> None:
        """Done: sets the planned bindings and the stores' last names in the same transaction. Fine when
        it is settled already."""

    def open_assignment(self) -> AssignmentRow | None: ...

    def assignments(self, limit: int) -> Sequence[AssignmentRow]:
        """Newest first."""

    def grants(self) -> Sequence[ConversationGrant]: ...

    def set_grant(self, grant: ConversationGrant) -> None: ...

    def drop_grant(self, agent: str, session_key: str) -> bool:
        """Whether there was one."""

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        """See `access.knowledge.KnowledgeFacts`: uuid5 in this registry's own random namespace."""

    def report_host(
        self, agents: Sequence[str], conversations: Sequence[ConversationRow], at: Micros
    ) -> None:
        """Replace the report. Agents of earlier reports that are missing now count as removed."""

    def host_agents(self) -> tuple[frozenset[str] | None, frozenset[str]]:
        """(reported now, None before the first report; removed)."""

    def conversations(self, agent: str) -> Sequence[ConversationRow]: ...

    def end_invocation(self, invocation: str, until: Micros) -> None:
        """Remember that it ended, at least until all its tokens have expired."""

    def ended_invocations(self) -> frozenset[str]: ...

    def value(self, name: str) -> Any:
        """A small JSON value by name (schedule state, last results); None when there is none."""

    def set_value(self, name: str, value: Any) -> None: ...

    def add_review(self, row: ReviewRow) -> bool:
        """False when a request with this id is there already: nothing is queued twice."""

    def reviews(self, *, open_only: bool) -> Sequence[ReviewRow]: ...

    def take_review(self, id: str, at: Micros) -> ReviewRow | None:
        """Note when it was taken first; the row as it is then, None when it was never requested."""

    def answer_review(self, id: str, outcome: ReviewOutcome, at: Micros) -> ReviewRow | None:
        """The row after the answer; a second answer changes nothing."""


# --- stores/<vaultId>/state.sqlite

_NOTHING: Final[Mapping[str, bytes]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """What the database knows of the manifest: the publication that vault.json must show."""

    vault: str
    generation: int
    publication_id: str


@dataclass(frozen=True, slots=True)
class PartitionRow:
    """A partition that was made: the identity of its folder is compared at each use."""

    folder: str
    device: int
    inode: int


@dataclass(frozen=True, slots=True)
class CatalogueRow:
    """What is known of one file of a partition. `record` is the JSON of a `Record`, None when withheld;
    `findings` its own diagnostics as JSON. `kind` is record, descriptor, source, ontology or other."""

    key: int
    folder: str
    path: str
    kind: str
    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int
    sha256: str
    revision: int
    record: str | None
    findings: str


@dataclass(frozen=True, slots=True)
class JournalRow:
    """One accepted publication; its name is (`folder`, `request_id`): a request id means nothing in another
    partition. `files` holds everything needed to finish it or to take it back: paths, contents or staged
    names, what was there before, catalogue rows; empty once git has it. `state`: accepted -> published, or
    accepted -> conflicted."""

    request_id: str
    digest: str
    folder: str
    agent: str | None
    change: str
    files: bytes
    records: str
    answer: str
    message: str
    generation: int
    publication_id: str
    state: Literal["accepted", "published", "conflicted"]
    accepted_at: Micros
    published_at: Micros | None
    commit: str | None


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """A row of history as stored; `vaults.store.values.HistoryRow` has the meaning of the fields.

    `old_path` is where an `external_rename` came from. A line without a `sha256` says that the file is gone.
    """

    seq: int
    folder: str
    record_id: str | None
    revision: int | None
    path: str
    title: str
    change: str
    agent: str | None
    at: Micros
    sha256: str | None
    blob: str | None
    commit: str | None
    request_id: str | None
    message: str
    old_path: str | None = None


class VaultState(Protocol):
    """One store's database. Safe from any thread; `Unavailable` when the disk fails, `Corrupt` when the file
    is damaged."""

    def close(self) -> None:
        """Nobody may be using it."""

    def checkpoint(self) -> Checkpoint: ...

    def partition(self, folder: str) -> PartitionRow | None: ...

    def add_partition(self, row: PartitionRow) -> None:
        """`Conflict` when the folder is known already: its identity is never replaced."""

    def move_partition(self, row: PartitionRow) -> None:
        """Another folder stands for a known partition from now on; only an operator may say so."""

    def partitions(self) -> Sequence[PartitionRow]:
        """By folder."""

    def catalogue(self, folder: str) -> Iterator[CatalogueRow]:
        """All rows of a partition, by path."""

    def apply_catalogue(
        self,
        folder: str,
        upserts: Sequence[CatalogueRow],
        deleted: Sequence[int],
        history: Sequence[HistoryLine],
        contents: Mapping[str, bytes] = _NOTHING,
    ) -> Mapping[str, int]:
        """Changed, new (`key` 0) and removed files with the history of what happened to them, at once.
        Path -> key of the upserted ones. `seq` of the history lines is given here. `contents` (by SHA-256)
        are kept until git has them."""

    def accept(self, row: JournalRow) -> None:
        """`Conflict` when the request id is there already, or another one is accepted and open."""

    def journaled(self, folder: str, request_id: str) -> JournalRow | None: ...

    def open_journal(self) -> Sequence[JournalRow]:
        """Accepted and conflicted ones, oldest first."""

    def publish(
        self,
        folder: str,
        request_id: str,
        at: Micros,
        catalogue: Sequence[CatalogueRow],
        history: Sequence[HistoryLine],
    ) -> Mapping[str, int]:
        """The receipt, the new checkpoint (the row's generation and publication), the changed catalogue and
        the history, at once; path -> key as `apply_catalogue`. The contents leave the journal row when the
        commit is noted. `Conflict` when the row is not open."""

    def conflict(self, folder: str, request_id: str) -> None:
        """accepted -> conflicted."""

    def forget(self, folder: str, request_id: str) -> None:
        """Drop a row that was never published; afterwards the request id is unknown. Others stay."""

    def backlog(self) -> int:
        """How many history lines and publications git does not have yet."""

    def uncommitted(self) -> Sequence[HistoryLine]:
        """What git does not have yet, oldest first."""

    def unfinished(self) -> Sequence[JournalRow]:
        """Published ones without a commit, oldest first."""

    def kept(self, sha256: str) -> bytes | None:
        """Contents that `apply_catalogue` was told to keep, as long as git does not have them."""

    def committed(
        self, lines: Mapping[int, str | None], commit: str, requests: Sequence[tuple[str, str]] = ()
    ) -> None:
        """Note that git has these history lines (seq -> blob id) and publications (folder, request id)."""

    def history(self, folder: str, record_id: str, before: int | None, limit: int) -> Sequence[HistoryLine]:
        """Newest first; only lines with `seq` below `before`."""

    def line(self, folder: str, seq: int) -> HistoryLine | None: ...

    def last_revisions(self, folder: str) -> Mapping[str, int]:
        """Record id -> highest revision that history knows, also of records that are gone."""

    def recent(self, folder: str, limit: int) -> Sequence[HistoryLine]:
        """The newest line of each record, newest first."""

    def verdict(self, key: str) -> tuple[str, str] | None:
        """(stamp, verdict) of an evidence check; `key` is the caller's."""

    def set_verdict(self, key: str, stamp: str, verdict: str) -> None: ...

    def set_verdicts(self, stamp: str, verdicts: Mapping[str, str]) -> None:
        """Verdicts by key that have the same stamp, in one transaction."""

    def vectors(self, folder: str) -> Iterator[tuple[int, str, str, bytes]]:
        """(catalogue key, model id, SHA-256 of the file, float16 vector). A vector goes in the same
        transaction in which its file does, or becomes another one."""

    def set_vectors(self, model: str, rows: Sequence[tuple[int, str, bytes]]) -> None:
        """(catalogue key, SHA-256 of the file, float16 vector). Replaces by key; rows whose file is gone,
        or is another one in the catalogue, are left out."""
