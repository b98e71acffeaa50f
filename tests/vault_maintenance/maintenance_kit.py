"""A house of knowledge stores in memory, with the real registry, for tests of the scheduled pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.knowledge import KnowledgeData, KnowledgeSettings, MaintenanceSettings
from lorebank.clock import to_micros
from lorebank.errors import NotCreated, StoreUnavailable
from lorebank.storage.knowledge_ports import StoreRow
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.maintenance.service import Maintenance
from vault_kit.memory_vault import MemoryVault

CHAT = Partition("33333333-3333-4333-8333-333333333333")
MINUTE = 60 * 1_000_000


def at(text: str) -> int:
    return to_micros(datetime.fromisoformat(text))


class Facts:
    """Settings and bindings that a test changes as it likes."""

    def __init__(self) -> None:
        settings = KnowledgeSettings(maintenance=MaintenanceSettings(timezone="UTC"))
        self.data = KnowledgeData(settings=settings)

    def settings(self, **more: Any) -> None:
        maintenance = more.pop("maintenance", {})
        settings = replace(self.data.settings, **more)
        settings = replace(settings, maintenance=replace(settings.maintenance, **maintenance))
        self.data = replace(self.data, settings=settings)

    def session_uuid(self, session_id: str, *, record: bool) -> str:
        raise AssertionError("maintenance asks for no sessions")

    def invocation_ended(self, invocation: str) -> bool:
        return False


class House:
    """Stores by agent, each with partitions; `now` is what the clock shows."""

    def __init__(self, folder: Path) -> None:
        self.facts = Facts()
        self.registry = SqliteKnowledgeRegistry(folder)
        self.now = at("2026-11-30T12:00Z")
        self.vaults: dict[str, dict[Partition, MemoryVault]] = {}
        self.broken: dict[str, StoreUnavailable | NotCreated | Exception] = {}
        self.visited: list[tuple[str, Partition]] = []
        self.on_open: Callable[[str, Partition], None] | None = None
        self.service = self.restarted()

    def restarted(self) -> Maintenance:
        self.service = Maintenance(self.facts, self.registry, self, clock=lambda: self.now)
        return self.service

    def store(self, agent: str, *texts: str, state: str = "ready", chat: Sequence[str] = ()) -> str:
        """A store with the page Mara Olsen and remembered claims in its private partition."""
        vault = f"{len(self.vaults) + 1:08x}-1111-4111-8111-111111111111"
        self.registry.begin_store(vault, f"stores/{vault}", f"own:{agent}", self.now)
        if state == "ready":
            self.registry.store_ready(vault)
        self.vaults[vault] = {PRIVATE: filled(MemoryVault(agent=agent), texts)}
        if chat:
            self.vaults[vault][CHAT] = filled(MemoryVault(CHAT, agent=agent), chat)
        self.facts.data = replace(self.facts.data, bindings=dict(self.registry.bindings()))
        return vault

    # Visits

    def partitions(self, vault: str) -> Sequence[Partition]:
        if vault in self.broken:
            raise self.broken[vault]
        return list(self.vaults[vault])

    def open(self, vault: str, binding: str, partition: Partition) -> MemoryVault:
        self.visited.append((vault, partition))
        if self.on_open is not None:
            self.on_open(vault, partition)
        return self.vaults[vault][partition]

    def row(self, vault: str) -> StoreRow:
        return next(row for row in self.registry.stores() if row.vault == vault)


def filled(vault: MemoryVault, texts: Sequence[str]) -> MemoryVault:
    vault.page("Mara Olsen")
    excerpt = vault.source("What was said.", origin="knowledge_remember")
    for text in texts:
        vault.claim(text, excerpt)
    return vault
