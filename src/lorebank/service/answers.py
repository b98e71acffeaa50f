"""Answers that are not JSON. Every other handler returns a JSON-ready dict."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """A file to send as a download.

    `chunks` yields its bytes in order and must release what it holds when it is closed;
    `size` is the number of bytes when known.
    """

    chunks: Iterator[bytes]
    filename: str
    media_type: str = "application/octet-stream"
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Text:
    """A plain text answer."""

    text: str
    media_type: str = "text/plain; charset=utf-8"


@dataclass(frozen=True, slots=True)
class Status:
    """A JSON answer with another status than the route's own, for example 503 of a health check."""

    code: int
    body: dict[str, object]
