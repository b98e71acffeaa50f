"""The ASGI application: routing by the encoded path, one edge for ids, errors, logs and metrics."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any
from urllib.parse import quote

from anyio import CapacityLimiter
from starlette.exceptions import HTTPException
from starlette.routing import Route, Router
from starlette.types import Message, Receive, Scope, Send

from lorebank.access.authenticate import Authenticator
from lorebank.config import Settings
from lorebank.errors import LorebankError
from lorebank.http.answers import Answer, compressed
from lorebank.http.binding import Binding
from lorebank.http.endpoint import Endpoint, Serving, send_answer
from lorebank.http.entrance import Entrance
from lorebank.http.errors import Disconnected, error_answer, routing_answer, unexpected_answer
from lorebank.http.exchange import KEY, Exchange, request_id
from lorebank.http.local import check_bound_to_loopback, check_local
from lorebank.http.logs import log_cause, log_exchange
from lorebank.http.openapi import Description
from lorebank.http.routes import knowledge
from lorebank.http.routes.all import BINDINGS
from lorebank.metrics import Metrics
from lorebank.service.guard import Guard

Lifespan = Callable[[Any], AbstractAsyncContextManager[None]]
RESERVED_THREADS = 4
TRANSPORT = "lorebank.transport"
"""Where an ASGI scope says that it does not come from the network (`cli.inprocess`)."""
CLIENT_GONE = 499
"""The status in logs for a request whose client went away before it was complete."""


class App:
    """The server as an ASGI application. `routes` and `bindings` are there for tests and documentation."""

    def __init__(
        self,
        serving: Serving,
        bindings: tuple[Binding, ...],
        metrics: Metrics,
        lifespan: Lifespan | None = None,
        *,
        debug: bool = False,
    ) -> None:
        self.bindings = bindings
        self.routes = [Route("/openapi.json", Description(bindings), methods=["GET"])]
        self.routes += [
            Route(one.path, Endpoint(one, serving), methods=[one.method], name=one.operation)
            for one in bindings
        ]
        self._router = Router(self.routes, redirect_slashes=False, lifespan=lifespan)
        self._metrics = metrics
        self._local = serving.entrance.local
        self._debug = debug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or run the start and the end of the server."""
        if scope["type"] != "http":
            await self._router(scope, receive, send)
            return
        headers = scope["headers"]
        exchange = Exchange(request_id(headers), scope["method"], scope.get(TRANSPORT, "http"))
        inner: Scope = {**scope, "app": self, "path": _encoded_path(scope), "root_path": "", KEY: exchange}

        async def reply(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                message = {**message, "headers": [*message["headers"], *exchange.headers()]}
            else:
                exchange.sent += len(message.get("body", b""))
            await send(message)

        try:
            await self._routed(inner, receive, reply, exchange)
        finally:
            self._note(exchange)

    async def _routed(self, scope: Scope, receive: Receive, reply: Send, exchange: Exchange) -> None:
        answer: Answer
        try:
            if self._local:
                check_local(scope["headers"])
            await self._router(scope, receive, reply)
            return
        except Disconnected:
            exchange.status = CLIENT_GONE
            return
        except HTTPException as exc:
            answer = routing_answer(exc, knowledge.missing_tool(scope["path"]))
        except LorebankError as exc:
            told = _confirmed(exc)
            exchange.code = told.code
            if told.status >= 500:
                log_cause(exchange, told, debug=self._debug)
            answer = error_answer(told)
        except Exception as exc:
            exchange.code = "bug"
            log_cause(exchange, exc, debug=self._debug)
            answer = unexpected_answer(exchange.request_id)
        if exchange.status:
            return  # the answer had begun: its client sees it end early
        await send_answer(compressed(answer, gzip=False), reply)

    def _note(self, exchange: Exchange) -> None:
        name = exchange.operation or "none"
        self._metrics.operations.observe(exchange.seconds(), name, str(exchange.status))
        if exchange.code:
            self._metrics.errors.add(name, exchange.code)
        log_exchange(exchange)


def create_app(
    guard: Guard,
    authenticator: Authenticator,
    settings: Settings,
    *,
    metrics: Metrics,
    bindings: tuple[Binding, ...] = BINDINGS,
    threads: int = 64,
    lifespan: Lifespan | None = None,
) -> App:
    """The application for one data directory.

    Requests run in at most `threads` threads at once. With `settings.no_auth` nobody is asked for a
    credential and every loopback request may do everything; `InvalidInput` when such a server would
    listen elsewhere.
    """
    if settings.no_auth:
        check_bound_to_loopback(settings.host)
    serving = Serving(
        guard,
        Entrance(None if settings.no_auth else authenticator, guard, authenticator),
        settings.limits,
        threads=CapacityLimiter(threads),
        reserve=CapacityLimiter(RESERVED_THREADS),
    )
    return App(serving, bindings, metrics, lifespan, debug=settings.debug)


def _confirmed(error: LorebankError) -> LorebankError:
    """The error, or what its caller must be told instead by now."""
    try:
        if error.confirm is not None:
            error.confirm()
    except LorebankError as instead:
        return instead
    return error


def _encoded_path(scope: Scope) -> str:
    """The path as it was sent: an encoded slash is part of a name, not a separator."""
    raw = scope.get("raw_path")
    if raw is None:
        return quote(scope["path"], safe="/%~:@!$&'()*+,;=")
    sent: bytes = raw
    return sent.split(b"?", 1)[0].decode("latin-1")
