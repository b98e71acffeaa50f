"""Log lines: one for each request, as text or JSON, never with what was asked or stored."""

from __future__ import annotations

import logging
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

import orjson

from lorebank.config import Settings
from lorebank.errors import LorebankError, StoreUnavailable, one_line, printable
from lorebank.http.exchange import Exchange

LOGGER = logging.getLogger("lorebank.http")
_FIELDS = "lorebank_fields"
_FRAMES = 12
_REFUSAL_SECONDS = 1.0
"""At most one line in this time tells why an operation finds knowledge stores closed for one reason."""


def log_exchange(exchange: Exchange) -> None:
    """Write the line of an answered request: route template, never the path or the query."""
    level = logging.WARNING if exchange.status >= 500 else logging.INFO
    if exchange.status < 400 and (exchange.template or "").startswith("/health"):
        level = logging.DEBUG  # asked for by machines, every few seconds
    if not LOGGER.isEnabledFor(level):
        return
    fields: dict[str, Any] = {
        "request_id": exchange.request_id,
        "method": printable(exchange.method)[:16],
        "route": exchange.template or "(none)",
        "operation": exchange.operation or "(none)",
        "status": exchange.status,
        "ms": round(exchange.seconds() * 1000, 2),
        "bytes": exchange.sent,
    }
    if exchange.code:
        fields["error"] = exchange.code
    LOGGER.log(level, "request", extra={_FIELDS: fields})


def log_cause(exchange: Exchange, error: BaseException, *, debug: bool) -> None:
    """Write why a request failed and where; of a knowledge store that is closed for a named reason, one line.

    Messages of exceptions that are not ours may quote what was asked or stored, so they are left
    out unless `debug` is set.
    """
    if isinstance(error, StoreUnavailable):
        if _refusals.due((exchange.operation, error.reason), time.monotonic()):
            LOGGER.warning("request %s refused: %s", exchange.request_id, _refusal(exchange, error, debug))
        return
    LOGGER.error("request %s failed\n%s", exchange.request_id, "\n".join(_chain(error, debug)))


class Seldom:
    """Lets one of the same kind through in `seconds`. There are few kinds; none is forgotten."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._last: dict[tuple[str, str], float] = {}

    def due(self, kind: tuple[str, str], now: float) -> bool:
        """Whether it is this one's turn; `now` in seconds, of a clock that never goes back."""
        with self._lock:
            last = self._last.get(kind)
            if last is not None and now - last < self._seconds:
                return False
            self._last[kind] = now
            return True


_refusals = Seldom(_REFUSAL_SECONDS)


def _refusal(exchange: Exchange, error: StoreUnavailable, debug: bool) -> str:
    told = f"{exchange.operation or '(none)'}: {error.reason}: {error.message}"
    causes = [one for one in _chain(error.cause, debug) if not one.startswith(" ")]
    return one_line(" <- ".join([told, *causes]))


def _chain(error: BaseException | None, debug: bool) -> Iterator[str]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        ours = isinstance(error, LorebankError)
        said = f": {printable(str(error))}" if debug or ours else ""
        yield f"{type(error).__module__}.{type(error).__qualname__}{said}"
        for frame in traceback.extract_tb(error.__traceback__)[-_FRAMES:]:
            yield f"  {PurePath(frame.filename).name}:{frame.lineno} in {frame.name}"
        given = error.cause if isinstance(error, LorebankError) else None
        error = given or error.__cause__ or error.__context__


class TextFormatter(logging.Formatter):
    """`time LEVEL logger message key=value …`."""

    def format(self, record: logging.LogRecord) -> str:
        """One line, and the stack below it when there is one."""
        line = f"{_when(record)} {record.levelname} {record.name} {record.getMessage()}"
        fields = getattr(record, _FIELDS, None)
        if fields:
            line += "".join(f" {name}={value}" for name, value in fields.items())
        if record.exc_info:
            line += "\n" + self.formatException(record.exc_info)
        return line


class TerminalFormatter(TextFormatter):
    """For a person who watches: a request is `time method route status ms error`, in local time."""

    def format(self, record: logging.LogRecord) -> str:
        """A request in few words, everything else as text."""
        fields = getattr(record, _FIELDS, None)
        if not fields:
            return super().format(record)
        time = datetime.fromtimestamp(record.created, UTC).astimezone().strftime("%H:%M:%S")
        told = f"{time} {fields['method']} {fields['route']} {fields['status']} {fields['ms']:.0f} ms"
        return f"{told} {fields['error']}" if "error" in fields else told


class JsonFormatter(logging.Formatter):
    """One JSON object a line."""

    def format(self, record: logging.LogRecord) -> str:
        """The record's fields, with the stack as one string when there is one."""
        made: dict[str, Any] = {
            "time": _when(record),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        made |= getattr(record, _FIELDS, None) or {}
        if record.exc_info:
            made["stack"] = self.formatException(record.exc_info)
        return orjson.dumps(made, default=str).decode("utf-8")


def configure(settings: Settings) -> None:
    """Send the process's logs to stderr in the form and at the level of the settings."""
    handler = logging.StreamHandler(sys.stderr)
    text = TerminalFormatter() if sys.stderr.isatty() else TextFormatter()
    handler.setFormatter(JsonFormatter() if settings.log_format == "json" else text)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for noisy in ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
