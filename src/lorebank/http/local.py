"""Which requests a server without keys answers: those that a page on another site cannot make.

A browser can be led to 127.0.0.1 by any page (cross-origin request) or by a name that was
re-pointed there (DNS rebinding). Both show in the headers `Origin` and `Host`.
"""

from __future__ import annotations

import ipaddress
import re

from lorebank.errors import Forbidden, InvalidInput
from lorebank.http.exchange import Headers, header

_LOOPBACK = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_ORIGIN = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)


def check_bound_to_loopback(host: str) -> None:
    """`InvalidInput` when a server without keys would listen on an address that others reach."""
    if host == "localhost":
        return
    try:
        loopback = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise InvalidInput("no_auth serves on loopback only: set host to 127.0.0.1, or serve with keys")


def check_local(headers: Headers) -> None:
    """`Forbidden` unless Host, and Origin when there is one, name this machine's loopback."""
    host = header(headers, b"host")
    if host is None or _LOOPBACK.fullmatch(host) is None:
        raise Forbidden(
            "this server runs without keys and answers only to localhost, 127.0.0.1 or [::1]; "
            "use one of these as the host of the URL, or start the server with keys"
        )
    origin = header(headers, b"origin")
    if origin is not None and _ORIGIN.fullmatch(origin) is None:
        raise Forbidden(
            "this server runs without keys and does not answer pages of other sites; start it with keys"
        )
