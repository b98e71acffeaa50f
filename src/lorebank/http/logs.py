"""Log lines: one for each request, as text or JSON, never with what was asked or stored."""

from __future__ import annotations

import logging
import sys
from datetime import UTC, datetime
from typing import Any

import orjson

from lorebank.config import Settings
from lorebank.errors import printable
from lorebank.http.exchange import Exchange

LOGGER = logging.getLogger("lorebank.http")
_FIELDS = "lorebank_fields"


def log_exchange(exchange: Exchange) -> None:
    """Write the line of an answered request: route template, never the path or the query."""
    level = logging.WARNING if exchange.status >= 500 else logging.INFO
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


def log_cause(exchange: Exchange, error: BaseException) -> None:
    """Write why a request failed, with the stack, for the operator's eyes only."""
    LOGGER.error("request %s failed", exchange.request_id, exc_info=error)


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
    handler.setFormatter(JsonFormatter() if settings.log_format == "json" else TextFormatter())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for noisy in ("uvicorn.access", "uvicorn.error", "httpx", "httpcore", "asyncio"):
        logging.getLogger(noisy).setLevel(logging.WARNING)


def _when(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
