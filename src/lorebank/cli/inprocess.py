"""The HTTP application without a socket: used when no server owns the data directory.

The application runs on an event loop in a thread of its own, as it would in a server, so its
background work goes on while the command line waits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any, TypeVar
from urllib.parse import unquote

from lorebank.cli.hooks import AsgiApp
from lorebank.cli.wire import TIMEOUT_SECONDS, Request, Response
from lorebank.errors import Unavailable

T = TypeVar("T")
Message = MutableMapping[str, Any]
STOP_SECONDS = 120.0
PATIENCE_SECONDS = 2.0
FINISHING = "finishing what was begun; Ctrl-C leaves the rest to the next start"


class InProcess:
    """A `Transport` to an ASGI application whose lifespan has begun."""

    def __init__(self, app: AsgiApp, loop: asyncio.AbstractEventLoop) -> None:
        self._app = app
        self._loop = loop

    def send(self, request: Request) -> Response:
        """The application's response; `Unavailable` when it takes longer than a server may."""
        return _wait(self._loop, asyncio.wait_for(_call(self._app, request), TIMEOUT_SECONDS))

    def close(self) -> None:
        """Nothing is held between requests."""


@contextmanager
def running(app: AsgiApp, note: Callable[[str], None] = lambda _: None) -> Iterator[InProcess]:
    """The application started, on its own loop; it is shut down in order at the end.

    `note` is told when the end takes long, because background work is being completed.
    """
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="lorebank-in-process", daemon=True)
    thread.start()
    lifespan = Lifespan(app)
    try:
        _wait(loop, lifespan.start())
        try:
            yield InProcess(app, loop)
        finally:
            _stop(loop, lifespan, note)
    finally:
        _wait(loop, loop.shutdown_default_executor())
        loop.call_soon_threadsafe(loop.stop)
        thread.join(STOP_SECONDS)
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop, lifespan: Lifespan, note: Callable[[str], None]) -> None:
    ending = asyncio.run_coroutine_threadsafe(lifespan.stop(), loop)
    try:
        ending.result(PATIENCE_SECONDS)
    except TimeoutError:
        note(FINISHING)
        ending.result(STOP_SECONDS)


def _wait(loop: asyncio.AbstractEventLoop, work: Coroutine[Any, Any, T]) -> T:
    try:
        return asyncio.run_coroutine_threadsafe(work, loop).result()
    except TimeoutError as exc:
        raise Unavailable("lorebank did not answer in time", cause=exc) from exc


class Lifespan:
    """The start and the orderly end of an ASGI application."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app
        self._asked: asyncio.Queue[Message] = asyncio.Queue()
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the application; `Unavailable` with its reason when it refuses."""
        self._task = asyncio.create_task(self._run())
        await self._asked.put({"type": "lifespan.startup"})
        message = await self._said.get()
        if message["type"] != "lifespan.startup.complete":
            raise Unavailable(message.get("message") or "lorebank could not start")

    async def stop(self) -> None:
        """Let the application end its work."""
        await self._asked.put({"type": "lifespan.shutdown"})
        if self._task is not None:
            await self._task

    async def _run(self) -> None:
        scope: Message = {"type": "lifespan", "asgi": {"version": "3.0", "spec_version": "2.0"}, "state": {}}
        try:
            await self._app(scope, self._asked.get, self._said.put)
        finally:
            await self._said.put({"type": "lifespan.startup.failed", "message": ""})


async def _call(app: AsgiApp, request: Request) -> Response:
    target, _, query = request.target.partition("?")
    named = {"host": "127.0.0.1"} | {name.lower(): value for name, value in request.headers.items()}
    scope: Message = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "http_version": "1.1",
        "method": request.method,
        "scheme": "http",
        "path": unquote(target),
        "raw_path": target.encode("ascii"),
        "query_string": query.encode("ascii"),
        "root_path": "",
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named.items()],
        "client": ("127.0.0.1", 0),
        "server": ("127.0.0.1", 80),
        "state": {},
        # Audit rows then tell it from a request that came over the network, which cannot set this.
        "lorebank.transport": "cli",
    }
    inbox: list[Message] = [{"type": "http.request", "body": request.body, "more_body": False}]
    never = asyncio.Event()
    status, headers, body = 500, dict[str, str](), bytearray()

    async def receive() -> Message:
        if inbox:
            return inbox.pop()
        await never.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        nonlocal status
        if message["type"] == "http.response.start":
            status = message["status"]
            headers.update({k.decode("latin-1").lower(): v.decode("latin-1") for k, v in message["headers"]})
        elif message["type"] == "http.response.body":
            body.extend(message.get("body", b""))

    await app(scope, receive, send)
    return Response(status, headers, bytes(body))
