"""Compaction: afterwards no file of the store holds a byte of what was deleted."""

from __future__ import annotations

from lorebank.storage.sqlite.connect import transaction, translated, vacuum
from lorebank.storage.sqlite.exports import EXPORTS
from lorebank.storage.sqlite.files import remove_folder
from lorebank.storage.sqlite.reader_operations import OPERATIONS
from lorebank.storage.sqlite.store import Store


def compact_store(store: Store) -> None:
    """Drop what nothing refers to, rewrite the file, and empty the write-ahead log and the exports.

    Raises `Unavailable` when readers keep the log in use; what was done stays done.
    """
    remove_folder(store.folder / EXPORTS)
    with store.lane() as db, translated():
        with transaction(db):
            db.execute(OPERATIONS.stray_blobs)
            db.execute(
                "DELETE FROM entities WHERE NOT EXISTS"
                " (SELECT 1 FROM memory_entities WHERE entity_key = entities.key)"
            )
            # The receipts of work on documents that are gone; failed ones keep what a retry needs.
            db.execute(
                "UPDATE operations SET document_id = NULL, filename = NULL,"
                " result = json_remove(result, '$.document_id')"
                " WHERE status IN ('completed', 'cancelled') AND document_id IS NOT NULL"
                " AND document_id NOT IN (SELECT id FROM documents)"
            )
        vacuum(db)
