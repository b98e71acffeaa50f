"""A real application on a real guard; only the operations behind it are small scripted ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import httpx
import pytest

from lorebank.access.authenticate import StoredKey, digest
from lorebank.access.resolve import Epoch, FixedRules, Resolver
from lorebank.config import Settings
from lorebank.http.app import App, create_app
from lorebank.http.routes.all import BINDINGS
from lorebank.ids import BankId
from lorebank.limits import Limits
from lorebank.metrics import Metrics
from lorebank.service.guard import Call, Guard
from lorebank.service.handlers import health, reasoning
from lorebank.service.operations import Operation, Scope

ROOT, STRANGER = "hc_u_root", "hc_u_stranger"


class TwoKeys:
    """A root key and a key without any right."""

    def active_keys(self) -> Iterable[StoredKey]:
        return (StoredKey("root", digest(ROOT), True), StoredKey("stranger", digest(STRANGER), False))


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
    keys: TwoKeys = field(default_factory=TwoKeys)

    def client(self, key: str | None = ROOT, **headers: str) -> httpx.AsyncClient:
        if key is not None:
            headers["Authorization"] = f"Bearer {key}"
        transport = httpx.ASGITransport(app=self.app)
        return httpx.AsyncClient(transport=transport, base_url="http://localhost:8888", headers=headers)

    async def exact(
        self, method: str, path: str, *, headers: dict[str, str] | None = None, body: Sequence[bytes] = (b"",)
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

        await self.app(scope, receive, send)
        return found


@dataclass
class Exact:
    """What came back, and how many parts of the body were read for it."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    parts_read: int = 0

    def json(self) -> Any:
        return json.loads(self.body)


@pytest.fixture
def make_stage() -> Callable[..., Stage]:
    """Builds a stage: `make_stage(no_auth=…, items=3)`, further names being limits."""

    def make(no_auth: bool = False, host: str = "127.0.0.1", **limits: int) -> Stage:
        settings = Settings(no_auth=no_auth, host=host, limits=Limits(**limits))
        metrics = Metrics()
        context: Any = SimpleNamespace(
            settings=settings, banks=NoBanks(), metrics=metrics, clock=lambda: 5_000_000, started_at=0
        )
        resolver = Resolver(FixedRules(), Epoch())
        stage = Stage.__new__(Stage)

        def scripted(call: Call) -> Any:
            stage.calls.append(call)
            return stage.answer(call)

        operations = {one.name: one for group in (health, reasoning) for one in group.OPERATIONS}
        for binding in BINDINGS:
            in_bank = "{bank_id}" in binding.path or binding.bank_of is not None
            operations.setdefault(
                binding.operation,
                Operation(
                    binding.operation, "bank:test", Scope.BANK_NAME if in_bank else Scope.SERVER, scripted
                ),
            )
        guard = Guard(context, resolver, operations)
        stage.__init__(create_app(guard, TwoKeys(), settings, metrics=metrics), metrics)  # type: ignore[misc]
        return stage

    return make


@pytest.fixture
def stage(make_stage: Callable[..., Stage]) -> Stage:
    """A stage with the default limits and keys required."""
    return make_stage()
