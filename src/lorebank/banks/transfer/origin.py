"""Rows from elsewhere must not bring marks of origin that their bearer could not set himself."""

from __future__ import annotations

from collections.abc import Iterator

from lorebank.access.grant import Grant
from lorebank.banks.reserved import forged, scope_tags
from lorebank.banks.transfer.format import bad
from lorebank.banks.transfer.rows import LinkRow, Rows, VectorRow
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, StoredMemory


class Honest:
    """Rows (`rows.Rows`) of which the first with a tag that `grant` may not set raises `BadRequest`."""

    def __init__(self, rows: Rows, grant: Grant) -> None:
        self._rows = rows
        self._grant = grant

    @property
    def bank_id(self) -> str:
        """The bank that the rows come from."""
        return self._rows.bank_id

    def documents(self) -> Iterator[Document]:
        """Documents whose tags may be set."""
        for row in self._rows.documents():
            self._check("a document", (*row.tags, *scope_tags(row.observation_scopes)))
            yield row

    def chunks(self) -> Iterator[Chunk]:
        """As they are."""
        return self._rows.chunks()

    def events(self) -> Iterator[DocumentEvent]:
        """As they are."""
        return self._rows.events()

    def entities(self) -> Iterator[Entity]:
        """As they are."""
        return self._rows.entities()

    def memories(self) -> Iterator[StoredMemory]:
        """Memories whose tags may be set."""
        for stored in self._rows.memories():
            self._check("a memory", stored.memory.tags)
            yield stored

    def links(self) -> Iterator[LinkRow]:
        """As they are."""
        return self._rows.links()

    def vector_model(self) -> str | None:
        """As it is."""
        return self._rows.vector_model()

    def vectors(self) -> Iterator[VectorRow]:
        """As they are."""
        return self._rows.vectors()

    def _check(self, what: str, tags: tuple[str, ...]) -> None:
        tag = forged(self._grant, tags)
        if tag is not None:
            raise bad(
                f"{what} has the reserved tag '{tag[:200]}'; only a caller who has bank:tags:reserved "
                "on the bank that is filled may bring tags that begin with user: or agent:"
            )
