"""HTTP for the command line, on the standard library: a bigger client costs 0.2 s at every start."""

from __future__ import annotations

import http.client
import json
import socket
import ssl
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode, urlsplit

from lorebank.errors import InvalidInput, Unavailable

TIMEOUT_SECONDS = 300.0
CONNECT_SECONDS = 10.0
USER_AGENT = "lorebank-cli"


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is and the API key to use with it (empty: none). The key is never shown."""

    url: str
    key: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class Request:
    """One request: method, path with query, headers by lower-case name, body bytes."""

    method: str
    target: str
    headers: Mapping[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class Response:
    """What came back: status, headers by lower-case name, body bytes."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON; None when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


class Transport(Protocol):
    """Something that answers requests: a server at an address, or one inside this process."""

    def send(self, request: Request) -> Response:
        """The response; `Unavailable` when there is none."""

    def close(self) -> None:
        """Give the connection up."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a multipart form."""

    field: str
    filename: str
    data: bytes


class HttpTransport:
    """Speaks HTTP/1.1 to one server over one connection, which is opened again when it was lost."""

    def __init__(self, url: str, *, timeout: float = TIMEOUT_SECONDS) -> None:
        self._timeout = timeout
        self._host, self._port, self._tls, self._base = split_url(url)
        self._connection: http.client.HTTPConnection | None = None

    def send(self, request: Request) -> Response:
        """The server's response; a connection that the server had closed meanwhile is opened anew."""
        try:
            return self._exchange(request, fresh=self._connection is None)
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError) as exc:
            self.close()
            if request.method != "GET":
                raise self._gone(exc) from exc
        return self._exchange(request, fresh=True)

    def _exchange(self, request: Request, *, fresh: bool) -> Response:
        connection = self._open() if fresh or self._connection is None else self._connection
        try:
            connection.request(
                request.method, self._base + request.target, request.body or None, dict(request.headers)
            )
            answer = connection.getresponse()
            body = answer.read()
        except TimeoutError as exc:
            self.close()
            raise Unavailable(f"the server did not answer within {self._timeout:g} s", cause=exc) from exc
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            raise
        except (OSError, http.client.HTTPException) as exc:
            self.close()
            raise self._gone(exc) from exc
        headers = {name.lower(): value for name, value in answer.getheaders()}
        return Response(answer.status, headers, body)

    def _open(self) -> http.client.HTTPConnection:
        self.close()
        made: http.client.HTTPConnection
        if self._tls:
            context = ssl.create_default_context()
            made = http.client.HTTPSConnection(
                self._host, self._port, timeout=CONNECT_SECONDS, context=context
            )
        else:
            made = http.client.HTTPConnection(self._host, self._port, timeout=CONNECT_SECONDS)
        try:
            made.connect()
        except OSError as exc:
            raise Unavailable(
                f"no server answers at {self._host}:{self._port}; start one with 'lorebank serve'", cause=exc
            ) from exc
        made.sock.settimeout(self._timeout)
        made.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._connection = made
        return made

    def _gone(self, exc: BaseException) -> Unavailable:
        return Unavailable(f"the connection to {self._host}:{self._port} was lost", cause=exc)

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None


def split_url(url: str) -> tuple[str, int, bool, str]:
    """(host, port, is https, base path) of a server's URL; `InvalidInput` when it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as exc:
        raise InvalidInput("--url must be an address such as http://127.0.0.1:8888", cause=exc) from exc
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise InvalidInput("--url must be an address such as http://127.0.0.1:8888")
    tls = parts.scheme == "https"
    return parts.hostname, port or (443 if tls else 80), tls, parts.path.rstrip("/")


def path(*segments: str) -> str:
    """A path of percent-encoded segments: ids may hold `/`, `%`, spaces and any script."""
    return "/" + "/".join(quote(segment, safe="") for segment in segments)


def with_query(target: str, params: Mapping[str, Any]) -> str:
    """`target` with the parameters that are not None; a sequence repeats its name."""
    pairs: list[tuple[str, str]] = []
    for name, value in params.items():
        if value is None:
            continue
        values = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
        pairs += [(name, str(v).lower() if isinstance(v, bool) else str(v)) for v in values]
    return f"{target}?{urlencode(pairs)}" if pairs else target


def multipart(fields: Mapping[str, str], uploads: Sequence[Upload]) -> tuple[str, bytes]:
    """(content type, body) of a multipart form."""
    boundary = uuid.uuid4().hex
    parts: list[bytes] = []
    for name, value in fields.items():
        parts.append(_part(boundary, f'name="{name}"', value.encode()))
    for upload in uploads:
        filename = upload.filename.replace("\\", "_").replace('"', "_").replace("\r", "_").replace("\n", "_")
        kind = f'name="{upload.field}"; filename="{filename}"\r\nContent-Type: application/octet-stream'
        parts.append(_part(boundary, kind, upload.data))
    return f"multipart/form-data; boundary={boundary}", b"".join(parts) + f"--{boundary}--\r\n".encode()


def _part(boundary: str, disposition: str, data: bytes) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode() + data + b"\r\n"
