"""Databases of knowledge in a backup, and what has to be noted anew when they are restored.

A store's database knows its partitions' folders by their inodes (seed 000, Storage layout), which no copy
can keep. A backup that has looked at them leaves 0 in their place, and restoring writes down those of the
restored folders. Where the backup found something wrong the old numbers stay: a restored copy is refused as
the store was.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lorebank.storage.sqlite.connect import connect, create_file, transaction, translated
from lorebank.storage.sqlite.files import disk
from lorebank.storage.sqlite.foreign import content_of
from lorebank.storage.sqlite.knowledge_file import REGISTRY_FILE
from lorebank.storage.sqlite.queries import Sections, load

STATE_FILE: Final = "state.sqlite"
VAULT: Final = "vault"
UNNOTED: Final = 0
"""No folder has this inode."""


class CopySql(Sections):
    """sql/knowledge_copy.sql"""

    folders: str
    forget_folders: str
    note_folder: str
    places: str
    move_store: str


@dataclass(frozen=True, slots=True)
class Place:
    """Where a store of the registry is in the copy, below the knowledge folder, and where it was."""

    vault: str
    location: str
    former: str
    ready: bool


SQL = load(CopySql, "knowledge_copy")


def copy_database(backup: Callable[[sqlite3.Connection], object], target: Path) -> None:
    """A new file with what `backup` copies into it. Not synced."""
    with disk():
        create_file(target)
    with translated():
        db = sqlite3.connect(target)
        try:
            backup(db)
        finally:
            db.close()


def copy_state(backup: Callable[[sqlite3.Connection], object], target: Path) -> None:
    """A store's database whose partitions were looked at: their folders are to be noted again."""
    copy_database(backup, target)
    _change(target, lambda db: db.execute(SQL.forget_folders, {"inode": UNNOTED}))


def copy_registry(backup: Callable[[sqlite3.Connection], object], target: Path) -> list[Place]:
    """The registry, and its stores. Those outside of the knowledge folder get a place in it."""
    copy_database(backup, target)
    found: list[Place] = []

    def move(db: sqlite3.Connection) -> None:
        for vault, former, state in db.execute(SQL.places).fetchall():
            location = former if _is_inside(former) else f"stores/{vault}"
            if location != former:
                db.execute(SQL.move_store, {"vault": vault, "location": location})
            found.append(Place(vault, location, former, state == "ready"))

    _change(target, move)
    return found


def note_restored(knowledge: Path) -> None:
    """Write down the folders of all stores of a restored knowledge folder; fine when there is none. What
    cannot be opened stays as it is."""
    registry = knowledge / REGISTRY_FILE
    if content_of(registry, "knowledge") != "ours":
        return
    db = connect(registry, reader=True)
    try:
        with translated():
            locations = [location for _, location, _ in db.execute(SQL.places)]
    finally:
        db.close()
    for location in locations:
        if content_of(knowledge / location / STATE_FILE, "vault") == "ours":
            _note_folders(knowledge / location)


def _note_folders(store: Path) -> None:
    def note(db: sqlite3.Connection) -> None:
        for folder, inode in db.execute(SQL.folders).fetchall():
            if inode == UNNOTED and (store / VAULT / folder).is_dir():
                found = os.stat(store / VAULT / folder)
                row = {"folder": folder, "device": found.st_dev, "inode": found.st_ino}
                db.execute(SQL.note_folder, row)

    _change(store / STATE_FILE, note)


def _is_inside(location: str) -> bool:
    parts = Path(location).parts
    return bool(parts) and not Path(location).is_absolute() and ".." not in parts


def _change(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    db = connect(path)
    try:
        with transaction(db):
            change(db)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()
