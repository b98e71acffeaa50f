"""What the storage tests share: an engine behind the port, grants with filters, and small rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lorebank.access.audit import AuditEvent
from lorebank.access.grant import Grant, Ticket
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.ids import BankId, new_uuid
from lorebank.storage.ports import BankHandle, Banks, Page
from lorebank.storage.rows import Chunk, Document, NewMemory, Operation
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.tags import TagFilter

NOW = 1_790_000_000_000_000
SECOND = 1_000_000
ALL = Page(limit=1000)
ROOT = Principal("user", "root")


@dataclass
class OpenRules:
    """Everything is allowed; `filters` says what a user id may see, `denied` who may do nothing, `own`
    who sees only his own operations, `hidden` which banks a user does not see in lists."""

    filters: dict[str, TagFilter] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    own: set[str] = field(default_factory=set)
    hidden: dict[str, set[str]] = field(default_factory=dict)

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        return Decision(
            principal.id not in self.denied,
            self.filters.get(principal.id),
            own_operations=principal.id in self.own,
        )

    def shows(self, principal: Principal, bank: BankId) -> bool:
        return bank not in self.hidden.get(principal.id, ()) and principal.id not in self.denied


class Unrecorded:
    """An audit log that drops everything; the tests of the real one write to it themselves."""

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        """Nothing."""


@dataclass
class Engine:
    """An opened data directory with its rules. Another engine needs another `open_engine`."""

    directory: DataDirectory
    rules: OpenRules
    resolver: Resolver
    banks: Banks

    def grant(self, bank: str | None, user: str = "root") -> Grant:
        principal = Principal("user", user)
        return self.resolver.resolve(principal, "bank:test", None if bank is None else BankId(bank))

    def bank(self, bank: str = "Team", user: str = "root") -> BankHandle:
        return self.banks.create(self.grant(bank, user), None, NOW)

    def ticket(self) -> Grant:
        return self.resolver.ticket(Ticket.MAINTAIN)


def open_engine(path: Path, **settings: Any) -> Engine:
    directory = DataDirectory.open(path, **settings)
    rules = OpenRules()
    resolver = Resolver(rules, directory.epoch, Unrecorded())
    return Engine(directory, rules, resolver, directory.banks(resolver))


def memory(text: str, **changes: Any) -> NewMemory:
    """A memory with an id of its own."""
    plain = NewMemory(
        id=new_uuid(),
        text=text,
        context="chat",
        fact_type="world",
        terms=" ".join(text.lower().split()),
        tokens=len(text.split()),
    )
    return replace(plain, **changes)


def document(id: str, *, tags: tuple[str, ...] = (), text: str | None = None, at: int = NOW) -> Document:
    """A document whose text is its id where none is given."""
    body = id if text is None else text
    return Document(id, body, len(body), f"hash of {body}", {"k": 1}, {"p": [1]}, tags, None, at, at)


def chunk(id: str, document_id: str, index: int = 0) -> Chunk:
    return Chunk(id, document_id, index, f"text of {id}", f"hash of {id}", 3, NOW)


def operation(type: str = "retain", *, at: int = NOW, **changes: Any) -> Operation:
    plain = Operation(
        id=new_uuid(),
        type=type,
        status="pending",
        items_count=1,
        created_at=at,
        updated_at=at,
        payload={"text": "input"},
        principal=ROOT.to_json(),
    )
    return replace(plain, **changes)


def add(handle: BankHandle, *memories: NewMemory, now: int = NOW) -> list[int]:
    """Write memories with the documents and chunks that they name."""
    with handle.write() as writer:
        for id in {m.document_id for m in memories if m.document_id is not None}:
            if writer.document(id) is None:
                writer.put_document(document(id))
        chunks = {m.chunk_id: m.document_id for m in memories if m.chunk_id is not None}
        writer.put_chunks([chunk(id, doc or "") for id, doc in chunks.items()])
        return list(writer.add_memories(memories, now))


def texts(listing: Any) -> list[str]:
    return [row.text for row in listing.rows]


def as_json(value: Mapping[str, Any] | None) -> dict[str, Any]:
    return dict(value or {})
