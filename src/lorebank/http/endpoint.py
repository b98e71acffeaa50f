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

from lorebank.access.authenticate import Arrival
from lorebank.errors import Bug, Unauthenticated
from lorebank.http.answers import NO_CONTENT, Answer, compressed, json_answer, no_content, takes_gzip
from lorebank.http.binding import Binding
from lorebank.http.entrance import Entrance, RequestDigest, origin_of
from lorebank.http.exchange import KEY, Exchange, Headers
from lorebank.http.forms import read_form
from lorebank.http.receive import read_body
from lorebank.limits import Limits
from lorebank.service.answers import FileAnswer, Status, Text
from lorebank.service.guard import Guard
from lorebank.service.operations import Scope as OperationScope
from lorebank.service.requests.base import ignored, parse
from lorebank.service.requests.document import read_json
from lorebank.service.requests.parameters import decode_segment, read_path, read_query

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Serving:
    """What all endpoints of one server share."""

    guard: Guard
    entrance: Entrance
    limits: Limits
    threads: CapacityLimiter
    reserve: CapacityLimiter
    """Threads of health and version, which must answer while all others are busy."""

    async def in_thread(self, work: Callable[[], T], *, public: bool = False) -> T:
        """Run blocking work. It is finished even when the client goes away: writes are never torn."""
        return await anyio.to_thread.run_sync(work, limiter=self.reserve if public else self.threads)


@dataclass(frozen=True, slots=True)
class Asked:
    """One request on its way in. `arrival` is None for a public operation; `digest` is there for a
    token that may be used once."""

    scope: Scope
    exchange: Exchange
    arrival: Arrival | None
    digest: RequestDigest | None

    @property
    def headers(self) -> Headers:
        """As they were sent, names in lower case."""
        headers: Headers = self.scope["headers"]
        return headers


@dataclass(frozen=True, slots=True)
class Ready:
    """An answer on its way out. `confirm` raises when the caller may not have it any more."""

    answer: Answer | FileAnswer
    confirm: Callable[[], None]


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
        self._tool = operation.scope is OperationScope.AUDIENCE

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        exchange: Exchange = scope[KEY]
        exchange.operation, exchange.template = self.operation, self.binding.path
        try:
            arrival = None if self._public else self._arrive(scope["headers"], exchange)
        except Unauthenticated as exc:
            await self._refuse(exc, exchange)
            raise
        digest = None
        if arrival is not None and arrival.token_id is not None:
            digest = RequestDigest(scope)
            receive = digest.watching(receive)
        ready = await self._answered(Asked(scope, exchange, arrival, digest), receive)
        if isinstance(ready.answer, FileAnswer):
            await self._stream(ready.answer, ready.confirm, send)
        else:
            await _send_confirmed(ready.answer, ready.confirm, send)

    def _arrive(self, headers: Headers, exchange: Exchange) -> Arrival:
        return self._serving.entrance.arrive(headers, in_process=exchange.transport == "cli", tool=self._tool)

    async def _refuse(self, error: Unauthenticated, exchange: Exchange) -> None:
        write = self._serving.entrance.note(error, self.operation, exchange)
        if write is not None:
            await self._serving.in_thread(write)

    async def _answered(self, asked: Asked, receive: Receive) -> Ready:
        limits = self._serving.limits
        if self.binding.form is not None:
            async with read_form(self.binding.form, receive, asked.headers, limits) as form:
                return await self._serving.in_thread(
                    lambda: self._run(asked, lambda: form.request(asked.exchange))
                )
        body = b""
        if self.binding.body is not None:
            body = await read_body(receive, asked.headers, limits.body_bytes)
        return await self._serving.in_thread(
            lambda: self._run(asked, lambda: self._request(body, asked.exchange)), public=self._public
        )

    def _request(self, body: bytes, exchange: Exchange) -> Any:
        model = self.binding.body
        if model is None:
            return None
        if model.may_be_absent and not body.strip():
            body = b"{}"
        data = read_json(body, self._serving.limits, keys_once=model.keys_once)
        exchange.ignored += ignored(model, data)
        return parse(model, data, self._serving.limits)

    def _run(self, asked: Asked, read_request: Callable[[], Any]) -> Ready:
        scope, exchange, limits = asked.scope, asked.exchange, self._serving.limits
        self._claim(asked)
        params, unknown = read_query(self.binding.query, scope.get("query_string", b""), limits)
        exchange.ignored += unknown
        path = dict(scope["path_params"])
        bank_id = path.pop("bank_id", None)
        if bank_id is not None:
            bank_id = decode_segment(bank_id, "bank_id")
        params |= read_path(path, limits)
        if self.binding.bank_of is not None:
            bank_id = self.binding.bank_of(params)
        answered = self._serving.guard.answer(
            self.operation,
            None if asked.arrival is None else asked.arrival.principal,
            bank_id=bank_id,
            read=read_request,
            params=params,
            origin=origin_of(exchange),
        )
        result = answered.result
        if not isinstance(result, FileAnswer):
            result = compressed(self._whole(result), takes_gzip(asked.headers))
        return Ready(result, answered.confirm)

    def _claim(self, asked: Asked) -> None:
        """Before anything else is looked at: a token that was spent opens nothing, not even a 422."""
        if asked.arrival is None or asked.digest is None:
            return
        try:
            self._serving.entrance.claim(asked.arrival, asked.digest.hex())
        except Unauthenticated as exc:
            write = self._serving.entrance.note(exc, self.operation, asked.exchange)
            if write is not None:
                write()
            raise

    def _whole(self, result: Any) -> Answer:
        if isinstance(result, Text):
            kind = result.media_type.encode("latin-1")
            return Answer(self.binding.status, [(b"content-type", kind)], result.text.encode("utf-8"))
        if isinstance(result, Status):
            return json_answer(result.body, result.code)
        if self.binding.status == NO_CONTENT:
            return no_content()
        return Answer(self.binding.status, [(b"content-type", b"application/json")], orjson.dumps(result))

    async def _stream(self, answer: FileAnswer, confirm: Callable[[], None], send: Send) -> None:
        """Send a file part by part, each confirmed. Its iterator is closed whatever happens."""
        name = quote(answer.filename, safe="")
        headers = [
            (b"content-type", answer.media_type.encode("latin-1")),
            (b"content-disposition", f"attachment; filename*=UTF-8''{name}".encode("ascii")),
            (b"x-content-type-options", b"nosniff"),
        ]
        if answer.size is not None:
            headers.append((b"content-length", str(answer.size).encode("ascii")))
        with _closing(answer.chunks) as chunks:
            confirm()
            await send({"type": "http.response.start", "status": self.binding.status, "headers": headers})
            while (part := await self._serving.in_thread(lambda: next(chunks, None))) is not None:
                # An empty part waits until a slow client has taken what came before, so that the next
                # send writes at once, and what was confirmed does not wait behind it.
                await send(_part(b"", more=True))
                confirm()
                await send(_part(part, more=True))
            await send(_part(b"", more=False))


async def _send_confirmed(answer: Answer, confirm: Callable[[], None], send: Send) -> None:
    """Send a whole answer that the caller may still have; otherwise raise, and nothing of it is sent.

    There is no await between the check and the write. Whoever changes rights is told so by this same
    event loop, after the change holds. So either the change comes before our check, which then fails,
    or its acknowledgement comes after our write: nothing is served after it.
    """
    confirm()
    await send({"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)})
    confirm()  # the start may have waited for a client that is slow to take an earlier answer
    await send(_part(answer.body, more=False))


def _part(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _closing(chunks: Iterator[bytes]) -> closing[Any]:
    return closing(chunks if hasattr(chunks, "close") else (part for part in chunks))


async def send_answer(answer: Answer, send: Send) -> None:
    """Send a whole answer."""
    await send({"type": "http.response.start", "status": answer.status, "headers": list(answer.headers)})
    await send(_part(answer.body, more=False))
