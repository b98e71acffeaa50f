"""What all parts of a writer share: the sequence number of the transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from lorebank.errors import Conflict
from lorebank.storage.sqlite.cache import StoreCache
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader import SqliteReader
from lorebank.storage.sqlite.reader_base import array
from lorebank.storage.sqlite.sections import WriteSql
from lorebank.tags import TagFilter

WRITE = load(WriteSql, "write")


class WriterBase(SqliteReader):
    """A write transaction: it reads what it has written itself."""

    _settled = False
    _whole_documents = False

    def __init__(
        self,
        db: sqlite3.Connection,
        filter: TagFilter | None,
        cache: StoreCache,
        seq: int,
        starter: str | None = None,
    ) -> None:
        super().__init__(db, filter, cache, seq, starter)
        self.changed = False

    def seal(self) -> int:
        """Record the new sequence number where something changed; the number that now holds."""
        if self.changed:
            self._rows(WRITE.set_seq, seq=self._seq)
        return self._seq

    def _touch(self) -> int:
        """The sequence number for what is changed now: one for the whole transaction."""
        if not self.changed:
            self.changed = True
            self._seq += 1
        return self._seq

    def _many(self, sql: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement for each row; how many rows of the store were changed."""
        return self._db.executemany(sql, rows).rowcount

    def _next_key(self, table: str) -> int:
        return self._number(WRITE.next_key, table=table) + 1

    def _refuse_hidden(self, document_ids: Iterable[str]) -> None:
        """`Conflict` when one of the documents exists where the grant does not let it be seen."""
        if not self._scope.everything and self._one(WRITE.document_hidden, ids=array(document_ids)):
            raise Conflict("a document id is taken by a document that this key may not see; use another id")
