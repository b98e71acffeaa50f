"""Operations that store items later: everything decided that a second run must find decided."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lorebank.banks.retain.drafts import with_document_ids
from lorebank.banks.retain.items import Item, to_json
from lorebank.clock import Micros
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Operation

RETAIN = "retain"
"""The type of these operations and the name of their job."""


def queued(
    handle: BankHandle, items: Sequence[Item], count: int, operation_id: str, now: Micros
) -> Operation:
    """An operation that stores the items, whose tags are set already; `count` were sent."""
    placed, shared = with_document_ids(items, new_uuid)
    payload: dict[str, Any] = {"items": [to_json(item) for item in placed], "shared_document": shared}
    documents = {item.document_id for item in placed}
    return Operation(
        id=operation_id,
        type=RETAIN,
        status="pending",
        items_count=count,
        created_at=now,
        updated_at=now,
        document_id=documents.pop() if len(documents) == 1 else None,
        payload=payload,
        principal=handle.grant.principal.to_json(),
    )


def done(handle: BankHandle, kind: str, count: int, operation_id: str, now: Micros) -> Operation:
    """An operation that has nothing to store and has ended: what was sent waits, or may not be kept."""
    return Operation(
        id=operation_id,
        type=kind,
        status="completed",
        items_count=count,
        created_at=now,
        updated_at=now,
        completed_at=now,
        result={"items_count": count, "facts_added": 0, "facts_removed": 0},
        principal=handle.grant.principal.to_json(),
    )
