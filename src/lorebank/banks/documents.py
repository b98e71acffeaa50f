"""Listing, reading, retagging and deleting the documents of a bank, and their chunks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lorebank.banks.filters import TimeRange
from lorebank.banks.reserved import is_reserved, refuse_forged, scope_tags
from lorebank.banks.retain import waiting
from lorebank.banks.retain.check import PENDING_TAG
from lorebank.banks.retain.items import joined_tags
from lorebank.clock import Micros
from lorebank.errors import BadRequest, InvalidInput, NotFound
from lorebank.storage.ports import BankHandle, BankReader, DocumentQuery, Listing, Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent
from lorebank.tags import TagFilter

TIME_FIELDS = ("created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class FoundDocuments:
    """A page of documents and, for a text search, the fields in which each one matched."""

    listing: Listing[Document]
    matched: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class DocumentDetail:
    """A document with its text, and its memories by fact type."""

    document: Document
    fact_types: Mapping[str, int]


def listing(
    reader: BankReader, text: str | None, tags: TagFilter | None, times: TimeRange | None, page: Page
) -> FoundDocuments:
    """A page of documents, most recently updated first."""
    query = DocumentQuery(text=text or None, tags=tags)
    if times is not None:
        query = replace(query, time_field=times.field, start=times.start, end=times.end)
    rows = reader.documents(query, page)
    matched = reader.documents_matching_text([d.id for d in rows.rows], text) if text and rows.rows else {}
    return FoundDocuments(rows, matched)


def detail(handle: BankHandle, document_id: str) -> DocumentDetail:
    """One document; `NotFound` when there is none."""
    with handle.read() as reader:
        return DocumentDetail(found(reader, document_id), reader.fact_types_of_document(document_id))


def found(reader: BankReader, document_id: str) -> Document:
    """The document with its text, or `NotFound`."""
    row = reader.document(document_id)
    if row is None:
        raise _missing(document_id)
    return row


def _missing(document_id: str) -> NotFound:
    return NotFound(f"Document '{document_id}' not found")


def chunks(handle: BankHandle, document_id: str, page: Page) -> Listing[Chunk]:
    """The chunks of a document in order; `NotFound` when there is no such document."""
    with handle.read() as reader:
        found(reader, document_id)
        return reader.chunks(document_id, page)


def chunk(handle: BankHandle, chunk_id: str) -> Chunk:
    """One chunk by its id, or `NotFound`."""
    with handle.read() as reader:
        row = reader.chunk(chunk_id)
    if row is None:
        raise NotFound(f"Chunk '{chunk_id}' not found")
    return row


def events(handle: BankHandle, document_id: str, page: Page) -> Listing[DocumentEvent]:
    """The history of a document, newest first; `NotFound` when there is no such document."""
    with handle.read() as reader:
        found(reader, document_id)
        return reader.document_events(document_id, page)


def update(
    handle: BankHandle,
    document_id: str,
    tags: tuple[str, ...] | None,
    scopes: Any,
    now: Micros,
) -> None:
    """Set tags (of the document and of the memories resting on it) and observation scopes.

    None leaves a field as it is. Marks of origin (`user:`, `agent:`) stay, unless the caller may set them
    himself. `InvalidInput` when both are None or for such a mark of somebody else, `BadRequest` for the tag
    that only lorebank sets, `NotFound` without such a document.
    """
    grant = handle.grant
    with handle.read() as reader:  # a writer sees documents that hold something hidden; a caller does not
        found(reader, document_id)
    if tags is None and scopes is None:
        raise InvalidInput("No fields to update")
    if tags is not None and PENDING_TAG in tags:
        raise BadRequest(f"tags: the tag '{PENDING_TAG}' is set by lorebank only; use another tag")
    with handle.write() as writer:
        row = found(writer, document_id)
        if tags is not None:
            refuse_forged(grant, tags, "tags", ("body", "tags"), row.tags)
            if not grant.may_reserve:
                tags = joined_tags(tags, tuple(tag for tag in row.tags if is_reserved(tag)))
        if scopes is not None:
            field = "observation_scopes"
            refuse_forged(grant, scope_tags(scopes), field, ("body", field), row.tags)
            writer.put_document(replace(row, observation_scopes=scopes, updated_at=now))
        if tags is not None:
            writer.retag_document(document_id, tags, now)
        writer.add_document_event(DocumentEvent(document_id, "retag", now))


def delete(handle: BankHandle, document_id: str) -> int:
    """Delete a document with the memories that rest on it alone and with what still waits to be stored
    in it; how many memories went with it."""
    with handle.read() as reader:
        there = reader.document(document_id) is not None
    with handle.write() as writer:
        waited = waiting.forget_document(writer, handle.grant.filter, document_id)
        if not (there or waited):
            raise _missing(document_id)
        return writer.delete_document(document_id) if there else 0
