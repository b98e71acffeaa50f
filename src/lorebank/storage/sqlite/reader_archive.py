"""Reading memories with all that is stored for them, for archives."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from lorebank.storage.rows import MemoryVersion, StoredMemory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import array
from lorebank.storage.sqlite.reader_memories import MemoryReads
from lorebank.storage.sqlite.sections import ArchiveSql

ARCHIVE = load(ArchiveSql, "archive")
_BATCH = 500


class ArchiveReads(MemoryReads):
    """`dump_memories` of a reader; the port's docstring is the contract."""

    def dump_memories(self) -> Iterator[StoredMemory]:
        after = 0
        parts = {"columns": values.MEMORY}
        while rows := self._rows(ARCHIVE.page, parts, after=after, limit=_BATCH).fetchall():
            yield from self._stored([tuple(row) for row in rows])
            after = rows[-1][0]

    def _stored(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[StoredMemory]:
        keys = array(row[0] for row in rows)
        sources = _by_key(self._rows(ARCHIVE.sources, keys=keys))
        entity_ids = _by_key(self._rows(ARCHIVE.entity_ids, keys=keys))
        history = _by_key(self._rows(ARCHIVE.history, keys=keys))
        for row, memory in zip(rows, self._memories([row[:-3] for row in rows]), strict=True):
            versions = history.get(memory.key, ())
            yield StoredMemory(
                memory=memory,
                terms=row[-3],
                speaker=row[-2],
                asks=bool(row[-1]),
                sources=tuple((document, chunk) for document, chunk in sources.get(memory.key, ())),
                entity_ids=tuple(id for (id,) in entity_ids.get(memory.key, ())),
                history=tuple(MemoryVersion(at, what, values.from_json(old)) for at, what, old in versions),
            )


def _by_key(rows: Any) -> dict[int, list[tuple[Any, ...]]]:
    found: dict[int, list[tuple[Any, ...]]] = {}
    for key, *rest in rows:
        found.setdefault(key, []).append(tuple(rest))
    return found
