"""Reading documents, their history and their chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lorebank.storage.ports import DocumentQuery, Listing, Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent
from lorebank.storage.sqlite import values
from lorebank.storage.sqlite.connect import fold
from lorebank.storage.sqlite.queries import load
from lorebank.storage.sqlite.reader_base import ReaderBase, array, both_clauses, window
from lorebank.storage.sqlite.reader_memories import time_range
from lorebank.storage.sqlite.sections import DocumentSql

_SQL = load(DocumentSql, "documents")
_TIME_FIELDS = ("created_at", "updated_at")


class DocumentReads(ReaderBase):
    """The document methods of a reader; the port's docstrings are the contract."""

    def documents(self, query: DocumentQuery, page: Page) -> Listing[Document]:
        where, parameters = self._document_where(query)
        rows = self._rows(_SQL.page, {"where": where}, **parameters, **window(page))
        found = [values.document(row) for row in rows]
        return Listing(found, self._total(_SQL.total, {"where": where}, parameters))

    def documents_matching_text(self, ids: Sequence[str], text: str) -> Mapping[str, Sequence[str]]:
        rows = self._rows(_SQL.matching_text, ids=array(ids), text=fold(text))
        fields = ("id", "original_text")
        return {row[0]: [name for name, hit in zip(fields, row[1:], strict=True) if hit] for row in rows}

    def document(self, document_id: str) -> Document | None:
        row = self._one(_SQL.by_id, id=document_id)
        return None if row is None else values.document(row)

    def document_events(self, document_id: str, page: Page) -> Listing[DocumentEvent]:
        rows = self._rows(_SQL.events, id=document_id, **window(page))
        return Listing([values.event(row) for row in rows], self._number(_SQL.events_total, id=document_id))

    def fact_types_of_document(self, document_id: str) -> Mapping[str, int]:
        return dict(self._rows(_SQL.fact_types, id=document_id).fetchall())

    def chunks(self, document_id: str, page: Page) -> Listing[Chunk]:
        rows = self._rows(_SQL.chunks, {"columns": values.CHUNK}, id=document_id, **window(page))
        return Listing([values.chunk(row) for row in rows], self._number(_SQL.chunks_total, id=document_id))

    def chunk(self, chunk_id: str) -> Chunk | None:
        return self.chunks_by_id([chunk_id]).get(chunk_id)

    def chunks_by_id(self, chunk_ids: Sequence[str]) -> Mapping[str, Chunk]:
        rows = self._rows(_SQL.chunks_by_id, {"columns": values.CHUNK}, ids=array(chunk_ids))
        return {row[0]: values.chunk(row) for row in rows}

    def _document_where(self, query: DocumentQuery) -> tuple[str, dict[str, Any]]:
        clauses = [self._scope.document]
        parameters: dict[str, Any] = {}
        if query.text is not None:
            clauses.append("(contains(d.id, :text) OR contains(d.text, :text))")
            parameters["text"] = fold(query.text)
        asked = self._asked(query.tags, "d.tags")
        clauses.append(asked.sql)
        time_clauses, times = time_range("d", query.time_field, query.start, query.end, _TIME_FIELDS)
        return both_clauses(clauses + time_clauses), parameters | times | asked.parameters
