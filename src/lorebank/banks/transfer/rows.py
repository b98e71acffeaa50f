"""The content of a bank as a stream of rows: what archives and banks have in common."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol, TypeVar

from lorebank.storage.rows import Chunk, Document, DocumentEvent, Entity, LinkType, StoredMemory

BATCH = 500
"""Rows that are written together."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A link between two memories by their public ids."""

    source: str
    target: str
    type: LinkType
    weight: float


@dataclass(frozen=True, slots=True)
class VectorRow:
    """The vector of a memory (public id) as float16, little-endian."""

    memory_id: str
    data: bytes


class Rows(Protocol):
    """Each method is called once, in the order in which they stand here."""

    @property
    def bank_id(self) -> str:
        """The bank that the rows come from: their chunk ids start with its name."""

    def documents(self) -> Iterator[Document]:
        """Documents with their text."""

    def chunks(self) -> Iterator[Chunk]:
        """The chunks of these documents."""

    def events(self) -> Iterator[DocumentEvent]:
        """The history of these documents."""

    def entities(self) -> Iterator[Entity]:
        """The entities that the memories name."""

    def memories(self) -> Iterator[StoredMemory]:
        """Memories, observations after the memories that they rest on."""

    def links(self) -> Iterator[LinkRow]:
        """Links among these memories."""

    def vector_model(self) -> str | None:
        """The model that the vectors come from, None when there are none."""

    def vectors(self) -> Iterator[VectorRow]:
        """Vectors of these memories, all of one width."""


def batches(rows: Iterable[T], size: int) -> Iterator[list[T]]:
    """Lists of at most `size` rows."""
    iterator = iter(rows)
    while batch := list(islice(iterator, size)):
        yield batch
