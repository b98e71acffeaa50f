"""Dates as records and questions have them: a year, a month, a day or a moment, each a span of time."""

from __future__ import annotations

import calendar
import math
import re
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from lorebank.errors import FieldProblem, InvalidInput
from lorebank.vaults.record.checks import is_moment

EVER: Final = -math.inf
ALWAYS: Final = math.inf
Span = tuple[float, float]
"""First and last second, both inside, seconds since 1970 UTC."""
_PARTS: Final = re.compile(r"(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DAY: Final = 86_400


def span_of(value: object) -> Span | None:
    """The span of a date in a record; None for what is no date (the record's own check reports it)."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    return _span(str(value).strip())


@lru_cache(maxsize=65_536)
def _span(text: str) -> Span | None:
    try:
        found = _PARTS.fullmatch(text)
        if found is not None:
            return _calendar_span(*(None if part is None else int(part) for part in found.groups()))
        if not is_moment(text):
            return None
        when = datetime.fromisoformat(text)
        aware = when if when.tzinfo is not None else when.replace(tzinfo=UTC)
        second = (aware - _EPOCH).total_seconds()
        return second, second
    except (ValueError, OverflowError):
        return None


def _calendar_span(year: int | None, month: int | None = None, day: int | None = None) -> Span:
    if year is None:
        raise ValueError("a date has a year")
    last_month = month or 12
    last_day = day or calendar.monthrange(year, last_month)[1]
    first = (datetime(year, month or 1, day or 1, tzinfo=UTC) - _EPOCH).total_seconds()
    last = (datetime(year, last_month, last_day, tzinfo=UTC) - _EPOCH).total_seconds()
    return first, last + _DAY - 1


def asked(text: str | None, field: str) -> Span | None:
    """The span of a date in a question, None for none; `InvalidInput` names the field."""
    if text is None:
        return None
    found = _span(text.strip())
    if found is None:
        message = "must be a date: 2026, 2026-11, 2026-11-30 or 2026-11-30T08:30:00Z"
        raise InvalidInput(f"{field} {message}", fields=[FieldProblem(("body", field), message, "date")])
    return found
