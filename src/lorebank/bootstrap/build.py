"""One opened data directory, put together into a server that answers."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio

from lorebank import clock
from lorebank.access.authenticate import Authenticator
from lorebank.access.resolve import Resolver
from lorebank.access.rules import PolicyRules
from lorebank.access.signed_token import TokenRules
from lorebank.banks.config import check_server_defaults
from lorebank.banks.indexes import Indexes
from lorebank.banks.vectors import VectorBuilder
from lorebank.bootstrap.jobs import build_worker
from lorebank.bootstrap.knowledge import Shelf, audience_rules, build_knowledge
from lorebank.bootstrap.models import Models, build_models
from lorebank.bootstrap.retention import Retention
from lorebank.config import Settings
from lorebank.http.app import App, create_app
from lorebank.jobs.worker import Worker
from lorebank.metrics import Metrics
from lorebank.models.service import EmbedderSource
from lorebank.service.context import Access, Context
from lorebank.service.guard import Guard
from lorebank.service.table import OPERATIONS
from lorebank.service.upkeep import Upkeep
from lorebank.storage.ports import BankHandle
from lorebank.storage.sqlite.directory import DataDirectory
from lorebank.storage.sqlite.files import plain_text
from lorebank.storage.sqlite.root_key import ROOT_KEY_FILE

log = logging.getLogger(__name__)
_DRAIN_S = 5.0
_SAFE_KEY_CHARS = 16


@dataclass(frozen=True, slots=True)
class Work:
    """Wakes the background work of one server (`service.context.Notifier`)."""

    worker: Worker
    builder: VectorBuilder

    def notify(self, handle: BankHandle) -> None:
        """The bank has operations to run."""
        self.worker.notify(handle)

    def vectors(self, handle: BankHandle) -> None:
        """The bank has memories without vectors."""
        self.builder.notify(handle)

    def settle(self, handle: BankHandle, timeout_s: float) -> None:
        """Wait a moment for the bank's vectors."""
        self.builder.settle(handle, timeout_s)


@dataclass(frozen=True, slots=True)
class Server:
    """Everything that runs for one data directory."""

    app: App
    context: Context
    models: Models
    builder: VectorBuilder
    worker: Worker
    retention: Retention
    shelf: Shelf

    def start(self) -> None:
        """Begin the background work; nothing of it is awaited."""
        self.models.embedders.target.start()
        self.builder.start()
        self.worker.start()
        self.retention.start()
        self.shelf.start()

    def stop(self, drain_s: float = 0.0) -> None:
        """End the background work in order; vectors get `drain_s` seconds to be completed first."""
        if drain_s:
            self.builder.drain(drain_s)
            self.shelf.drain(drain_s)
        self.retention.close()
        self.shelf.close()
        self.worker.close()
        self.context.tasks.close()
        self.builder.close()
        self.models.close()


def build(
    directory: DataDirectory,
    settings: Settings,
    *,
    embedder: EmbedderSource | None = None,
    on_start: Callable[[], None] | None = None,
    drain_s: float = 0.0,
) -> Server:
    """The server on an opened directory. Its background work runs while its app's lifespan does.

    `embedder` stands in for the local one; `on_start` is called when requests are answered.
    """
    check_server_defaults(settings.bank_defaults, settings.limits)
    models = build_models(settings, embedder)
    rules = PolicyRules(directory.access, root=settings.root_user, token_admin=settings.token_admin)
    resolver = Resolver(rules, directory.epoch, directory.audit)
    banks = directory.banks(resolver)
    indexes = Indexes(models.embedders, settings.open_stores)
    builder = VectorBuilder(banks, resolver, models.embedders)
    metrics = Metrics()
    worker = build_worker(settings, banks, resolver, builder, models, metrics)
    shelf = build_knowledge(settings, directory.epoch, resolver, models.embedders)
    context = Context(
        settings=settings,
        banks=banks,
        resolver=resolver,
        access=Access(directory.access, rules, directory.audit),
        indexes=indexes,
        embedders=models.embedders,
        reranker=models.reranker,
        work=Work(worker, builder),
        maintenance=Upkeep(directory, banks, resolver, models.embedders, indexes, builder, shelf.care),
        metrics=metrics,
        clock=clock.now,
        started_at=clock.now(),
        knowledge_or_none=shelf.knowledge,
    )
    made: list[Server] = []

    @asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        server = made[0]
        server.start()
        if on_start is not None:
            on_start()
        try:
            yield
        finally:
            await anyio.to_thread.run_sync(server.stop, drain_s)

    guard = Guard(context, resolver, OPERATIONS)
    tokens = TokenRules(settings.token_secrets, settings.token_lifetime, settings.token_leeway)
    authenticator = Authenticator(directory.access, tokens, audience_rules(settings))
    app = create_app(guard, authenticator, settings, metrics=metrics, lifespan=lifespan)
    retention = Retention(directory.audit, settings.audit_days)
    made.append(Server(app, context, models, builder, worker, retention, shelf))
    _gauges(metrics, context, directory)
    return made[0]


def open_directory(settings: Settings, address: str) -> tuple[DataDirectory, str]:
    """The opened data directory and its root key (empty where only its digest is known)."""
    directory = DataDirectory.open(settings.data_dir, address=address, max_open_stores=settings.open_stores)
    try:
        directory.ensure_root(settings.root_user, settings.root_api_key or None)
    except BaseException:
        directory.close()
        raise
    for warning in (*directory.warnings, *_root_warnings(directory, settings)):
        log.warning("%s", warning)
    return directory, settings.root_api_key or read_root_key(settings.data_dir)


def _root_warnings(directory: DataDirectory, settings: Settings) -> Iterator[str]:
    root = directory.access.data.users.get(settings.root_user)
    if root is not None and not root.is_active:
        yield (
            f"the root user '{settings.root_user}' is disabled, so that its key opens nothing; "
            "stop the server and run 'lorebank access user enable' with its name"
        )
    if 0 < len(settings.root_api_key) < _SAFE_KEY_CHARS:
        yield (
            f"the root key has fewer than {_SAFE_KEY_CHARS} characters and may be guessed; "
            "leave it out, and lorebank makes one"
        )


def read_root_key(data_dir: Path) -> str:
    """The root key that the first start wrote; empty when there is none to read."""
    return (plain_text(data_dir / ROOT_KEY_FILE) or "").strip()


def _gauges(metrics: Metrics, context: Context, directory: DataDirectory) -> None:
    models: Mapping[str, Any] = {"embedder": context.embedders.target, "reranker": context.reranker}

    def ready() -> Mapping[str, float]:
        return {name: float(model.status.state == "ready") for name, model in models.items()}

    metrics.gauge("lorebank_model_ready", "1 while the model is loaded.", ready, "model")
    metrics.gauge("lorebank_open_stores", "Stores that are open.", directory.open_stores)
    metrics.gauge("process_resident_memory_bytes", "Resident memory of the process.", _resident)


def _resident() -> float:
    try:
        with open("/proc/self/status", encoding="ascii") as status:
            lines = [line for line in status if line.startswith("VmRSS")]
        return float(lines[0].split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return 0.0
