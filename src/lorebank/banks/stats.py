"""Time series of a bank's memories. Its other numbers are `BankReader.counts`: exact, never cached."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from lorebank.clock import Micros, parse_iso, to_datetime, to_micros
from lorebank.errors import BadRequest
from lorebank.storage.ports import BankReader

#: period -> (its length, width of a bucket)
PERIODS: Mapping[str, tuple[timedelta, str]] = {
    "1h": (timedelta(hours=1), "minute"),
    "12h": (timedelta(hours=12), "hour"),
    "1d": (timedelta(days=1), "hour"),
    "7d": (timedelta(days=7), "day"),
    "30d": (timedelta(days=30), "day"),
    "90d": (timedelta(days=90), "day"),
}
TIME_FIELDS = ("created_at", "updated_at", "mentioned_at", "occurred_start", "occurred_end")
FACT_TYPES = ("world", "experience", "observation")
_STEP = {"minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1)}


@dataclass(frozen=True, slots=True)
class Series:
    """Buckets of one width over a period, oldest first and without gaps; `counts` is by fact type."""

    width: str
    buckets: tuple[tuple[Micros, Mapping[str, int]], ...]


def timeseries(reader: BankReader, period: str, time_field: str, now: Micros) -> Series:
    """How many memories fall into each bucket of the period that ends now."""
    if period not in PERIODS:
        raise BadRequest(f"period must be one of {', '.join(PERIODS)}")
    if time_field not in TIME_FIELDS:
        raise BadRequest(f"time_field must be one of {', '.join(TIME_FIELDS)}")
    width, starts = buckets(period, now)
    counts = {start: dict.fromkeys(FACT_TYPES, 0) for start in starts}
    for start_text, fact_type, count in reader.time_buckets(time_field, starts[0], width):
        bucket = counts.get(parse_iso(start_text, "bucket"))
        if bucket is not None:  # later than now: dates of the future
            bucket[fact_type] = bucket.get(fact_type, 0) + count
    return Series(width, tuple(counts.items()))


def buckets(period: str, now: Micros) -> tuple[str, list[Micros]]:
    """The width of a bucket, and the start of each bucket of the period (one of `PERIODS`) that ends now."""
    length, width = PERIODS[period]
    return width, list(_starts(to_datetime(now) - length, to_datetime(now), width))


def _starts(first: datetime, last: datetime, width: str) -> Iterator[Micros]:
    at = _floor(first, width)
    while at <= last:
        yield to_micros(at)
        at += _STEP[width]


def _floor(when: datetime, width: str) -> datetime:
    whole = when.replace(second=0, microsecond=0)
    if width == "minute":
        return whole
    return whole.replace(minute=0) if width == "hour" else whole.replace(minute=0, hour=0)
