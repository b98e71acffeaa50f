"""Whole answers as bytes, compressed where the client takes gzip and it pays."""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from lorebank.http.exchange import Headers, header

GZIP_FROM = 1024
"""Bytes from which an answer is compressed."""
GZIP_LEVEL = 1
"""The cheapest level: on loopback and in a data centre the time to compress is what costs."""
NO_CONTENT = 204
_NO_GZIP = re.compile(r"(?:^|[,\s])gzip\s*;\s*q=0(?:\.0*)?\s*(?:,|$)")
RawHeaders = Sequence[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer that is ready to send."""

    status: int
    headers: RawHeaders
    body: bytes


def json_answer(value: Any, status: int = 200, extra: RawHeaders = ()) -> Answer:
    """`value` as JSON."""
    return Answer(status, [(b"content-type", b"application/json"), *extra], orjson.dumps(value))


def no_content() -> Answer:
    """204: no body, so no type and no length of one either (RFC 9110, section 8.6)."""
    return Answer(NO_CONTENT, (), b"")


def takes_gzip(headers: Headers) -> bool:
    """Whether the request's headers allow gzip."""
    accepted = (header(headers, b"accept-encoding") or "").lower()
    return "gzip" in accepted and _NO_GZIP.search(accepted) is None


def compressed(answer: Answer, gzip: bool) -> Answer:
    """`answer` with its length where it has a body, and gzipped when that is accepted and worth it."""
    if answer.status == NO_CONTENT:
        return answer
    headers = list(answer.headers)
    body = answer.body
    if len(body) >= GZIP_FROM:
        headers.append((b"vary", b"Accept-Encoding"))
        if gzip:
            packer = zlib.compressobj(GZIP_LEVEL, zlib.DEFLATED, 31)
            body = packer.compress(body) + packer.flush()
            headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-length", str(len(body)).encode("ascii")))
    return Answer(answer.status, headers, body)
