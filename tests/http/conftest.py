"""A real application on a real guard; only the operations behind it are small scripted ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast
from urllib.parse import unquote

import httpx
import pytest

from fixed_rules import FixedRules
from lorebank.access.audit import AuditEvent
from lorebank.access.authenticate import Authenticator
from lorebank.access.gateway_token import TokenRules
from lorebank.access.resolve import Epoch, Resolver, Rules
from lorebank.banks.embedders import Embedders
from lorebank.config import Settings
from lorebank.errors import Unavailable
from lorebank.http.app import App, create_app
from lorebank.http.binding import Binding
from lorebank.http.routes.all import BINDINGS
from lorebank.ids import BankId
from lorebank.limits import Limits
from lorebank.metrics import Metrics
from lorebank.models.service import EmbedService
from lorebank.models.workers import WorkerPool
from lorebank.service.guard import Call, Guard
from lorebank.service.handlers import health, reasoning
from lorebank.service.operations import Operation, Scope
from small_directory import SmallDirectory

ROOT, STRANGER = "hc_u_root", "hc_u_stranger"


def two_keys() -> SmallDirectory:
    """A root key and a key without any right."""
    directory = SmallDirectory()
    for user, key in (("root", ROOT), ("stranger", STRANGER)):
        directory.put_user(user)
        directory.put_key(key, user, key_id=f"{user}-key")
    return directory


@dataclass
class Written:
    """An audit log that keeps its events."""

    events: list[AuditEvent] = field(default_factory=list)
    broken: bool = False

    def record(self, event: AuditEvent, *, durable: bool) -> None:
        if self.broken:
            raise Unavailable("the disk is full")
        self.events.append(event)

    def refused(self) -> list[AuditEvent]:
        return [one for one in self.events if one.outcome == "unauthenticated"]


class NoBanks:
    """Names only: no alias, nothing to open."""

    def canonical(self, bank_id: str) -> BankId:
        return BankId(bank_id)


@dataclass
class Stage:
    """An application whose operations note their calls and answer what the test says."""

    app: App
    metrics: Metrics
    calls: list[Call] = field(default_factory=list)
    answer: Callable[[Call], Any] = lambda call: {"done": True}
    directory: SmallDirectory = field(default_factory=two_keys)
    rules: Rules = field(default_factory=FixedRules)
    epoch: Epoch = field(default_factory=Epoch)
    written: Written = field(default_factory=Written)

    def client(self, key: str | None = ROOT, **headers: str) -> httpx.AsyncClient:
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        transport = httpx.ASGITransport(app=self.app)
        return httpx.AsyncClient(transport=transport, base_url="http://localhost:8888", headers=headers)

    async def exact(
        self,
        method: str,
        path: str,
        *,
        headers: dict[str, str] | None = None,
        body: Sequence[bytes] = (b"",),
        more: dict[str, Any] | None = None,
    ) -> Exact:
        """A request whose path, headers and body parts reach the server byte for byte."""
        given = {"host": "localhost", "authorization": f"Bearer {ROOT}"} | (headers or {})
        raw, _, query = path.encode("ascii").partition(b"?")
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(raw.decode("ascii"), errors="replace"),
            "raw_path": raw,
            "query_string": query,
            "headers": [(k.lower().encode(), v.encode("latin-1")) for k, v in given.items() if v],
            **(more or {}),
        }
        found = Exact()
        parts = iter([*body])
        left = len(body)

        async def receive() -> dict[str, Any]:
            nonlocal left
            left -= 1
            found.parts_read += 1
            return {"type": "http.request", "body": next(parts), "more_body": left > 0}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found.status = message["status"]
                found.headers = {k.decode(): v.decode("latin-1") for k, v in message["headers"]}
            else:
                found.body += message.get("body", b"")
                found.ended = not message.get("more_body", False)

        await self.app(scope, receive, send)
        return found


@dataclass
class Exact:
    """What came back, and how many parts of the body were read for it."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    parts_read: int = 0
    ended: bool = False

    def json(self) -> Any:
        return json.loads(self.body)


@pytest.fixture
def make_stage() -> Callable[..., Stage]:
    """Builds a stage: `make_stage(no_auth=…, tokens=…, items=3)`, further names being limits."""

    def make(
        no_auth: bool = False,
        host: str = "127.0.0.1",
        tokens: TokenRules = TokenRules(),  # noqa: B008 - a frozen value
        bindings: tuple[Binding, ...] = BINDINGS,
        rules: Rules | None = None,
        **limits: int,
    ) -> Stage:
        settings = Settings(no_auth=no_auth, host=host, limits=Limits(**limits))
        metrics = Metrics()
        context: Any = SimpleNamespace(
            settings=settings,
            banks=NoBanks(),
            embedders=Embedders(EmbedService(None, cast(WorkerPool, None))),
            metrics=metrics,
            clock=lambda: 5_000_000,
            started_at=0,
        )
        stage = Stage(None, metrics, rules=rules or FixedRules())  # type: ignore[arg-type]
        resolver = Resolver(stage.rules, stage.epoch, stage.written)

        def scripted(call: Call) -> Any:
            stage.calls.append(call)
            return stage.answer(call)

        operations = {one.name: one for group in (health, reasoning) for one in group.OPERATIONS}
        for binding in bindings:
            in_bank = "{bank_id}" in binding.path or binding.bank_of is not None
            operations.setdefault(
                binding.operation,
                Operation(
                    binding.operation, "bank:test", Scope.BANK_NAME if in_bank else Scope.SERVER, scripted
                ),
            )
        guard = Guard(context, resolver, operations)
        authenticator = Authenticator(stage.directory, tokens)
        stage.app = create_app(guard, authenticator, settings, metrics=metrics, bindings=bindings)
        return stage

    return make


@pytest.fixture
def stage(make_stage: Callable[..., Stage]) -> Stage:
    """A stage with the default limits and keys required."""
    return make_stage()
