"""A server with real rules: users with policies, banks in a temporary directory, no models, no threads."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lorebank import clock
from lorebank.access.audit import AuditQuery
from lorebank.access.directory import Attachment, Policy, ServiceAccount, User, nothing_more
from lorebank.access.principal import Circumstances, Principal, principal_from_json
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.banks import files
from lorebank.banks.embedders import Embedders
from lorebank.banks.indexes import Indexes
from lorebank.banks.retain import reprocess, work
from lorebank.banks.transfer import jobs
from lorebank.config import Settings
from lorebank.errors import LorebankError
from lorebank.http.routes.all import BINDINGS
from lorebank.ids import BankId
from lorebank.jobs.kinds import Job
from lorebank.metrics import Metrics
from lorebank.models.parse import FileParser
from lorebank.models.service import EmbedService, RerankService
from lorebank.models.workers import WorkerPool
from lorebank.service.answers import FileAnswer
from lorebank.service.context import Access, Context
from lorebank.service.guard import Guard
from lorebank.service.handlers.retain import retain_tools
from lorebank.service.handlers.transfer import transfer_tools
from lorebank.service.requests.base import parse
from lorebank.service.requests.retain import FileMetadata, FileRetainOptions
from lorebank.service.requests.uploads import ArchiveUpload, FileRetain, UploadedFile
from lorebank.service.table import OPERATIONS
from lorebank.storage.ports import BankHandle, Page
from lorebank.storage.sqlite.directory import DataDirectory

ROOT = Principal("user", "root")
_BINDINGS = {binding.operation: binding for binding in BINDINGS}
Statement = Mapping[str, Any]


class Quiet:
    """Wakes nothing: tests run jobs themselves."""

    def notify(self, handle: BankHandle) -> None:
        """Nothing to do."""

    def vectors(self, handle: BankHandle) -> None:
        """Nothing to do."""

    def settle(self, handle: BankHandle, timeout_s: float) -> None:
        """Nothing to wait for."""


def allow(*actions: str, banks: Sequence[str] = ("*",), **parameters: Any) -> Statement:
    """A statement."""
    return {"effect": "allow", "actions": list(actions), "banks": list(banks), **parameters}


class House:
    """Everything between the transport and the files. `root` may do everything."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._open()

    def _open(self) -> None:
        self.directory = DataDirectory.open(self.path)
        self.directory.ensure_root("root", "hc_u_" + "a" * 32)
        self.rules = PolicyRules(self.directory.access, root="root")
        self.resolver = Resolver(self.rules, self.directory.epoch, self.directory.audit)
        self.banks = self.directory.banks(self.resolver)
        embedders = Embedders(EmbedService(None, cast(WorkerPool, None)))
        self.context = Context(
            settings=Settings(data_dir=self.path),
            banks=self.banks,
            resolver=self.resolver,
            access=Access(self.directory.access, self.rules, self.directory.audit),
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

    def restart(self) -> None:
        """Another process on the same directory."""
        self.close()
        self._open()

    # people

    def user(self, name: str, *statements: Statement, **claims: str) -> Principal:
        """A user with exactly these rights; known ones get them instead of what they had."""
        document = {"version": "2026-03-24", "statements": list(statements)}
        with self.directory.access.change(nothing_more) as writer:
            writer.put_user(User(name, name), clock.now())
            writer.put_policy(Policy(f"of-{name}", name, json.dumps(document)), clock.now())
            writer.put_attachment(Attachment(f"of-{name}", "user", name))
        return Principal("user", name, Circumstances(**claims), by_token=bool(claims))

    def robot(self, name: str, owner: str) -> Principal:
        """A service account with all that its owner has."""
        with self.directory.access.change(nothing_more) as writer:
            writer.add_service_account(ServiceAccount(name, owner, name), clock.now())
        return Principal("service_account", name)

    # operations

    def call(
        self,
        operation: str,
        bank_id: str | None = None,
        body: Any = None,
        /,
        *,
        who: Principal,
        **params: Any,
    ) -> Any:
        """The answer of an operation; `params` are path and query parameters by their wire names."""
        binding = _BINDINGS[operation]
        limits = self.context.settings.limits
        if isinstance(body, bytes):
            request: Any = ArchiveUpload(
                UploadedFile("bank.zip", "application/zip", len(body), io.BytesIO(body))
            )
        elif isinstance(body, FileRetain) or binding.body is None:
            request = body
        else:
            request = parse(binding.body, body or {}, limits)
        known = binding.query.model_fields.keys()
        sent = {name: value for name, value in params.items() if name in known}
        path = {name: value for name, value in params.items() if name not in known}
        query = parse(binding.query, sent, limits, "query").params() | path
        if bank_id is None and binding.bank_of is not None:
            bank_id = binding.bank_of(query)
        return self.guard.run(operation, who, bank_id=bank_id, request=request, params=query)

    def retain(self, bank_id: str, *items: str | Mapping[str, Any], who: Principal, **more: Any) -> Any:
        """Retain texts or whole items."""
        made = [{"content": item} if isinstance(item, str) else item for item in items]
        return self.call("retain_memories", bank_id, {"items": made, **more}, who=who)

    def send_file(self, bank_id: str, text: str, *, who: Principal, **metadata: Any) -> list[str]:
        """Retain a text file; the operations' ids."""
        data = text.encode()
        limits = self.context.settings.limits
        request = FileRetain(
            (UploadedFile("notes.txt", "text/plain", len(data), io.BytesIO(data)),),
            (parse(FileMetadata, metadata, limits),),
            FileRetainOptions(),
        )
        ids: list[str] = self.call("file_retain", bank_id, request, who=who)["operation_ids"]
        return ids

    def memories(self, bank_id: str, who: Principal = ROOT, **params: Any) -> list[dict[str, Any]]:
        """The items of the memory listing, oldest first."""
        listed = self.call("list_memories", bank_id, who=who, limit=1000, **params)
        items: list[dict[str, Any]] = listed["items"]
        return items[::-1]

    def texts(self, bank_id: str, who: Principal = ROOT) -> list[str]:
        """The texts of all memories, oldest first."""
        return [memory["text"] for memory in self.memories(bank_id, who)]

    def documents(self, bank_id: str, who: Principal = ROOT) -> dict[str, dict[str, Any]]:
        """Every document with its text, by id."""
        listed = self.call("list_documents", bank_id, who=who, limit=1000)["items"]
        return {d["id"]: self.call("get_document", bank_id, who=who, document_id=d["id"]) for d in listed}

    def operation(self, bank_id: str, operation_id: str, who: Principal = ROOT) -> dict[str, Any]:
        """An operation's state."""
        found: dict[str, Any] = self.call(
            "get_operation_status", bank_id, who=who, operation_id=operation_id, include_payload=True
        )
        return found

    def recall(self, bank_id: str, query: str, *, who: Principal, **more: Any) -> dict[str, Any]:
        """RecallResponse."""
        answer: dict[str, Any] = self.call("recall_memories", bank_id, {"query": query, **more}, who=who)
        return answer

    def download(self, url: str, who: Principal) -> bytes:
        """The bytes behind a download address."""
        answer = self.call("download_file", who=who, key=url.removeprefix("/v1/default/files/download/"))
        assert isinstance(answer, FileAnswer)
        return b"".join(answer.chunks)

    def audited(self) -> int:
        """How many rows the audit log has."""
        return self.directory.audit.rows(AuditQuery(), Page(1)).total

    # jobs

    def run_jobs(self, bank_id: str, most: int = 100) -> list[str]:
        """Run what waits as a worker does, with the rights of this moment; how each one ended."""
        ended = []
        for _ in range(most):
            handle = self.banks.open(self.resolver.resolve(ROOT, "bank:read", BankId(bank_id)))
            with handle.write() as writer:
                lease = writer.lease_operation(clock.now(), 60.0)
            if lease is None:
                break
            action, run = self._kinds()[lease.operation.type]
            status, result, error = "completed", None, None
            try:
                principal = principal_from_json(lease.operation.principal)
                own = self.banks.open(self.resolver.resolve(principal, action, BankId(bank_id)))
                result = run(Job(own, lease.operation, lease.token))
            except LorebankError as exc:
                status, error = "failed", exc.message
            with handle.write() as writer:
                writer.finish_operation(
                    lease.operation.id,
                    lease.token,
                    cast(Any, status),
                    clock.now(),
                    result=result,
                    error=error,
                )
            ended.append(status if error is None else error)
        return ended

    def _kinds(self) -> dict[str, tuple[str, Callable[[Job], dict[str, Any]]]]:
        tools, moving = retain_tools(self.context), transfer_tools(self.context)
        return {
            "retain": ("bank:retain", lambda job: work.run_retain(job, tools)),
            "file_convert_retain": ("bank:retain", lambda job: files.run_file(job, tools, FileParser())),
            "reprocess_document": ("bank:documents:update", lambda job: reprocess.run_reprocess(job, tools)),
            "export_bank": ("bank:export", lambda job: jobs.run_export(job, moving)),
            "export_documents": ("bank:export", lambda job: jobs.run_export(job, moving)),
            "import_bank": ("bank:import", lambda job: jobs.run_import_bank(job, moving)),
            "import_documents": ("bank:import", lambda job: jobs.run_import_documents(job, moving)),
            "clone_bank": ("bank:clone", lambda job: jobs.run_clone_bank(job, moving)),
        }


def block(role: str, text: str) -> str:
    """A turn as the gateway writes it."""
    return f"[role: {role}]\n{text}\n[{role}:end]"


def talk(*turns: tuple[str, str]) -> str:
    """A conversation as the gateway sends it."""
    return "\n\n".join(block(role, text) for role, text in turns)
