"""Submitting transfers: what can be refused is refused here, before anything is stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Literal

from lorebank.access.grant import Grant
from lorebank.banks import documents
from lorebank.banks.operations import JOBS
from lorebank.banks.transfer.jobs import KEPT_FOR, TransferTools, choice_to_json, existing, target_grant
from lorebank.banks.transfer.keys import may_read, split_key
from lorebank.banks.transfer.merge import Conflicts
from lorebank.banks.transfer.read import Archive
from lorebank.banks.transfer.restore import is_empty, not_empty
from lorebank.banks.transfer.snapshot import Choice
from lorebank.errors import Conflict, NotFound
from lorebank.ids import new_uuid
from lorebank.storage.ports import BankHandle
from lorebank.storage.rows import Operation

EXPORT_BANK = "export_bank"
EXPORT_DOCUMENTS = "export_documents"
IMPORT_BANK = "import_bank"
IMPORT_DOCUMENTS = "import_documents"
CLONE_BANK = "clone_bank"


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """How an archive is taken in: `target` None means the bank that the archive names (restore) or
    the bank of the path (merge)."""

    mode: Literal["restore", "merge"] = "restore"
    target: str | None = None
    conflict: Conflicts = "skip"
    data: bool = True
    config: bool = True


def export(handle: BankHandle, tools: TransferTools, choice: Choice) -> str:
    """Queue an export; the operation's id. `NotFound` when a chosen document does not exist."""
    if choice.documents is not None:
        with handle.read() as reader:
            for document_id in choice.documents:
                documents.found(reader, document_id)
    kind = EXPORT_BANK if choice.kind == "bank" else EXPORT_DOCUMENTS
    return _submit(handle, tools, kind, choice_to_json(choice))


def import_bank(tools: TransferTools, grant: Grant, archive: BinaryIO, request: ImportRequest) -> str:
    """Queue an import against the bank that `grant` names (made when missing); the operation's id.

    Raises `BadRequest` for what is no archive, `Conflict` when the bank to restore has content,
    `NotFound` when the bank to merge into does not exist.
    """
    manifest = Archive(archive).manifest
    recorded = str(grant.bank)
    merging = request.mode == "merge"
    wanted = request.target or (recorded if merging else manifest.bank_id)
    target = target_grant(tools, grant, wanted)
    bank = existing(tools, target)
    if bank is None and merging:
        raise NotFound(f"Bank '{wanted}' not found")
    if bank is not None and not merging:
        with bank.read() as reader:
            if not is_empty(bank, reader):
                raise Conflict(not_empty(wanted))
    payload = {
        "mode": request.mode,
        "target": target.bank,
        "conflict": request.conflict,
        "data": request.data,
        "config": request.config,
    }
    handle = tools.banks.create(grant, None, tools.clock())
    return _submit(handle, tools, IMPORT_BANK, payload, _bytes(archive))


def import_documents(tools: TransferTools, grant: Grant, archive: BinaryIO, conflict: Conflicts) -> str:
    """Queue a merge of the archive's documents into the bank that `grant` names; the operation's id."""
    Archive(archive)
    handle = tools.banks.create(grant, None, tools.clock())
    payload = {"target": handle.bank.bank_id, "conflict": conflict}
    return _submit(handle, tools, IMPORT_DOCUMENTS, payload, _bytes(archive))


def clone(handle: BankHandle, tools: TransferTools, target: str, *, data: bool, config: bool) -> str:
    """Queue a copy into a new bank; the operation's id. `Conflict` when the bank exists."""
    grant = target_grant(tools, handle.grant, target)
    if existing(tools, grant) is not None:
        raise Conflict(f"bank '{target}' exists already; a clone needs a new name")
    payload = {"target": grant.bank, "data": data, "config": config}
    return _submit(handle, tools, CLONE_BANK, payload)


def open_download(handle: BankHandle, key: str, tools: TransferTools) -> tuple[str, BinaryIO]:
    """The name and the opened file of an export; `NotFound` when it is gone, expired, or another's.

    A caller who sees only a part of the bank gets only exports of exactly that part.
    """
    found = split_key(key)
    handle.drop_exports(tools.clock() - KEPT_FOR)
    if found is not None and may_read(found[1], handle.grant.filter):
        file = handle.read_export(found[1])
        if file is not None:
            return found[1], file
    raise NotFound(f"File '{key}' not found; exports are kept for a day")


def _submit(
    handle: BankHandle,
    tools: TransferTools,
    kind: str,
    payload: Mapping[str, Any],
    blob: bytes | None = None,
) -> str:
    now = tools.clock()
    operation_id = new_uuid()
    blobs: Sequence[str] = [] if blob is None else [operation_id]
    operation = Operation(
        id=operation_id,
        type=kind,
        status="pending",
        items_count=1,
        created_at=now,
        updated_at=now,
        payload={**payload, "blobs": list(blobs)},
        principal=handle.grant.principal.to_json(),
    )
    tools.banks.mark_work(handle, JOBS)
    with handle.write() as writer:
        if blob is not None:
            writer.put_blob(operation_id, blob)
        writer.put_operation(operation)
    tools.jobs(handle)
    return operation_id


def _bytes(file: BinaryIO) -> bytes:
    file.seek(0)
    return file.read()
