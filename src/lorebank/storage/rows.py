"""The values that storage hands out and takes in: one frozen class a kind of row.

Times are microseconds UTC (`lorebank.clock.Micros`). Tags are sorted and unique.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from lorebank.clock import Micros

FactType = Literal["world", "experience", "observation"]
MemoryState = Literal["valid", "invalidated"]
OperationStatus = Literal["pending", "processing", "completed", "failed", "cancelled"]
LinkType = Literal["semantic", "causal"]


@dataclass(frozen=True, slots=True)
class BankRow:
    """A bank as the registry knows it; `config` holds the bank's overrides only."""

    bank_id: str
    store_id: str
    name: str
    mission: str
    disposition: Mapping[str, int]
    config: Mapping[str, Any]
    created_at: Micros
    updated_at: Micros


@dataclass(frozen=True, slots=True)
class NewMemory:
    """A memory to be written. `document_id` and `chunk_id` name its first source.

    `terms` are the keyword tokens of the searchable text, space-joined; `thread` groups what was
    said together (one conversation), `position` is the place in it (neighbours are one apart),
    `speaker` is who said it, `asks` whether it ends in a question; `entities` are (name, type)
    pairs; `source_keys` are the memories that an observation rests on; `caused_by` are indexes of
    earlier members of the same write.
    """

    id: str
    text: str
    context: str
    fact_type: FactType
    terms: str
    tokens: int
    occurred_start: Micros | None = None
    occurred_end: Micros | None = None
    precision: str | None = None
    mentioned_at: Micros | None = None
    document_id: str | None = None
    chunk_id: str | None = None
    metadata: Mapping[str, str] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    thread: str | None = None
    position: int = 0
    speaker: str | None = None
    asks: bool = False
    entities: tuple[tuple[str, str], ...] = ()
    source_keys: tuple[int, ...] = ()
    caused_by: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """A stored memory. `key` is its small integer inside the store, `id` its public UUID."""

    key: int
    id: str
    text: str
    context: str
    fact_type: FactType
    tokens: int
    occurred_start: Micros | None
    occurred_end: Micros | None
    precision: str | None
    mentioned_at: Micros | None
    document_id: str | None
    chunk_id: str | None
    metadata: Mapping[str, str]
    tags: tuple[str, ...]
    thread: str | None
    position: int
    proof_count: int
    state: MemoryState
    invalidation_reason: str | None
    invalidated_at: Micros | None
    edited_at: Micros | None
    created_at: Micros
    updated_at: Micros
    entities: tuple[str, ...]
    source_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory with all that is stored for it, as archives hold it.

    `sources` are (document id, chunk id) pairs, the first one first; `entity_ids` are in order of
    mention; `history` is newest first.
    """

    memory: Memory
    terms: str
    speaker: str | None
    asks: bool
    sources: tuple[tuple[str | None, str | None], ...]
    entity_ids: tuple[str, ...]
    history: tuple[MemoryVersion, ...]


@dataclass(frozen=True, slots=True)
class Derived:
    """What is derived from a memory's text by rule, without a model; `text` is what it was made from."""

    key: int
    text: str
    terms: str
    tokens: int
    speaker: str | None
    asks: bool


class IndexRow(NamedTuple):
    """What the search index needs of one memory; `valid` is False for invalidated ones.

    A tuple, because a large bank makes 100,000 of them at once: a fifth of the time of a dataclass.
    """

    key: int
    seq: int
    fact_type: FactType
    tags: tuple[str, ...]
    terms: str
    occurred_start: Micros | None
    occurred_end: Micros | None
    precision: str | None
    mentioned_at: Micros | None
    proof_count: int
    tokens: int
    thread: str | None
    position: int
    speaker: str | None
    asks: bool
    entities: tuple[int, ...]
    sources: tuple[int, ...]
    valid: bool


@dataclass(frozen=True, slots=True)
class Link:
    """A directed link between two memories; `weight` in 0..1."""

    source: int
    target: int
    type: LinkType
    weight: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """A stored piece of a document; `hash` is the SHA-256 of its text in hex."""

    chunk_id: str
    document_id: str
    chunk_index: int
    text: str
    hash: str
    tokens: int
    created_at: Micros


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. `text` is None where the bank does not keep document text."""

    id: str
    text: str | None
    text_length: int
    content_hash: str
    metadata: Mapping[str, Any]
    retain_params: Mapping[str, Any]
    tags: tuple[str, ...]
    observation_scopes: Any
    created_at: Micros
    updated_at: Micros
    memory_count: int = 0


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """One entry of a document's history; `kind` as the wire names it (retain, append, retag, …)."""

    document_id: str
    kind: str
    at: Micros
    operation_id: str | None = None
    fact_id: str | None = None
    facts_added: int = 0
    facts_removed: int = 0


@dataclass(frozen=True, slots=True)
class Entity:
    """An entity of a bank; `mention_count` counts the memories that name it and are visible."""

    key: int
    id: str
    name: str
    type: str
    mention_count: int
    first_seen: Micros | None
    last_seen: Micros | None


@dataclass(frozen=True, slots=True)
class MemoryVersion:
    """What a memory was before a change; `change` says what happened (edited, invalidated, …)."""

    at: Micros
    change: str
    before: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Operation:
    """A job and its state. `payload` is the input, dropped when the operation ends well."""

    id: str
    type: str
    status: OperationStatus
    items_count: int
    created_at: Micros
    updated_at: Micros
    completed_at: Micros | None = None
    document_id: str | None = None
    filename: str | None = None
    parent_id: str | None = None
    error: str | None = None
    retry_count: int = 0
    next_retry_at: Micros | None = None
    stage: str | None = None
    processed: int | None = None
    total: int | None = None
    result: Mapping[str, Any] | None = None
    payload: Mapping[str, Any] | None = None
    principal: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to work on an operation until `until`; `token` fences off a holder that lost it."""

    operation: Operation
    token: int
    until: Micros
