"""Whose database is it? Told from the file's header, before SQLite opens it.

A gateway may keep its own knowledge under the same names (seed 000, Storage layout). Opening such a file
already writes beside it (`-wal`, `-shm`), so it is refused by its bytes alone.
Header fields: https://www.sqlite.org/fileformat.html, The Database Header.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from lorebank.access.reasons import DAMAGED, FOREIGN, MISSING_DATABASE, NEEDS_RECOVERY
from lorebank.errors import StoreUnavailable
from lorebank.storage.sqlite.connect import connect, create_file, transaction
from lorebank.storage.sqlite.files import NotPlain, disk, open_plain, sync_folder
from lorebank.storage.sqlite.migrate import APPLICATION_IDS, StoreKind, create_schema

Content = Literal["missing", "emptied", "ours", "foreign", "damaged"]

_MAGIC = b"SQLite format 3\0"
_APPLICATION_ID = slice(68, 72)
_FIRST_PAGE = 100
"""Where the tree of the schema begins: a type byte, and two bytes on its own number of cells at +3."""
_LEAF = 0x0D
IMPORT_HINT = (
    "lorebank did not make it and will not open it; read it into new stores with 'lorebank vault import', "
    "into another knowledge folder"
)


def content_of(path: Path, kind: StoreKind) -> Content:
    """What the file is, by its first bytes. "emptied": no byte or no table in it (a database of another
    program whose tables are still in its `-wal` counts as foreign)."""
    with disk():
        try:
            with open_plain(path) as file:
                head = file.read(_FIRST_PAGE + 8)
        except FileNotFoundError:
            return "missing"
        except NotPlain:
            return "damaged"
        if not head:
            return "foreign" if has_log(path) else "emptied"
        if len(head) < _FIRST_PAGE + 8 or not head.startswith(_MAGIC):
            return "damaged"
        if int.from_bytes(head[_APPLICATION_ID], "big") == APPLICATION_IDS[kind]:
            return "ours"
        no_tables = head[_FIRST_PAGE] == _LEAF and head[_FIRST_PAGE + 3 : _FIRST_PAGE + 5] == b"\0\0"
        return "emptied" if no_tables and not has_log(path) else "foreign"


def check_ours(path: Path, kind: StoreKind) -> None:
    """`StoreUnavailable` unless lorebank made the file: foreign_store, missing_database (also for one
    without a byte or a table), damaged."""
    content = content_of(path, kind)
    if content == "foreign":
        raise foreign(path.name)
    if content in ("missing", "emptied"):
        raise StoreUnavailable(
            MISSING_DATABASE,
            f"{path.name} of a knowledge store is missing or empty; bring the store back from a backup",
        )
    if content == "damaged":
        raise StoreUnavailable(
            DAMAGED, f"{path.name} is no database; bring the knowledge folder back from a backup"
        )


def foreign(name: str) -> StoreUnavailable:
    """The refusal of another program's database."""
    return StoreUnavailable(FOREIGN, f"{name} in the knowledge folder is another program's: {IMPORT_HINT}")


def needs_recovery(what: str) -> StoreUnavailable:
    """The refusal to begin anew where there has been a registry (statement 1.4.37)."""
    return StoreUnavailable(
        NEEDS_RECOVERY,
        f"the knowledge registry needs recovery: {what}; bring registry.sqlite and registry.id back from one "
        "backup. Nothing is made anew, because that would hide the stores that are there",
    )


def create_database(path: Path, kind: StoreKind, fill: Callable[[sqlite3.Connection], None]) -> None:
    """A new database with its schema and what `fill` puts into it in the same transaction: it has its name
    only when it is whole, and its application id is in the header by then."""
    draft = draft_database(path, kind, fill)
    with disk():
        draft.replace(path)
        sync_folder(path.parent)


def draft_database(path: Path, kind: StoreKind, fill: Callable[[sqlite3.Connection], None]) -> Path:
    """The same without its name: `<name>.new`, whole and synced, to be renamed by the caller."""
    draft = draft_of(path)
    with disk():
        for leftover in path.parent.glob(f"{draft.name}*"):
            leftover.unlink()
        create_file(draft)
    db = connect(draft)
    try:
        with transaction(db):
            create_schema(db, kind)
            fill(db)
        # The header comes out of the log with this; closing would do it too, but tells of no failure.
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        db.close()
    with disk():
        _sync_file(draft)
    return draft


def draft_of(path: Path) -> Path:
    """Where a database is made before it gets its name."""
    return path.with_name(f"{path.name}.new")


def has_log(path: Path) -> bool:
    """Whether a write-ahead log with something in it stands beside the (missing?) database."""
    try:
        return path.with_name(f"{path.name}-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
