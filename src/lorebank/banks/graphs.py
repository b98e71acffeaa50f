"""The graph of a bank's memories: stored links, and links made of shared entities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from lorebank.storage.ports import BankReader, MemoryQuery, Page
from lorebank.storage.rows import Memory

NEIGHBOURS = 3
"""With how many later memories of the same entity a memory is joined: the number of edges stays
linear in the number of mentions, and all memories of an entity stay connected."""


@dataclass(frozen=True, slots=True)
class Edge:
    """A link between two memories by id; `entity` is what they share, empty for stored links."""

    source: str
    target: str
    type: str
    weight: float
    entity: str = ""


@dataclass(frozen=True, slots=True)
class MemoryGraph:
    """The newest matching memories, the edges among them, and how many match in all."""

    memories: Sequence[Memory]
    edges: Sequence[Edge]
    total: int


def memory_graph(reader: BankReader, query: MemoryQuery, limit: int) -> MemoryGraph:
    """The graph of the newest `limit` memories that match."""
    found = reader.memories(query, Page(limit))
    edges = [*_stored(reader, found.rows), *_shared(found.rows)]
    return MemoryGraph(found.rows, edges, found.total)


def _stored(reader: BankReader, memories: Sequence[Memory]) -> Iterator[Edge]:
    ids = {memory.key: memory.id for memory in memories}
    for link in reader.links_between(list(ids)) if ids else ():
        yield Edge(ids[link.source], ids[link.target], link.type, link.weight)


def _shared(memories: Sequence[Memory]) -> Iterator[Edge]:
    naming: dict[str, list[str]] = defaultdict(list)
    for memory in memories:
        for name in dict.fromkeys(memory.entities):
            naming[name].append(memory.id)
    for name, ids in naming.items():
        for index, source in enumerate(ids):
            for target in islice(ids, index + 1, index + 1 + NEIGHBOURS):
                yield Edge(source, target, "entity", 1.0, name)
