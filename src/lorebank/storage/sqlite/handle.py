"""A handle: the only way to a bank's content; it asks for its grant again before results leave."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import BinaryIO

from lorebank.access.grant import Grant
from lorebank.access.resolve import Resolver
from lorebank.clock import Micros
from lorebank.errors import Unavailable
from lorebank.ids import StoreId
from lorebank.storage.ports import BankReader, BankWriter
from lorebank.storage.rows import BankRow
from lorebank.storage.sqlite.check import check_store
from lorebank.storage.sqlite.compact import compact_store
from lorebank.storage.sqlite.exports import drop_exports, read_export, write_export
from lorebank.storage.sqlite.pool import StorePool
from lorebank.storage.sqlite.registry import no_bank
from lorebank.storage.sqlite.store import Store


class SqliteHandle:
    """A `BankHandle`; the port's docstrings are the contract."""

    def __init__(
        self,
        grant: Grant,
        bank: BankRow,
        pool: StorePool,
        resolver: Resolver,
        marks_seen: Mapping[str, int],
    ) -> None:
        self._grant = grant
        self._bank = bank
        self._pool = pool
        self._resolver = resolver
        # How often work had been marked when the handle was opened (see Banks.clear_work).
        self.marks_seen = marks_seen

    @property
    def grant(self) -> Grant:
        return self._grant

    @property
    def bank(self) -> BankRow:
        return self._bank

    @property
    def store_id(self) -> StoreId:
        return StoreId(self._bank.store_id)

    def seq(self) -> int:
        with self._store() as store:
            return store.seq

    @contextmanager
    def read(self) -> Iterator[BankReader]:
        grant = self._resolver.current(self._grant)
        with self._store() as store, store.reading(grant.filter, _starter(grant)) as reader:
            yield reader
            self._look_again(grant)

    @contextmanager
    def write(self) -> Iterator[BankWriter]:
        grant = self._resolver.current(self._grant)

        def before_commit() -> None:
            self._look_again(grant)
            self._refuse_retired()

        with (
            self._store() as store,
            store.writing(grant.filter, before_commit, _starter(grant)) as writer,
        ):
            yield writer

    @contextmanager
    def write_export(self, name: str) -> Iterator[BinaryIO]:
        grant = self._resolver.current(self._grant)
        with self._store() as store, write_export(store.folder, name) as file:
            yield file
            self._look_again(grant)

    def read_export(self, name: str) -> BinaryIO | None:
        self._resolver.current(self._grant)
        with self._store() as store:
            return read_export(store.folder, name)

    def drop_exports(self, before: Micros) -> int:
        self._resolver.current(self._grant)
        with self._store() as store:
            return drop_exports(store.folder, before)

    def compact(self) -> None:
        self._resolver.current(self._grant)
        with self._store() as store:
            compact_store(store)

    def check(self) -> Sequence[str]:
        self._resolver.current(self._grant)
        with self._store() as store, store.reading(None) as reader:
            return check_store(reader)

    @contextmanager
    def _store(self) -> Iterator[Store]:
        self._refuse_retired()
        with self._pool.using(self.store_id) as store:
            yield store

    def _refuse_retired(self) -> None:
        if self._pool.retired(self.store_id):
            raise no_bank(self._bank.bank_id)

    def _look_again(self, grant: Grant) -> None:
        """What was read under one grant must not leave under a narrower one."""
        if not self._resolver.current(grant).shows_the_same(grant):
            raise Unavailable("the access rules changed while the request ran; send it again")


def _starter(grant: Grant) -> str | None:
    """Whose operations alone the holder sees; None: everybody's."""
    return grant.principal.name if grant.own_operations else None
