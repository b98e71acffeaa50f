"""The index of one store: fed with rows, read through immutable snapshots.

One writer at a time (a lock makes it so) builds the next view beside the current one and publishes it by a
single assignment; a reader takes the view that is there and never waits. Rows live in slots in order of
arrival; a changed row gets a new slot and its old one is dead. When half of the slots are dead the index is
compacted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lorebank.errors import Bug
from lorebank.search import postings
from lorebank.search.columns import Columns, Floats, Ints
from lorebank.search.graph import Link, Links
from lorebank.search.passage import KINDS, PRECISIONS, Passage
from lorebank.search.products import Products
from lorebank.search.snapshot import Slots, Snapshot
from lorebank.search.speakers import Speakers
from lorebank.search.tagsets import TagSets
from lorebank.search.threads import Threads
from lorebank.search.vector import Vectors
from lorebank.search.vocabulary import Vocabulary

COMPACT_FLOOR: Final = 1_024
_KIND_CODES: Final = {kind: code for code, kind in enumerate(KINDS)}
_PRECISION_CODES: Final = {precision: code for code, precision in enumerate(PRECISIONS)}
_NAN: Final = float("nan")


class PassageIndex:
    """Keyword, vector, entity, thread and link indexes over the passages of one store.

    `dimension` is the width of the vectors, None for an index without. Feed a large store in batches of about
    10,000 rows, ordered by key.
    """

    def __init__(self, dimension: int | None = None) -> None:
        self._lock = threading.Lock()
        self._threads = Threads()
        self._view = _empty_view(dimension)

    @property
    def watermark(self) -> int:
        return self._view.watermark

    @property
    def dimension(self) -> int | None:
        return self._view.dimension

    def snapshot(self) -> Snapshot:
        """The current view. Costs nothing, and stays as it is while the index goes on."""
        return self._view

    def apply(self, upserts: Sequence[Passage], deletes: Iterable[int], watermark: int) -> None:
        """Add or replace `upserts` (by key; of two with one key the last counts), remove `deletes`.

        A replaced passage keeps its vector when its terms are the same (new tags, dates, proof count) and
        loses it otherwise, until `apply_vectors` brings one. The watermark never goes back.
        """
        with self._lock:
            rows = list({passage.key: passage for passage in upserts}.values())
            self._publish(self._applied(rows, list(deletes), watermark))

    def apply_vectors(self, keys: Sequence[int], matrix: Floats) -> None:
        """Set the vectors of `keys`: one unit float32 row each. Keys that do not exist any more are passed
        over.

        Raises Bug when the index takes no vectors, the width is another or a number is not finite.
        """
        with self._lock:
            self._publish(_with_vectors(self._view, keys, matrix))

    def apply_links(self, links: Iterable[Link]) -> None:
        """Add causal and semantic links between passages; links of deleted passages go with them."""
        with self._lock:
            self._view.links.add(links)

    def compact(self) -> None:
        """Drop dead rows, their terms and their vectors from memory now."""
        with self._lock:
            self._publish(self._compacted(self._view))

    def _publish(self, view: Snapshot) -> None:
        dead = view.count - view.passages
        if dead > COMPACT_FLOOR and 2 * dead > view.count:
            view = self._compacted(view)
        self._view = view

    def _applied(self, rows: list[Passage], deletes: list[int], watermark: int) -> Snapshot:
        """The view after one batch. Everything a reader may hold is copied or only extended."""
        view = self._view
        kept = _lasting_vectors(view, rows)
        gone = view.slots_of([*deletes, *(row.key for row in rows)])
        live = view.live
        if len(gone):
            live = live.copy()
            live[gone] = False
            self._threads.forget(view.columns, gone.tolist())
        for key in deletes:
            view.slot_by_key.pop(key, None)
        view.links.drop(deletes)
        changed = replace(view, live=live, watermark=max(watermark, view.watermark))
        if rows:
            changed = self._extended(changed, rows)
        return changed if kept is None else _with_vectors(changed, *kept)

    def _extended(self, view: Snapshot, rows: list[Passage]) -> Snapshot:
        start, count = view.count, view.count + len(rows)
        columns = view.columns.with_room(count)
        values, segment = self._column_values(view, rows, start)
        columns.write(start, values)
        previous, following = self._threads.joined(columns, start, count, view.previous, view.following)
        sizes = np.fromiter((len(row.entities) for row in rows), np.int64, len(rows))
        fresh = np.fromiter(chain.from_iterable(row.entities for row in rows), np.int32, int(sizes.sum()))
        holders = np.repeat(np.arange(start, count, dtype=np.int32), sizes)
        view.sources.update((start + i, row.sources) for i, row in enumerate(rows) if row.sources)
        view.slot_by_key.update((row.key, start + i) for i, row in enumerate(rows))
        return replace(
            view,
            count=count,
            live=np.concatenate((view.live, np.ones(len(rows), np.bool_))),
            columns=columns,
            terms=postings.add(view.terms, segment),
            entity_lists=postings.add(view.entity_lists, postings.build(fresh, holders)),
            entity_offsets=np.concatenate((view.entity_offsets, view.entity_offsets[-1] + np.cumsum(sizes))),
            entity_ids=np.concatenate((view.entity_ids, fresh)),
            previous=previous,
            following=following,
        )

    def _column_values(
        self, view: Snapshot, rows: list[Passage], start: int
    ) -> tuple[dict[str, npt.NDArray[Any]], postings.Segment]:
        """The columns of new rows, and the keyword lists of their terms."""
        words = [view.vocabulary.numbers(row.terms.split()) for row in rows]
        lengths = np.fromiter(map(len, words), np.int32, len(rows))
        numbers = np.fromiter(chain.from_iterable(words), np.int32, int(lengths.sum()))
        slots = np.repeat(np.arange(start, start + len(rows), dtype=np.int32), lengths)
        values: dict[str, npt.NDArray[Any]] = {
            "key": np.fromiter((row.key for row in rows), np.int64, len(rows)),
            "seq": np.fromiter((row.seq for row in rows), np.int64, len(rows)),
            "kind": np.fromiter((_KIND_CODES[row.kind] for row in rows), np.uint8, len(rows)),
            "tagset": np.fromiter((view.tagsets.number(row.tags) for row in rows), np.int32, len(rows)),
            "length": lengths,
            "fingerprint": np.fromiter((hash(row.terms) for row in rows), np.int64, len(rows)),
            "occurred_start": _times(row.occurred_start for row in rows),
            "occurred_end": _times(row.occurred_end for row in rows),
            "mentioned_at": _times(row.mentioned_at for row in rows),
            "precision": np.fromiter(
                (-1 if row.precision is None else _PRECISION_CODES[row.precision] for row in rows), np.int8
            ),
            "proof": np.fromiter((row.proof_count for row in rows), np.int32, len(rows)),
            "tokens": np.fromiter((row.tokens for row in rows), np.int32, len(rows)),
            "thread": np.fromiter((self._threads.number(row.thread) for row in rows), np.int32, len(rows)),
            "position": np.fromiter((row.position for row in rows), np.int64, len(rows)),
            "speaker": np.fromiter((view.speakers.number(row.speaker) for row in rows), np.int32, len(rows)),
            "asks": np.fromiter((row.asks for row in rows), np.bool_, len(rows)),
        }
        return values, postings.build(numbers, slots)

    def _compacted(self, view: Snapshot) -> Snapshot:
        """The same passages in new slots without gaps; nothing of the dead ones is referred to any more."""
        keep: Slots = np.flatnonzero(view.live)
        count = len(keep)
        new_slots = (np.cumsum(view.live) - 1).astype(np.int32)
        columns = view.columns.take(keep)
        terms = postings.compacted(view.terms, view.live, new_slots)
        used = terms[0].ids if terms else np.zeros(0, np.int32)
        if terms:
            terms = (replace(terms[0], ids=np.arange(len(used), dtype=np.int32)),)
        sizes = np.diff(view.entity_offsets)[keep]
        tagsets = TagSets()
        columns.tagset[:] = _renumbered(
            columns.tagset, lambda old: tagsets.number(tuple(view.tagsets.tags(old)))
        )
        speakers = Speakers()
        columns.speaker[:] = _renumbered(
            columns.speaker, lambda old: speakers.number(view.speakers.name(old))
        )
        previous, following = self._threads.renumbered(columns, count)
        return Snapshot(
            count=count,
            watermark=view.watermark,
            live=np.ones(count, np.bool_),
            columns=columns,
            terms=terms,
            vocabulary=view.vocabulary.kept(used.tolist()),
            entity_lists=postings.compacted(view.entity_lists, view.live, new_slots),
            entity_offsets=np.concatenate((np.zeros(1, np.int64), np.cumsum(sizes))),
            entity_ids=view.entities_of(keep),
            previous=previous,
            following=following,
            tagsets=tagsets,
            speakers=speakers,
            vectors=None if view.vectors is None else view.vectors.taken(keep),
            products=view.products,
            links=view.links,
            slot_by_key=dict(zip(columns.key.tolist(), range(count), strict=True)),
            sources={new: view.sources[old] for new, old in enumerate(keep.tolist()) if old in view.sources},
        )


def _empty_view(dimension: int | None) -> Snapshot:
    nothing = np.zeros(0, np.int32)
    return Snapshot(
        count=0,
        watermark=0,
        live=np.zeros(0, np.bool_),
        columns=Columns.empty(),
        terms=(),
        vocabulary=Vocabulary(),
        entity_lists=(),
        entity_offsets=np.zeros(1, np.int64),
        entity_ids=nothing,
        previous=nothing,
        following=nothing,
        tagsets=TagSets(),
        speakers=Speakers(),
        vectors=None if dimension is None else Vectors(dimension),
        products=Products(),
        links=Links(),
        slot_by_key={},
        sources={},
    )


def _times(values: Iterable[float | None]) -> npt.NDArray[np.float64]:
    return np.array([_NAN if value is None else value for value in values], np.float64)


def _renumbered(numbers: Ints, number: Callable[[int], int]) -> Ints:
    """`numbers` with each distinct one >= 0 replaced by what `number` says."""
    used, places = np.unique(numbers, return_inverse=True)
    return np.array([old if old < 0 else number(old) for old in used.tolist()], np.int32)[places]


def _lasting_vectors(view: Snapshot, rows: Sequence[Passage]) -> tuple[list[int], Floats] | None:
    """The keys and vectors of rows that replace one with the same terms."""
    if view.vectors is None:
        return None
    columns = view.columns
    same = [
        slot
        for row in rows
        if (slot := view.slot_of(row.key)) is not None and columns.fingerprint[slot] == hash(row.terms)
    ]
    slots = np.asarray(same, np.intp)
    slots = slots[view.vectors.has(slots)]
    return (columns.key[slots].tolist(), view.vectors.rows(slots)) if len(slots) else None


def _with_vectors(view: Snapshot, keys: Sequence[int], matrix: Floats) -> Snapshot:
    if view.vectors is None:
        raise Bug("vectors were applied to an index that takes none")
    if len(keys) != len(matrix):
        raise Bug(f"{len(matrix)} vectors came for {len(keys)} keys")
    slots = [view.slot_of(key) for key in keys]
    known = np.array([slot is not None for slot in slots], np.bool_)
    places = np.array([slot for slot in slots if slot is not None], np.intp)
    rows = np.ascontiguousarray(matrix, np.float32)
    return replace(view, vectors=view.vectors.written(places, rows if known.all() else rows[known]))
