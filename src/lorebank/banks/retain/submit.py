"""Asynchronous retain: the request becomes operations, durably, before it is acknowledged."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.operations import JOBS, request_name
from lorebank.banks.retain import waiting
from lorebank.banks.retain.check import check_distinct_documents, check_items
from lorebank.banks.retain.drafts import with_tags
from lorebank.banks.retain.granted import refuse_forged_tags, tags_for, under_strategy
from lorebank.banks.retain.items import Item, to_json
from lorebank.banks.retain.queue import RETAIN, done, queued
from lorebank.banks.retain.service import Tools
from lorebank.banks.retain.settings import for_items
from lorebank.banks.retain.waiting import Plan
from lorebank.clock import Micros
from lorebank.errors import BadRequest, Conflict
from lorebank.ids import new_uuid, parse_uuid
from lorebank.storage.ports import BankHandle, BankReader
from lorebank.storage.rows import Operation


def check_submission(
    grant: Grant,
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    items: Sequence[Item],
    document_tags: tuple[str, ...],
    operation_id: str | None,
) -> None:
    """`InvalidInput`, `BadRequest` or `NeedsLLM` for a request that `submit` would refuse."""
    check_items(items, document_tags)
    check_distinct_documents(items)
    refuse_forged_tags(grant, items, document_tags)
    ruled = under_strategy(grant, items, defaults, overrides)
    if operation_id is not None:
        parse_uuid(operation_id, "operation_id")
        if len(_by_strategy(ruled)) > 1:
            raise BadRequest("operation_id: the items name several strategies; send one request for each")
    for_items(defaults, overrides, ruled)


def submit(
    handle: BankHandle,
    tools: Tools,
    items: Sequence[Item],
    document_tags: tuple[str, ...] = (),
    operation_id: str | None = None,
) -> list[str]:
    """Queue the items, one operation for each strategy among them; the operations' ids in order.

    What the grant says of retains is applied as by `retain`.

    With an `operation_id` (a UUID) the same request sent again gives the first one's answer and
    creates nothing; another request under that id in this bank is a `Conflict`. Ids are compared
    within one bank: banks are separate stores.
    """
    grant, config = handle.grant, handle.bank.config
    check_submission(grant, tools.bank_defaults, config, items, document_tags, operation_id)
    wanted = None if operation_id is None else parse_uuid(operation_id, "operation_id")
    digest = _digest(items, document_tags)
    ruled = under_strategy(grant, items, tools.bank_defaults, config)
    came = waiting.arrived(grant, with_tags(ruled, tags_for(grant, document_tags)))
    if wanted is not None:
        with handle.read() as reader:
            if _is_known(reader, wanted, digest):
                return [wanted]
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        # Asked again inside the lane: the same request may have come twice at once.
        if wanted is not None and _is_known(writer, wanted, digest):
            return [wanted]
        plan = waiting.plan(writer, grant, came)
        made = _operations(handle, plan, len(items), wanted, tools.clock())
        for operation in made:
            writer.put_operation(operation)
        plan.apply(writer)
        if wanted is not None:
            writer.set_meta(request_name(wanted), digest)
    tools.jobs(handle)
    return [operation.id for operation in made]


def _by_strategy(items: Sequence[Item]) -> list[list[Item]]:
    groups: dict[str | None, list[Item]] = {}
    for item in items:
        groups.setdefault(item.strategy, []).append(item)
    return list(groups.values())


def _operations(
    handle: BankHandle, plan: Plan, count: int, wanted: str | None, now: Micros
) -> list[Operation]:
    """One operation for each strategy; what had waited goes before the first. One that has ended where
    nothing is to be stored now."""
    groups = _by_strategy(plan.now[len(plan.held) :])
    if plan.held or not groups:
        groups[:1] = [[*plan.held, *(groups[0] if groups else ())]]
    if wanted is not None:
        groups = [[item for group in groups for item in group]]
    if groups == [[]]:
        return [done(handle, RETAIN, count, wanted or new_uuid(), now)]
    counts = [count] if len(groups) == 1 else map(len, groups)
    return [
        queued(handle, group, sent, wanted or new_uuid(), now)
        for group, sent in zip(groups, counts, strict=True)
    ]


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
