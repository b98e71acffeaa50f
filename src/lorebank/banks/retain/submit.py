"""Asynchronous retain: the request becomes operations, durably, before it is acknowledged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.banks.operations import JOBS, request_name
from lorebank.banks.retain.check import check_distinct_documents, check_items
from lorebank.banks.retain.drafts import with_document_ids, with_tags
from lorebank.banks.retain.items import Item, to_json
from lorebank.banks.retain.service import Tools
from lorebank.banks.retain.settings import for_items
from lorebank.banks.retain.work import RETAIN
from lorebank.clock import Micros
from lorebank.errors import BadRequest, Conflict
from lorebank.ids import new_uuid, parse_uuid
from lorebank.storage.ports import BankHandle, BankReader
from lorebank.storage.rows import Operation


def check_submission(
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    items: Sequence[Item],
    document_tags: tuple[str, ...],
    operation_id: str | None,
) -> None:
    """`InvalidInput`, `BadRequest` or `NeedsLLM` for a request that `submit` would refuse."""
    check_items(items, document_tags)
    check_distinct_documents(items)
    if operation_id is not None:
        parse_uuid(operation_id, "operation_id")
        if len(_by_strategy(items)) > 1:
            raise BadRequest("operation_id: the items name several strategies; send one request for each")
    for_items(defaults, overrides, items)


def submit(
    handle: BankHandle,
    tools: Tools,
    items: Sequence[Item],
    document_tags: tuple[str, ...] = (),
    operation_id: str | None = None,
) -> list[str]:
    """Queue the items, one operation for each strategy among them; the operations' ids in order.

    With an `operation_id` (a UUID) the same request sent again gives the first one's answer and
    creates nothing; another request under that id in this bank is a `Conflict`. Ids are compared
    within one bank: banks are separate stores.
    """
    check_submission(tools.bank_defaults, handle.bank.config, items, document_tags, operation_id)
    wanted = None if operation_id is None else parse_uuid(operation_id, "operation_id")
    groups = _by_strategy(items)
    digest = _digest(items, document_tags)
    now = tools.clock()
    made = [_operation(handle, group, document_tags, wanted or new_uuid(), now) for group in groups]
    if wanted is not None:
        with handle.read() as reader:
            if _is_known(reader, wanted, digest):
                return [wanted]
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        # Asked again inside the lane: the same request may have come twice at once.
        if wanted is None or not _is_known(writer, wanted, digest):
            for operation in made:
                writer.put_operation(operation)
            if wanted is not None:
                writer.set_meta(request_name(wanted), digest)
    tools.jobs(handle)
    return [operation.id for operation in made]


def _by_strategy(items: Sequence[Item]) -> list[list[Item]]:
    groups: dict[str | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.strategy, []).append(item)
    return list(groups.values())


def _operation(
    handle: BankHandle, items: Sequence[Item], document_tags: tuple[str, ...], operation_id: str, now: Micros
) -> Operation:
    """The operation with everything decided that a second run must find decided: ids, times, tags."""
    placed, shared = with_document_ids(with_tags(items, document_tags), new_uuid)
    payload: dict[str, Any] = {"items": [to_json(item) for item in placed], "shared_document": shared}
    documents = {item.document_id for item in placed}
    return Operation(
        id=operation_id,
        type=RETAIN,
        status="pending",
        items_count=len(items),
        created_at=now,
        updated_at=now,
        document_id=documents.pop() if len(documents) == 1 else None,
        payload=payload,
        principal=handle.grant.principal.to_json(),
    )


def _is_known(reader: BankReader, operation_id: str, digest: str) -> bool:
    if reader.operation(operation_id) is None:
        return False
    if reader.meta(request_name(operation_id)) == digest:
        return True
    raise Conflict(
        f"operation_id {operation_id} was used for another request in this bank; use a new UUID for each"
    )


def _digest(items: Sequence[Item], document_tags: tuple[str, ...]) -> str:
    """Equal for equal requests, whenever they are sent."""
    request: Mapping[str, Any] = {"items": list(map(_as_sent, items)), "document_tags": list(document_tags)}
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


def _as_sent(item: Item) -> dict[str, Any]:
    return {name: value for name, value in to_json(item).items() if name != "accepted_at"}
