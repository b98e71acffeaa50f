"""What a partition's records are filtered and looked up by, as columns over the slots of the search index."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from lorebank.search.columns import Bools, Doubles, Longs
from lorebank.search.snapshot import Snapshot
from lorebank.vaults.find.dates import ALWAYS, EVER, Span, span_of
from lorebank.vaults.find.ports import changes, derived, known_of
from lorebank.vaults.record.values import LIFECYCLES, RECORD_KINDS, Record
from lorebank.vaults.store.values import Entry, View

NOBODY: Final = 255
FEW: Final = 50
"""Tables are made anew when more than one record in this many went or changed."""
_COLUMNS: Final = ("entries", "kind", "lifecycle", "type", "since", "until", "recorded", "version", "key")
_KINDS: Final = {kind: code for code, kind in enumerate(RECORD_KINDS)}
_LIFECYCLES: Final = {lifecycle: code for code, lifecycle in enumerate(LIFECYCLES)}


def type_of(record: Record) -> str | None:
    """A page's domain type, a claim's kind, a relationship's relation."""
    if record.kind == "page":
        return record.type
    value = record.meta.get("claim_kind" if record.kind == "claim" else "relation")
    return value if isinstance(value, str) else None


def folded(name: str) -> str:
    """A name as it is compared: NFC, case-folded, blanks as one (composed again: folding may decompose)."""
    if name.isascii():
        return " ".join(name.lower().split())
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", " ".join(name.split())).casefold())


def records(view: View) -> Iterator[tuple[Entry, Record]]:
    """The readable records of a view with their entries, in order of path."""
    return ((entry, entry.record) for entry in known_of(view).values() if entry.record is not None)


@dataclass(frozen=True, slots=True)
class Facets:
    """One row for each slot of the view's snapshot. A slot without a readable record has kind 255, which no
    filter asks for.

    `since` and `until` are the validity with open ends as infinities. `recorded` is when the record was made,
    NaN where it cannot be read. `version` changes with the file. `key` is the entry's,
    -1 where there is none, and `known` are the entries by key: the next view begins from these.
    """

    entries: npt.NDArray[np.object_]
    kind: npt.NDArray[np.uint8]
    lifecycle: npt.NDArray[np.uint8]
    type: npt.NDArray[np.int32]
    types: Mapping[str, int]
    since: Doubles
    until: Doubles
    recorded: Doubles
    version: Longs
    key: Longs
    known: Mapping[int, Entry]

    @property
    def dated(self) -> Bools:
        """Where at least one end of the validity is known."""
        return np.isfinite(self.since) | np.isfinite(self.until)

    def mask(
        self,
        *,
        kinds: Collection[str] = (),
        types: Collection[str] = (),
        lifecycles: Collection[str] = ("active",),
        period: tuple[Span | None, Span | None] = (None, None),
        valid_on: Span | None = None,
    ) -> Bools:
        """The slots that pass; an empty collection of kinds, types or lifecycles asks for all.

        `period` (from, to) keeps what held at some time inside it or, where no validity is known, was
        recorded inside it. `valid_on` keeps what held on all or part of that day (month, year): an end that
        is not given is open, and a claim or relationship without any date always holds; pages are kept only
        when they have dates.
        """
        passing: Bools = self.kind != NOBODY
        if kinds:
            passing &= np.isin(self.kind, [_KINDS[kind] for kind in kinds if kind in _KINDS])
        if types:
            passing &= np.isin(self.type, [self.types[name] for name in types if name in self.types])
        if lifecycles:
            codes = [code for name, code in _LIFECYCLES.items() if name in lifecycles]
            passing &= np.isin(self.lifecycle, codes)
        if period != (None, None):
            passing &= self._inside(*period)
        if valid_on is not None:
            held = (self.since <= valid_on[1]) & (self.until >= valid_on[0])
            passing &= held & (self.dated | (self.kind != _KINDS["page"]))
        return passing

    def _inside(self, start: Span | None, end: Span | None) -> Bools:
        first = EVER if start is None else start[0]
        last = ALWAYS if end is None else end[1]
        dated = self.dated
        held = dated & (self.since <= last) & (self.until >= first)
        noted = ~dated & (self.recorded >= first) & (self.recorded <= last)
        passing: Bools = held | noted
        return passing


def facets_of(view: View) -> Facets:
    """The facets of a view, made once."""
    return derived(view, "find.facets", _facets)


def _facets(view: View, before: Facets | None) -> Facets:
    """From those of the view before, as long as its rows are where they were."""
    snapshot, known = view.snapshot, known_of(view)
    made, new = None, list(known.values())
    if before is not None and len(before.key) <= snapshot.count:
        gone, changed = changes(before.known, known)
        if len(gone) <= len(known) // FEW:
            made = _without(_lengthened(before, snapshot.count), gone)
    if made is not None and _in_place(made, snapshot):
        new = changed
    else:
        made = _empty(snapshot.count)
    types = dict(made.types)
    for entry, slot in _placed(snapshot, new):
        if entry.record is not None:
            _write(made, slot, entry, entry.record, types)
    return replace(made, types=types, known=known)


def _without(made: Facets, gone: Sequence[Entry]) -> Facets:
    for entry in gone:
        for slot in np.flatnonzero(made.key == entry.key).tolist():
            made.kind[slot], made.entries[slot], made.key[slot] = NOBODY, None, -1
    return made


def _in_place(made: Facets, snapshot: Snapshot) -> bool:
    """Whether every row is alive in its slot: no compaction moved it."""
    right = snapshot.live & (snapshot.columns.key[: snapshot.count] == made.key)
    return bool((right | (made.key == -1)).all())


def _empty(count: int) -> Facets:
    return Facets(
        entries=np.full(count, None, np.object_),
        kind=np.full(count, NOBODY, np.uint8),
        lifecycle=np.full(count, NOBODY, np.uint8),
        type=np.full(count, -1, np.int32),
        types={},
        since=np.full(count, EVER),
        until=np.full(count, ALWAYS),
        recorded=np.full(count, np.nan),
        version=np.zeros(count, np.int64),
        key=np.full(count, -1, np.int64),
        known={},
    )


def _lengthened(before: Facets, count: int) -> Facets:
    """Copies with room for newer slots."""
    more = _empty(count - len(before.kind))
    columns: dict[str, Any] = {
        name: np.concatenate((getattr(before, name), getattr(more, name))) for name in _COLUMNS
    }
    return replace(before, **columns)


def _placed(snapshot: Snapshot, entries: Sequence[Entry]) -> list[tuple[Entry, int]]:
    """The entries that the snapshot has, with their slots."""
    keys = np.fromiter((entry.key for entry in entries), np.int64, len(entries))
    slots = np.fromiter((snapshot.slot_by_key.get(entry.key, -1) for entry in entries), np.intp, len(entries))
    inside = (slots >= 0) & (slots < snapshot.count)
    if snapshot.count:
        at = np.where(inside, slots, 0)
        inside &= snapshot.live[at] & (snapshot.columns.key[at] == keys)
    found = zip(entries, slots.tolist(), inside.tolist(), strict=True)
    return [(entry, slot) for entry, slot, there in found if there]


def _write(made: Facets, slot: int, entry: Entry, record: Record, types: dict[str, int]) -> None:
    name = type_of(record)
    first, last = span_of(record.meta.get("valid_from")), span_of(record.meta.get("valid_to"))
    noted = span_of(record.recorded_at)
    made.entries[slot], made.key[slot] = entry, entry.key
    made.kind[slot], made.lifecycle[slot] = _KINDS[record.kind], _LIFECYCLES[record.lifecycle]
    made.type[slot] = -1 if name is None else types.setdefault(name, len(types))
    made.since[slot] = EVER if first is None else first[0]
    made.until[slot] = ALWAYS if last is None else last[1]
    made.recorded[slot] = math.nan if noted is None else noted[0]
    made.version[slot] = int(entry.sha256[:15] or "0", 16)
