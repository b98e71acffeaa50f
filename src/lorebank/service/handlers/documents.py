"""Operations on documents and chunks."""

from __future__ import annotations

from lorebank.banks import documents
from lorebank.banks.filters import expanded
from lorebank.service import render
from lorebank.service.guard import Call
from lorebank.service.handlers.memories import times_of
from lorebank.service.operations import Operation, Scope
from lorebank.service.render import Wire
from lorebank.storage.ports import Page


def _bank_id(call: Call) -> str:
    return call.handle.bank.bank_id


def list_documents(call: Call) -> Wire:
    """ListDocumentsResponse; totals are exact."""
    params = call.params
    page = Page(params["limit"], params["offset"])
    times = times_of(params, documents.TIME_FIELDS)
    with call.handle.read() as reader:
        tags = expanded(reader, params["tag_filter"])
        found = documents.listing(reader, params["q"], tags, times, page)
    rows = [
        render.document_item(row, _bank_id(call), found.matched.get(row.id, ())) for row in found.listing.rows
    ]
    return render.page("items", rows, found.listing.total, page) | {"total_is_estimate": False}


def get_document(call: Call) -> Wire:
    """DocumentResponse."""
    found = documents.detail(call.handle, call.params["document_id"])
    return render.document(found.document, _bank_id(call), found.fact_types)


def list_document_chunks(call: Call) -> Wire:
    """ListChunksResponse, in the order of the text."""
    page = Page(call.params["limit"], call.params["offset"])
    found = documents.chunks(call.handle, call.params["document_id"], page)
    return render.page("items", [render.chunk(c, _bank_id(call)) for c in found.rows], found.total, page)


def get_document_history(call: Call) -> Wire:
    """DocumentHistoryResponse, newest first."""
    page = Page(call.params["limit"], call.params["offset"])
    document_id = call.params["document_id"]
    found = documents.events(call.handle, document_id, page)
    listed = render.page("items", map(render.document_event, found.rows), found.total, page)
    return {"document_id": document_id} | listed


def update_document(call: Call) -> Wire:
    """UpdateDocumentResponse: new tags reach the memories that rest on the document."""
    request = call.request
    tags = None if request.tags is None else tuple(sorted(set(request.tags)))
    scopes = request.observation_scopes
    documents.update(call.handle, call.params["document_id"], tags, scopes, call.context.clock())
    return {"success": True}


def delete_document(call: Call) -> Wire:
    """DeleteDocumentResponse."""
    document_id = call.params["document_id"]
    removed = documents.delete(call.handle, document_id)
    message = f"Document '{document_id}' and {removed} memories resting on it alone were deleted"
    return {
        "success": True,
        "message": message,
        "document_id": document_id,
        "memory_units_deleted": removed,
    }


def get_chunk(call: Call) -> Wire:
    """ChunkResponse; the transport finds the bank with `banks.chunk_ids.bank_of_chunk`."""
    return render.chunk(documents.chunk(call.handle, call.params["chunk_id"]), _bank_id(call))


OPERATIONS = (
    Operation("list_documents", "bank:documents:list", Scope.BANK, list_documents),
    Operation("get_document", "bank:documents:get", Scope.BANK, get_document),
    Operation("list_document_chunks", "bank:documents:get", Scope.BANK, list_document_chunks),
    Operation("get_document_history", "bank:documents:get", Scope.BANK, get_document_history),
    Operation("update_document", "bank:documents:update", Scope.BANK, update_document),
    Operation("delete_document", "bank:documents:delete", Scope.BANK, delete_document),
    Operation("get_chunk", "bank:documents:get", Scope.BANK, get_chunk),
)
