"""Schema versions: numbered SQL files, each applied once, in one transaction, forward only."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Literal

from lorebank import clock
from lorebank.errors import Bug, Conflict, Corrupt
from lorebank.storage.sqlite.connect import transaction, translated
from lorebank.storage.sqlite.queries import resource

StoreKind = Literal["bank", "registry", "audit", "knowledge", "vault"]
_NAMES = {
    "bank": "bank",
    "registry": "registry",
    "audit": "audit log",
    "knowledge": "knowledge registry",
    "vault": "knowledge store",
}
APPLICATION_IDS: Mapping[StoreKind, int] = MappingProxyType({"knowledge": 0x4C42_4B52, "vault": 0x4C42_5653})
"""What tells lorebank's knowledge databases ("LBKR", "LBVS") from those of other programs that keep the
same folder. They are in the file's header, and read from there before SQLite opens it (`foreign`)."""
_FILE = re.compile(r"^(\d{4})_(\w+)\.sql$")
_RECORDS = (
    "CREATE TABLE migrations (number INTEGER PRIMARY KEY, name TEXT NOT NULL, applied_at INTEGER NOT NULL)"
)
_RECORD = "INSERT INTO migrations (number, name, applied_at) VALUES (?, ?, ?)"


@cache
def known(kind: StoreKind) -> tuple[tuple[int, str], ...]:
    """(number, file name) of every migration of this kind, in order."""
    folder = files(__package__).joinpath("migrations", kind)
    found = sorted((int(m[1]), m[0]) for m in map(_FILE.match, (f.name for f in folder.iterdir())) if m)
    if [number for number, _ in found] != list(range(1, len(found) + 1)):
        raise Bug(f"the migrations of {kind} are not numbered 1, 2, 3, …")
    return tuple(found)


def create_schema(db: sqlite3.Connection, kind: StoreKind) -> None:
    """The current schema in an empty database; runs inside the caller's transaction."""
    for statement in statements(resource(f"schema/{kind}.sql")):
        db.execute(statement)
    if kind in APPLICATION_IDS:
        db.execute(f"PRAGMA application_id = {APPLICATION_IDS[kind]}")
    db.execute(_RECORDS)
    db.executemany(_RECORD, [(number, name, clock.now()) for number, name in known(kind)])


def migrate(db: sqlite3.Connection, kind: StoreKind) -> int:
    """Bring an existing database up to date; returns how many migrations were applied.

    A kill leaves the database at the last whole step. Raises `Conflict` when a newer lorebank
    wrote it and `Corrupt` when it is no database of this kind.
    """
    applied = _applied(db, kind)
    newest = known(kind)[-1][0]
    if applied > newest:
        raise Conflict(
            f"this {_NAMES[kind]} was written by a newer version of lorebank (its schema is {applied}, this "
            f"version knows {newest}); start the newer version, or restore a backup made by this one"
        )
    for number, name in known(kind)[applied:]:
        apply(db, kind, number, name)
    return newest - applied


def apply(db: sqlite3.Connection, kind: StoreKind, number: int, name: str) -> None:
    """One migration with its record, all or nothing."""
    with transaction(db):
        if number == 1:
            db.execute(_RECORDS)
        for statement in statements(resource(f"migrations/{kind}/{name}")):
            db.execute(statement)
        db.execute(_RECORD, (number, name, clock.now()))


def _applied(db: sqlite3.Connection, kind: StoreKind) -> int:
    with translated():
        there = db.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone()
        if there is None:
            raise Corrupt(
                f"the file of a {_NAMES[kind]} holds none; run 'lorebank doctor', or restore a backup"
            )
        return int(db.execute("SELECT max(number) FROM migrations").fetchone()[0])


def statements(script: str) -> Iterator[str]:
    """The single statements of a script (executescript would commit the open transaction)."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
    if pending.strip() and not all(
        line.lstrip().startswith("--") for line in pending.split("\n") if line.strip()
    ):
        raise Bug("an SQL script ends in the middle of a statement")
