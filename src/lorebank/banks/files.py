"""Retaining uploaded files: kept as bytes with a job each, turned into text and retained by the job."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lorebank.access.grant import Grant
from lorebank.banks.operations import JOBS
from lorebank.banks.reserved import refuse_forged
from lorebank.banks.retain.check import PENDING_TAG
from lorebank.banks.retain.drafts import Draft, with_tags
from lorebank.banks.retain.granted import kept_items, tags_for, under_strategy
from lorebank.banks.retain.items import Item, from_json, to_json
from lorebank.banks.retain.queue import done
from lorebank.banks.retain.service import Tools
from lorebank.banks.retain.settings import for_items
from lorebank.banks.retain.work import store
from lorebank.clock import Micros
from lorebank.errors import BadRequest, Corrupt, InvalidInput, Unavailable
from lorebank.ids import new_uuid
from lorebank.jobs.kinds import Job
from lorebank.models.document_kinds import KINDS
from lorebank.models.ports import Parser
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Operation

FILE_RETAIN = "file_convert_retain"
"""The type of the operations made here and the name of their job (specs, operations list)."""


@dataclass(frozen=True, slots=True)
class Upload:
    """One uploaded file; `item` says how to retain it, its content still empty."""

    filename: str | None
    media_type: str | None
    data: bytes
    item: Item


def check_files(
    grant: Grant,
    defaults: Mapping[str, Any],
    overrides: Mapping[str, Any],
    parser: Parser,
    uploads: Sequence[Upload],
    document_tags: tuple[str, ...],
) -> None:
    """`InvalidInput`, `BadRequest` or `NeedsLLM` for an upload that `submit_files` would refuse."""
    if not uploads:
        raise InvalidInput("files: send at least one file")
    if PENDING_TAG in document_tags or any(PENDING_TAG in upload.item.tags for upload in uploads):
        raise BadRequest(f"tags: the tag '{PENDING_TAG}' is set by lorebank only; use another tag")
    refuse_forged(grant, document_tags, "document_tags", ("body", "request", "document_tags"))
    for index, upload in enumerate(uploads):
        loc = ("body", "request", "files_metadata", index, "tags")
        refuse_forged(grant, upload.item.tags, f"files_metadata[{index}].tags", loc)
    items = [upload.item for upload in uploads]
    for_items(defaults, overrides, under_strategy(grant, items, defaults, overrides))
    for upload in uploads:
        _check_readable(parser, upload)


def submit_files(
    handle: BankHandle,
    tools: Tools,
    parser: Parser,
    uploads: Sequence[Upload],
    document_tags: tuple[str, ...] = (),
) -> list[str]:
    """Keep the files and queue one operation for each; the operations' ids in order.

    A file that cannot be read as text refuses the whole request at once (`InvalidInput`, naming
    it); only PDF and Office files, which take long, are read by the job.
    """
    grant, config = handle.grant, handle.bank.config
    check_files(grant, tools.bank_defaults, config, parser, uploads, document_tags)
    now = tools.clock()
    if grant.parameters.retain_roles == ():
        return _kept_nothing(handle, len(uploads), now)
    placed = [_with_document(upload.item) for upload in uploads]
    ruled = under_strategy(grant, placed, tools.bank_defaults, config)
    items = with_tags(ruled, tags_for(grant, document_tags))
    made = [_operation(handle, upload, item, now) for upload, item in zip(uploads, items, strict=True)]
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        for operation, upload in zip(made, uploads, strict=True):
            writer.put_operation(operation)
            writer.put_blob(operation.id, upload.data)
    tools.jobs(handle)
    return [operation.id for operation in made]


def run_file(job: Job, tools: Tools, parser: Parser) -> dict[str, Any]:
    """Turn the operation's file into text and retain it as one document; the operation's result."""
    operation = job.operation
    payload = operation.payload or {}
    item = from_json({**payload.get("item", {}), "content": ""})
    if operation.processed:
        return {"document_id": item.document_id}
    with job.handle.read() as reader:
        data = reader.blob(operation.id)
    if data is None:
        raise Corrupt("the uploaded file of the operation is gone; upload it again")
    text = parser.parse(data, media_type=payload.get("media_type"), filename=operation.filename)
    if not text.strip():
        raise InvalidInput(f"{operation.filename or 'the file'} holds no text")
    grant, config = job.handle.grant, job.handle.bank.config
    whole = under_strategy(grant, [replace(item, content=text)], tools.bank_defaults, config)
    made = [Draft(str(item.document_id), (left,), "replace", named=True) for left in kept_items(grant, whole)]
    written = store(job, tools, made, 1, 1)
    return {"document_id": item.document_id, "items_count": 1, "facts_added": written.facts_added}


def _kept_nothing(handle: BankHandle, count: int, now: Micros) -> list[str]:
    """Operations that have ended, one for each file: the caller's grant keeps nothing of any."""
    made = [done(handle, FILE_RETAIN, 1, new_uuid(), now) for _ in range(count)]
    with handle.write() as writer:
        for operation in made:
            writer.put_operation(operation)
    return [operation.id for operation in made]


def _with_document(item: Item) -> Item:
    return item if item.document_id is not None else replace(item, document_id=f"file_{new_uuid()}")


def _check_readable(parser: Parser, upload: Upload) -> None:
    """Refuse what the job could only fail on."""
    if not upload.data:
        raise InvalidInput(f"files: {upload.filename or 'a file'} is empty")
    if not _is_office(upload):
        text = parser.parse(upload.data, media_type=upload.media_type, filename=upload.filename)
        if not text.strip():
            raise InvalidInput(f"files: {upload.filename or 'a file'} holds no text")
        return
    try:
        parser.parse(b"", media_type=upload.media_type, filename=upload.filename)
    except Unavailable as exc:
        raise InvalidInput(exc.message, cause=exc) from exc
    except InvalidInput:
        return  # it looked, found nothing in no bytes, and so is able to look


def _is_office(upload: Upload) -> bool:
    name, _, extension = (upload.filename or "").rpartition(".")
    media_type = (upload.media_type or "").partition(";")[0].strip().lower()
    return bool(name and extension.lower() in KINDS) or media_type in KINDS.values()


def _operation(handle: BankHandle, upload: Upload, item: Item, now: Micros) -> Operation:
    described = {name: value for name, value in to_json(item).items() if name != "content"}
    operation_id = new_uuid()
    return Operation(
        id=operation_id,
        type=FILE_RETAIN,
        status="pending",
        items_count=1,
        created_at=now,
        updated_at=now,
        document_id=item.document_id,
        filename=upload.filename,
        payload={"item": described, "media_type": upload.media_type, "blobs": [operation_id]},
        principal=handle.grant.principal.to_json(),
    )
