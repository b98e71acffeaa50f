"""What all parts of a reader share: its connection, its scope and small query helpers."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from lorebank.storage.ports import Page
from lorebank.storage.sqlite.cache import StoreCache
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.scope import Predicate, predicate, resolved, scope
from lorebank.storage.sqlite.sections import MemorySql
from lorebank.storage.sqlite.values import tags_of, to_json
from lorebank.tags import TagFilter

MEMORIES = load(MemorySql, "memories")


class ReaderBase:
    """One snapshot of one store, seen through one filter; of operations perhaps only those of one starter."""

    def __init__(
        self,
        db: sqlite3.Connection,
        filter: TagFilter | None,
        cache: StoreCache,
        seq: int,
        starter: str | None = None,
    ) -> None:
        self._db = db
        self._cache = cache
        self._seq = seq
        self._streams: list[sqlite3.Cursor] = []
        self._scope = scope(resolved(filter, self._all_tags), starter, whole=self._whole_documents)

    # A write transaction may still be rolled back, so nothing it sees is worth remembering.
    _settled = True
    # What is read goes to the caller. A writer needs the documents that the caller may add to, and
    # hands none of their text out.
    _whole_documents = True

    def seq(self) -> int:
        """The sequence number of the last change that this snapshot holds."""
        return self._seq

    def end(self) -> None:
        """Close what was read only in part: an open statement would keep the snapshot alive."""
        for cursor in self._streams:
            cursor.close()

    def _all_tags(self) -> Sequence[str]:
        return [row[0] for row in self._db.execute(MEMORIES.all_tags)]

    def _visible_tags(self) -> Sequence[str]:
        """Tags of visible memories and documents: what a fuzzy tag of a query may stand for."""
        memories = self._rows("SELECT DISTINCT m.tags FROM memories m WHERE {seen}")
        documents = self._rows("SELECT DISTINCT d.tags FROM documents d WHERE {docs}")
        return sorted({tag for row in [*memories, *documents] for tag in tags_of(row[0])})

    def _asked(self, filter: TagFilter | None, column: str) -> Predicate:
        """The predicate of a query's own filter."""
        return predicate(resolved(filter, self._visible_tags), column, "asked")

    def _rows(self, sql: str, parts: dict[str, str] | None = None, /, **parameters: Any) -> sqlite3.Cursor:
        """Run a statement with `{seen}`, `{other}`, `{docs}`, `{mine}` and the given parts filled in."""
        if "{" in sql:
            filled = {
                "seen": self._scope.memory,
                "other": self._scope.other,
                "docs": self._scope.document,
                "mine": self._scope.operation,
            }
            for name, text in ((parts or {}) | filled).items():
                sql = sql.replace(f"{{{name}}}", text)
            parameters |= self._scope.parameters
        return self._db.execute(sql, parameters)

    def _stream(self, sql: str, /, **parameters: Any) -> sqlite3.Cursor:
        """Like `_rows`, for a statement that may not be read to its end."""
        cursor = self._rows(sql, None, **parameters)
        self._streams.append(cursor)
        return cursor

    def _one(self, sql: str, parts: dict[str, str] | None = None, /, **parameters: Any) -> Any:
        """The first row of a statement, or None."""
        return self._rows(sql, parts, **parameters).fetchone()

    def _number(self, sql: str, parts: dict[str, str] | None = None, /, **parameters: Any) -> int:
        """The single number that a statement returns."""
        return int(self._one(sql, parts, **parameters)[0] or 0)

    def _total(self, sql: str, parts: dict[str, str], parameters: dict[str, Any]) -> int:
        """The number of rows of a listing, remembered while the store does not change."""
        if not (self._settled and self._scope.everything):
            return self._number(sql, parts, **parameters)
        query = repr((sql, parts, parameters))
        known = self._cache.total(self._seq, query)
        if known is None:
            known = self._number(sql, parts, **parameters)
            self._cache.keep_total(self._seq, query, known)
        return known


def array(values: Iterable[int | str]) -> str:
    """Values for `IN (SELECT value FROM json_each(:name))`: no limit on how many."""
    return to_json(list(values))


def window(page: Page) -> dict[str, int]:
    """The parameters of LIMIT and OFFSET."""
    return {"limit": max(page.limit, 0), "offset": max(page.offset, 0)}


def both_clauses(clauses: Sequence[str]) -> str:
    """The clauses joined by AND, `1` when there are none."""
    return " AND ".join(clauses) or "1"
