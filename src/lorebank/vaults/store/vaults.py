"""`Vaults`: all knowledge stores of one server (see `values.Vaults`)."""

from __future__ import annotations

import threading
import uuid
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lorebank.access.audience import PRIVATE, Partition
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver
from lorebank.errors import Forbidden, NotCreated, StoreUnavailable
from lorebank.ids import new_uuid
from lorebank.storage.knowledge_ports import KnowledgeRegistry, StoreRow
from lorebank.storage.tree.names import CONVERSATIONS
from lorebank.vaults import reasons
from lorebank.vaults.store import making
from lorebank.vaults.store.options import Options
from lorebank.vaults.store.pool import MAX_OPEN, RuntimePool
from lorebank.vaults.store.vectors import Embedding, VaultVectors

# What works on open stores is loaded with the first of them, not when the server starts.
if TYPE_CHECKING:
    from lorebank.vaults.publish.resolve import Keep
    from lorebank.vaults.store.handle import PartitionHandle
    from lorebank.vaults.store.runtime import Runtime


class KnowledgeVaults:
    """See `values.Vaults`. `folder` is the knowledge folder; where a store is in it, the registry says."""

    def __init__(
        self,
        folder: Path,
        registry: KnowledgeRegistry,
        resolver: VaultResolver,
        *,
        options: Options | None = None,
        max_open: int = MAX_OPEN,
        embedding: Embedding | None = None,
    ) -> None:
        self._folder, self._registry, self._resolver = folder, registry, resolver
        self._making = threading.Lock()
        self.pool = RuntimePool(self._opened, max_open)
        self.vectors = None if embedding is None else VaultVectors(embedding, self.pool)
        self._options = replace(options or Options(), meaning=self.vectors)

    def open(self, grant: VaultGrant) -> PartitionHandle:
        """See `values.Vaults`. A refused grant makes nothing."""
        if not grant.opens:
            raise Forbidden("this right opens no knowledge")
        self._resolver.current(grant)
        vault = grant.vault
        if vault is None or not self.pool.is_open(vault):
            vault = self._ready(grant)
        from lorebank.vaults.store.handle import PartitionHandle

        with self.pool.using(vault) as runtime:
            runtime.verify_after(grant.partition)
        return PartitionHandle(grant, vault, self.pool, self._resolver)

    def partitions(self, vault: str) -> list[Partition]:
        """The partitions that a store has, the private one first. Makes nothing; `NotCreated`,
        `StoreUnavailable` as `open`."""
        self._ready_row(vault)
        with self.pool.using(vault) as runtime:
            return _partitions(runtime)

    def check_store(self, vault: str, *, read_all: bool) -> list[str]:
        """What is wrong with a store, in sentences; changes nothing. `StoreUnavailable` when it cannot be
        opened at all. `read_all`: read every file, whatever its stamp says."""
        from lorebank.vaults.store.checking import check

        self._ready_row(vault)
        with self.pool.using(vault) as runtime, runtime.lane.entered():
            return check(runtime, _partitions(runtime), read_all=read_all)

    def settle(self, vault: str, folder: str, request_id: str, keep: Keep) -> None:
        """Carry out an operator's decision about a conflicted publication (`publish.resolve`)."""
        from lorebank.vaults.publish.resolve import resolve

        self._ready_row(vault)
        with self.pool.using(vault) as runtime, runtime.lane.entered():
            resolve(runtime.parts(), folder, request_id, keep)
        self.pool.fence(vault)

    def accept_folders(self, vault: str) -> list[str]:
        """Take the folders that stand in a store for its partitions: after they came back from a backup.
        The folders that were other ones. Only where vault.json and the database belong together."""
        self._ready_row(vault)
        with self.pool.using(vault) as runtime, runtime.lane.entered():
            accepted = runtime.accept_folders()
        self.pool.fence(vault)
        return accepted

    def fence(self, vault: str) -> None:
        """End what is under way in a store (statement 1.7.67); the next use opens it anew."""
        self.pool.fence(vault)

    def close(self) -> None:
        """End everything that is under way."""
        self.pool.close()
        if self.vectors is not None:
            self.vectors.close()

    def _ready(self, grant: VaultGrant) -> str:
        """The grant's store, made when this use may make it."""
        vault = grant.vault or self._registry.bindings().get(grant.binding)
        row = None if vault is None else self._row(vault)
        if row is not None and row.state == "ready":
            return row.vault
        if row is None and vault is not None:
            raise making.missing("the registry's row", reasons.MISSING_STORE)
        if not grant.may_create:
            raise NotCreated("nobody has used this knowledge store yet; the first save or recall makes it")
        with self._making:
            return self._made(grant).vault

    def _ready_row(self, vault: str) -> StoreRow:
        row = self._row(vault)
        if row is None or row.state != "ready":
            raise NotCreated("there is no such knowledge store, or nobody has used it yet")
        return row

    def _made(self, grant: VaultGrant) -> StoreRow:
        new = new_uuid()
        row = self._registry.begin_store(new, making.location_of(new), grant.binding, self._options.now())
        return making.complete(self._folder, self._registry, row, writable=self._writable())

    def _opened(self, vault: str, first: bool) -> Runtime:
        from lorebank.vaults.store.runtime import Runtime

        row = self._row(vault)
        if row is None or row.state != "ready":
            raise StoreUnavailable(reasons.MISSING_STORE, "the registry does not know this knowledge store")
        return Runtime(vault, self._folder / row.location, self._options, self._writable, first=first)

    def _row(self, vault: str) -> StoreRow | None:
        return next((row for row in self._registry.stores() if row.vault == vault), None)

    def _writable(self) -> bool:
        data = self._resolver.facts.data
        return data.problem is None and data.settings.writes_enabled


def _partitions(runtime: Runtime) -> list[Partition]:
    """Those that were used, and folders of conversations that were put there."""
    folders = {row.folder for row in runtime.state.partitions()}
    above = runtime.tree.root / CONVERSATIONS
    if above.is_dir() and not above.is_symlink():
        folders.update(f"{CONVERSATIONS}/{path.name}" for path in above.iterdir() if path.is_dir())
    sessions = (folder.removeprefix(f"{CONVERSATIONS}/") for folder in folders if folder != PRIVATE.folder)
    return [PRIVATE, *(Partition(session) for session in sorted(sessions) if _is_uuid(session))]


def _is_uuid(text: str) -> bool:
    try:
        return str(uuid.UUID(text)) == text
    except ValueError:
        return False
