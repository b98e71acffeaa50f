"""The real application on a real socket in this process, whose answers can be held back once made."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import uvicorn
from changes import SECRET
from wire_knowledge import AUDIENCE_SECRET

from lorebank.access.authenticate import Authenticator
from lorebank.access.gateway_token import TokenRules
from lorebank.bootstrap.build import build, open_directory
from lorebank.config import Settings
from lorebank.errors import LorebankError
from lorebank.http.app import create_app
from lorebank.metrics import Metrics
from lorebank.service.answers import FileAnswer
from lorebank.service.context import Context
from lorebank.service.guard import Call, Guard
from lorebank.service.operations import Operation
from lorebank.service.table import OPERATIONS

WAIT_S = 30.0
PIECE = 512


@dataclass
class Gate:
    """Holds the answers of one operation between their making and their sending, while `operation` is set.

    `made` is set when an answer is there (of a file: when a part of it was handed out); it leaves when
    `go` is set. With `early` the work itself waits, after the caller was let in.
    """

    operation: str = ""
    early: bool = False
    made: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def close_for(self, operation: str, *, early: bool = False) -> None:
        self.made.clear()
        self.go.clear()
        self.early = early
        self.operation = operation

    def open(self) -> None:
        self.operation = ""
        self.go.set()

    def hold(self) -> None:
        self.made.set()
        assert self.go.wait(WAIT_S), "nobody opened the gate"

    def held(self, operation: Operation) -> Operation:
        """The operation with its handler behind the gate."""

        def handler(call: Call) -> Any:
            closed = self.operation == operation.name
            if closed and self.early:
                self.hold()
                return operation.handler(call)
            try:
                result = operation.handler(call)
            except LorebankError:
                if closed:
                    self.hold()
                raise
            if not closed:
                return result
            if isinstance(result, FileAnswer):
                return replace(result, chunks=self._parts(result.chunks))
            self.hold()
            return result

        return replace(operation, handler=handler)

    def _parts(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        """The same bytes in small parts; the gate is behind the first."""
        whole = b"".join(chunks)
        yield whole[:PIECE]
        self.hold()
        for start in range(PIECE, len(whole), PIECE):
            yield whole[start : start + PIECE]


@dataclass(frozen=True)
class Held:
    """A running application: its port, its root key, its gate."""

    port: int
    key: str
    gate: Gate
    work: Callable[[], None]
    """Begin the background work, where the server was made without."""
    context: Context


@contextmanager
def held_server(path: Path, *, working: bool = True) -> Iterator[Held]:
    """Serve a new data directory until the block ends; jobs run once there is background work."""
    settings = Settings(data_dir=path, embedder="none", reranker="none")
    directory, key = open_directory(settings, "")
    gate = Gate()
    with directory:
        server = build(directory, settings)
        context = server.context
        operations: Mapping[str, Operation] = {name: gate.held(one) for name, one in OPERATIONS.items()}
        guard = Guard(context, context.resolver, operations)
        authenticator = Authenticator(
            context.access.store, TokenRules(secrets=(SECRET,)), TokenRules(secrets=(AUDIENCE_SECRET,))
        )
        app = create_app(guard, authenticator, settings, metrics=Metrics())
        listener = socket.create_server(("127.0.0.1", 0))
        runner = uvicorn.Server(uvicorn.Config(app, access_log=False, log_config=None, lifespan="off"))
        thread = threading.Thread(target=runner.run, kwargs={"sockets": [listener]})
        if working:
            server.start()
        thread.start()
        try:
            yield Held(listener.getsockname()[1], key, gate, server.start, context)
        finally:
            gate.go.set()
            runner.should_exit = True
            thread.join(WAIT_S)
            server.stop()
