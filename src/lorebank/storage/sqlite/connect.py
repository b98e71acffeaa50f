"""Opening SQLite files, and turning what SQLite raises into lorebank's errors."""

from __future__ import annotations

import os
import sqlite3
import time
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lorebank.errors import Bug, Corrupt, InvalidInput, LorebankError, Unavailable

_PRAGMAS = (
    "PRAGMA busy_timeout = 5000",
    "PRAGMA journal_mode = WAL",
    # FULL syncs the write-ahead log at every commit: acknowledged means durable.
    "PRAGMA synchronous = FULL",
    "PRAGMA foreign_keys = ON",
    # Deleted content is overwritten, not only unlinked from its page.
    "PRAGMA secure_delete = ON",
    # Intermediate results hold memory text; they must not reach a temporary file.
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
    # 4,000 pages, 16 MB: fewer checkpoints when much is written; the log is cut back to that size.
    "PRAGMA wal_autocheckpoint = 4000",
    "PRAGMA journal_size_limit = 16777216",
    # At most 16 MB a connection; the indexes of a large bank do not fit the default of 2 MB.
    "PRAGMA cache_size = -16384",
)

_UNAVAILABLE = {
    "SQLITE_FULL": "the disk that holds the data directory is full; free some space and try again",
    "SQLITE_READONLY": "the data directory cannot be written; check its owner and its mount options",
    "SQLITE_PERM": "the data directory cannot be accessed; check its owner and permissions",
    "SQLITE_AUTH": "the data directory cannot be accessed; check its owner and permissions",
    "SQLITE_BUSY": "another program holds a lock on the store; close it and try again",
    "SQLITE_LOCKED": "the store is locked; try again",
    "SQLITE_CANTOPEN": "the store's file cannot be opened; check that the data directory is in place",
    "SQLITE_IOERR": "the disk that holds the data directory reports an error; check the disk",
    "SQLITE_NOMEM": "there is not enough memory; try again later",
    "SQLITE_INTERRUPT": "the request was interrupted; try again",
}
_TRIES = 10
_PAUSE_SECONDS = 0.2
_CORRUPT = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_FORMAT")


def create_file(path: Path) -> None:
    """An empty file that only its owner can read; SQLite gives its side files the same mode."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))


def connect(path: Path, *, reader: bool = False) -> sqlite3.Connection:
    """A connection to an existing file in autocommit mode, usable from any one thread at a time.

    Raises `Unavailable` or `Corrupt` when the file is missing or is no database.
    """
    with translated():
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=256,
        )
        try:
            for pragma in _PRAGMAS:
                db.execute(pragma)
            if reader:
                db.execute("PRAGMA query_only = ON")
            db.create_function("contains", 2, contains, deterministic=True)
        except sqlite3.Error:
            db.close()
            raise
    return db


def fold(text: str) -> str:
    """The form in which text is compared without regard to case."""
    return unicodedata.normalize("NFC", text).casefold()


def contains(text: str | None, folded: str) -> bool:
    """Whether `text` contains `folded`, which has gone through `fold` already."""
    return text is not None and folded in fold(text)


@contextmanager
def translated() -> Iterator[None]:
    """Lets no error of SQLite out: each becomes the lorebank error that says what to do."""
    try:
        yield
    except sqlite3.Error as exc:
        raise translate(exc) from exc
    except UnicodeEncodeError as exc:
        raise InvalidInput("text must not contain lone surrogates", cause=exc) from exc
    except OverflowError as exc:
        raise InvalidInput("a number is too large to be stored", cause=exc) from exc


def translate(exc: sqlite3.Error) -> LorebankError:
    """The lorebank error for one of SQLite's."""
    name = getattr(exc, "sqlite_errorname", "") or ""
    base = "_".join(name.split("_")[:2])
    if base in _UNAVAILABLE:
        return Unavailable(_UNAVAILABLE[base], cause=exc)
    if base in _CORRUPT:
        return Corrupt(
            "a store's file is damaged; run 'lorebank doctor', or bring a backup back with "
            "'lorebank restore'",
            cause=exc,
        )
    if base == "SQLITE_TOOBIG":
        return InvalidInput("a value is too large to be stored", cause=exc)
    return Bug("storage failed in an unexpected way", cause=exc)


@contextmanager
def transaction(db: sqlite3.Connection, mode: str = "IMMEDIATE") -> Iterator[None]:
    """`BEGIN` … `COMMIT`, or `ROLLBACK` when the body or the commit raises."""
    with translated():
        db.execute(f"BEGIN {mode}")
        try:
            yield
            db.execute("COMMIT")
        except BaseException:
            if db.in_transaction:
                db.execute("ROLLBACK")
            raise


def vacuum(db: sqlite3.Connection) -> None:
    """Rewrite a database's file without what was deleted, and empty its write-ahead log.

    Raises `Unavailable` when readers keep the log in use; the file itself is rewritten then.
    """
    db.execute("VACUUM")
    for _ in range(_TRIES):
        busy = db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not busy:
            return
        time.sleep(_PAUSE_SECONDS)
    raise Unavailable("the store is being read; its log could not be emptied yet: compact again later")
