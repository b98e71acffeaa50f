"""What a search reads: one immutable view of an index, and the questions arms ask of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from lorebank.search.columns import Bools, Columns, Doubles, Ints, Longs
from lorebank.search.graph import Links
from lorebank.search.passage import KINDS, PRECISIONS, Kind
from lorebank.search.postings import Segments
from lorebank.search.products import Products
from lorebank.search.speakers import Speakers
from lorebank.search.tagsets import TagSets
from lorebank.search.vector import Vectors
from lorebank.search.vocabulary import Vocabulary
from lorebank.tags import TagFilter

Slots = npt.NDArray[np.intp]
_SECONDS = {"time": 0.0, "day": 86_399.0, "month": 30 * 86_400.0, "year": 365 * 86_400.0 - 1}
# By precision code; the last place is that of -1, no precision.
_LENGTHS = np.array([*(_SECONDS[precision] for precision in PRECISIONS), 0.0])


@dataclass(frozen=True, slots=True)
class Snapshot:
    """An index as it was at `watermark` (the highest sequence number applied).

    Slots below `count` are in use; `live` says which hold a passage that still exists. `dimension` is the
    width of the vectors, None where the index takes none. The shared tables (vocabulary, tag sets,
    speakers, the key table) may already know more than this view; every look-up is checked against `count`.
    """

    count: int
    watermark: int
    live: Bools
    columns: Columns
    terms: Segments
    vocabulary: Vocabulary
    entity_lists: Segments
    entity_offsets: Longs
    entity_ids: Ints
    previous: Ints
    following: Ints
    tagsets: TagSets
    speakers: Speakers
    vectors: Vectors | None
    products: Products
    links: Links
    slot_by_key: dict[int, int]
    sources: dict[int, tuple[int, ...]]

    @property
    def dimension(self) -> int | None:
        return None if self.vectors is None else self.vectors.dimension

    @property
    def passages(self) -> int:
        """How many passages exist."""
        return int(np.count_nonzero(self.live))

    @property
    def embedded(self) -> int:
        """How many existing passages have a vector."""
        if self.vectors is None:
            return 0
        known = self.vectors.present[: self.count]
        return int(np.count_nonzero(self.live[: len(known)] & known))

    def visible(self, kinds: Collection[Kind] | None = None, tag_filter: TagFilter | None = None) -> Bools:
        """Which slots a request may see: existing, of one of `kinds` (None = all), passing the filter."""
        mask = self.live
        if kinds is not None:
            wanted = np.zeros(len(KINDS), np.bool_)
            wanted[[place for place, kind in enumerate(KINDS) if kind in kinds]] = True
            mask = mask & wanted[self.columns.kind[: self.count]]
        if tag_filter is not None:
            passing = self.tagsets.passing(tag_filter, len(self.tagsets))
            mask = mask & passing[self.columns.tagset[: self.count]]
        return mask

    def slots_of(self, keys: Iterable[int]) -> Slots:
        """The slots of those `keys` that exist in this view."""
        found = [slot for key in keys if (slot := self.slot_of(key)) is not None]
        return np.asarray(found, np.intp)

    def slot_of(self, key: int) -> int | None:
        slot = self.slot_by_key.get(key)
        if slot is None or slot >= self.count or not self.live[slot] or self.columns.key[slot] != key:
            return None
        return slot

    def entities_of(self, slots: Slots) -> Ints:
        """The entity ids of `slots`, one after another, repeated where shared."""
        parts = [self.entity_ids[self.entity_offsets[s] : self.entity_offsets[s + 1]] for s in slots.tolist()]
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    def happened(self, slots: Slots | slice) -> tuple[Doubles, Doubles]:
        """First and last moment of what `slots` tell, NaN where unknown.

        Where only a start is kept, the precision says how long it may last: a year-only fact fills its year.
        """
        first = self.columns.occurred_start[slots]
        last = self.columns.occurred_end[slots]
        known = first + _LENGTHS[self.columns.precision[slots]]
        return first, np.fmax(last, known)

    def neighbours(self, slots: Slots, mask: Bools) -> tuple[Slots, Slots]:
        """The slot before and the slot after each in its thread; -1 where there is none that `mask` shows."""
        return self._masked(self.previous, slots, mask), self._masked(self.following, slots, mask)

    def _masked(self, table: Ints, slots: Slots, mask: Bools) -> Slots:
        near = table[slots].astype(np.intp)
        known = (near >= 0) & (near < self.count)
        near[~known] = -1
        return np.where(known & mask[near], near, -1)
