"""Extracting a stored document again, with the bank's settings of today."""

from __future__ import annotations

from typing import Any

from lorebank.banks.operations import JOBS
from lorebank.banks.retain.delta import SEPARATOR, records_of, retagged
from lorebank.banks.retain.drafts import Draft
from lorebank.banks.retain.items import Item, from_json
from lorebank.banks.retain.service import Tools, prepare, write
from lorebank.banks.retain.settings import for_items
from lorebank.clock import to_datetime
from lorebank.errors import BadRequest, NotFound, Unavailable
from lorebank.ids import new_uuid
from lorebank.jobs.kinds import Job
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Document, Operation

REPROCESS = "reprocess_document"
"""The type of the operations made here and the name of their job."""
_TRIES = 5


def submit_reprocess(handle: BankHandle, tools: Tools, document_id: str) -> Operation:
    """Queue the document; `NotFound` when there is none, `BadRequest` when its text is not kept."""
    with handle.read() as reader:
        items = items_of(_existing(reader.document(document_id), document_id))
    for_items(tools.bank_defaults, handle.bank.config, items)
    now = tools.clock()
    operation = Operation(
        id=new_uuid(),
        type=REPROCESS,
        status="pending",
        items_count=len(items),
        created_at=now,
        updated_at=now,
        document_id=document_id,
        payload={"document_id": document_id},
        principal=handle.grant.principal.to_json(),
    )
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        writer.put_operation(operation)
    tools.jobs(handle)
    return operation


def run_reprocess(job: Job, tools: Tools) -> dict[str, Any]:
    """Replace what was extracted from the document by what is found in its text now.

    Memories that were invalidated stay so. Where the document changes while it is being extracted,
    it is read again.
    """
    document_id = str((job.operation.payload or {}).get("document_id"))
    if job.operation.processed:
        return {"document_id": document_id}
    for _ in range(_TRIES):
        with job.handle.read() as reader:
            document = _existing(reader.document(document_id), document_id)
        items = items_of(document)
        prepared = prepare(job.handle, tools, [Draft(document_id, tuple(items), "reprocess", named=True)])
        with job.handle.write() as writer:
            if not _same(writer.document(document_id), document):
                continue
            job.checkpoint(writer, "storing", len(items), len(items))
            written = write(job.handle, tools, writer, prepared, job.operation.id)
        tools.vectors(job.handle)
        added, removed = written.facts_added, written.facts_removed
        return {"document_id": document_id, "facts_added": added, "facts_removed": removed}
    raise Unavailable(f"document '{document_id[:200]}' kept changing while it was processed; try again")


def items_of(document: Document) -> list[Item]:
    """The items that a document was made of, from its text and the records of its parts.

    `BadRequest` when its text is not kept. A document without records is one item, dated by its
    first retain.
    """
    text = document.text
    if text is None:
        raise BadRequest(
            f"document '{document.id[:200]}' is kept without its text (store_document_text is false), "
            "so it cannot be processed again; retain it anew"
        )
    records = records_of(document)
    lengths = [r["length"] for r in records if isinstance(r.get("length"), int)]
    if not records or sum(lengths) + len(SEPARATOR) * (len(records) - 1) != len(text):
        since = to_datetime(document.created_at).isoformat()
        return [from_json({"content": text, "tags": list(document.tags), "accepted_at": since})]
    anew = {"tags": list(document.tags)} if retagged(document) else {}
    items, begin = [], 0
    for record, length in zip(records, lengths, strict=True):
        items.append(from_json({**record, **anew, "content": text[begin : begin + length]}))
        begin += length + len(SEPARATOR)
    return items


def _existing(document: Document | None, document_id: str) -> Document:
    if document is None:
        raise NotFound(f"Document '{document_id[:200]}' not found")
    return document


def _same(now: Document | None, before: Document) -> bool:
    return now is not None and (now.content_hash, now.updated_at) == (before.content_hash, before.updated_at)
