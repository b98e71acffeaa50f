"""Operations: the jobs of a bank, seen and steered by its callers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lorebank.clock import Micros
from lorebank.errors import BadRequest, Conflict, NotFound
from lorebank.ids import parse_uuid
from lorebank.storage.ports import BankHandle, Banks, BankWriter, Listing, Page
from lorebank.storage.rows import Operation

JOBS = "jobs"
"""The kind of background work under which a bank with operations to run is marked."""
STATUSES = ("pending", "processing", "completed", "failed", "cancelled")
_ACTIVE = ("pending", "processing")


def request_name(operation_id: str) -> str:
    """Where a bank keeps the digest of the request that an operation id was given for."""
    return f"request:{operation_id}"


def find(handle: BankHandle, operation_id: str) -> tuple[Operation, list[Operation]] | None:
    """The operation and its parts in order, None when there is none; `BadRequest` unless a UUID."""
    wanted = parse_uuid(operation_id, "operation_id")
    with handle.read() as reader:
        operation = reader.operation(wanted)
        return None if operation is None else (operation, list(reader.operation_children(wanted)))


def listing(
    handle: BankHandle, status: str | None, type: str | None, exclude_parents: bool, page: Page
) -> Listing[Operation]:
    """Operations, newest first; `BadRequest` for a status that does not exist."""
    if status is not None and status not in STATUSES:
        raise BadRequest(f"status must be one of {', '.join(STATUSES)}")
    with handle.read() as reader:
        return reader.operations(status, type, exclude_parents, page)


def cancel(handle: BankHandle, operation_id: str, now: Micros) -> Operation:
    """End a pending or processing operation and its parts; `Conflict` when it has ended already.

    What a running job has committed stays; it stores nothing after this.
    """
    wanted = parse_uuid(operation_id, "operation_id")
    with handle.write() as writer:
        operation = _existing(writer, wanted)
        parts = [part for part in writer.operation_children(wanted) if part.status in _ACTIVE]
        if operation.status not in _ACTIVE and not parts:
            raise Conflict(
                f"operation {wanted} is {operation.status}; only a running or waiting one can be cancelled"
            )
        for one in (operation, *parts):
            if one.status in _ACTIVE:
                writer.finish_operation(one.id, None, "cancelled", now)
    return operation


def retry(
    handle: BankHandle, banks: Banks, wake: Callable[[BankHandle], None], operation_id: str, now: Micros
) -> Operation:
    """Put a failed operation and its failed parts back into the queue, to go on where they stopped.

    `Conflict` for any other status: a cancelled operation has lost its input.
    """
    wanted = parse_uuid(operation_id, "operation_id")
    banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        operation = _existing(writer, wanted)
        failed = [one for one in (operation, *writer.operation_children(wanted)) if one.status == "failed"]
        if not failed:
            raise Conflict(f"operation {wanted} is {operation.status}; only failed ones can be retried")
        for one in failed:
            writer.put_operation(_again(writer, one, now))
    wake(handle)
    return operation


def delete(handle: BankHandle, operation_id: str) -> None:
    """Forget an operation that has ended, with its parts; `Conflict` while it can still run."""
    wanted = parse_uuid(operation_id, "operation_id")
    with handle.write() as writer:
        operation = _existing(writer, wanted)
        if operation.status in _ACTIVE:
            raise Conflict(f"operation {wanted} is {operation.status}; cancel it first")
        writer.delete_operation(wanted)
        writer.set_meta(request_name(wanted), None)


def _existing(writer: BankWriter, operation_id: str) -> Operation:
    operation = writer.operation(operation_id)
    if operation is None:
        raise NotFound(f"Operation '{operation_id}' not found")
    return operation


def _again(writer: BankWriter, operation: Operation, now: Micros) -> Operation:
    whole = writer.operation(operation.id) or operation
    return replace(
        whole,
        status="pending",
        error=None,
        retry_count=0,
        next_retry_at=None,
        completed_at=None,
        updated_at=now,
    )
