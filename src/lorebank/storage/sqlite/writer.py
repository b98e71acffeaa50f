"""The writer: all its parts in one class."""

from __future__ import annotations

from lorebank.storage.sqlite.writer_archive import ArchiveWrites
from lorebank.storage.sqlite.writer_derived import DerivedWrites
from lorebank.storage.sqlite.writer_documents import DocumentWrites
from lorebank.storage.sqlite.writer_operations import OperationWrites


class SqliteWriter(DocumentWrites, ArchiveWrites, OperationWrites, DerivedWrites):
    """A `BankWriter` over one open write transaction."""
