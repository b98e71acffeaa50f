"""Writing memories from an archive exactly as they were."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lorebank.storage.rows import Entity, StoredMemory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.reader_archive import ARCHIVE
from lorebank.storage.sqlite.reader_base import array
from lorebank.storage.sqlite.writer_base import WRITE
from lorebank.storage.sqlite.writer_memories import MemoryWrites
from lorebank.tags import encode


class ArchiveWrites(MemoryWrites):
    """`load_entities` and `load_memories` of a writer; the port's docstrings are the contract."""

    def load_entities(self, entities: Sequence[Entity]) -> None:
        if entities:
            self._touch()
            start = self._next_key("entities")
            rows = (
                (start + i, entity.id, entity.name, values.name_key(entity.name), entity.type)
                for i, entity in enumerate(entities)
            )
            self._many(ARCHIVE.insert_entity, rows)

    def load_memories(self, memories: Sequence[StoredMemory]) -> Sequence[int]:
        if not memories:
            return []
        seq = self._touch()
        start = self._next_key("memories")
        keyed = [(start + i, stored) for i, stored in enumerate(memories)]
        self._many(ARCHIVE.insert_memory, (_columns(key, stored, seq) for key, stored in keyed))
        self._many(WRITE.insert_source, _source_rows(keyed))
        self._many(
            ARCHIVE.insert_version,
            (
                (key, version.at, version.change, values.to_json(dict(version.before)))
                for key, stored in keyed
                for version in reversed(stored.history)
            ),
        )
        self._load_mentions(keyed)
        self._load_observation_sources(keyed)
        return [key for key, _ in keyed]

    def _load_mentions(self, keyed: Sequence[tuple[int, StoredMemory]]) -> None:
        ids = array({id for _, stored in keyed for id in stored.entity_ids})
        known = {id: (name, type) for id, name, type in self._rows(ARCHIVE.entities_by_id, ids=ids)}
        for valid in (True, False):
            rows = [
                (key, _named(stored, known), stored.memory.mentioned_at or stored.memory.created_at)
                for key, stored in keyed
                if (stored.memory.state == "valid") is valid
            ]
            self._mention(rows, valid=valid)

    def _load_observation_sources(self, keyed: Sequence[tuple[int, StoredMemory]]) -> None:
        ids = array({id for _, stored in keyed for id in stored.memory.source_ids})
        keys: dict[str, int] = dict(self._rows(ARCHIVE.memory_keys, ids=ids).fetchall())
        pairs = [(key, keys[id]) for key, stored in keyed for id in stored.memory.source_ids if id in keys]
        if pairs:
            self._many(WRITE.insert_observation_source, pairs)
            self._rows(WRITE.recount_observations, keys=array({k for k, _ in pairs}), seq=self._touch())


def _named(stored: StoredMemory, known: Mapping[str, tuple[str, str]]) -> list[tuple[str, str]]:
    """(name, type) of the entities that a memory names: by id, or by name where ids and names pair up."""
    names = stored.memory.entities
    paired = names if len(names) == len(stored.entity_ids) else ("",) * len(stored.entity_ids)
    if not stored.entity_ids:
        return [(name, "") for name in names]
    return [known.get(id, (name, "")) for id, name in zip(stored.entity_ids, paired, strict=True)]


def _proofs(stored: StoredMemory) -> list[tuple[str | None, str | None]]:
    """The sources, filled up with nameless ones to the proof count that the archive gives."""
    wanted = 1 if stored.memory.source_ids else stored.memory.proof_count
    missing = max(wanted - len(stored.sources), 0)
    return [*stored.sources, *[(None, None)] * missing]


def _source_rows(
    keyed: Sequence[tuple[int, StoredMemory]],
) -> Iterator[tuple[int, int, str | None, str | None]]:
    for key, stored in keyed:
        for ordinal, (document, chunk) in enumerate(_proofs(stored)):
            yield key, ordinal, document, chunk


def _columns(key: int, stored: StoredMemory, seq: int) -> tuple[Any, ...]:
    m = stored.memory
    proofs = _proofs(stored)
    digest = values.dedup_key(m.text, m.fact_type, m.tags, m.metadata, m.occurred_start, m.occurred_end)
    return (
        *(key, seq, seq, m.id, m.text, m.context, m.fact_type, m.tokens, m.occurred_start, m.occurred_end),
        *(m.precision, m.mentioned_at, *proofs[0], values.to_json(dict(m.metadata)), encode(m.tags)),
        *(m.thread, m.position, len(proofs), m.state, m.invalidation_reason, m.invalidated_at, m.edited_at),
        *(m.created_at, m.updated_at, stored.terms, stored.speaker, int(stored.asks), digest),
    )
