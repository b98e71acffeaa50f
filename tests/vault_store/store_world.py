"""Knowledge stores with all their real parts, for tests: registry, facts, resolver, files, git."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from lorebank import clock
from lorebank.access.actions import KNOWLEDGE_RECALL, KNOWLEDGE_SAVE
from lorebank.access.audience import PRIVATE, Audience, Partition
from lorebank.access.audit import AuditEvent
from lorebank.access.knowledge import ConversationGrant
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Epoch, Resolver
from lorebank.access.vault_grant import VaultGrant
from lorebank.access.vault_resolve import VaultResolver
from lorebank.storage.sqlite.knowledge_registry import SqliteKnowledgeRegistry
from lorebank.vaults.assignments.facts import VaultFacts
from lorebank.vaults.record.render import render_record
from lorebank.vaults.store.handle import PartitionHandle
from lorebank.vaults.store.options import Options
from lorebank.vaults.store.values import Draft, FileChange, Receipt, RecordChange, View
from lorebank.vaults.store.vaults import KnowledgeVaults

MOMENT = "2026-11-30T08:00:00Z"
SESSION = "33333333-3333-4333-8333-333333333333"
OTHER = "44444444-4444-4444-8444-444444444444"
KEY = "agent:main:group:7"
LATER = 1 << 60
_OPEN = ("-wal", "-shm")


class _Rules:
    def decide(self, principal: Principal, action: str, bank: str | None) -> Decision:
        return Decision(allowed=True)

    def shows(self, principal: Principal, bank: str) -> bool:
        return False


@dataclass
class _Audit:
    rows: list[AuditEvent] = field(default_factory=list)

    def record(self, event: AuditEvent, durable: bool = True) -> None:
        self.rows.append(event)


def owner(agent: str = "main") -> Audience:
    """The agent's owner speaks with it alone."""
    return Audience(agent, "owner-private", None, None, "run", LATER)


def group(agent: str = "main", session: str = SESSION, key: str = KEY) -> Audience:
    """A conversation of the agent."""
    return Audience(agent, "conversation", key, session, "run", LATER)


class World:
    """One server's stores over one folder."""

    def __init__(self, root: Path, *, watch: bool = True, config: str = "{}", max_open: int = 32) -> None:
        self.root = root
        self.folder = root / "knowledge"
        self.config = root / "knowledge.json5"
        if not self.config.exists():
            self.config.write_text(config)
        self.registry = SqliteKnowledgeRegistry(self.folder)
        self.facts = VaultFacts(self.registry, self.config, Epoch())
        rules: Any = _Rules()
        self.audit = _Audit()
        self.resolver = VaultResolver(self.facts, Resolver(rules, self.facts._epoch, self.audit))
        self.vaults = KnowledgeVaults(
            self.folder, self.registry, self.resolver, options=Options(watch=watch), max_open=max_open
        )

    def close(self) -> None:
        self.vaults.close()
        self.registry.close()

    def configure(self, text: str) -> None:
        """Edit the configuration as a person would."""
        self.config.write_text(text)

    def grant(self, speaks: Audience | None = None, action: str = KNOWLEDGE_SAVE) -> VaultGrant:
        speaks = speaks or owner()
        return self.resolver.resolve(Principal("agent", speaks.agent, audience=speaks), action)

    def open(self, speaks: Audience | None = None, action: str = KNOWLEDGE_SAVE) -> PartitionHandle:
        return self.vaults.open(self.grant(speaks, action))

    def recall(self, speaks: Audience | None = None) -> PartitionHandle:
        return self.open(speaks, KNOWLEDGE_RECALL)

    def let(self, access: Any, key: str = KEY, agent: str = "main") -> None:
        """The owner lets conversations reach the private partition."""
        self.registry.set_grant(ConversationGrant(agent, key, access, "owner", clock.now()))

    def store(self, agent: str = "main") -> Path:
        """The folder of the agent's store."""
        vault = self.facts.data.membership(agent).vault
        assert vault is not None
        return self.folder / "stores" / vault

    def private(self, agent: str = "main") -> Path:
        return self.store(agent) / "vault" / "private"

    def tree(self) -> list[str]:
        """Everything below the knowledge folder's stores, but for what SQLite keeps while a file is
        open, and for the inside of git, whose index is written a little later."""
        found = (
            path
            for path in self.folder.glob("stores/**/*")
            if path.suffix[-4:] not in _OPEN and path.parent.name != ".git" and ".git/" not in str(path)
        )
        return sorted(str(path.relative_to(self.folder)) for path in found)


@contextmanager
def world(root: Path, **more: Any) -> Iterator[World]:
    made = World(root, **more)
    try:
        yield made
    finally:
        made.close()


def made_id(number: int) -> str:
    """A UUID v4 that stays the same."""
    return str(uuid.UUID(bytes=hashlib.sha256(f"store {number}".encode()).digest()[:16], version=4))


def page(
    number: int, title: str, body: str = "", *, revision: int = 1, partition: Partition = PRIVATE, **more: Any
) -> bytes:
    """The bytes of a page."""
    meta: dict[str, Any] = {
        "format": "knowledge-record-v1",
        "id": made_id(number),
        "revision": revision,
        "kind": "page",
        "title": title,
        "recorded_at": MOMENT,
        "updated_at": MOMENT,
        "scope": partition.scope,
        "lifecycle": "active",
        "type": "person",
    }
    return render_record({**meta, **more}, body or f"About {title}.")


def put(folder: Path, path: str, content: bytes) -> Path:
    """Write a file as a person's program would."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(content)
    return target


def saving(
    number: int, title: str, body: str = "", *, path: str | None = None, partition: Partition = PRIVATE
) -> Callable[[View], Draft]:
    """A plan that writes a page, new or over what is there."""
    where = path or f"people/p{number}.md"

    def plan(view: View) -> Draft:
        there = view.entries.get(where)
        revision = 1 if there is None else there.revision + 1
        content = page(number, title, body, revision=revision, partition=partition)
        change = FileChange(where, content, expected=None if there is None else there.sha256)
        record = RecordChange(made_id(number), revision, where, title)
        return Draft((change,), (record,), {"id": made_id(number), "revision": revision})

    return plan


def together(*plans: Callable[[View], Draft]) -> Callable[[View], Draft]:
    """One publication of what several plans write."""

    def plan(view: View) -> Draft:
        drafts = [one(view) for one in plans]
        files = tuple(file for one in drafts for file in one.files)
        records = tuple(record for one in drafts for record in one.records)
        return Draft(files, records, drafts[0].answer)

    return plan


def save(handle: PartitionHandle, number: int, title: str, body: str = "", **more: Any) -> Receipt:
    """Save a page."""
    more.setdefault("partition", handle.grant.partition)
    request = str(uuid.uuid4())
    return handle.publish(request, request, saving(number, title, body, **more))


def titles(handle: PartitionHandle) -> list[str]:
    """The titles of all readable records."""
    with handle.reading() as view:
        return [entry.record.title for entry in view.entries.values() if entry.record is not None]


def changes(handle: PartitionHandle, number: int) -> Sequence[tuple[str, int | None, str | None]]:
    """(change, revision, agent) of a record, newest first."""
    rows = handle.history(made_id(number), before=None, limit=50)
    return [(row.change, row.revision, row.agent) for row in rows]


def sandboxed(speaks: Audience) -> Audience:
    return replace(speaks, sandboxed=True)
