"""Retain in one go: prepare outside the writer lane, commit inside it, then wake what builds on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.extract import KnownEntities
from lorebank.banks.operations import JOBS
from lorebank.banks.retain import waiting
from lorebank.banks.retain.check import check_items
from lorebank.banks.retain.commit import Commit, Prepared, Written
from lorebank.banks.retain.drafts import Draft, drafts, with_tags
from lorebank.banks.retain.facts import part_of
from lorebank.banks.retain.granted import refuse_forged_tags, tags_for, under_strategy
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.known import SHARED, KnownNames
from lorebank.banks.retain.queue import queued
from lorebank.banks.retain.settings import HowTo, for_items
from lorebank.banks.retain.waiting import Plan
from lorebank.clock import Clock
from lorebank.errors import Conflict, InvalidInput, Unavailable
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankHandle, Banks, BankWriter

_TRIES = 8


@dataclass(frozen=True, slots=True)
class Tools:
    """What retain needs besides the bank. `vectors` and `jobs` wake background work."""

    banks: Banks
    bank_defaults: Mapping[str, Any]
    clock: Clock
    vectors: Callable[[BankHandle], None]
    jobs: Callable[[BankHandle], None]
    known: KnownNames = field(default=SHARED)


def check_retain(
    grant: Grant,
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    items: Sequence[Item],
    document_tags: tuple[str, ...],
) -> None:
    """`InvalidInput`, `BadRequest` or `NeedsLLM` for a request that `retain` would refuse."""
    check_items(items, document_tags)
    refuse_forged_tags(grant, items, document_tags)
    for_items(defaults, overrides, under_strategy(grant, items, defaults, overrides))


def retain(
    handle: BankHandle, tools: Tools, items: Sequence[Item], document_tags: tuple[str, ...] = ()
) -> Written:
    """Store the items durably, all or none: on return they are found by keyword.

    What the grant says of retains is applied: its strategy, its tags, and which roles are kept.
    Raises `InvalidInput` or `BadRequest` that names the wrong field, `NeedsLLM` for extraction
    modes that rules cannot do.
    """
    grant, config = handle.grant, handle.bank.config
    check_retain(grant, tools.bank_defaults, config, items, document_tags)
    ruled = under_strategy(grant, items, tools.bank_defaults, config)
    came = waiting.arrived(grant, with_tags(ruled, tags_for(grant, document_tags)))
    for _ in range(_TRIES):
        with handle.read() as reader:
            plan = waiting.plan(reader, grant, came)
        try:
            prepared = prepare(handle, tools, drafts(plan.now, (), new_uuid))
            with handle.write() as writer:
                if not plan.still_right(writer):
                    continue
                plan.apply(writer)
                written = write(handle, tools, writer, prepared)
        except (Conflict, InvalidInput):
            if not plan.held:
                raise
            _set_aside(handle, tools, plan)
            continue
        tools.vectors(handle)
        return written
    raise Unavailable("the conversation kept changing while it was stored; send it again")


def _set_aside(handle: BankHandle, tools: Tools, plan: Plan) -> None:
    """What had waited cannot be stored as it is: it becomes an operation, which says why, so that it
    neither gets lost nor stands in the way of what comes now."""
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        if plan.still_right(writer):
            operation = queued(handle, plan.held, len(plan.held), new_uuid(), tools.clock())
            writer.put_operation(operation)
            plan.apply(writer)
    tools.jobs(handle)


def prepare(handle: BankHandle, tools: Tools, made: Sequence[Draft]) -> list[Prepared]:
    """The drafts with chunks, memories, tokens and terms. Needs no lane and changes nothing."""
    how = for_items(tools.bank_defaults, handle.bank.config, (item for draft in made for item in draft.items))
    known = tools.known.of(handle)
    return [_prepared(draft, how, known, handle.grant) for draft in made]


def _prepared(draft: Draft, how: Mapping[str | None, HowTo], known: KnownEntities, grant: Grant) -> Prepared:
    parts = tuple(part_of(item, how[item.strategy].extract, known, grant) for item in draft.items)
    return Prepared(draft, parts, keep_text=all(how[item.strategy].keep_text for item in draft.items))


def write(
    handle: BankHandle,
    tools: Tools,
    writer: BankWriter,
    prepared: Sequence[Prepared],
    operation_id: str | None = None,
) -> Written:
    """Add the prepared documents to an open write transaction."""
    commit = Commit(writer, handle.grant, handle.bank.bank_id, tools.clock(), operation_id)
    for one in prepared:
        commit.document(one)
    undecided = sorted({group for one in prepared for part in one.parts for group in part.undecided})
    return replace(commit.finish(), labels_undecided=tuple(undecided))
