"""What a publication works with: the parts of the store, and what its runtime decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lorebank import clock
from lorebank.access.audience import Partition
from lorebank.clock import Clock
from lorebank.storage.knowledge_ports import CatalogueRow, VaultState
from lorebank.storage.tree.ports import History, Tree
from lorebank.vaults.store.values import Draft, FileChange, Receipt, View

Plan = Callable[[View], Draft]


def _nothing(whole: bool) -> None:
    """Nobody needs to hear of it."""


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one store. Whoever hands them over holds the store's lane.

    `tree` stands on `vault/`, `staging` is the folder beside it. `git` is None while there may be no
    repository (writes are off): then nothing is committed, and it is caught up later. `after_commits` is
    called inside the lane when git got something, or could not get it (False); see `tidying`.
    """

    vault: str
    tree: Tree
    state: VaultState
    git: History | None
    staging: Path
    now: Clock = clock.now
    after_commits: Callable[[bool], None] = _nothing


@dataclass(frozen=True, slots=True)
class Order:
    """Who wants what published. `digest` is that of the whole request; `agent` the writing agent."""

    request_id: str
    digest: str
    partition: Partition
    agent: str | None
    change: str = "save"


class Desk(Protocol):
    """What the store's runtime decides for one publication."""

    def check(self) -> None:
        """Authority, settings, manifest and the partition's folder, as they are now; raises when anything
        forbids to write (statement 1.3.32)."""

    def refresh(self) -> View:
        """The newest view, edits from outside recorded."""

    def describe(self, change: FileChange) -> CatalogueRow:
        """What the catalogue will say of the file; key and stamp are 0. `record` and `revision` as a
        later look at the file would find them."""


@dataclass(frozen=True, slots=True)
class Published:
    """A receipt, and the rows that the catalogue has by it (none for a replay)."""

    receipt: Receipt
    rows: tuple[CatalogueRow, ...] = ()
