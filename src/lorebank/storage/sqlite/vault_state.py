"""`VaultState` over SQLite: the catalogue, the journal and the history of one knowledge store."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from lorebank.clock import Micros
from lorebank.errors import Conflict
from lorebank.storage.knowledge_ports import (
    CatalogueRow,
    Checkpoint,
    HistoryLine,
    JournalRow,
    PartitionRow,
)
from lorebank.storage.sqlite.vault_file import SQL, VaultFile, create_vault_state

__all__ = ["SqliteVaultState", "create_vault_state"]
_NOTHING: Mapping[str, bytes] = {}


class SqliteVaultState:
    """See `storage.knowledge_ports.VaultState`. Raises `StoreUnavailable` (foreign_store, missing_database)
    when the file is not lorebank's, and `Conflict` when a newer lorebank wrote it."""

    def __init__(self, path: Path) -> None:
        self._file = VaultFile(path)

    def close(self) -> None:
        self._file.close()

    def backup(self, target: sqlite3.Connection) -> None:
        """Copy the database as it is at this moment."""
        self._file.backup(target)

    def compact(self) -> None:
        """Leave no byte of what was deleted. `Unavailable` when readers keep the log in use."""
        self._file.compact()

    def check(self) -> list[str]:
        """What SQLite finds wrong with the database."""
        return self._file.check()

    def checkpoint(self) -> Checkpoint:
        return Checkpoint(*self._file.row(SQL.checkpoint))

    def partition(self, folder: str) -> PartitionRow | None:
        row = self._file.row(SQL.partition, folder=folder)
        return None if row is None else PartitionRow(*row)

    def add_partition(self, row: PartitionRow) -> None:
        with self._file.writing() as db:
            if db.execute(SQL.partition, {"folder": row.folder}).fetchone():
                raise Conflict("the partition is known already; its folder cannot be exchanged")
            db.execute(SQL.add_partition, {"folder": row.folder, "device": row.device, "inode": row.inode})

    def move_partition(self, row: PartitionRow) -> None:
        with self._file.writing() as db:
            db.execute(SQL.move_partition, {"folder": row.folder, "device": row.device, "inode": row.inode})

    def partitions(self) -> Sequence[PartitionRow]:
        return [PartitionRow(*row) for row in self._file.rows(SQL.partitions)]

    def catalogue(self, folder: str) -> Iterator[CatalogueRow]:
        for row in self._file.each(SQL.catalogue, folder=folder):
            yield CatalogueRow(*row)

    def apply_catalogue(
        self,
        folder: str,
        upserts: Sequence[CatalogueRow],
        deleted: Sequence[int],
        history: Sequence[HistoryLine],
        contents: Mapping[str, bytes] = _NOTHING,
    ) -> Mapping[str, int]:
        with self._file.writing() as db:
            db.executemany(SQL.drop_file, [(folder, key) for key in deleted])
            keys = _put_files(db, folder, upserts)
            _add_lines(db, history)
            db.executemany(SQL.keep, list(contents.items()))
        return keys

    def accept(self, row: JournalRow) -> None:
        with self._file.writing() as db:
            if db.execute(SQL.open_journal).fetchone():
                raise Conflict("another publication of this store is not finished")
            if _journaled(db, row.folder, row.request_id):
                raise Conflict("the request id was used before")
            db.execute(SQL.accept, _journal_values(row))

    def journaled(self, folder: str, request_id: str) -> JournalRow | None:
        row = self._file.row(SQL.journaled, folder=folder, request_id=request_id)
        return None if row is None else JournalRow(*row)

    def open_journal(self) -> Sequence[JournalRow]:
        return [JournalRow(*row) for row in self._file.rows(SQL.open_journal)]

    def publish(
        self,
        folder: str,
        request_id: str,
        at: Micros,
        catalogue: Sequence[CatalogueRow],
        history: Sequence[HistoryLine],
    ) -> Mapping[str, int]:
        name = {"folder": folder, "request_id": request_id}
        with self._file.writing() as db:
            if not db.execute(SQL.publish, {**name, "at": at}).rowcount:
                raise Conflict("the publication is not open")
            db.execute(SQL.move_checkpoint, name)
            keys = _put_files(db, folder, catalogue)
            _add_lines(db, history)
        return keys

    def conflict(self, folder: str, request_id: str) -> None:
        with self._file.writing() as db:
            db.execute(SQL.conflict, {"folder": folder, "request_id": request_id})

    def forget(self, folder: str, request_id: str) -> None:
        with self._file.writing() as db:
            db.execute(SQL.forget, {"folder": folder, "request_id": request_id})

    def backlog(self) -> int:
        return int(self._file.row(SQL.backlog)[0])

    def uncommitted(self) -> Sequence[HistoryLine]:
        return [HistoryLine(*row) for row in self._file.rows(SQL.uncommitted)]

    def unfinished(self) -> Sequence[JournalRow]:
        return [JournalRow(*row) for row in self._file.rows(SQL.unfinished)]

    def kept(self, sha256: str) -> bytes | None:
        row = self._file.row(SQL.kept, sha256=sha256)
        return None if row is None else bytes(row[0])

    def committed(
        self, lines: Mapping[int, str | None], commit: str, requests: Sequence[tuple[str, str]] = ()
    ) -> None:
        with self._file.writing() as db:
            db.executemany(SQL.commit_line, [(blob, commit, seq) for seq, blob in lines.items()])
            db.executemany(SQL.finish, [(commit, folder, id) for folder, id in requests])
            db.execute(SQL.drop_kept)

    def history(self, folder: str, record_id: str, before: int | None, limit: int) -> Sequence[HistoryLine]:
        rows = self._file.rows(SQL.history, folder=folder, record_id=record_id, before=before, limit=limit)
        return [HistoryLine(*row) for row in rows]

    def line(self, folder: str, seq: int) -> HistoryLine | None:
        row = self._file.row(SQL.line, folder=folder, seq=seq)
        return None if row is None else HistoryLine(*row)

    def last_revisions(self, folder: str) -> Mapping[str, int]:
        return dict(self._file.rows(SQL.last_revisions, folder=folder))

    def recent(self, folder: str, limit: int) -> Sequence[HistoryLine]:
        return [HistoryLine(*row) for row in self._file.rows(SQL.recent, folder=folder, limit=limit)]

    def verdict(self, key: str) -> tuple[str, str] | None:
        row = self._file.row(SQL.verdict, key=key)
        return None if row is None else (row[0], row[1])

    def set_verdict(self, key: str, stamp: str, verdict: str) -> None:
        self.set_verdicts(stamp, {key: verdict})

    def set_verdicts(self, stamp: str, verdicts: Mapping[str, str]) -> None:
        rows = [{"key": key, "stamp": stamp, "verdict": said} for key, said in verdicts.items()]
        with self._file.writing() as db:
            db.executemany(SQL.set_verdict, rows)

    def vectors(self, folder: str) -> Iterator[tuple[int, str, str, bytes]]:
        yield from self._file.each(SQL.vectors, folder=folder)

    def set_vectors(self, model: str, rows: Sequence[tuple[int, str, bytes]]) -> None:
        with self._file.writing() as db:
            db.executemany(SQL.set_vector, [(model, vector, key, sha256) for key, sha256, vector in rows])


def _journaled(db: sqlite3.Connection, folder: str, request_id: str) -> bool:
    name = {"folder": folder, "request_id": request_id}
    return db.execute(SQL.journaled, name).fetchone() is not None


def _put_files(db: sqlite3.Connection, folder: str, rows: Sequence[CatalogueRow]) -> dict[str, int]:
    """Known keys first: a renamed file leaves its old path before another one takes it."""
    known = [row for row in rows if row.key]
    db.executemany(SQL.drop_known_vector, [(row.key, row.key, row.sha256) for row in known])
    db.executemany(SQL.drop_vector_at, [(folder, row.path, row.sha256) for row in rows if not row.key])
    for row in known:
        # Two files that exchange their names must not meet at one path in between.
        db.execute(SQL.free_path, (f"\0{row.key}", row.key))
    db.executemany(SQL.move_file, [(*_file_values(folder, row), row.key) for row in known])
    db.executemany(SQL.put_file, [_file_values(folder, row) for row in rows if not row.key])
    return {row.path: row.key or db.execute(SQL.key_of, (folder, row.path)).fetchone()[0] for row in rows}


def _file_values(folder: str, row: CatalogueRow) -> tuple[object, ...]:
    return (
        folder,
        row.path,
        row.kind,
        row.inode,
        row.size,
        row.mtime_ns,
        row.ctime_ns,
        row.sha256,
        row.revision,
        row.record,
        row.findings,
    )


def _journal_values(row: JournalRow) -> tuple[object, ...]:
    return (
        row.request_id,
        row.digest,
        row.folder,
        row.agent,
        row.change,
        row.files,
        row.records,
        row.answer,
        row.message,
        row.generation,
        row.publication_id,
        row.state,
        row.accepted_at,
        row.published_at,
        row.commit,
    )


def _add_lines(db: sqlite3.Connection, lines: Sequence[HistoryLine]) -> None:
    db.executemany(
        SQL.add_line,
        [
            (
                line.folder,
                line.record_id,
                line.revision,
                line.path,
                line.title,
                line.change,
                line.agent,
                line.at,
                line.sha256,
                line.blob,
                line.commit,
                line.request_id,
                line.message,
                line.old_path,
            )
            for line in lines
        ],
    )
