"""Inverted lists in numpy: from an id (of a term or an entity) to the slots that hold it.

Immutable segments, a large old one and smaller young ones; neighbours of like size are merged, so adding a
row costs little and a lookup visits few segments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorebank.search.columns import Bools, Ints, Longs

MERGE_RATIO = 3


@dataclass(frozen=True, slots=True)
class Segment:
    """Lists for some ids: `slots[offsets[i]:offsets[i + 1]]` belong to `ids[i]`, with their counts beside
    them.
    """

    ids: Ints
    offsets: Longs
    slots: Ints
    counts: npt.NDArray[np.uint16]

    @property
    def size(self) -> int:
        return len(self.slots)

    def list_of(self, place: int) -> slice:
        return slice(int(self.offsets[place]), int(self.offsets[place + 1]))


Segments = tuple[Segment, ...]


def build(ids: Ints, slots: Ints) -> Segment:
    """A segment from parallel arrays with one entry for each occurrence, in any order."""
    pairs = np.sort((ids.astype(np.int64) << 32) | slots.astype(np.int64))
    starts = _starts(pairs)
    unique = pairs[starts]
    counts = np.diff(np.append(starts, len(pairs)))
    return _grouped(
        (unique >> 32).astype(np.int32),
        (unique & 0xFFFFFFFF).astype(np.int32),
        np.minimum(counts, 65_535).astype(np.uint16),
    )


def add(segments: Segments, new: Segment) -> Segments:
    """`segments` with `new` behind them, small neighbours merged."""
    if new.size == 0:
        return segments
    stack = [*segments, new]
    while len(stack) > 1 and stack[-2].size <= MERGE_RATIO * stack[-1].size:
        young, old = stack.pop(), stack.pop()
        stack.append(_merged([old, young]))
    return tuple(stack)


def compacted(segments: Segments, live: Bools, new_slots: Ints) -> Segments:
    """One segment with the live slots only, renumbered by `new_slots`."""
    if not segments:
        return ()
    whole = segments[0] if len(segments) == 1 else _merged(segments)
    keep = live[whole.slots]
    ids = np.repeat(whole.ids, np.diff(whole.offsets))[keep]
    if len(ids) == 0:
        return ()
    return (_grouped(ids, new_slots[whole.slots[keep]], whole.counts[keep]),)


def lists(segments: Segments, wanted: Sequence[int]) -> list[list[tuple[Segment, slice]]]:
    """For each wanted id the pieces of its list, oldest slots first."""
    found: list[list[tuple[Segment, slice]]] = [[] for _ in wanted]
    if not wanted:
        return found
    targets = np.asarray(wanted, np.int32)
    for segment in segments:
        places = np.searchsorted(segment.ids, targets)
        inside = np.minimum(places, len(segment.ids) - 1)
        for i in np.flatnonzero(segment.ids[inside] == targets).tolist():
            found[i].append((segment, segment.list_of(int(inside[i]))))
    return found


def _starts(values: Longs | Ints) -> npt.NDArray[np.intp]:
    """Where a new value begins in a sorted array."""
    if len(values) == 0:
        return np.zeros(0, np.intp)
    return np.flatnonzero(np.concatenate(([True], values[1:] != values[:-1])))


def _grouped(ids: Ints, slots: Ints, counts: npt.NDArray[np.uint16]) -> Segment:
    starts = _starts(ids)
    return Segment(ids[starts], np.append(starts, len(ids)).astype(np.int64), slots, counts)


def _merged(parts: Sequence[Segment]) -> Segment:
    ids = np.concatenate([np.repeat(part.ids, np.diff(part.offsets)) for part in parts])
    order = np.argsort(ids, kind="stable")
    slots = np.concatenate([part.slots for part in parts])[order]
    return _grouped(ids[order], slots, np.concatenate([part.counts for part in parts])[order])
