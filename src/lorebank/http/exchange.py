"""What the server notes about one request while it answers it."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote

from lorebank.access.audit import Transport

Headers = Iterable[tuple[bytes, bytes]]
KEY = "lorebank.exchange"
_GIVEN_ID = re.compile(rb"[A-Za-z0-9._-]{1,128}")
_MAX_IGNORED_CHARS = 2_000


@dataclass(slots=True)
class Exchange:
    """One request and what became of it; `operation` and `template` are filled in when it is routed."""

    request_id: str
    method: str
    transport: Transport = "http"
    template: str = ""
    operation: str = ""
    status: int = 0
    code: str = ""
    sent: int = 0
    ignored: tuple[str, ...] = ()
    started: float = field(default_factory=time.perf_counter)

    def headers(self) -> list[tuple[bytes, bytes]]:
        """The headers that every answer gets."""
        made = [(b"x-request-id", self.request_id.encode("ascii"))]
        if self.ignored:
            names = ", ".join(quote(name, safe=" ._-[]()/:$@") for name in dict.fromkeys(self.ignored))
            made.append((b"x-ignored-params", names[:_MAX_IGNORED_CHARS].encode("ascii")))
        return made

    def seconds(self) -> float:
        """Time since the request arrived."""
        return time.perf_counter() - self.started


def header(headers: Headers, name: bytes) -> str | None:
    """The first header of that lower-case name."""
    return next((value.decode("latin-1") for key, value in headers if key == name), None)


def request_id(headers: Headers) -> str:
    """The caller's `X-Request-Id` when it is harmless, otherwise a fresh one."""
    for key, value in headers:
        if key == b"x-request-id" and _GIVEN_ID.fullmatch(value):
            return value.decode("ascii")
    return secrets.token_hex(8)
