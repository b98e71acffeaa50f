"""Request bodies, read while they arrive and refused as soon as they grow over their limit."""

from __future__ import annotations

from starlette.types import Receive

from lorebank.http.errors import Disconnected, TooLarge
from lorebank.http.exchange import Headers, header


def check_length(headers: Headers, most: int) -> None:
    """`TooLarge` when the announced length is over `most`."""
    announced = header(headers, b"content-length")
    if announced is not None and announced.isdigit() and int(announced) > most:
        raise _too_large(most)


async def read_body(receive: Receive, headers: Headers, most: int) -> bytes:
    """The whole body; `TooLarge` (413) when it is over `most` bytes, without reading the rest."""
    check_length(headers, most)
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        part = message.get("body", b"")
        size += len(part)
        if size > most:
            raise _too_large(most)
        parts.append(part)
        if not message.get("more_body", False):
            return parts[0] if len(parts) == 1 else b"".join(parts)


def _too_large(most: int) -> TooLarge:
    return TooLarge(
        f"the body must be at most {most} bytes; send less at once (setting LOREBANK_LIMIT_BODY_BYTES)"
    )
