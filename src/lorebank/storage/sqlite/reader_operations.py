"""Reading operations and the blobs that wait for them."""

from __future__ import annotations

from collections.abc import Sequence

from lorebank.clock import Micros
from lorebank.storage.ports import Listing, Page
from lorebank.storage.rows import Operation
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import ReaderBase, both_clauses, window
from lorebank.storage.sqlite.sections import OperationSql

OPERATIONS = load(OperationSql, "operations")
_COLUMNS = {"columns": values.OPERATION}


class OperationReads(ReaderBase):
    """The operation methods of a reader; the port's docstrings are the contract."""

    def operation(self, operation_id: str) -> Operation | None:
        row = self._one(OPERATIONS.by_id, _COLUMNS, id=operation_id)
        return None if row is None else values.operation(row[:-2], row[-2], row[-1])

    def operations(
        self, status: str | None, type: str | None, exclude_parents: bool, page: Page
    ) -> Listing[Operation]:
        clauses = []
        if status is not None:
            clauses.append("o.status = :status")
        if type is not None:
            clauses.append("o.type = :type")
        if exclude_parents:
            clauses.append("NOT EXISTS (SELECT 1 FROM operations c WHERE c.parent_id = o.id)")
        parts = _COLUMNS | {"where": both_clauses(clauses)}
        asked = {name: value for name, value in (("status", status), ("type", type)) if value is not None}
        rows = self._rows(OPERATIONS.page, parts, **asked, **window(page))
        found = [values.operation(row) for row in rows]
        return Listing(found, self._number(OPERATIONS.total, parts, **asked))

    def operation_children(self, operation_id: str) -> Sequence[Operation]:
        return [values.operation(row) for row in self._rows(OPERATIONS.children, _COLUMNS, id=operation_id)]

    def blob(self, blob_id: str) -> bytes | None:
        row = self._one(OPERATIONS.blob, id=blob_id)
        return None if row is None else bytes(row[0])

    def runnable_at(self, now: Micros) -> Micros | None:
        soonest: Micros | None = self._one(OPERATIONS.runnable_at, now=now)[0]
        return soonest
