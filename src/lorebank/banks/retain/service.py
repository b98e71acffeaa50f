"""Retain in one go: prepare outside the writer lane, commit inside it, then wake what builds on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lorebank.banks.extract import KnownEntities
from lorebank.banks.retain.check import check_items
from lorebank.banks.retain.commit import Commit, Prepared, Written
from lorebank.banks.retain.drafts import Draft, drafts
from lorebank.banks.retain.facts import part_of
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.known import SHARED, KnownNames
from lorebank.banks.retain.settings import HowTo, for_items
from lorebank.clock import Clock
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankHandle, Banks, BankWriter


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
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    items: Sequence[Item],
    document_tags: tuple[str, ...],
) -> None:
    """`InvalidInput`, `BadRequest` or `NeedsLLM` for a request that `retain` would refuse."""
    check_items(items, document_tags)
    for_items(defaults, overrides, items)


def retain(
    handle: BankHandle, tools: Tools, items: Sequence[Item], document_tags: tuple[str, ...] = ()
) -> Written:
    """Store the items durably, all or none: on return they are found by keyword.

    Raises `InvalidInput` or `BadRequest` that names the wrong field, `NeedsLLM` for extraction
    modes that rules cannot do.
    """
    check_retain(tools.bank_defaults, handle.bank.config, items, document_tags)
    made = drafts(items, document_tags, new_uuid)
    prepared = prepare(handle, tools, made)
    with handle.write() as writer:
        written = write(handle, tools, writer, prepared)
    tools.vectors(handle)
    return written


def prepare(handle: BankHandle, tools: Tools, made: Sequence[Draft]) -> list[Prepared]:
    """The drafts with chunks, memories, tokens and terms. Needs no lane and changes nothing."""
    how = for_items(tools.bank_defaults, handle.bank.config, (item for draft in made for item in draft.items))
    known = tools.known.of(handle)
    return [_prepared(draft, how, known) for draft in made]


def _prepared(draft: Draft, how: Mapping[str | None, HowTo], known: KnownEntities) -> Prepared:
    parts = tuple(part_of(item, how[item.strategy].extract, known) for item in draft.items)
    return Prepared(draft, parts, keep_text=all(how[item.strategy].keep_text for item in draft.items))


def write(
    handle: BankHandle,
    tools: Tools,
    writer: BankWriter,
    prepared: Sequence[Prepared],
    operation_id: str | None = None,
) -> Written:
    """Add the prepared documents to an open write transaction."""
    commit = Commit(writer, handle.bank.bank_id, tools.clock(), operation_id)
    for one in prepared:
        commit.document(one)
    undecided = sorted({group for one in prepared for part in one.parts for group in part.undecided})
    return replace(commit.finish(), labels_undecided=tuple(undecided))
