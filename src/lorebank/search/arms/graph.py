"""The graph arm: what hangs together with the best passages found so far."""

from __future__ import annotations

from typing import Final

import numpy as np

from lorebank.search import postings
from lorebank.search.arms.base import ArmResult, Slots, best
from lorebank.search.columns import Bools, Floats
from lorebank.search.settings import SearchSettings
from lorebank.search.snapshot import Snapshot

NEIGHBOUR_WEIGHT: Final = 0.5
LEAST: Final = 1e-6


def expand(
    snapshot: Snapshot, mask: Bools, seeds: Slots, strength: Floats, limit: int, settings: SearchSettings
) -> ArmResult:
    """Passages reached from `seeds` (with their `strength`, 0..1), scored by how many ways lead there and how
    strong.

    Shared entities count as tanh(0.5 * number shared), the newest 200 holders of an entity at most; links
    by their weight; the turns before and after a seed by half of its strength.
    """
    if len(seeds) == 0:
        return ArmResult.nothing()
    scores = _by_entities(snapshot, mask, seeds, settings.entity_cap)
    for seed, weight in zip(seeds.tolist(), strength.tolist(), strict=True):
        _add_links(snapshot, mask, scores, seed, weight)
    for near in snapshot.neighbours(seeds, mask):
        there = near >= 0
        np.add.at(scores, near[there], np.float32(NEIGHBOUR_WEIGHT) * strength[there])
    return best(scores, limit, LEAST)


def _by_entities(snapshot: Snapshot, mask: Bools, seeds: Slots, cap: int) -> Floats:
    shared = np.zeros(snapshot.count, np.float32)
    entities = np.unique(snapshot.entities_of(seeds)).tolist()
    for pieces in postings.lists(snapshot.entity_lists, entities):
        shared[_newest(pieces, mask, cap)] += 1
    together: Floats = np.tanh(np.float32(0.5) * shared)
    return together


def _newest(pieces: list[tuple[postings.Segment, slice]], mask: Bools, cap: int) -> Slots:
    """The last `cap` visible slots of a list. Long lists are read from their end, a piece at a time."""
    found: list[Slots] = []
    missing = cap
    for segment, part in reversed(pieces):
        slots = segment.slots[part]
        stop = len(slots)
        while stop > 0 and missing > 0:
            start = max(0, stop - 4 * cap)
            seen = slots[start:stop].astype(np.intp)
            seen = seen[mask[seen]][-missing:]
            found.append(seen)
            missing -= len(seen)
            stop = start
    return np.concatenate(found) if found else np.zeros(0, np.intp)


def _add_links(snapshot: Snapshot, mask: Bools, scores: Floats, seed: int, strength: float) -> None:
    if not snapshot.links:
        return
    for key, weight, _ in snapshot.links.of(int(snapshot.columns.key[seed])):
        slot = snapshot.slot_of(key)
        if slot is not None and mask[slot]:
            scores[slot] += weight * strength
