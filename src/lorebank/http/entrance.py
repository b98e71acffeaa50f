"""The way in: the `Authorization` header becomes an arrival, and refusals become rows of the audit log."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from starlette.types import Message, Receive

from lorebank.access.audit import Origin
from lorebank.access.authenticate import Arrival, Authenticator
from lorebank.access.principal import Principal
from lorebank.errors import LorebankError, Unauthenticated
from lorebank.http.exchange import Exchange, Headers
from lorebank.service.guard import Guard

log = logging.getLogger(__name__)
LOCAL = Arrival(Principal(kind="local", id="local", keyless=True))
"""Who calls a server without keys."""
OWNER = Arrival(Principal(kind="local", id="local"))
"""Who works without a server: the owner of the data directory."""
NO_TOKEN = "no valid credential: send one audience token as 'Authorization: Bearer TOKEN'"
"""What an agent is told who has sent nothing that is known here."""
_UNKNOWN = ("an API key is required", "the API key is not valid", "send exactly one")
REFUSALS_PER_SECOND = 20
"""Rows of refused credentials a second at most: guessing must not fill the disk."""


@dataclass(slots=True)
class Refusals:
    """Decides which refusals are written down. `clock` counts seconds."""

    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _second: int = -1
    _written: int = 0
    _dropped: int = 0

    def admit(self) -> int | None:
        """None: leave this one out. Otherwise write it, and say that so many were left out before it."""
        with self._lock:
            second = int(self.clock())
            if second != self._second:
                self._second, self._written = second, 0
            if self._written >= REFUSALS_PER_SECOND:
                self._dropped += 1
                return None
            self._written += 1
            dropped, self._dropped = self._dropped, 0
            return dropped


class RequestDigest:
    """The SHA-256 of a request as it was sent: method, path, query and the bytes of its body, as far as
    the operation reads one."""

    def __init__(self, scope: Any) -> None:
        head = (scope["method"].encode(), scope["path"].encode("latin-1"), scope.get("query_string", b""))
        self._hash = sha256(b"\n".join(head) + b"\n")

    def watching(self, receive: Receive) -> Receive:
        """`receive` that counts in what passes through it."""

        async def watched() -> Message:
            message = await receive()
            if message["type"] == "http.request":
                self._hash.update(message.get("body", b""))
            return message

        return watched

    def hex(self) -> str:
        """The digest of what was received so far."""
        return self._hash.hexdigest()


class Entrance:
    """Recognises the callers of one server. Without an authenticator everybody is `LOCAL`, but agents are
    known by `agents` all the same: what they may do depends on their audience."""

    def __init__(self, authenticator: Authenticator | None, guard: Guard, agents: Authenticator) -> None:
        self.local = authenticator is None
        self._authenticator = authenticator
        self._agents = agents
        self._guard = guard
        self._refusals = Refusals()

    def arrive(self, headers: Headers, *, in_process: bool = False, tool: bool = False) -> Arrival:
        """Who asks; `Unauthenticated` without a valid credential. Does not block. `in_process` tells that
        the request came by no network, `tool` that it is an agent's, who has a token and no API key."""
        try:
            return self._arrived(headers, in_process)
        except Unauthenticated as exc:
            if not tool or not exc.message.startswith(_UNKNOWN):
                raise
            raise Unauthenticated(NO_TOKEN, who=exc.who, cause=exc) from None

    def _arrived(self, headers: Headers, in_process: bool) -> Arrival:
        given = [value for name, value in headers if name == b"authorization"]
        if len(given) > 1:
            raise Unauthenticated("send exactly one Authorization header with your API key")
        header = given[0].decode("latin-1") if given else None
        if self._authenticator is None:
            return self._agents.agent(header) or (OWNER if in_process else LOCAL)
        return self._authenticator.authenticate(header)

    def claim(self, arrival: Arrival, request_digest: str) -> None:
        """Spend a token on this request. May wait for the disk."""
        self._agents.claim(arrival, request_digest)

    def note(self, error: Unauthenticated, operation: str, exchange: Exchange) -> Callable[[], None] | None:
        """The work that writes a refusal down; None when there are too many this second. It may wait
        for the disk. A refusal stays one even when it cannot be written."""
        dropped = self._refusals.admit()
        if dropped is None:
            return None
        reason = f"{error.message} ({dropped} more before it were left out)" if dropped else error.message

        def write() -> None:
            try:
                self._guard.refused(reason, operation, origin_of(exchange), error.who)
            except LorebankError as exc:
                log.error("a refused credential could not be written to the audit log: %s", exc.message)

        return write


def origin_of(exchange: Exchange) -> Origin:
    """Where the request came from, for audit rows."""
    return Origin(exchange.request_id, exchange.transport)
