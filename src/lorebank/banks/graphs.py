"""The graph of a bank's memories: stored links, shared entities, and likeness by meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from lorebank.search import Snapshot
from lorebank.storage.ports import BankReader, MemoryQuery, Page
from lorebank.storage.rows import Memory

NEIGHBOURS = 3
"""With how many later memories of the same entity a memory is joined: the number of edges stays
linear in the number of mentions, and all memories of an entity stay connected."""


ALIKE = 0.8
"""Least cosine of two memories that are joined by meaning; unrelated ones reach 0.7 with the local model."""
ALIKE_NEIGHBOURS = 3
"""With how many others at most a memory is joined by meaning."""


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


def memory_graph(reader: BankReader, query: MemoryQuery, limit: int, snapshot: Snapshot) -> MemoryGraph:
    """The graph of the newest `limit` memories that match.

    Likeness by meaning is a function of the vectors and stored nowhere: `snapshot` has them.
    """
    found = reader.memories(query, Page(limit))
    edges = [*_stored(reader, found.rows), *_shared(found.rows), *_alike(snapshot, found.rows)]
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


def _alike(snapshot: Snapshot, memories: Sequence[Memory]) -> Iterator[Edge]:
    """Each memory with the few that mean most nearly the same, every pair once."""
    if snapshot.vectors is None:
        return
    slots = [(memory.id, slot) for memory in memories if (slot := snapshot.slot_of(memory.key)) is not None]
    places = np.asarray([slot for _, slot in slots], np.intp)
    known = snapshot.vectors.has(places)
    ids = [id for (id, _), there in zip(slots, known.tolist(), strict=True) if there]
    if len(ids) < 2:
        return
    rows = snapshot.vectors.rows(places[known])
    likeness = rows @ rows.T
    np.fill_diagonal(likeness, 0.0)
    nearest = np.argsort(-likeness, axis=1, kind="stable")[:, :ALIKE_NEIGHBOURS]
    pairs = {(min(a, int(b)), max(a, int(b))) for a, row in enumerate(nearest) for b in row}
    for first, second in sorted(pairs):
        if likeness[first, second] >= ALIKE:
            yield Edge(
                ids[first], ids[second], "semantic", round(min(float(likeness[first, second]), 1.0), 4)
            )
