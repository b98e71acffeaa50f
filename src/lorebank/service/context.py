"""The parts of a running server that handlers may use. Built once by `bootstrap`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from lorebank.access.audit import AuditQuery, AuditRow, Verified
from lorebank.access.directory import AccessStore
from lorebank.access.knowledge import KnowledgeFacts
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.access.vault_resolve import VaultResolver
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.clock import Clock, Micros
from lorebank.config import Settings
from lorebank.errors import Bug
from lorebank.metrics import Metrics
from lorebank.models.service import RerankService
from lorebank.service.tasks import Progress, Tasks
from lorebank.storage.knowledge_ports import KnowledgeRegistry
from lorebank.storage.ports import BankHandle, Banks, Listing, Page

if TYPE_CHECKING:
    from lorebank.vaults.assignments.facts import VaultFacts
    from lorebank.vaults.assignments.grants import Grants
    from lorebank.vaults.assignments.host import Host
    from lorebank.vaults.assignments.inventory import Probe
    from lorebank.vaults.assignments.sharing import Sharing
    from lorebank.vaults.find.candidates import Candidates
    from lorebank.vaults.find.ports import Embed
    from lorebank.vaults.maintenance.service import Maintenance as VaultMaintenance
    from lorebank.vaults.store.values import Vaults


class AuditLog(Protocol):
    """The audit log as it is read; rows come newest first."""

    def rows(self, query: AuditQuery, page: Page) -> Listing[AuditRow]:
        """The rows that match."""

    def row(self, seq: int) -> AuditRow | None:
        """One row."""

    def buckets(self, query: AuditQuery, width: str) -> Sequence[tuple[str, str, int]]:
        """(bucket ISO start, action, count) by time, `width` minute|hour|day."""

    def verify(self, progress: Progress) -> Verified:
        """Walk the whole chain."""

    def trim(self, before: Micros) -> int:
        """Remove rows older than `before`, keeping the chain provable; how many went."""


@dataclass(frozen=True, slots=True)
class Access:
    """What operations on access itself use: the stored directory, the rules over it, the audit log."""

    store: AccessStore
    rules: PolicyRules
    audit: AuditLog


class Notifier(Protocol):
    """Wakes background work. Calling it is never needed for correctness, only for speed."""

    def notify(self, handle: BankHandle) -> None:
        """Say that the bank has operations to run."""

    def vectors(self, handle: BankHandle) -> None:
        """Say that the bank has memories without vectors."""

    def settle(self, handle: BankHandle, timeout_s: float) -> None:
        """Wait until the bank's vectors are complete, at most `timeout_s` seconds."""


class Maintenance(Protocol):
    """Work on the whole data directory, done by its owner. `progress` may raise to stop the work."""

    def backup(self, target: Path, progress: Progress) -> dict[str, object]:
        """Copy the data directory consistently into the empty or new folder `target` while serving."""

    def compact(self, progress: Progress) -> dict[str, object]:
        """Rewrite every store so that no deleted byte is left."""

    def rebuild(self, progress: Progress) -> dict[str, object]:
        """Drop everything derived but vectors and make it anew from the rows, without a model call."""

    def check(self, progress: Progress) -> dict[str, list[str]]:
        """bank id -> problems found, for every bank; the key '' holds the registry's."""

    def reembed(self, model_id: str, progress: Progress) -> dict[str, object]:
        """Make every bank's vectors with that model, then let them answer; what is there is kept."""

    def disk_bytes(self) -> int:
        """Bytes of all files of the data directory."""


class VaultUpkeep(Protocol):
    """Work on whole knowledge stores, done by their owner. `progress` may raise to stop the work."""

    def check(self, read_all: bool, progress: Progress) -> dict[str, list[str]]:
        """Vault id -> problems found, for every store; with `read_all` every file is read."""

    def resolve(self, vault: str, folder: str, request_id: str, keep: str) -> dict[str, object]:
        """Settle a conflicted publication of a partition by its request id."""

    def accept_folders(self, vault: str) -> dict[str, object]:
        """Take the folders that stand in a store for its partitions, after its files were moved."""

    def read_in(
        self, source: Path, name: str | None, agent: str | None, progress: Progress
    ) -> dict[str, object]:
        """Import what another program made at `source` into new stores."""


@dataclass(frozen=True, slots=True)
class Knowledge:
    """What operations on knowledge stores use: the stores, the facts that decide (`assigned` is the same
    object with its configuration), the decisions, the changes of assignments and grants, what the host
    reports, the scheduled pass, and recall candidates. `embed` makes vectors where `semantic` is on.
    """

    vaults: Vaults
    facts: KnowledgeFacts
    registry: KnowledgeRegistry
    resolver: VaultResolver
    assigned: VaultFacts
    sharing: Sharing
    grants: Grants
    host: Host
    probe: Probe
    candidates: Candidates
    maintenance: VaultMaintenance
    upkeep: VaultUpkeep
    embed: Embed


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a handler may use besides its grant and handle."""

    settings: Settings
    banks: Banks
    resolver: Resolver
    access: Access
    indexes: Indexes
    embedders: Embedders
    reranker: RerankService
    work: Notifier
    maintenance: Maintenance
    metrics: Metrics
    clock: Clock
    started_at: Micros
    tasks: Tasks = field(default_factory=Tasks)
    knowledge_or_none: Knowledge | None = None

    @property
    def knowledge(self) -> Knowledge:
        """The knowledge stores."""
        if self.knowledge_or_none is None:
            raise Bug("this server was put together without knowledge stores")
        return self.knowledge_or_none
