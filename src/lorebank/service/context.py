"""The parts of a running server that handlers may use. Built once by `bootstrap`."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lorebank.access.resolve import Resolver
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.clock import Clock, Micros
from lorebank.config import Settings
from lorebank.metrics import Metrics
from lorebank.models.service import RerankService
from lorebank.service.tasks import Progress, Tasks
from lorebank.storage.ports import BankHandle, Banks


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


@dataclass(frozen=True, slots=True)
class Context:
    """Everything a handler may use besides its grant and handle."""

    settings: Settings
    banks: Banks
    resolver: Resolver
    indexes: Indexes
    embedders: Embedders
    reranker: RerankService
    work: Notifier
    maintenance: Maintenance
    metrics: Metrics
    clock: Clock
    started_at: Micros
    tasks: Tasks = field(default_factory=Tasks)
