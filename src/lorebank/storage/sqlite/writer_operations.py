"""Writing operations: leases with fencing tokens, and what ends with an operation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from lorebank import clock
from lorebank.clock import Micros
from lorebank.errors import Conflict
from lorebank.storage.rows import Lease, Operation, OperationStatus
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.reader_base import array
from lorebank.storage.sqlite.reader_operations import OPERATIONS
from lorebank.storage.sqlite.writer_base import WriterBase

_ENDED = ("completed", "failed", "cancelled")


class OperationWrites(WriterBase):
    """The operation methods of a writer; the port's docstrings are the contract.

    `holder` names this process: a lease of another one is lapsed, because one process at a time
    owns a data directory.
    """

    holder = ""

    def put_operation(self, operation: Operation) -> None:
        if not self._mine(operation.id) and self._one(OPERATIONS.holder, id=operation.id) is not None:
            raise Conflict("the operation id is taken by an operation of another caller; use another id")
        self._rows(
            OPERATIONS.put,
            id=operation.id,
            type=operation.type,
            status=operation.status,
            items_count=operation.items_count,
            created_at=operation.created_at,
            updated_at=operation.updated_at,
            completed_at=operation.completed_at,
            document_id=operation.document_id,
            filename=operation.filename,
            parent_id=operation.parent_id,
            error=operation.error,
            retry_count=operation.retry_count,
            next_retry_at=operation.next_retry_at,
            stage=operation.stage,
            processed=operation.processed,
            total=operation.total,
            result=_json(operation.result),
            payload=_json(operation.payload),
            principal=_json(operation.principal),
        )

    def lease_operation(self, now: Micros, seconds: float) -> Lease | None:
        candidate = self._one(OPERATIONS.candidate, now=now, holder=self.holder)
        if candidate is None:
            return None
        until = now + int(seconds * 1_000_000)
        self._rows(OPERATIONS.take, id=candidate[0], now=now, holder=self.holder, until=until)
        operation = self.operation(candidate[0])
        token = self._one(OPERATIONS.holder, id=candidate[0])[1]
        return None if operation is None else Lease(operation, token, until)

    def renew_lease(self, operation_id: str, token: int, until: Micros) -> bool:
        return self._rows(OPERATIONS.renew, id=operation_id, token=token, until=until).rowcount == 1

    def progress(self, operation_id: str, token: int, stage: str, processed: int, total: int) -> bool:
        noted = self._rows(
            OPERATIONS.progress,
            id=operation_id,
            token=token,
            stage=stage,
            processed=processed,
            total=total,
            now=clock.now(),
        )
        return noted.rowcount == 1

    def finish_operation(
        self,
        operation_id: str,
        token: int | None,
        status: OperationStatus,
        now: Micros,
        *,
        result: Mapping[str, Any] | None = None,
        error: str | None = None,
        next_retry_at: Micros | None = None,
    ) -> bool:
        row = self._one(OPERATIONS.holder, id=operation_id)
        if row is None or not self._mine(operation_id):
            return False
        old_status, held, payload, _ = row
        if token is not None and (old_status != "processing" or held != token):
            return False
        keep = status in ("pending", "failed", "processing")
        self._rows(
            OPERATIONS.finish,
            id=operation_id,
            status=status,
            now=now,
            result=_json(result),
            error=error,
            next_retry_at=next_retry_at,
            keep=keep,
        )
        if not keep:
            self._drop_blobs(payload)
        if status in _ENDED:
            self._settle_parent(operation_id, now)
        return True

    def delete_operation(self, operation_id: str) -> bool:
        if not self._mine(operation_id):
            return False
        parts = [operation_id, *(part.id for part in self.operation_children(operation_id))]
        payloads = [self._one(OPERATIONS.holder, id=part) for part in parts]
        if self._rows(OPERATIONS.delete, id=operation_id).rowcount == 0:
            return False
        for row in payloads:
            self._drop_blobs(None if row is None else row[2])
        return True

    def put_blob(self, blob_id: str, data: bytes) -> None:
        self._rows(OPERATIONS.put_blob, id=blob_id, data=data)

    def _mine(self, operation_id: str) -> bool:
        """Whether the grant lets the operation be seen."""
        return self._scope.operation == "1" or self.operation(operation_id) is not None

    def _drop_blobs(self, payload: str | None) -> None:
        """Delete the blobs that a payload names in its list `blobs`."""
        named = (values.from_json(payload) or {}).get("blobs")
        if named:
            self._rows(OPERATIONS.delete_blobs, ids=array(named))

    def _settle_parent(self, operation_id: str, now: Micros) -> None:
        """A parent ends with its last part: failed or cancelled when one of them did so."""
        parent = self._one(OPERATIONS.parent_of, id=operation_id)
        if parent is None or parent[1] in _ENDED:
            return
        statuses: dict[str, int] = dict(self._rows(OPERATIONS.child_statuses, id=parent[0]).fetchall())
        if statuses.keys() - set(_ENDED):
            return
        worst: OperationStatus = "completed"
        if "failed" in statuses:
            worst = "failed"
        elif "cancelled" in statuses:
            worst = "cancelled"
        error = f"{statuses['failed']} of its parts failed" if worst == "failed" else None
        self.finish_operation(parent[0], None, worst, now, error=error)


def _json(value: Mapping[str, Any] | None) -> str | None:
    return None if value is None else values.to_json(value)
