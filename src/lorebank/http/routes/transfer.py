"""Archives: export, import and clone, all as background operations (202)."""

from __future__ import annotations

from lorebank.http.binding import bind
from lorebank.service.requests.queries import (
    CloneBankQuery,
    ExportBankQuery,
    ExportDocumentsQuery,
    ImportBankQuery,
    ImportDocumentsQuery,
)

_ACCEPTED = 202

BINDINGS = (
    bind("GET", "~/document-transfer", "export_documents_sync_removed"),
    bind(
        "POST", "~/document-transfer", "import_documents",
        query=ImportDocumentsQuery, form="archive", status=_ACCEPTED,
    ),
    bind(
        "POST", "~/document-transfer/export", "export_documents",
        query=ExportDocumentsQuery, status=_ACCEPTED,
    ),
    bind("POST", "~/transfer/export", "export_bank_transfer", query=ExportBankQuery, status=_ACCEPTED),
    bind(
        "POST", "~/transfer/import", "import_bank_transfer",
        query=ImportBankQuery, form="archive", status=_ACCEPTED,
    ),
    bind("POST", "~/clone", "clone_bank", query=CloneBankQuery, status=_ACCEPTED),
)  # fmt: skip
