"""What a store remembers between transactions; each entry names the state that it holds for."""

from __future__ import annotations

import threading

from lorebank.storage.ports import Counts


class StoreCache:
    """Small derived numbers of one store, safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: tuple[int, Counts] | None = None
        self._complete: dict[tuple[str, int], int] = {}

    def counts(self, seq: int) -> Counts | None:
        """The numbers of the whole store at `seq`, where they are known."""
        with self._lock:
            return self._counts[1] if self._counts is not None and self._counts[0] == seq else None

    def keep_counts(self, seq: int, counts: Counts) -> None:
        """Remember the numbers of the whole store at `seq`."""
        with self._lock:
            self._counts = (seq, counts)

    def complete_through(self, model_id: str, vector_epoch: int) -> int:
        """The seq up to which every valid memory is known to have a vector of the model."""
        with self._lock:
            return self._complete.get((model_id, vector_epoch), -1)

    def note_complete(self, model_id: str, vector_epoch: int, seq: int) -> None:
        """Remember that; the epoch makes the note void once vectors are dropped."""
        with self._lock:
            known = self._complete.get((model_id, vector_epoch), -1)
            self._complete[(model_id, vector_epoch)] = max(known, seq)
