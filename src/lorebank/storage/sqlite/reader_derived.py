"""Reading what is derived from the text: the feed of the search index, vectors, links and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lorebank.storage.ports import Counts, Unembedded
from lorebank.storage.rows import IndexRow, Link
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import ReaderBase, array
from lorebank.storage.sqlite.sections import DerivedSql

_SQL = load(DerivedSql, "derived")
_BATCH = 1000


class DerivedReads(ReaderBase):
    """The derived-data methods of a reader; the port's docstrings are the contract."""

    def meta(self, name: str) -> Any:
        row = self._one(_SQL.meta, name=name)
        return None if row is None else values.from_json(row[0])

    def index_rows(self, after: int) -> Iterator[IndexRow]:
        return map(values.index_row, self._stream(_SQL.index_rows, after=after))

    def deleted_keys(self, after: int) -> Sequence[int]:
        return sorted(row[0] for row in self._rows(_SQL.deleted_keys, after=after))

    def vectors(self, model_id: str, after_seq: int) -> Iterator[tuple[Sequence[int], bytes]]:
        if after_seq > 0:
            cursor = self._stream(_SQL.new_vectors, model=model_id, after=after_seq)
        else:
            cursor = self._stream(_SQL.all_vectors, model=model_id)
        while rows := cursor.fetchmany(_BATCH):
            yield [row[0] for row in rows], b"".join(row[1] for row in rows)

    def missing_vectors(self, model_id: str, limit: int) -> Sequence[Unembedded]:
        epoch = self._number(_SQL.vector_epoch)
        complete = self._cache.complete_through(model_id, epoch)
        rows = self._rows(_SQL.missing_vectors, model=model_id, complete=complete, limit=limit).fetchall()
        if self._settled and self._scope.everything and limit > 0:
            self._cache.note_complete(model_id, epoch, rows[0][1] - 1 if rows else self._seq)
        return [Unembedded(*row) for row in rows]

    def vector_models(self) -> Mapping[str, int]:
        return dict(self._rows(_SQL.vector_models).fetchall())

    def links(self, after_seq: int) -> Iterator[Link]:
        for row in self._stream(_SQL.links, after=after_seq):
            yield Link(*row)

    def links_between(self, keys: Sequence[int]) -> Sequence[Link]:
        return [Link(*row) for row in self._rows(_SQL.links_between, keys=array(keys))]

    def counts(self) -> Counts:
        remember = self._settled and self._scope.everything
        known = self._cache.counts(self._seq) if remember else None
        operations: dict[str, int] = dict(self._rows(_SQL.count_operations).fetchall())
        if known is None:
            known = self._count()
            if remember:
                self._cache.keep_counts(self._seq, known)
        # Operations change without the sequence number, so they are counted every time.
        return Counts(
            known.memories,
            known.links,
            known.links_by_fact_type,
            known.documents,
            known.entities,
            operations,
            known.last_memory_write_at,
            known.last_document_at,
            known.pending_vectors,
        )

    def _count(self) -> Counts:
        memories: dict[str, int] = dict(self._rows(_SQL.count_memories).fetchall())
        everything = self._scope.everything
        by_fact_type: dict[str, dict[str, int]] = {}
        by_type: dict[str, int] = {}
        for fact_type, link_type, number in self._rows(
            _SQL.count_links if everything else _SQL.count_links_seen
        ):
            by_fact_type.setdefault(fact_type, {})[link_type] = number
            by_type[link_type] = by_type.get(link_type, 0) + number
        return Counts(
            memories=memories,
            links=by_type,
            links_by_fact_type=by_fact_type,
            documents=self._number(_SQL.count_documents),
            entities=self._number(_SQL.count_entities if everything else _SQL.count_entities_seen),
            operations={},
            last_memory_write_at=self._one(_SQL.last_memory)[0],
            last_document_at=self._one(_SQL.last_document)[0],
            pending_vectors=self._pending_vectors(sum(memories.values())),
        )

    def _pending_vectors(self, memories: int) -> int:
        model = self._one(_SQL.last_model)
        if model is None:
            return memories
        complete = self._cache.complete_through(model[0], self._number(_SQL.vector_epoch))
        return self._number(_SQL.missing_count, model=model[0], complete=complete)
