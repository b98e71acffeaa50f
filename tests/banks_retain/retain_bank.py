"""A real bank in a temporary data directory, with what these tests ask of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fixed_rules import FixedRules
from lorebank import clock
from lorebank.access.principal import Principal
from lorebank.access.resolve import Resolver
from lorebank.banks.retain.commit import Commit
from lorebank.banks.retain.items import Item
from lorebank.banks.retain.known import KnownNames
from lorebank.banks.retain.service import Tools, retain
from lorebank.ids import BankId
from lorebank.jobs.kinds import Job
from lorebank.storage.ports import BankHandle, DocumentQuery, MemoryQuery, Page
from lorebank.storage.rows import Chunk, Document, DocumentEvent, Memory, Operation
from lorebank.storage.sqlite.directory import DataDirectory

ALL = Page(100_000)
ROOT = Principal("user", "root")
ACTION = "bank:retain"


class Bank:
    """One bank; `woken` lists which background work was woken."""

    def __init__(self, path: Path, name: str = "team/ä") -> None:
        self.path = path
        self.name = BankId(name)
        self.woken: list[str] = []
        self._open()

    def _open(self) -> None:
        self.directory = DataDirectory.open(self.path)
        self.resolver = Resolver(FixedRules(), self.directory.epoch, self.directory.audit)
        self.banks = self.directory.banks(self.resolver)
        self.tools = Tools(
            banks=self.banks,
            bank_defaults={},
            clock=clock.now,
            vectors=lambda handle: self.woken.append("vectors"),
            jobs=lambda handle: self.woken.append("jobs"),
            known=KnownNames(),
        )
        self.handle: BankHandle = self.banks.create(self._grant(), None, clock.now())

    def _grant(self) -> Any:
        return self.resolver.resolve(ROOT, ACTION, self.name)

    def close(self) -> None:
        """Leave the data directory."""
        self.directory.close()

    def restart(self) -> None:
        """Close the data directory and open it again, as another process would."""
        self.close()
        self._open()

    def configure(self, **settings: Any) -> None:
        """Set overrides of the bank's config."""
        config = {**self.handle.bank.config, **settings}
        self.banks.update(self._grant(), {"config": config}, clock.now())
        self.handle = self.banks.open(self._grant())

    def retain(self, *items: Item) -> None:
        """Retain synchronously."""
        retain(self.handle, self.tools, items)

    def memories(self, state: str | None = "valid", **query: Any) -> list[Memory]:
        """The memories of the bank."""
        with self.handle.read() as reader:
            return list(reader.memories(MemoryQuery(state=state, **query), ALL).rows)

    def count(self) -> int:
        """How many memories there are."""
        with self.handle.read() as reader:
            return reader.memories(MemoryQuery(), Page(1)).total

    def documents(self) -> list[Document]:
        """The documents of the bank."""
        with self.handle.read() as reader:
            return list(reader.documents(DocumentQuery(), ALL).rows)

    def document(self, document_id: str) -> Document | None:
        """One document with its text."""
        with self.handle.read() as reader:
            return reader.document(document_id)

    def chunks(self, document_id: str) -> list[Chunk]:
        """The chunks of a document in order."""
        with self.handle.read() as reader:
            return list(reader.chunks(document_id, ALL).rows)

    def events(self, document_id: str) -> list[DocumentEvent]:
        """The history of a document, newest first."""
        with self.handle.read() as reader:
            return list(reader.document_events(document_id, ALL).rows)

    def operation(self, operation_id: str) -> Operation:
        """An operation with its payload."""
        with self.handle.read() as reader:
            found = reader.operation(operation_id)
        assert found is not None
        return found

    def lease(self) -> Job | None:
        """Take the next operation as a worker does."""
        with self.handle.write() as writer:
            lease = writer.lease_operation(clock.now(), 60.0)
        return None if lease is None else Job(self.handle, lease.operation, lease.token)

    def finish(self, job: Job, result: dict[str, Any]) -> None:
        """End an operation as a worker does."""
        with self.handle.write() as writer:
            assert writer.finish_operation(
                job.operation.id, job.token, "completed", clock.now(), result=result
            )


@contextmanager
def failing_commits(after: int = 0) -> Iterator[None]:
    """Let commits fail where memories would be added, from the one after `after` good ones on."""
    whole = Commit.finish
    calls = 0

    def finish(self: Commit) -> Any:
        nonlocal calls
        calls += 1
        if calls > after:
            raise RuntimeError("the disk is gone")
        return whole(self)

    Commit.finish = finish  # type: ignore[method-assign]
    try:
        yield
    finally:
        Commit.finish = whole  # type: ignore[method-assign]
