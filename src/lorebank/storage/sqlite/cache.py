"""What a store remembers between transactions; each entry names the state that it holds for."""

from __future__ import annotations

import threading

from lorebank.storage.ports import Counts

_MOST_TOTALS = 100


class StoreCache:
    """Small derived numbers of one store, safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: tuple[int, Counts] | None = None
        self._totals: tuple[int, dict[str, int]] = (-1, {})
        self._complete: dict[tuple[str, int], int] = {}

    def counts(self, seq: int) -> Counts | None:
        """The numbers of the whole store at `seq`, where they are known."""
        with self._lock:
            return self._counts[1] if self._counts is not None and self._counts[0] == seq else None

    def keep_counts(self, seq: int, counts: Counts) -> None:
        """Remember the numbers of the whole store at `seq`."""
        with self._lock:
            self._counts = (seq, counts)

    def total(self, seq: int, query: str) -> int | None:
        """How many rows a query over the whole store had at `seq`, where it is known."""
        with self._lock:
            return self._totals[1].get(query) if self._totals[0] == seq else None

    def keep_total(self, seq: int, query: str, total: int) -> None:
        """Remember that; whoever pages through a listing asks again and again."""
        with self._lock:
            if self._totals[0] != seq or len(self._totals[1]) >= _MOST_TOTALS:
                self._totals = (seq, {})
            self._totals[1][query] = total

    def complete_through(self, model_id: str, vector_epoch: int) -> int:
        """The seq up to which every valid memory is known to have a vector of the model."""
        with self._lock:
            return self._complete.get((model_id, vector_epoch), -1)

    def note_complete(self, model_id: str, vector_epoch: int, seq: int) -> None:
        """Remember that; the epoch makes the note void once vectors are dropped."""
        with self._lock:
            known = self._complete.get((model_id, vector_epoch), -1)
            self._complete[(model_id, vector_epoch)] = max(known, seq)
