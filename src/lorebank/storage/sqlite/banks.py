"""All banks of a data directory: opening, making and deleting them, with a grant each time."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lorebank.access.grant import Grant
from lorebank.access.resolve import Resolver
from lorebank.clock import Micros
from lorebank.errors import Bug, Unavailable
from lorebank.ids import BankId, StoreId, new_store_id
from lorebank.storage.ports import BankHandle, Listing, Page
from lorebank.storage.rows import BankRow
from lorebank.storage.sqlite.files import remove_folder
from lorebank.storage.sqlite.handle import SqliteHandle
from lorebank.storage.sqlite.pool import StorePool
from lorebank.storage.sqlite.registry import Registry, no_bank
from lorebank.storage.sqlite.store import create_store

# So often a list of banks is made anew because the rules changed while it was made.
_TRIES = 5


class SqliteBanks:
    """A `Banks`; the port's docstrings are the contract."""

    def __init__(
        self, registry: Registry, pool: StorePool, resolver: Resolver, changes: threading.RLock
    ) -> None:
        self._registry = registry
        self._pool = pool
        self._resolver = resolver
        # Held while a bank is made or deleted; a backup holds it too.
        self._changes = changes

    def open(self, grant: Grant) -> BankHandle:
        bank_id = self._bank_of(grant)
        row = self._registry.bank(bank_id)
        if row is None:
            raise no_bank(bank_id)
        return self._handle(grant, row)

    def create(self, grant: Grant, name: str | None, now: Micros) -> BankHandle:
        bank_id = self._bank_of(grant)
        with self._changes:
            row = self._registry.bank(bank_id)
            if row is None:
                store_id = new_store_id()
                self._registry.begin_create(store_id)
                create_store(self._pool.folder / store_id, store_id)
                row = self._registry.insert(bank_id, store_id, name, now)
        return self._handle(grant, row)

    def delete(self, grant: Grant) -> None:
        bank_id = self._bank_of(grant)
        with self._changes:
            row = self._registry.bank(bank_id)
            if row is None:
                raise no_bank(bank_id)
            store_id = StoreId(row.store_id)
            with self._pool.retiring(store_id):
                self._registry.begin_delete(bank_id)
            self._remove(store_id)

    def update(self, grant: Grant, changes: Mapping[str, Any], now: Micros) -> BankRow:
        return self._registry.update(self._bank_of(grant), changes, now)

    def listing(self, grant: Grant, text: str | None, page: Page) -> Listing[BankRow]:
        for _ in range(_TRIES):
            epoch = self._resolver.epoch.value
            self._resolver.current(grant)
            found = self._registry.listing(text, page, lambda bank: self._resolver.shows(grant, bank))
            if self._resolver.epoch.value == epoch:
                return found
        raise Unavailable("the access rules keep changing; send the request again")

    def all_rows(self, grant: Grant) -> Sequence[BankRow]:
        self._resolver.current(grant)
        return self._registry.all_rows()

    def canonical(self, bank_id: str) -> BankId:
        return self._registry.canonical(bank_id)

    def aliases(self, grant: Grant) -> Sequence[tuple[str, bool]]:
        return self._registry.aliases(self._bank_of(grant))

    def put_alias(self, grant: Grant, alias: str, primary: bool) -> None:
        with self._changes:
            self._registry.put_alias(self._bank_of(grant), alias, primary)

    def delete_alias(self, grant: Grant, alias: str) -> bool:
        return self._registry.delete_alias(self._bank_of(grant), alias)

    def mark_work(self, handle: BankHandle, kind: str) -> None:
        self._registry.mark(handle.bank.bank_id, kind)

    def clear_work(self, handle: BankHandle, kind: str) -> bool:
        seen = handle.marks_seen.get(kind, 0) if isinstance(handle, SqliteHandle) else 0
        return self._registry.unmark(handle.bank.bank_id, kind, seen)

    def marked_work(self, grant: Grant) -> Iterable[tuple[BankId, str]]:
        self._resolver.current(grant)
        return self._registry.marks()

    def _bank_of(self, grant: Grant) -> BankId:
        self._resolver.current(grant)
        if grant.bank is None:
            raise Bug(f"a grant for {grant.action} names no bank")
        return grant.bank

    def _handle(self, grant: Grant, row: BankRow) -> SqliteHandle:
        return SqliteHandle(grant, row, self._pool, self._resolver, self._registry.mark_counts(row.bank_id))

    def _remove(self, store_id: StoreId) -> None:
        remove_folder(self._pool.folder / store_id)
        self._registry.settled(store_id)
