"""Operations that export, import and clone banks, and the download of what was exported."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import BinaryIO

from lorebank.banks.transfer import submit
from lorebank.banks.transfer.format import MEDIA_TYPE
from lorebank.banks.transfer.jobs import TransferTools
from lorebank.banks.transfer.snapshot import Choice
from lorebank.banks.transfer.submit import ImportRequest
from lorebank.service.answers import FileAnswer
from lorebank.service.context import Context
from lorebank.service.guard import Call
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire

_PIECE = 2**16


def transfer_tools(context: Context) -> TransferTools:
    """What transfers need of the running server; bootstrap gives the same to the jobs."""
    return TransferTools(
        banks=context.banks,
        resolver=context.resolver,
        settings=context.settings,
        clock=context.clock,
        model_id=lambda: context.embedders.target.model_id,
        jobs=context.work.notify,
        vectors=context.work.vectors,
    )


def _submitted(operation_id: str) -> Wire:
    return {"operation_id": operation_id, "status": "pending"}


def export_bank_transfer(call: Call) -> Wire:
    """BankTransferSubmitResponse. The audit log stays where it is, so `include_history` adds nothing."""
    params = call.params
    chosen = params["document_id"]
    choice = Choice(
        "bank",
        data=params["include_data"],
        config=params["include_bank_config"],
        documents=None if chosen is None else frozenset(chosen),
    )
    return _submitted(submit.export(call.handle, transfer_tools(call.context), choice))


def export_documents(call: Call) -> Wire:
    """DocumentExportSubmitResponse. There is no knowledge base yet that could go with it."""
    chosen = call.params["document_id"]
    choice = Choice(
        "documents",
        config=False,
        documents=None if chosen is None else frozenset(chosen),
        observations=call.params["include_observations"],
    )
    return _submitted(submit.export(call.handle, transfer_tools(call.context), choice))


def import_bank_transfer(call: Call) -> Wire:
    """BankTransferSubmitResponse; the operation is recorded against the bank of the path."""
    params = call.params
    request = ImportRequest(
        mode=params["mode"],
        target=params["target_bank_id"],
        conflict=params["document_conflict"],
        data=params["include_data"] is not False,
        config=params["include_bank_config"] is not False,
    )
    tools = transfer_tools(call.context)
    return _submitted(submit.import_bank(tools, call.grant, call.request.archive.file, request))


def import_documents(call: Call) -> Wire:
    """DocumentImportSubmitResponse."""
    tools = transfer_tools(call.context)
    file, conflict = call.request.archive.file, call.params["on_conflict"]
    return _submitted(submit.import_documents(tools, call.grant, file, conflict))


def clone_bank(call: Call) -> Wire:
    """BankTransferSubmitResponse; the operation is recorded against the bank that is copied."""
    params = call.params
    data, config = params["include_data"], params["include_bank_config"]
    tools = transfer_tools(call.context)
    return _submitted(submit.clone(call.handle, tools, params["target_bank_id"], data=data, config=config))


def download_file(call: Call) -> FileAnswer:
    """An exported archive; the transport finds the bank with `banks.transfer.keys.bank_of_file`."""
    name, file = submit.open_download(call.handle, call.params["key"], transfer_tools(call.context))
    size = os.fstat(file.fileno()).st_size
    return FileAnswer(_pieces(file), filename=name, media_type=MEDIA_TYPE, size=size)


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while piece := file.read(_PIECE):
            yield piece


OPERATIONS = (
    Operation("export_bank_transfer", "bank:export", Scope.BANK, export_bank_transfer),
    Operation("export_documents", "bank:export", Scope.BANK, export_documents),
    Operation("import_bank_transfer", "bank:import", Scope.BANK_NAME, import_bank_transfer),
    Operation("import_documents", "bank:import", Scope.BANK_NAME, import_documents),
    Operation("clone_bank", "bank:clone", Scope.BANK, clone_bank),
    Operation("download_file", "bank:export", Scope.BANK, download_file),
)
