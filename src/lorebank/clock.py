"""Time: one clock, one stored form (whole microseconds since 1970 UTC), one wire form (ISO 8601 UTC)."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache

from lorebank.errors import BadRequest

Micros = int
"""Microseconds since 1970-01-01T00:00:00Z; may be negative."""
Clock = Callable[[], Micros]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICRO = timedelta(microseconds=1)


def now() -> Micros:
    """The current time in microseconds UTC."""
    return time.time_ns() // 1000


def to_micros(when: datetime) -> Micros:
    """`when` in microseconds UTC; a naive datetime is read as UTC (specs, query_timestamp)."""
    aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICRO


def to_datetime(value: Micros) -> datetime:
    """`value` as an aware UTC datetime."""
    return _EPOCH + value * _MICRO


@lru_cache(maxsize=16_384)
def to_iso(value: Micros | None) -> str | None:
    """The wire form, for example `2026-11-29T08:30:00+00:00`; None stays None.

    The times seen last are kept: every result of a recall carries two or three.
    """
    return None if value is None else to_datetime(value).isoformat()


def parse_iso(text: str, field: str) -> Micros:
    """`text` (ISO 8601 date or date-time, with or without zone; no zone means UTC) in microseconds.

    Raises `BadRequest` naming `field` for anything else, for example year 0 or 10000.
    """
    try:
        when = datetime.fromisoformat(text.strip())
        aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        return to_micros(aware.astimezone(UTC))
    except (ValueError, OverflowError) as exc:
        raise BadRequest(
            f"{field} must be an ISO 8601 date-time between the years 1 and 9999, "
            "for example 2026-11-29T08:30:00Z",
            cause=exc,
        ) from exc
