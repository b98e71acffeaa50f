"""The HTTP API as the commands use it: paths from ids, JSON in and out, errors as failures."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from lorebank.cli.failures import CliError, from_response
from lorebank.cli.wire import USER_AGENT, Request, Response, Transport, Upload, multipart, path, with_query

BANKS = ("v1", "default", "banks")


class Api:
    """Speaks to one server. Every method raises `CliError` for an error answer."""

    def __init__(self, transport: Transport, key: str) -> None:
        self._transport = transport
        self._key = key

    def holding(self, key: str) -> Api:
        """The same server, asked with another key or token."""
        return Api(self._transport, key)

    def get(self, target: str, **params: Any) -> Any:
        """The JSON answer of a GET."""
        return self._json("GET", with_query(target, params))

    def post(self, target: str, body: Any = None, **params: Any) -> Any:
        """The JSON answer of a POST with a JSON body."""
        return self._json("POST", with_query(target, params), body)

    def put(self, target: str, body: Any) -> Any:
        """The JSON answer of a PUT."""
        return self._json("PUT", target, body)

    def patch(self, target: str, body: Any) -> Any:
        """The JSON answer of a PATCH."""
        return self._json("PATCH", target, body)

    def delete(self, target: str, **params: Any) -> Any:
        """The JSON answer of a DELETE."""
        return self._json("DELETE", with_query(target, params))

    def upload(self, target: str, fields: Mapping[str, str], uploads: Sequence[Upload], **params: Any) -> Any:
        """The JSON answer of a POST with a multipart form."""
        kind, body = multipart(fields, uploads)
        return self._checked("POST", with_query(target, params), body, kind).json()

    def download(self, url: str) -> bytes:
        """The bytes behind a download address that the server gave (its path and query are used)."""
        parts = urlsplit(url)
        target = parts.path + (f"?{parts.query}" if parts.query else "")
        return self._checked("GET", target, b"", None).body

    def _json(self, method: str, target: str, body: Any = None) -> Any:
        data = b"" if body is None else json.dumps(body, ensure_ascii=True).encode()
        return self._checked(method, target, data, None if body is None else "application/json").json()

    def _checked(self, method: str, target: str, body: bytes, kind: str | None) -> Response:
        headers = {"user-agent": USER_AGENT, "accept": "*/*", "accept-encoding": "gzip"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        if kind is not None:
            headers["content-type"] = kind
        if body or method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = str(len(body))
        response = _plain(self._transport.send(Request(method, target, headers, body)))
        if response.status >= 400:
            raise from_response(response.status, response.json())
        return response


def _plain(response: Response) -> Response:
    """`response` with its body unpacked."""
    if response.headers.get("content-encoding") != "gzip":
        return response
    try:
        return replace(response, body=gzip.decompress(response.body))
    except (OSError, EOFError, zlib.error) as exc:
        raise CliError("unavailable", "the server's answer was damaged on the way", 5) from exc


def bank_path(bank: str, *rest: str) -> str:
    """The path of something in a bank."""
    return path(*BANKS, bank, *rest)
