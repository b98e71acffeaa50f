"""The registry: which banks there are, under which names, and what work waits in them.

The access directory is kept in the same file (`access_store`)."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from lorebank.access.resolve import Epoch
from lorebank.clock import Micros
from lorebank.errors import Conflict, Corrupt, NotFound
from lorebank.ids import BankId, StoreId, new_uuid
from lorebank.storage.ports import Listing, Page
from lorebank.storage.rows import BankRow
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.access_data import SQL as ACCESS
from lorebank.storage.sqlite.connect import connect, create_file, fold, transaction, translated
from lorebank.storage.sqlite.files import plain_text, sync_folder, write_private
from lorebank.storage.sqlite.migrate import create_schema, migrate
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import window
from lorebank.storage.sqlite.sections import RegistrySql

SQL = load(RegistrySql, "registry")
REGISTRY_FILE = "registry.sqlite"
SENTINEL_FILE = "registry.id"
_CHANGEABLE = frozenset({"name", "mission", "disposition", "config"})
DEFAULT_DISPOSITION = {"skepticism": 3, "literalism": 3, "empathy": 3}


class Registry:
    """One connection behind one lock; bank rows are kept, because every request asks for one."""

    def __init__(self, folder: Path) -> None:
        path = folder / REGISTRY_FILE
        if not path.exists():
            _create(folder)
        self._lock = threading.RLock()
        self._db = connect(path)
        try:
            migrate(self._db, "registry")
            self.uuid, epoch = self._one(SQL.directory)
            _check_sentinel(folder / SENTINEL_FILE, self.uuid)
        except BaseException:
            self._db.close()
            raise
        self.epoch = Epoch(epoch)
        self._banks: dict[str, BankRow] = {}
        self._marks: dict[tuple[str, str], int] = {}
        self._standing: set[tuple[str, str]] = set(self._all(SQL.marks))

    def close(self) -> None:
        """Close the connection."""
        with self._lock:
            self._db.close()

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the registry as it is at this moment."""
        with self._lock, translated():
            self._db.backup(target)

    def compact(self) -> None:
        """Rewrite the file, so that no byte of deleted banks is left, and empty its log."""
        with self._lock, translated():
            self._db.execute("VACUUM")
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def check(self) -> list[str]:
        """What SQLite finds wrong with the registry."""
        with self._lock, translated():
            found = [row[0] for row in self._db.execute("PRAGMA integrity_check")]
            strays = self._db.execute("PRAGMA foreign_key_check").fetchall()
        problems = [f"registry: {text}" for text in found if text != "ok"]
        return problems + [f"registry: {len(strays)} rows name a bank that is gone"] * bool(strays)

    @contextmanager
    def locked(self) -> Iterator[sqlite3.Connection]:
        """The connection, alone, outside a transaction."""
        with self._lock, translated():
            yield self._db

    @contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """A write transaction."""
        with self._lock, transaction(self._db):
            yield self._db

    def meta(self, name: str) -> str | None:
        """A small value beside the access directory; None when it was never set."""
        row = self._one(ACCESS.meta, name=name)
        return None if row is None else str(row[0])

    def set_meta(self, name: str, value: str) -> None:
        """Store one."""
        with self.changing() as db:
            db.execute(ACCESS.set_meta, {"name": name, "value": value})

    # banks

    def bank(self, bank_id: str) -> BankRow | None:
        """The bank of exactly this id."""
        with self._lock:
            known = self._banks.get(bank_id)
            if known is None:
                row = self._one(SQL.bank, id=bank_id)
                if row is None:
                    return None
                known = self._banks[bank_id] = _bank_row(row)
            return known

    def listing(self, text: str | None, page: Page, shown: Callable[[BankId], bool]) -> Listing[BankRow]:
        """Those banks by id of which `shown` is true: no page and no total tells of another."""
        rows = self._all(SQL.matching, text=fold(text) if text else None)
        seen = [row for row in rows if shown(BankId(row[0]))]
        part = window(page)
        asked = seen[part["offset"] : part["offset"] + part["limit"]]
        return Listing([_bank_row(row) for row in asked], len(seen))

    def all_rows(self) -> Sequence[BankRow]:
        """Every bank by id."""
        return [_bank_row(row) for row in self._all(SQL.all_banks)]

    def insert(self, bank_id: str, store_id: StoreId, name: str | None, now: Micros) -> BankRow:
        """Make a bank known whose store stands."""
        with self.changing() as db:
            if db.execute(SQL.canonical, {"alias": bank_id}).fetchone() is not None:
                raise Conflict(f"'{bank_id}' is an alias of another bank; remove the alias first")
            row = {"bank_id": bank_id, "store_id": store_id, "name": name or bank_id, "mission": ""}
            json = {"disposition": values.to_json(DEFAULT_DISPOSITION), "config": "{}"}
            db.execute(SQL.insert_bank, row | json | {"now": now})
            db.execute(SQL.settled, {"store_id": store_id})
        found = self.bank(bank_id)
        assert found is not None
        return found

    def update(self, bank_id: str, changes: Mapping[str, Any], now: Micros) -> BankRow:
        """Replace name, mission, disposition or config."""
        with self._lock:
            old = self.bank(bank_id)
            if old is None:
                raise no_bank(bank_id)
            new = replace(old, **{k: v for k, v in changes.items() if k in _CHANGEABLE}, updated_at=now)
            row = {"bank_id": bank_id, "name": new.name, "mission": new.mission, "now": now}
            row["disposition"] = values.to_json(dict(new.disposition))
            row["config"] = values.to_json(dict(new.config))
            with self.changing() as db:
                db.execute(SQL.update_bank, row)
            self._banks[bank_id] = new
            return new

    def begin_delete(self, bank_id: str) -> StoreId | None:
        """Forget a bank; its store is left to be removed. None when there was no such bank."""
        with self._lock:
            row = self.bank(bank_id)
            if row is None:
                return None
            with self.changing() as db:
                db.execute(SQL.delete_bank, {"id": bank_id})
                db.execute(SQL.settle, {"store_id": row.store_id, "state": "deleting"})
            del self._banks[bank_id]
            self._standing = {mark for mark in self._standing if mark[0] != bank_id}
            return StoreId(row.store_id)

    def begin_create(self, store_id: StoreId) -> None:
        """Note that a store is being made; a kill before `insert` undoes it at the next start."""
        with self.changing() as db:
            db.execute(SQL.settle, {"store_id": store_id, "state": "creating"})

    def settled(self, store_id: StoreId) -> None:
        """Note that a store is removed."""
        with self.changing() as db:
            db.execute(SQL.settled, {"store_id": store_id})

    def unsettled(self) -> Sequence[StoreId]:
        """Stores to be removed at start."""
        return [StoreId(row[0]) for row in self._all(SQL.unsettled)]

    # aliases

    def canonical(self, bank_id: str) -> BankId:
        """The bank that an alias names, or the id itself."""
        row = self._one(SQL.canonical, alias=bank_id)
        return BankId(bank_id if row is None else row[0])

    def aliases(self, bank_id: str) -> Sequence[tuple[str, bool]]:
        """(alias, primary) by alias."""
        return [(alias, bool(primary)) for alias, primary in self._all(SQL.aliases, id=bank_id)]

    def put_alias(self, bank_id: str, alias: str, primary: bool) -> None:
        """Add or change an alias; a bank has at most one primary alias."""
        with self._lock:
            if self.bank(bank_id) is None:
                raise no_bank(bank_id)
            if self.bank(alias) is not None:
                raise Conflict(f"'{alias}' is the id of a bank; choose another alias")
            if self.canonical(alias) not in (alias, bank_id):
                raise Conflict(f"'{alias}' is an alias of another bank; choose another alias")
            with self.changing() as db:
                if primary:
                    db.execute(SQL.unset_primary, {"id": bank_id})
                db.execute(SQL.put_alias, {"alias": alias, "bank_id": bank_id, "is_primary": int(primary)})

    def delete_alias(self, bank_id: str, alias: str) -> bool:
        """Remove an alias; False when the bank has none of this name."""
        with self.changing() as db:
            return db.execute(SQL.delete_alias, {"alias": alias, "id": bank_id}).rowcount > 0

    # work marks

    def mark(self, bank_id: str, kind: str) -> None:
        """Note work durably; a mark that stands costs nothing more."""
        with self._lock:
            self._marks[(bank_id, kind)] = self.mark_count(bank_id, kind) + 1
            if (bank_id, kind) not in self._standing:
                if self.bank(bank_id) is None:
                    raise no_bank(bank_id)
                with self.changing() as db:
                    db.execute(SQL.mark, {"bank_id": bank_id, "kind": kind})
                self._standing.add((bank_id, kind))

    def mark_count(self, bank_id: str, kind: str) -> int:
        """How often this process has marked it: tells whether a mark came in between."""
        with self._lock:
            return self._marks.get((bank_id, kind), 0)

    def mark_counts(self, bank_id: str) -> dict[str, int]:
        """kind -> `mark_count` of a bank."""
        with self._lock:
            return {kind: count for (bank, kind), count in self._marks.items() if bank == bank_id}

    def unmark(self, bank_id: str, kind: str, seen: int) -> bool:
        """Forget a mark unless it was set again since `mark_count` was `seen`."""
        with self._lock:
            if self.mark_count(bank_id, kind) != seen:
                return False
            if (bank_id, kind) in self._standing:
                with self.changing() as db:
                    db.execute(SQL.unmark, {"bank_id": bank_id, "kind": kind})
                self._standing.discard((bank_id, kind))
            return True

    def marks(self) -> Sequence[tuple[BankId, str]]:
        """The marks that stand."""
        with self._lock:
            return [(BankId(bank_id), kind) for bank_id, kind in sorted(self._standing)]

    def _all(self, sql: str, **parameters: Any) -> list[Any]:
        with self._lock, translated():
            return self._db.execute(sql, parameters).fetchall()

    def _one(self, sql: str, **parameters: Any) -> Any:
        with self._lock, translated():
            return self._db.execute(sql, parameters).fetchone()


def no_bank(bank_id: str | None) -> NotFound:
    """The error for a bank that is not there."""
    return NotFound(f"Bank '{bank_id}' not found")


def _bank_row(row: values.Columns) -> BankRow:
    return BankRow(*(*row[:4], values.from_json(row[4]), values.from_json(row[5]), *row[6:]))


def _create(folder: Path) -> None:
    """A new registry, whole or not at all: it gets its name last."""
    draft = folder / f"{REGISTRY_FILE}.new"
    for leftover in folder.glob(f"{draft.name}*"):
        leftover.unlink()
    create_file(draft)
    db = connect(draft)
    try:
        with transaction(db):
            create_schema(db, "registry")
            db.execute("INSERT INTO directory (id, uuid, epoch) VALUES (1, ?, 0)", (new_uuid(),))
    finally:
        db.close()
    draft.replace(folder / REGISTRY_FILE)
    sync_folder(folder)


def _check_sentinel(path: Path, uuid: str) -> None:
    """The sentinel says that there was a registry, and which; it is written after the registry."""
    found = plain_text(path)
    if found is None:
        write_private(path, uuid)
    elif found.strip() != uuid:
        raise Corrupt(
            "registry.id and registry.sqlite in the data directory do not belong together; "
            "bring back both from one backup with 'lorebank restore'"
        )
