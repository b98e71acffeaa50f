"""One open store: a writer connection behind the lane, and a few connections for readers."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lorebank import clock
from lorebank.errors import Bug, Corrupt
from lorebank.ids import StoreId
from lorebank.storage.sqlite.cache import StoreCache
from lorebank.storage.sqlite.connect import connect, create_file, transaction, translated
from lorebank.storage.sqlite.files import disk, make_folder, sync_folder
from lorebank.storage.sqlite.migrate import create_schema, migrate
from lorebank.storage.sqlite.reader import SqliteReader
from lorebank.storage.sqlite.writer import SqliteWriter
from lorebank.tags import TagFilter

STATE_FILE = "state.sqlite"
_IDLE_READERS = 2


def create_store(folder: Path, store_id: StoreId) -> None:
    """A new, empty, durable store."""
    make_folder(folder)
    with disk():
        create_file(folder / STATE_FILE)
    db = connect(folder / STATE_FILE)
    try:
        with transaction(db):
            create_schema(db, "bank")
            db.execute(
                "INSERT INTO store (id, uuid, seq, vector_epoch, created_at) VALUES (1, ?, 0, 0, ?)",
                (store_id, clock.now()),
            )
    finally:
        db.close()
    with disk():
        sync_folder(folder)


class Store:
    """Opened by the pool only. Readers never wait for the writer; writers wait for each other."""

    def __init__(self, folder: Path, store_id: StoreId, holder: str, *, prune: bool) -> None:
        self.folder = folder
        self.cache = StoreCache()
        self._holder = holder
        self._lane = threading.Lock()
        self._lane_thread = 0
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        if not (folder / STATE_FILE).exists():
            raise Corrupt(
                "the store of a bank is missing; bring the data directory back with 'lorebank restore', "
                "or delete the bank"
            )
        self._writer = connect(folder / STATE_FILE)
        try:
            self.seq = self._prepare(store_id, prune=prune)
        except BaseException:
            self._writer.close()
            raise

    def _prepare(self, store_id: StoreId, *, prune: bool) -> int:
        migrate(self._writer, "bank")
        with translated():
            uuid, seq = self._writer.execute("SELECT uuid, seq FROM store").fetchone()
            if uuid != store_id:
                raise Corrupt(
                    "a bank's folder holds the store of another bank; bring the data directory back "
                    "from a backup with 'lorebank restore'"
                )
            if prune:
                # No search index of this process can have seen an older state.
                with transaction(self._writer):
                    self._writer.execute("DELETE FROM tombstones")
        return int(seq)

    def close(self) -> None:
        """Close all connections; nobody may be using the store."""
        with self._idle_lock:
            for db in self._idle:
                db.close()
            self._idle.clear()
        self._writer.close()

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the store as it is at this moment; writes go on meanwhile."""
        db = self._take_reader()
        try:
            with translated():
                db.backup(target)
        finally:
            self._give_back(db)

    @contextmanager
    def reading(self, filter: TagFilter | None, starter: str | None = None) -> Iterator[SqliteReader]:
        """A read transaction: the snapshot is that of the moment of entry. With `starter` only the
        operations of that principal are seen."""
        db = self._take_reader()
        reader: SqliteReader | None = None
        try:
            with translated():
                db.execute("BEGIN")
                seq = db.execute("SELECT seq FROM store").fetchone()[0]
                reader = SqliteReader(db, filter, self.cache, seq, starter)
                yield reader
        finally:
            if reader is not None:
                reader.end()
            self._give_back(db)

    @contextmanager
    def writing(
        self, filter: TagFilter | None, before_commit: Callable[[], None], starter: str | None = None
    ) -> Iterator[SqliteWriter]:
        """The lane: a write transaction that commits when `before_commit` has not raised."""
        with self.lane():
            with transaction(self._writer):
                seq = self._writer.execute("SELECT seq FROM store").fetchone()[0]
                writer = SqliteWriter(self._writer, filter, self.cache, seq, starter)
                writer.holder = self._holder
                try:
                    yield writer
                    before_commit()
                    seq = writer.seal()
                finally:
                    writer.end()
            self.seq = seq

    @contextmanager
    def lane(self) -> Iterator[sqlite3.Connection]:
        """The writer connection, alone, outside a transaction."""
        if self._lane_thread == threading.get_ident():
            raise Bug("a write inside a write of the same bank would wait for itself")
        with self._lane:
            self._lane_thread = threading.get_ident()
            try:
                yield self._writer
            finally:
                self._lane_thread = 0

    def _take_reader(self) -> sqlite3.Connection:
        with self._idle_lock:
            if self._idle:
                return self._idle.pop()
        return connect(self.folder / STATE_FILE, reader=True)

    def _give_back(self, db: sqlite3.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            db.close()
            return
        with self._idle_lock:
            if len(self._idle) < _IDLE_READERS:
                self._idle.append(db)
                return
        db.close()
