"""`knowledge/registry.sqlite` and its sentinel `registry.id`: opened only when they are ours and whole.

The sentinel says that there has been a registry, and which. It is durable before the registry has its name,
so a registry that is gone is noticed and never made anew (statement 1.4.37). Making one:

1. `registry.sqlite.new`, whole, with its id inside;
2. `registry.id` with that id;
3. the new file gets its name.

A kill before 2 leaves nothing that counts. A kill between 2 and 3 leaves a sentinel with a draft of the same
id, which the next start completes: the only draft that is ever looked at.
"""

from __future__ import annotations

import os
import sqlite3
from dataclasses import dataclass
from pathlib import Path

from lorebank.access.reasons import DAMAGED, NEWER
from lorebank.errors import Conflict, Corrupt, StoreUnavailable
from lorebank.ids import new_uuid
from lorebank.storage.sqlite.connect import connect, translated
from lorebank.storage.sqlite.files import disk, make_folder, open_plain, sync_folder, write_private
from lorebank.storage.sqlite.foreign import (
    content_of,
    draft_database,
    draft_of,
    foreign,
    has_log,
    needs_recovery,
)
from lorebank.storage.sqlite.migrate import migrate
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.sections import KnowledgeSql

SQL = load(KnowledgeSql, "knowledge")
REGISTRY_FILE = "registry.sqlite"
SENTINEL_FILE = "registry.id"
_TABLES = frozenset(["migrations", "identity", "stores", "bindings", "assignments", "grants", "sessions"])


@dataclass(frozen=True, slots=True)
class OpenRegistry:
    """A connection with what identifies its file, and the namespace of session ids."""

    db: sqlite3.Connection
    device: int
    inode: int
    namespace: str


def open_registry(folder: Path) -> OpenRegistry | None:
    """The registry in the knowledge folder, migrated; None when there has never been one.

    `StoreUnavailable`: foreign_store (nothing was opened or written), needs_recovery, newer_version, damaged.
    """
    path = folder / REGISTRY_FILE
    sentinel = _sentinel(folder)
    content = content_of(path, "knowledge")
    if content == "foreign":
        raise foreign(path.name)
    if content == "missing":
        if has_log(path):  # SQLite would play it into whatever gets this name
            raise needs_recovery("registry.sqlite is missing, but its log is there")
        if sentinel is None:
            return None
        if not _complete(folder, sentinel):
            raise needs_recovery("registry.id is there, but registry.sqlite is missing")
    elif content == "emptied":
        raise needs_recovery("registry.sqlite is empty")
    elif content == "damaged":
        raise StoreUnavailable(
            DAMAGED, "registry.sqlite in the knowledge folder is no database; bring it back from a backup"
        )
    return _opened(folder, sentinel)


def create_registry(folder: Path, namespace: str) -> OpenRegistry:
    """A new registry in a folder without one; see the head of this file."""
    make_folder(folder)
    uuid = new_uuid()
    row = {"uuid": uuid, "namespace": namespace}

    def identify(db: sqlite3.Connection) -> None:
        db.execute(SQL.insert_identity, row)

    draft = draft_database(folder / REGISTRY_FILE, "knowledge", identify)
    with disk():
        sync_folder(folder)
    write_private(folder / SENTINEL_FILE, uuid + "\n")
    _name(draft, folder)
    return _opened(folder, uuid)


def still_there(folder: Path, opened: OpenRegistry) -> bool:
    """Whether the file of the connection is the one in the folder now, and was not emptied."""
    try:
        found = os.stat(folder / REGISTRY_FILE)
    except OSError:
        return False
    return (found.st_dev, found.st_ino) == (opened.device, opened.inode) and found.st_size > 0


def _sentinel(folder: Path) -> str | None:
    with disk():
        try:
            with open_plain(folder / SENTINEL_FILE) as file:
                return file.read().decode("utf-8", "replace").strip()
        except FileNotFoundError:
            return None


def _complete(folder: Path, sentinel: str) -> bool:
    """Finish a making that was killed right before its end."""
    draft = draft_of(folder / REGISTRY_FILE)
    if content_of(draft, "knowledge") != "ours":
        return False
    db = connect(draft)
    try:
        with translated():
            uuid = db.execute(SQL.identity).fetchone()[0]
    finally:
        db.close()
    if uuid != sentinel:
        return False
    _name(draft, folder)
    return True


def _name(draft: Path, folder: Path) -> None:
    with disk():
        draft.replace(folder / REGISTRY_FILE)
        sync_folder(folder)


def _opened(folder: Path, sentinel: str | None) -> OpenRegistry:
    path = folder / REGISTRY_FILE
    with disk():
        found = os.stat(path)
    try:
        db = connect(path)
    except Corrupt as exc:
        raise _damaged(exc) from exc
    try:
        uuid, namespace = _identity(db)
        if sentinel is None:
            write_private(folder / SENTINEL_FILE, uuid + "\n")
        elif sentinel != uuid:
            raise needs_recovery("registry.id and registry.sqlite do not belong together")
    except BaseException:
        db.close()
        raise
    return OpenRegistry(db, found.st_dev, found.st_ino, namespace)


def _identity(db: sqlite3.Connection) -> tuple[str, str]:
    try:
        with translated():
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if not tables >= _TABLES:
                raise needs_recovery("tables of registry.sqlite are missing")
            if db.execute("SELECT 1 FROM migrations").fetchone() is None:
                raise needs_recovery("registry.sqlite was emptied")
            migrate(db, "knowledge")
            row = db.execute(SQL.identity).fetchone()
    except Conflict as exc:
        raise StoreUnavailable(NEWER, exc.message, cause=exc) from exc
    except Corrupt as exc:
        raise _damaged(exc) from exc
    if row is None:
        raise needs_recovery("registry.sqlite was emptied")
    return str(row[0]), str(row[1])


def _damaged(exc: Corrupt) -> StoreUnavailable:
    return StoreUnavailable(
        DAMAGED,
        "registry.sqlite in the knowledge folder is damaged; bring the knowledge folder back from a backup",
        cause=exc,
    )
