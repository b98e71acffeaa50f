"""The entities of a bank, which of them occur together, and the tags in use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lorebank.clock import Micros
from lorebank.errors import NotFound
from lorebank.storage.ports import BankReader, Listing, Page
from lorebank.storage.rows import Entity, Memory
from lorebank.tags import TagFilter

OBSERVED = 50
"""How many of an entity's memories its detail shows, newest first."""


@dataclass(frozen=True, slots=True)
class EntityDetail:
    """An entity and its newest memories."""

    entity: Entity
    memories: Sequence[Memory]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two entities (by id) that `count` memories name together, the last of them at `latest`."""

    first: str
    second: str
    count: int
    latest: Micros | None


@dataclass(frozen=True, slots=True)
class EntityGraph:
    """The strongest pairs, their entities with the most mentioned others, and the totals."""

    entities: Sequence[Entity]
    pairs: Sequence[Pair]
    total_entities: int
    total_pairs: int


def detail(reader: BankReader, entity_id: str, tags: TagFilter | None) -> EntityDetail:
    """One entity; `NotFound` for any id that names none, whatever its form."""
    row = reader.entity(entity_id, tags)
    if row is None:
        raise NotFound(f"Entity '{entity_id}' not found")
    return EntityDetail(row, reader.entity_memories(entity_id, tags, OBSERVED))


def graph(reader: BankReader, tags: TagFilter | None, min_count: int, limit: int) -> EntityGraph:
    """At most `limit` pairs of `min_count` common memories or more, and at least their entities."""
    listed = reader.entities(tags, Page(limit))
    found = reader.entity_pairs(tags, max(1, min_count), limit)
    pairs = [Pair(*row) for row in found.rows]
    nodes = {row.id: row for row in listed.rows}
    for entity_id in (end for pair in pairs for end in (pair.first, pair.second)):
        row = nodes.get(entity_id) or reader.entity(entity_id, tags)
        if row is not None:
            nodes[entity_id] = row
    return EntityGraph(list(nodes.values()), pairs, listed.total, found.total)


def tags(reader: BankReader, text: str | None, source: str, page: Page) -> Listing[tuple[str, int]]:
    """Tags with the number of memories that carry them; `text` may hold `*` for any characters."""
    if source == "mental_models":
        return Listing((), 0)  # there are none before the reasoning release
    return reader.tags(text or None, page)
