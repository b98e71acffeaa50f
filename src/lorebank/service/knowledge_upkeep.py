"""Work on whole knowledge stores (`service.context.VaultUpkeep`), each piece under a ticket of its own."""

from __future__ import annotations

from pathlib import Path

from lorebank.access.vault_resolve import VaultResolver
from lorebank.errors import InvalidInput, LorebankError, NotFound, StoreUnavailable, WritesDisabled
from lorebank.service.tasks import Progress
from lorebank.storage.knowledge_ports import KnowledgeRegistry
from lorebank.vaults.store.vaults import KnowledgeVaults


class KnowledgeUpkeep:
    """See `service.context.VaultUpkeep`. `folder` is the knowledge folder."""

    def __init__(
        self,
        folder: Path,
        registry: KnowledgeRegistry,
        vaults: KnowledgeVaults,
        resolver: VaultResolver,
    ) -> None:
        self._folder, self._registry = folder, registry
        self._vaults, self._resolver = vaults, resolver

    def check(self, read_all: bool, progress: Progress) -> dict[str, list[str]]:
        """See `service.context.VaultUpkeep`. A store that cannot be opened is told with its reason."""
        rows = self._registry.stores()
        found: dict[str, list[str]] = {}
        for done, row in enumerate(rows):
            progress(f"store {row.vault}", done, len(rows))
            try:
                found[row.vault] = self._vaults.check_store(row.vault, read_all=read_all)
            except LorebankError as exc:
                found[row.vault] = [exc.message]
        progress("stores", len(rows), len(rows))
        return found

    def resolve(self, vault: str, folder: str, request_id: str, keep: str) -> dict[str, object]:
        """See `service.context.VaultUpkeep`. `NotFound` for a store that is not in the registry."""
        if keep not in ("mine", "theirs"):
            raise InvalidInput("keep must be 'mine' (the publication) or 'theirs' (what stands in the files)")
        self._known(vault)
        self._vaults.settle(vault, folder, request_id, "mine" if keep == "mine" else "theirs")
        return {"vaultId": vault, "requestId": request_id, "kept": keep}

    def accept_folders(self, vault: str) -> dict[str, object]:
        """See `service.context.VaultUpkeep`. `NotFound` for a store that is not in the registry."""
        self._known(vault)
        return {"vaultId": vault, "accepted": self._vaults.accept_folders(vault)}

    def read_in(
        self, source: Path, name: str | None, agent: str | None, progress: Progress
    ) -> dict[str, object]:
        """See `service.context.VaultUpkeep`. `WritesDisabled` while `writesEnabled` is false."""
        from lorebank.vaults.importing.run import import_store

        data = self._resolver.facts.data
        if data.problem is not None:
            raise StoreUnavailable(data.reason, data.problem)
        if not data.settings.writes_enabled:
            raise WritesDisabled("knowledge is read-only here: `writesEnabled` is false")
        done = import_store(
            source,
            self._folder,
            self._registry,
            name=name,
            agent=agent,
            reserved=data.settings.stores.keys(),
            progress=progress,
        )
        return done.answer()

    def _known(self, vault: str) -> None:
        if vault not in {row.vault for row in self._registry.stores()}:
            raise NotFound("there is no such knowledge store")
