"""Operations on real banks in a temporary directory, called as the transport calls them."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from lorebank import clock
from lorebank.access.principal import Principal
from lorebank.access.resolve import Decision, Resolver
from lorebank.access.rules import PolicyRules
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.banks.transfer import jobs
from lorebank.config import Settings
from lorebank.http.binding import Binding
from lorebank.http.routes.all import BINDINGS
from lorebank.ids import BankId
from lorebank.jobs.kinds import Job
from lorebank.metrics import Metrics
from lorebank.models.service import EmbedService, RerankService
from lorebank.models.workers import WorkerPool
from lorebank.service.answers import FileAnswer
from lorebank.service.context import Access, Context
from lorebank.service.guard import Guard
from lorebank.service.handlers.transfer import transfer_tools
from lorebank.service.requests.base import parse
from lorebank.service.requests.uploads import ArchiveUpload, UploadedFile
from lorebank.service.table import OPERATIONS
from lorebank.storage.ports import BankHandle
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.tags import Leaf, TagFilter

ROOT = Principal("user", "root")
READER = Principal("user", "reader")
"""Sees only what is tagged `public`."""
STRANGER = Principal("user", "stranger")
"""May do nothing."""
PUBLIC: TagFilter = Leaf(("public",), "any_strict")
_BINDINGS: Mapping[str, Binding] = {binding.operation: binding for binding in BINDINGS}
_RUN = {
    "export_bank": jobs.run_export,
    "export_documents": jobs.run_export,
    "import_bank": jobs.run_import_bank,
    "import_documents": jobs.run_import_documents,
    "clone_bank": jobs.run_clone_bank,
}


@dataclass(frozen=True)
class ThreeRules:
    """Everything for root, the public part for the reader, nothing for anybody else."""

    def decide(self, principal: Principal, action: str, bank: BankId | None) -> Decision:
        if principal == ROOT:
            return Decision(True, may_reserve=True, may_replace=True)
        return Decision(principal == READER, PUBLIC)

    def shows(self, principal: Principal, bank: BankId) -> bool:
        return self.decide(principal, "bank:list", bank).allowed


class Quiet:
    """Wakes nothing: tests run jobs themselves."""

    def notify(self, handle: BankHandle) -> None:
        """Nothing to do."""

    def vectors(self, handle: BankHandle) -> None:
        """Nothing to do."""

    def settle(self, handle: BankHandle, timeout_s: float) -> None:
        """Nothing to wait for."""


class Server:
    """Everything between the transport and the files, without models and without threads."""

    def __init__(self, path: Path, **settings: Any) -> None:
        self.directory = DataDirectory.open(path)
        self.resolver = Resolver(ThreeRules(), self.directory.epoch, self.directory.audit)
        self.settings = Settings(data_dir=path, **settings)
        embedders = Embedders(EmbedService(None, cast(WorkerPool, None)))
        self.banks = self.directory.banks(self.resolver)
        self.context = Context(
            settings=self.settings,
            banks=self.banks,
            resolver=self.resolver,
            access=Access(
                self.directory.access, PolicyRules(self.directory.access, root="root"), self.directory.audit
            ),
            indexes=Indexes(embedders, 8),
            embedders=embedders,
            reranker=RerankService(None, cast(WorkerPool, None)),
            work=Quiet(),
            maintenance=cast(Any, None),
            metrics=Metrics(),
            clock=clock.now,
            started_at=clock.now(),
        )
        self.guard = Guard(self.context, self.resolver, OPERATIONS)

    def close(self) -> None:
        """Leave the data directory."""
        self.directory.close()

    def call(
        self,
        operation: str,
        bank_id: str | None = None,
        body: Any = None,
        /,
        *,
        who: Principal = ROOT,
        **params: Any,
    ) -> Any:
        """The answer of an operation; `params` are path and query parameters by their wire names."""
        binding = _BINDINGS[operation]
        limits = self.settings.limits
        if isinstance(body, bytes):
            upload = UploadedFile("bank.zip", "application/zip", len(body), io.BytesIO(body))
            request: Any = ArchiveUpload(upload)
        else:
            request = None if binding.body is None else parse(binding.body, body or {}, limits)
        known = binding.query.model_fields.keys()
        sent = {name: value for name, value in params.items() if name in known}
        path = {name: value for name, value in params.items() if name not in known}
        query = parse(binding.query, sent, limits, "query").params() | path
        if bank_id is None and binding.bank_of is not None:
            bank_id = binding.bank_of(query)
        return self.guard.run(operation, who, bank_id=bank_id, request=request, params=query)

    def retain(self, bank_id: str, *items: str | dict[str, Any]) -> None:
        """Retain texts or whole items."""
        made = [{"content": item} if isinstance(item, str) else item for item in items]
        assert self.call("retain_memories", bank_id, {"items": made})["success"] is True

    def memories(self, bank_id: str, **params: Any) -> list[dict[str, Any]]:
        """The items of the memory listing."""
        items: list[dict[str, Any]] = self.call("list_memories", bank_id, **params)["items"]
        return items

    def handle(self, bank_id: str, who: Principal = ROOT) -> BankHandle:
        """The bank, opened."""
        return self.banks.open(self.resolver.resolve(who, "bank:read", BankId(bank_id)))

    # transfers

    def run_job(self, bank_id: str, who: Principal = ROOT) -> dict[str, Any]:
        """Run the next operation of the bank as a worker does; its result."""
        handle = self.handle(bank_id, who)
        with handle.write() as writer:
            lease = writer.lease_operation(clock.now(), 60.0)
        assert lease is not None
        job = Job(handle, lease.operation, lease.token)
        result = _RUN[lease.operation.type](job, transfer_tools(self.context))
        with handle.write() as writer:
            assert writer.finish_operation(
                lease.operation.id, lease.token, "completed", clock.now(), result=result
            )
        return result

    def export(
        self, bank_id: str, operation: str = "export_bank_transfer", who: Principal = ROOT, **params: Any
    ) -> bytes:
        """The bytes of a finished export."""
        self.call(operation, bank_id, who=who, **params)
        return self.download(self.run_job(bank_id, who)["download_url"], who)

    def download(self, url: str, who: Principal = ROOT) -> bytes:
        """The bytes behind a download address."""
        answer = self.call("download_file", who=who, key=url.removeprefix("/v1/default/files/download/"))
        assert isinstance(answer, FileAnswer)
        data = b"".join(answer.chunks)
        assert answer.size == len(data)
        return data

    def restore(self, archive: bytes, recorded: str, **params: Any) -> dict[str, Any]:
        """Import an archive and run the job."""
        self.call("import_bank_transfer", recorded, archive, **params)
        return self.run_job(recorded)
