"""The reader: all its parts in one class."""

from __future__ import annotations

from lorebank.storage.sqlite.reader_archive import ArchiveReads
from lorebank.storage.sqlite.reader_derived import DerivedReads
from lorebank.storage.sqlite.reader_documents import DocumentReads
from lorebank.storage.sqlite.reader_entities import EntityReads
from lorebank.storage.sqlite.reader_operations import OperationReads


class SqliteReader(EntityReads, ArchiveReads, DocumentReads, OperationReads, DerivedReads):
    """A `BankReader` over one open transaction."""

    def pragma(self, name: str) -> list[str]:
        """The first column of a checking pragma."""
        return [str(row[0]) for row in self._db.execute(f"PRAGMA {name}")]

    def number(self, statement: str) -> int:
        """The single number that a statement returns."""
        return self._number(statement)
