"""From one request to one answer: authenticate, read, validate, run the operation, send."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

import anyio.to_thread
import orjson
from anyio import CapacityLimiter
from starlette.types import Receive, Scope, Send

from lorebank.access.authenticate import Keys, authenticate, bearer
from lorebank.access.principal import Principal
from lorebank.errors import Bug, Unauthenticated
from lorebank.http.answers import Answer, compressed, json_answer, takes_gzip
from lorebank.http.binding import Binding
from lorebank.http.exchange import KEY, Exchange, Headers, header
from lorebank.http.forms import read_form
from lorebank.http.receive import read_body
from lorebank.limits import Limits
from lorebank.service.answers import FileAnswer, Status, Text
from lorebank.service.guard import Guard
from lorebank.service.operations import Scope as OperationScope
from lorebank.service.requests.base import ignored, parse
from lorebank.service.requests.document import read_json
from lorebank.service.requests.parameters import decode_segment, read_path, read_query

LOCAL = Principal(kind="local", id="local", root=True)
"""Who calls a server without keys."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Serving:
    """What all endpoints of one server share. `keys` None means: no authentication, loopback only."""

    guard: Guard
    keys: Keys | None
    limits: Limits
    threads: CapacityLimiter
    reserve: CapacityLimiter
    """Threads of health and version, which must answer while all others are busy."""

    async def in_thread(self, work: Callable[[], T], *, public: bool = False) -> T:
        """Run blocking work. It is finished even when the client goes away: writes are never torn."""
        return await anyio.to_thread.run_sync(work, limiter=self.reserve if public else self.threads)


class Endpoint:
    """An ASGI application that answers the requests of one binding.

    `operation` and `binding` tell tests and the API description what it runs.
    """

    def __init__(self, binding: Binding, serving: Serving) -> None:
        self.binding = binding
        self.operation = binding.operation
        self._serving = serving
        operation = serving.guard.operations.get(binding.operation)
        if operation is None:
            raise Bug(f"route {binding.method} {binding.path} names no operation: '{binding.operation}'")
        self._public = operation.scope is OperationScope.PUBLIC

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers: Headers = scope["headers"]
        exchange: Exchange = scope[KEY]
        exchange.operation, exchange.template = self.operation, self.binding.path
        principal = self._principal(headers)
        answer = await self._answer(principal, scope, receive, exchange)
        if isinstance(answer, FileAnswer):
            await self._stream(answer, send)
            return
        await send_answer(answer, send)

    def _principal(self, headers: Headers) -> Principal | None:
        keys = self._serving.keys
        if keys is None or self._public:
            return LOCAL if keys is None else None
        if sum(name == b"authorization" for name, _ in headers) > 1:
            raise Unauthenticated("send exactly one Authorization header")
        return authenticate(bearer(header(headers, b"authorization")), keys)

    async def _answer(
        self, principal: Principal | None, scope: Scope, receive: Receive, exchange: Exchange
    ) -> Answer | FileAnswer:
        headers: Headers = scope["headers"]
        gzip = takes_gzip(headers)
        if self.binding.form is not None:
            async with read_form(self.binding.form, receive, headers, self._serving.limits) as form:
                return await self._serving.in_thread(
                    lambda: self._run(principal, scope, exchange, form.request(exchange), gzip)
                )
        body = b""
        if self.binding.body is not None:
            body = await read_body(receive, headers, self._serving.limits.body_bytes)
        return await self._serving.in_thread(
            lambda: self._run(principal, scope, exchange, self._request(body, exchange), gzip),
            public=self._public,
        )

    def _request(self, body: bytes, exchange: Exchange) -> Any:
        model = self.binding.body
        if model is None:
            return None
        data = read_json(body, self._serving.limits)
        exchange.ignored += ignored(model, data)
        return parse(model, data, self._serving.limits)

    def _run(
        self, principal: Principal | None, scope: Scope, exchange: Exchange, request: Any, gzip: bool
    ) -> Answer | FileAnswer:
        params, unknown = read_query(self.binding.query, scope.get("query_string", b""), self._serving.limits)
        exchange.ignored += unknown
        path = dict(scope["path_params"])
        bank_id = path.pop("bank_id", None)
        if bank_id is not None:
            bank_id = decode_segment(bank_id, "bank_id")
        params |= read_path(path, self._serving.limits)
        if self.binding.bank_of is not None:
            bank_id = self.binding.bank_of(params)
        result = self._serving.guard.run(
            self.operation, principal, bank_id=bank_id, request=request, params=params
        )
        return result if isinstance(result, FileAnswer) else compressed(self._whole(result), gzip)

    def _whole(self, result: Any) -> Answer:
        if isinstance(result, Text):
            kind = result.media_type.encode("latin-1")
            return Answer(self.binding.status, [(b"content-type", kind)], result.text.encode("utf-8"))
        if isinstance(result, Status):
            return json_answer(result.body, result.code)
        return Answer(self.binding.status, [(b"content-type", b"application/json")], orjson.dumps(result))

    async def _stream(self, answer: FileAnswer, send: Send) -> None:
        """Send a file part by part. Its iterator is closed whatever happens."""
        name = quote(answer.filename, safe="")
        headers = [
            (b"content-type", answer.media_type.encode("latin-1")),
            (b"content-disposition", f"attachment; filename*=UTF-8''{name}".encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
        ]
        if answer.size is not None:
            headers.append((b"content-length", str(answer.size).encode("ascii")))
        with _closing(answer.chunks) as chunks:
            await send({"type": "http.response.start", "status": self.binding.status, "headers": headers})
            while (part := await self._serving.in_thread(lambda: next(chunks, None))) is not None:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b"", "more_body": False})


def _closing(chunks: Iterator[bytes]) -> closing[Any]:
    return closing(chunks if hasattr(chunks, "close") else (part for part in chunks))


async def send_answer(answer: Answer, send: Send) -> None:
    """Send a whole answer."""
    await send({"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)})
    await send({"type": "http.response.body", "body": answer.body})
