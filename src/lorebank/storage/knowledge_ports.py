"""The two databases of knowledge as the rooms above use them: `knowledge/registry.sqlite` and a store's
`state.sqlite` (seed 000, Storage layout). Each method is one transaction, durable when it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lorebank.access.knowledge import ConversationGrant
from lorebank.clock import Micros

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


class KnowledgeRegistry(Protocol):
    """Store identities, bindings, journal, grants, sessions, schedule, host report."""

    def stores(self) -> Sequence[StoreRow]: ...

    def bindings(self) -> Mapping[str, str]:
        """`own:<agent>` or `named:<name>` -> vault id."""

    def begin_store(self, vault: str, location: str, binding: str, at: Micros) -> StoreRow:
        """Bind a new id, state creating. When the binding is taken the existing row is given back."""

    def store_ready(self, vault: str) -> None: ...

    def add_store(self, row: StoreRow, binding: str | None) -> None:
        """An imported or legacy store; `Conflict` when id or binding is taken."""

    def plan_assignment(self, row: AssignmentRow) -> None:
        """Write it down before the file is touched. `Conflict` while another one is open."""

    def settle_assignment(self, id: str, state: Literal["done", "cancelled"]) -> None:
        """Done: sets the planned bindings and the stores' last names in the same transaction."""

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

    def take_review(self, id: str, at: Micros) -> ReviewRow | None: ...

    def answer_review(self, id: str, outcome: ReviewOutcome, at: Micros) -> ReviewRow | None:
        """The row after the answer; a second answer changes nothing."""


# --- stores/<vaultId>/state.sqlite


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
    """One accepted publication. `files` (JSON) holds everything needed to finish it: paths, contents or
    staged names, expected and new hashes. `state`: accepted -> published, or conflicted."""

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
    """A row of history as stored; `vaults.store.values.HistoryRow` has the meaning of the fields."""

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


class VaultState(Protocol):
    """One store's database."""

    def checkpoint(self) -> Checkpoint: ...

    def partition(self, folder: str) -> PartitionRow | None: ...

    def add_partition(self, row: PartitionRow) -> None: ...

    def partitions(self) -> Sequence[PartitionRow]: ...

    def catalogue(self, folder: str) -> Iterator[CatalogueRow]: ...

    def apply_catalogue(
        self,
        folder: str,
        upserts: Sequence[CatalogueRow],
        deleted: Sequence[int],
        history: Sequence[HistoryLine],
    ) -> Mapping[str, int]:
        """Changed, new (`key` 0) and removed files with the history of what happened to them, at once.
        Path -> key of the new ones. `seq` of the history lines is given here."""

    def accept(self, row: JournalRow) -> None:
        """`Conflict` when the request id is there with another digest, or another one is accepted and open."""

    def journaled(self, request_id: str) -> JournalRow | None: ...

    def open_journal(self) -> Sequence[JournalRow]:
        """Accepted and conflicted ones, oldest first."""

    def publish(
        self, request_id: str, at: Micros, catalogue: Sequence[CatalogueRow], history: Sequence[HistoryLine]
    ) -> None:
        """The receipt, the new checkpoint, the changed catalogue and the history, at once. The contents
        leave the journal row when the commit is noted."""

    def conflict(self, request_id: str) -> None: ...

    def uncommitted(self) -> Sequence[HistoryLine]:
        """What git does not have yet, oldest first."""

    def committed(self, seqs: Sequence[int], blobs: Mapping[int, str], commit: str) -> None: ...

    def history(
        self, folder: str, record_id: str, before: int | None, limit: int
    ) -> Sequence[HistoryLine]: ...

    def recent(self, folder: str, limit: int) -> Sequence[HistoryLine]: ...

    def verdict(self, key: str) -> tuple[str, str] | None:
        """(stamp, verdict) of an evidence check; `key` is the caller's."""

    def set_verdict(self, key: str, stamp: str, verdict: str) -> None: ...

    def vectors(self, folder: str) -> Iterator[tuple[int, str, bytes]]:
        """(catalogue key, model id, float16 vector)."""

    def set_vectors(self, rows: Sequence[tuple[int, str, bytes]]) -> None: ...
