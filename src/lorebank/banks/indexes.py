"""The search index of each bank: derived from its rows, in memory, brought up to date before each use.

An index is a function of the rows up to its watermark. It is never saved: after a crash, an eviction
or an error it is loaded again. Catching up costs nothing while nothing was written.
"""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from lorebank.banks.embedders import Embedders, active_model
from lorebank.banks.vectors import unpack
from lorebank.clock import Micros
from lorebank.search import Link, Passage, PassageIndex, Snapshot
from lorebank.search.passage import PRECISIONS, Precision
from lorebank.storage.ports import BankHandle, BankReader
from lorebank.storage.rows import IndexRow

_SECOND = 1_000_000
_LOAD_ROWS = 10_000
T = TypeVar("T")


class BankIndex:
    """One bank's index with the model that its vectors come from."""

    def __init__(self, model_id: str, dimension: int) -> None:
        self.model_id = model_id
        self.passages = PassageIndex(dimension or None)


class Indexes:
    """The indexes that are in memory, at most `capacity` of them, least recently used dropped first."""

    def __init__(self, embedders: Embedders, capacity: int) -> None:
        self._embedders = embedders
        self._capacity = capacity
        self._lock = threading.Lock()
        self._slots: OrderedDict[str, _Slot] = OrderedDict()

    def snapshot(self, handle: BankHandle) -> tuple[Snapshot, str]:
        """The bank's passages as of its last commit, and the id of the model of their vectors."""
        slot = self._slot(handle.store_id)
        index = slot.index
        if index is not None and index.passages.watermark >= handle.seq():
            return index.passages.snapshot(), index.model_id
        with slot.lock:
            index = self._caught_up(handle, slot.index)
            slot.index = index
            return index.passages.snapshot(), index.model_id

    def drop(self, store_id: str) -> None:
        """Forget a bank's index (it was deleted, or is to be loaded afresh)."""
        with self._lock:
            self._slots.pop(store_id, None)

    def _slot(self, store_id: str) -> _Slot:
        with self._lock:
            slot = self._slots.get(store_id)
            if slot is None:
                slot = self._slots[store_id] = _Slot()
                while len(self._slots) > self._capacity:
                    self._slots.popitem(last=False)
            self._slots.move_to_end(store_id)
            return slot

    def _caught_up(self, handle: BankHandle, index: BankIndex | None) -> BankIndex:
        with handle.read() as reader:
            model_id = active_model(reader, self._embedders)
            if index is None or index.model_id != model_id:
                index = BankIndex(model_id, self._dimension(reader, model_id))
            _advance(index, reader)
            return index

    def _dimension(self, reader: BankReader, model_id: str) -> int:
        service = self._embedders.find(model_id)
        if service is not None:
            return service.dimension
        for keys, blob in reader.vectors(model_id, 0):
            return len(blob) // (2 * len(keys))
        return 0


class _Slot:
    """The place of one bank's index; `lock` lets one caller at a time bring it up to date."""

    __slots__ = ("index", "lock")

    def __init__(self) -> None:
        self.index: BankIndex | None = None
        self.lock = threading.Lock()


def _advance(index: BankIndex, reader: BankReader) -> None:
    """Apply every change after the index's watermark, the watermark itself last."""
    passages, after, seq = index.passages, index.passages.watermark, reader.seq()
    if after:
        passages.apply([], reader.deleted_keys(after), after)
    for rows in _batches(reader.index_rows(after), _LOAD_ROWS):
        gone = [row.key for row in rows if not row.valid]
        passages.apply([_passage(row) for row in rows if row.valid], gone, after)
    if passages.dimension:
        for keys, blob in reader.vectors(index.model_id, after):
            passages.apply_vectors(keys, unpack(blob, passages.dimension))
    passages.apply_links(
        Link(link.source, link.target, link.type, link.weight) for link in reader.links(after)
    )
    passages.apply([], [], seq)


def _batches(rows: Iterable[T], size: int) -> Iterator[Sequence[T]]:
    iterator = iter(rows)
    while batch := list(itertools.islice(iterator, size)):
        yield batch


def _seconds(value: Micros | None) -> float | None:
    return None if value is None else value / _SECOND


def _precision(name: str | None) -> Precision | None:
    """Weeks and seasons are told by their start and end alone."""
    return next((known for known in PRECISIONS if known == name), None)


def _passage(row: IndexRow) -> Passage:
    return Passage(
        key=row.key,
        seq=row.seq,
        kind=row.fact_type,
        terms=row.terms,
        tags=row.tags,
        occurred_start=_seconds(row.occurred_start),
        occurred_end=_seconds(row.occurred_end),
        mentioned_at=_seconds(row.mentioned_at),
        precision=_precision(row.precision),
        proof_count=row.proof_count,
        tokens=row.tokens,
        thread=row.thread,
        position=row.position,
        speaker=row.speaker,
        asks=row.asks,
        entities=row.entities,
        sources=row.sources,
    )
