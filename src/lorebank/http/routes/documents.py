"""Documents and their chunks. A document id may hold slashes, so its sub-resources come first."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.addresses import bank_of_chunk_params
from lorebank.service.requests.memories import UpdateDocumentRequest
from lorebank.service.requests.queries import DocumentPageQuery, ListDocumentsQuery

BINDINGS = (
    bind("GET", "~/documents", "list_documents", query=ListDocumentsQuery),
    bind("GET", "~/documents/{document_id:path}/chunks", "list_document_chunks", query=DocumentPageQuery),
    bind("GET", "~/documents/{document_id:path}/history", "get_document_history", query=DocumentPageQuery),
    bind("POST", "~/documents/{document_id:path}/reprocess", "reprocess_document"),
    bind("GET", "~/documents/{document_id:path}", "get_document"),
    bind("PATCH", "~/documents/{document_id:path}", "update_document", body=UpdateDocumentRequest),
    bind("DELETE", "~/documents/{document_id:path}", "delete_document"),
    bind("GET", "/v1/default/chunks/{chunk_id:path}", "get_chunk", bank_of=bank_of_chunk_params),
)
