"""A store's `state.sqlite` as a file: one writing connection, and a few for readers beside it."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lorebank import clock
from lorebank.access.reasons import DAMAGED
from lorebank.errors import StoreUnavailable
from lorebank.storage.knowledge_ports import Checkpoint
from lorebank.storage.sqlite.connect import connect, transaction, translated, vacuum
from lorebank.storage.sqlite.foreign import check_ours, create_database
from lorebank.storage.sqlite.migrate import migrate
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.vault_sections import VaultSql

SQL = load(VaultSql, "vault")
_IDLE_READERS = 2
_BATCH = 1_000


def create_vault_state(path: Path, first: Checkpoint) -> None:
    """A new, durable database for a store whose vault.json shows (or will show) `first`."""

    def fill(db: sqlite3.Connection) -> None:
        db.execute(
            SQL.first_checkpoint,
            {
                "vault": first.vault,
                "generation": first.generation,
                "publication_id": first.publication_id,
                "now": clock.now(),
            },
        )

    create_database(path, "vault", fill)


class VaultFile:
    """The open file. Each `write` is one durable transaction; readers see the last finished one."""

    def __init__(self, path: Path) -> None:
        check_ours(path, "vault")
        self._path = path
        self._lock = threading.Lock()
        self._idle: list[sqlite3.Connection] = []
        self._idle_lock = threading.Lock()
        self._closed = False
        self._db = connect(path)
        try:
            migrate(self._db, "vault")
            if not self.rows(SQL.checkpoint):
                raise StoreUnavailable(DAMAGED, "the store's database has lost its checkpoint")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close every connection; nobody may be using them."""
        with self._idle_lock:
            self._closed = True
            for db in self._idle:
                db.close()
            self._idle.clear()
        self._db.close()

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction of its own."""
        with self._lock, transaction(self._db):
            yield self._db

    def rows(self, sql: str, **parameters: Any) -> list[Any]:
        """All rows of a statement that only reads."""
        with self._reader() as db:
            return db.execute(sql, parameters).fetchall()

    def row(self, sql: str, **parameters: Any) -> Any:
        """The first row, None when there is none."""
        with self._reader() as db:
            return db.execute(sql, parameters).fetchone()

    def each(self, sql: str, **parameters: Any) -> Iterator[Any]:
        """Row by row, all of one moment."""
        with self._reader() as db:
            db.execute("BEGIN")
            cursor = db.execute(sql, parameters)
            while batch := cursor.fetchmany(_BATCH):
                yield from batch

    def compact(self) -> None:
        """Leave no byte of what was deleted. `Unavailable` when readers keep the log in use."""
        with self._lock, translated():
            vacuum(self._db)

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        return [text for (text,) in self.rows("PRAGMA integrity_check") if text != "ok"]

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the file as it is at this moment; writes go on meanwhile."""
        with self._reader() as db:
            db.backup(target)

    @contextmanager
    def _reader(self) -> Iterator[sqlite3.Connection]:
        with self._idle_lock:
            db = self._idle.pop() if self._idle else None
        db = db or connect(self._path, reader=True)
        try:
            with translated():
                yield db
                if db.in_transaction:
                    db.execute("ROLLBACK")
        except BaseException:
            db.close()
            raise
        with self._idle_lock:
            if len(self._idle) < _IDLE_READERS and not self._closed:
                self._idle.append(db)
                return
        db.close()
