"""Writing memories: the same fact once, its sources counted, its entities found or made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lorebank.clock import Micros
from lorebank.errors import Bug
from lorebank.ids import new_uuid
from lorebank.storage.rows import FactType, NewMemory
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.reader_base import MEMORIES, array
from lorebank.storage.sqlite.reader_memories import digest_of
from lorebank.storage.sqlite.writer_base import WRITE, WriterBase
from lorebank.tags import encode

Source = tuple[str | None, str | None]

FULL_ROW = (
    *("id", "text", "context", "fact_type", "terms", "tokens", "occurred_start", "occurred_end", "precision"),
    *("mentioned_at", "metadata", "tags", "thread", "position", "speaker", "asks", "state"),
    *("invalidation_reason", "invalidated_at", "edited_at", "created_at"),
)
_CONTENT = frozenset(
    {"text", "terms", "tokens", "context", "occurred_start", "occurred_end", "precision", "mentioned_at"}
    | {"fact_type", "speaker", "asks"}
)
_EDITABLE = _CONTENT | {"state", "invalidation_reason"}
_NOT_KEPT = frozenset({"id", "terms", "speaker", "asks"})


@dataclass(slots=True)
class _Batch:
    """What one `add_memories` has to write."""

    keys: list[int] = field(default_factory=list)
    fresh: list[tuple[int, NewMemory, str]] = field(default_factory=list)
    proofs: dict[int, list[Source]] = field(default_factory=dict)


class MemoryWrites(WriterBase):
    """The memory methods of a writer; the port's docstrings are the contract."""

    def add_memories(self, memories: Sequence[NewMemory], now: Micros) -> Sequence[int]:
        if not memories:
            return []
        seq = self._touch()
        batch = self._sort(memories)
        self._many(WRITE.insert_memory, (_columns(*entry, seq, now) for entry in batch.fresh))
        self._many(WRITE.insert_source, ((k, 0, m.document_id, m.chunk_id) for k, m, _ in batch.fresh))
        self._mention([(k, m.entities, m.mentioned_at or now) for k, m, _ in batch.fresh])
        for key, sources in batch.proofs.items():
            self._add_proofs(key, sources, now)
        causes = (
            (key, batch.keys[cause], "causal", 1.0, seq)
            for key, memory in zip(batch.keys, memories, strict=True)
            for cause in memory.caused_by
            if batch.keys[cause] != key
        )
        self._many(WRITE.put_link, causes)
        self._rest_on(dict(zip(batch.keys, memories, strict=True)))
        return batch.keys

    def edit_memory(self, key: int, changes: Mapping[str, Any], now: Micros, change: str) -> None:
        row = self._one(WRITE.full_row, key=key)
        if row is None:
            return
        unknown = changes.keys() - _EDITABLE - {"entities"}
        if unknown:
            raise Bug(f"these columns of a memory cannot be edited: {sorted(unknown)}")
        seq = self._touch()
        before = dict(zip(FULL_ROW, row, strict=True))
        self._keep_version(key, before, now, change)
        after = before | {name: changes[name] for name in _EDITABLE & changes.keys()}
        self._update(key, before, after, now, seq, renamed="entities" in changes)
        self._rename_entities(key, after, changes.get("entities"))

    def delete_memories(self, keys: Sequence[int]) -> int:
        visible = [row[0] for row in self._rows(WRITE.visible_keys, keys=array(keys))]
        return self._delete(visible)

    def clear_memories(self, fact_type: FactType | None) -> int:
        visible = [row[0] for row in self._rows(WRITE.visible_by_type, fact_type=fact_type)]
        return self._delete(visible, keep_entities=True)

    # adding

    def _sort(self, memories: Sequence[NewMemory]) -> _Batch:
        """Which members are new memories and which are further proofs of one."""
        digests = [digest_of(memory) for memory in memories]
        # Oldest last, so that it wins; tags are part of the digest, so what is hidden stays so.
        same = MEMORIES.same_facts.replace("{seen}", "1")
        known: dict[str, int] = dict(self._db.execute(same, {"digests": array(digests)}).fetchall())
        batch = _Batch()
        next_key = self._next_key("memories")
        for memory, digest in zip(memories, digests, strict=True):
            if digest in known:
                sources = batch.proofs.setdefault(known[digest], [])
                sources.append((memory.document_id, memory.chunk_id))
            else:
                known[digest] = next_key
                batch.fresh.append((next_key, memory, digest))
                next_key += 1
            batch.keys.append(known[digest])
        return batch

    def _add_proofs(self, key: int, sources: Sequence[Source], now: Micros) -> None:
        have = self._rows(WRITE.sources_of, key=key).fetchall()
        known = {(document, chunk) for _, document, chunk in have}
        ordinal = max((row[0] for row in have), default=-1)
        added = []
        for source in sources:
            # Without a document nothing says that it is the same source once more.
            if source[0] is not None and source in known:
                continue
            known.add(source)
            ordinal += 1
            added.append((key, ordinal, *source))
        if added:
            self._many(WRITE.insert_source, added)
            self._rows(WRITE.add_proof, key=key, seq=self._touch(), now=now)

    def _mention(
        self, memories: Sequence[tuple[int, Sequence[tuple[str, str]], Micros]], *, valid: bool = True
    ) -> None:
        """Note which entities memories name; (key, entities, seen) each."""
        named = [(key, _unique(entities), seen) for key, entities, seen in memories]
        keys = self._entity_keys({k: pair for _, entities, _ in named for k, pair in entities.items()})
        mentions = [
            (memory_key, position, keys[name_key], int(valid), seen)
            for memory_key, entities, seen in named
            for position, name_key in enumerate(entities)
        ]
        self._many(WRITE.insert_mention, mentions)
        joined = ((",".join(str(keys[name]) for name in entities), key) for key, entities, _ in named)
        self._many(WRITE.set_entity_keys, joined)
        if valid:
            seen_by_entity: dict[int, list[Micros]] = {}
            for _, _, entity_key, _, seen in mentions:
                seen_by_entity.setdefault(entity_key, []).append(seen)
            counted = ((len(s), min(s), max(s), key) for key, s in seen_by_entity.items())
            self._many(WRITE.mention_entity, counted)

    def _entity_keys(self, wanted: Mapping[str, tuple[str, str]]) -> dict[str, int]:
        """name key -> key of the entities of these names, made where missing."""
        found: dict[str, int] = dict(self._rows(WRITE.entity_keys, names=array(wanted)).fetchall())
        missing = [name_key for name_key in wanted if name_key not in found]
        if missing:
            start = self._next_key("entities")
            made = {name_key: start + i for i, name_key in enumerate(missing)}
            rows = ((key, new_uuid(), wanted[name][0], name, wanted[name][1]) for name, key in made.items())
            self._many(WRITE.insert_entity, rows)
            found |= made
        return found

    # editing

    def _keep_version(self, key: int, before: Mapping[str, Any], now: Micros, change: str) -> None:
        names = [row[1] for row in self._rows(MEMORIES.entity_names, keys=array([key]))]
        kept = {name: before[name] for name in FULL_ROW if name not in _NOT_KEPT}
        kept |= {"metadata": values.from_json(before["metadata"]), "entities": names}
        kept["tags"] = list(values.tags_of(before["tags"]))
        self._rows(WRITE.insert_version, key=key, at=now, change=change, before=values.to_json(kept))

    def _update(
        self,
        key: int,
        before: Mapping[str, Any],
        after: dict[str, Any],
        now: Micros,
        seq: int,
        *,
        renamed: bool,
    ) -> None:
        columns = {name: after[name] for name in _EDITABLE} | {"seq": seq, "updated_at": now}
        columns["dedup"] = digest_of_row(after)
        if renamed or any(after[name] != before[name] for name in _CONTENT):
            columns["edited_at"] = now
        if after["state"] != before["state"]:
            invalid = after["state"] == "invalidated"
            columns["invalidated_at"] = now if invalid else None
            columns["invalidation_reason"] = after["invalidation_reason"] if invalid else None
        assignments = ", ".join(f"{name} = :{name}" for name in columns)
        self._db.execute(f"UPDATE memories SET {assignments} WHERE key = :key", columns | {"key": key})
        if after["text"] != before["text"]:
            self._rows(WRITE.drop_semantic_links, key=key)
            self._make_stale([key])
        if (after["text"], after["state"]) != (before["text"], before["state"]):
            # A restored memory may also have missed a change of the embedding model.
            self._rows(WRITE.stale_vectors, keys=array([key]), seq=seq)
            self._make_stale(self._followers([key]))

    def _followers(self, keys: Sequence[int]) -> list[int]:
        """The memories that come next in the threads of these."""
        found = self._rows(WRITE.next_in_thread, keys=array(keys)).fetchall()
        return [row[0] for row in found if row[0] is not None]

    def _make_stale(self, keys: Sequence[int]) -> None:
        """Drop the vectors of memories whose embedded text has changed."""
        if keys:
            self._rows(WRITE.drop_memory_vectors, keys=array(keys))
            self._rows(WRITE.stale_vectors, keys=array(keys), seq=self._touch())

    def _rest_on(self, observations: Mapping[int, NewMemory]) -> None:
        """Note what observations rest on."""
        pairs = [(key, source) for key, memory in observations.items() for source in memory.source_keys]
        if pairs:
            self._many(WRITE.insert_observation_source, pairs)
            self._rows(WRITE.recount_observations, keys=array({key for key, _ in pairs}), seq=self._touch())

    def _rename_entities(
        self, key: int, after: Mapping[str, Any], entities: Sequence[tuple[str, str]] | None
    ) -> None:
        """Write the mentions anew: names, validity or time may have changed."""
        old = self._rows(WRITE.mentions_of, keys=array([key])).fetchall()
        if entities is None:
            entities = [(row[1], "") for row in self._rows(MEMORIES.entity_names, keys=array([key]))]
        self._rows(WRITE.drop_mentions, key=key)
        seen = after["mentioned_at"] or after["created_at"]
        self._mention([(key, entities, seen)], valid=after["state"] == "valid")
        self._settle_entities(old)

    # deleting

    def _delete(self, keys: Sequence[int], *, keep_entities: bool = False) -> int:
        if not keys:
            return 0
        seq = self._touch()
        gone = array(keys)
        mentions = self._rows(WRITE.mentions_of, keys=gone).fetchall()
        observations = array(row[0] for row in self._rows(WRITE.observations_on, keys=gone))
        followers = self._followers(keys)
        self._rows(WRITE.bury, keys=gone, seq=seq)
        self._rows(WRITE.delete_memories, keys=gone)
        self._make_stale(followers)
        self._settle_entities(mentions, keep=keep_entities)
        self._rows(WRITE.recount_observations, keys=observations, seq=seq)
        baseless = [row[0] for row in self._rows(WRITE.baseless_observations, keys=observations)]
        self._delete(baseless, keep_entities=keep_entities)
        return len(keys)

    def _settle_entities(self, gone: Sequence[tuple[int, int]], *, keep: bool = False) -> None:
        """Count mentions out: (number, entity key) each; entities that nothing names go with them."""
        self._many(WRITE.unmention_entity, gone)
        if not keep:
            self._rows(WRITE.delete_unnamed, keys=array(key for _, key in gone))


def _columns(key: int, memory: NewMemory, digest: str, seq: int, now: Micros) -> tuple[Any, ...]:
    return (
        key,
        seq,
        seq,
        memory.id,
        memory.fact_type,
        memory.tokens,
        memory.occurred_start,
        memory.occurred_end,
        memory.precision,
        memory.mentioned_at,
        memory.document_id,
        memory.chunk_id,
        values.to_json(dict(memory.metadata)),
        encode(memory.tags),
        memory.thread,
        memory.position,
        memory.speaker,
        int(memory.asks),
        1,
        now,
        now,
        digest,
        memory.context,
        memory.text,
        memory.terms,
    )


def _unique(entities: Iterable[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """name key -> (name, type), each name once, in order of mention; blank names left out."""
    unique: dict[str, tuple[str, str]] = {}
    for name, type in entities:
        name_key = values.name_key(name)
        if name_key:
            unique.setdefault(name_key, (name, type))
    return unique


def digest_of_row(row: Mapping[str, Any]) -> str:
    return values.dedup_key(
        row["text"],
        row["fact_type"],
        values.tags_of(row["tags"]),
        values.from_json(row["metadata"]),
        row["occurred_start"],
        row["occurred_end"],
    )
