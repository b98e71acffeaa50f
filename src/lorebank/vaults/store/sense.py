"""Vectors of one partition's records, where `semantic` asks for them: derived, and good for one text only.

A vector belongs to the SHA-256 of the file that it was made from. It is in the search index and, where writes
are on, in the store's database, and leaves both when the text is another one or gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lorebank.access.audience import Partition
from lorebank.search.columns import Floats
from lorebank.search.index import PassageIndex
from lorebank.storage.knowledge_ports import VaultState
from lorebank.vaults.store.meaning import Made, Meaning
from lorebank.vaults.store.values import Entry


class PartitionVectors:
    """Used inside the store's lane only, like the catalogue that has it."""

    def __init__(self, partition: Partition, state: VaultState, meaning: Meaning | None) -> None:
        self._partition, self._state, self._meaning = partition, state, meaning
        self._known: dict[int, str] = {}
        self._loaded = False

    def index(self) -> PassageIndex:
        """An empty index that takes these vectors."""
        width = 0 if self._meaning is None else self._meaning.dimension
        return PassageIndex(width or None)

    @property
    def due(self) -> bool:
        """Whether meaning is searched, and what the database has was not taken over yet."""
        return not self._loaded and self._meaning is not None and self._meaning.on

    def stale(self, entries: Iterable[Entry]) -> set[int]:
        """Forget the vectors of texts that are gone or other ones by now. Their keys."""
        if not self._known:
            return set()
        now = _readable(entries)
        gone = {key for key, sha256 in self._known.items() if now.get(key) != sha256}
        for key in gone:
            del self._known[key]
        return gone

    def load(self, entries: Iterable[Entry], index: PassageIndex) -> None:
        """Take over what the database has of these records, when that is due."""
        if self._meaning is None or not self.due:
            return
        model = self._meaning.model_id
        rows = self._state.vectors(self._partition.folder)
        stored = [Made(key, sha256, vector) for key, name, sha256, vector in rows if name == model]
        self.put(stored, entries, index)
        self._loaded = True

    def put(self, made: Sequence[Made], entries: Iterable[Entry], index: PassageIndex) -> None:
        """Let searches use those whose text is still the same."""
        now = _readable(entries)
        width = 2 * (index.dimension or 0)
        good = [one for one in made if now.get(one.key) == one.sha256 and len(one.vector) == width]
        if good:
            packed = b"".join(one.vector for one in good)
            matrix: Floats = np.frombuffer(packed, "<f2").reshape(len(good), -1).astype(np.float32)
            index.apply_vectors([one.key for one in good], matrix)
            self._known.update((one.key, one.sha256) for one in good)

    def lacking(self, entries: Mapping[str, Entry]) -> list[Entry]:
        """The records without a vector of their text."""
        return [
            entry
            for entry in entries.values()
            if entry.record is not None and self._known.get(entry.key) != entry.sha256
        ]

    def complete(self, records: int) -> bool:
        """Whether as many records as there are have one."""
        return len(self._known) == records


def _readable(entries: Iterable[Entry]) -> dict[int, str]:
    return {entry.key: entry.sha256 for entry in entries if entry.record is not None}
