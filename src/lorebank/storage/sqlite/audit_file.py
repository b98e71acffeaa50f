"""`audit.sqlite`: made with its data directory, never anew unless told so, written by one connection."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lorebank import clock
from lorebank.access.audit import GENESIS
from lorebank.errors import Corrupt, Unavailable
from lorebank.ids import new_uuid
from lorebank.storage.sqlite.connect import connect, create_file, transaction, translated
from lorebank.storage.sqlite.files import disk, remove_file, sync_folder
from lorebank.storage.sqlite.migrate import create_schema, migrate
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.registry import Registry
from lorebank.storage.sqlite.sections import AuditSql

SQL = load(AuditSql, "audit")
AUDIT_FILE = "audit.sqlite"
RESET_FILE = "audit.reset"
"""An empty file of this name is the owner's word that a lost log may be begun anew."""
SENTINEL = "audit"
"""Under this name the registry keeps the id of the log that belongs to it."""


class AuditFile:
    """The open file. Commits survive the death of the process at once, that of the machine after `sync`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.lock = threading.Lock()
        self._db = connect(path)
        try:
            migrate(self._db, "audit")
            with translated():
                # What is kept in the page cache needs no waiting for the disk; `sync` waits where it must.
                self._db.execute("PRAGMA synchronous = NORMAL")
                self.uuid = log_row(self._db)[0]
            with disk():
                self._wal = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC)
        except BaseException:
            self._db.close()
            raise
        self._closed = False
        self._commits = 0
        self._synced = 0
        self._sync_lock = threading.Lock()
        self._reader: sqlite3.Connection | None = None
        self._reader_lock = threading.Lock()

    @property
    def db(self) -> sqlite3.Connection:
        """The writing connection, to be used under `lock`; `Unavailable` once it is closed."""
        self._refuse_closed()
        return self._db

    def committed(self) -> int:
        """Count a commit; the number is what `sync` wants. To be called under `lock`."""
        self._commits += 1
        return self._commits

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A transaction of its own."""
        with self.lock:
            with transaction(self.db):
                yield self.db
            self.committed()

    def sync(self, commit: int) -> None:
        """Return when that commit survives a power cut. One flush serves all who wait for it.

        SQLite syncs the log itself before it copies it into the file and begins it anew, so what
        is not in the log any more is durable too.
        """
        with self._sync_lock:
            if self._synced >= commit:
                return
            self._refuse_closed()
            reached = self._commits
            with disk():
                os.fdatasync(self._wal)
            self._synced = reached

    def sync_all(self) -> None:
        """`sync` for all that is committed now."""
        self.sync(self._commits)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A read transaction beside the writer."""
        with self._reader_lock:
            self._refuse_closed()
            db, self._reader = self._reader, None
        db = db or connect(self._path, reader=True)
        try:
            with translated():
                db.execute("BEGIN")
                yield db
        finally:
            self._give_back(db)

    def rows(self, sql: str, **parameters: Any) -> list[Any]:
        """All rows of a statement."""
        with self.reading() as db:
            return db.execute(sql, parameters).fetchall()

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the file as it is at this moment; writes go on meanwhile."""
        with self.reading() as db:
            db.execute("ROLLBACK")
            db.backup(target)

    def compact(self) -> None:
        """Give back the room of what was removed where it is most of the file, and empty its log.

        What was removed is overwritten already, and nothing is recorded while the file is rewritten.
        """
        with self.lock, translated():
            (free,), (pages,) = (
                self.db.execute(f"PRAGMA {name}").fetchone() for name in ("freelist_count", "page_count")
            )
            if free * 2 > pages:
                self.db.execute("VACUUM")
            self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> list[str]:
        """What SQLite finds wrong with the file."""
        with self.reading() as db:
            found = [str(row[0]) for row in db.execute("PRAGMA integrity_check")]
        return [f"audit log: {text}" for text in found if text != "ok"]

    def close(self) -> None:
        """Close the connections; what was committed is synced with it."""
        with self.lock, self._sync_lock, self._reader_lock:
            if self._closed:
                return
            self._closed = True
            if self._reader is not None:
                self._reader.close()
            with disk():
                os.fdatasync(self._wal)
                os.close(self._wal)
            self._db.close()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Unavailable("the server is stopping; try again later")

    def _give_back(self, db: sqlite3.Connection) -> None:
        try:
            if db.in_transaction:
                db.execute("ROLLBACK")
        except sqlite3.Error:
            db.close()
            return
        with self._reader_lock:
            if self._reader is None and not self._closed:
                self._reader = db
                return
        db.close()


def log_row(db: sqlite3.Connection) -> tuple[str, int, str]:
    """(id of the log, number and hash of the newest row that was removed); `Corrupt` when that is gone."""
    found = db.execute(SQL.log).fetchone()
    if found is None:
        raise Corrupt(
            f"{AUDIT_FILE} of the data directory does not say which log it is: its row in the table 'log' "
            "is gone; bring the file back with 'lorebank restore'"
        )
    return str(found[0]), int(found[1]), str(found[2])


def open_audit(folder: Path, registry: Registry) -> tuple[AuditFile, bool]:
    """The log of the directory, and whether it stands in for one that was lost; to be adopted.

    Raises `Corrupt` when the one that the registry knows is gone or another's, unless the owner
    has accepted the loss.
    """
    path, accepted = folder / AUDIT_FILE, (folder / RESET_FILE).exists()
    expected = registry.meta(SENTINEL)
    if not path.exists():
        if expected is not None and not accepted:
            raise Corrupt(
                f"{AUDIT_FILE} of the data directory is missing although one was kept here; bring it back "
                f"with 'lorebank restore', or put an empty file '{RESET_FILE}' beside the registry to begin "
                "a new log, which says that the old one was lost"
            )
        _create(path)
    file = AuditFile(path)
    lost = expected not in (None, file.uuid)
    if lost and not accepted:
        file.close()
        raise Corrupt(
            f"{AUDIT_FILE} and registry.sqlite in the data directory do not belong together; bring back "
            f"both from one backup with 'lorebank restore', or put an empty file '{RESET_FILE}' beside them "
            "to go on with this log, which says that the old one was lost"
        )
    return file, lost


def adopt(file: AuditFile, folder: Path, registry: Registry) -> None:
    """Let the registry know the log. What a new log says of the old one is stored before."""
    if registry.meta(SENTINEL) != file.uuid:
        registry.set_meta(SENTINEL, file.uuid)
    remove_file(folder / RESET_FILE)


def _create(path: Path) -> None:
    """A new log, whole or not at all: it gets its name last."""
    draft = path.with_name(path.name + ".new")
    with disk():
        for leftover in path.parent.glob(f"{draft.name}*"):
            leftover.unlink()
        create_file(draft)
    db = connect(draft)
    try:
        with transaction(db):
            create_schema(db, "audit")
            db.execute(SQL.create, {"uuid": new_uuid(), "now": clock.now(), "hash": GENESIS})
    finally:
        db.close()
    with disk():
        draft.replace(path)
        sync_folder(path.parent)
