"""Items -> documents to write: which item belongs to which document, and how it gets there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lorebank.banks.retain.items import Item, joined_tags

Way = Literal["replace", "append", "extend", "reprocess"]
"""replace: the items are the document; append: they follow what is stored, text included; extend: the
same for a further slice of a batch, which does not need the stored text; reprocess: the stored
document anew, keeping nothing of what was extracted before."""


@dataclass(frozen=True, slots=True)
class Draft:
    """One document of a write. `named` tells whether the caller chose its id."""

    document_id: str
    items: tuple[Item, ...]
    way: Way
    named: bool


def with_document_ids(items: Sequence[Item], new_id: Callable[[], str]) -> tuple[list[Item], str | None]:
    """The items, each with a document id, and the generated id that all of them share, if they do.

    Where no item names a document they share a generated one; otherwise each item without an id
    gets its own (specs, Retain pipeline).
    """
    if any(item.document_id is not None for item in items):
        return [i if i.document_id is not None else replace(i, document_id=new_id()) for i in items], None
    shared = new_id()
    return [replace(item, document_id=shared) for item in items], shared


def with_tags(items: Sequence[Item], document_tags: tuple[str, ...]) -> list[Item]:
    """The items with the request's document tags merged into their own."""
    if not document_tags:
        return list(items)
    return [replace(item, tags=joined_tags(item.tags, document_tags)) for item in items]


def drafts(items: Sequence[Item], document_tags: tuple[str, ...], new_id: Callable[[], str]) -> list[Draft]:
    """The documents of one synchronous request, in order of first mention.

    Items of the same document are folded into one; where one of them replaces, the whole replaces.
    """
    chosen = {item.document_id for item in items}
    shared = new_id() if chosen == {None} else None
    by_document: dict[str, list[Item]] = {}
    for item in with_tags(items, document_tags):
        name = item.document_id or shared or new_id()
        by_document.setdefault(name, []).append(item)
    return [
        Draft(name, tuple(members), _way(members), named=name in chosen)
        for name, members in by_document.items()
    ]


def _way(items: Sequence[Item]) -> Way:
    return "append" if all(item.append for item in items) else "replace"
